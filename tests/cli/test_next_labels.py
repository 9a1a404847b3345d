"""The next step of an undecided answer is a command that runs as it stands."""

from __future__ import annotations

import csv
import json
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tests.score.tables import drawn


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = drawn(items=120, graded=20, rates={"b": 0.8, "c": 0.78})
    with Path("outputs.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))


@pytest.mark.usefixtures("table")
def test_the_command_begins_a_session_for_the_columns_that_were_named():
    asked = ["score", "outputs.csv", "--judges", "x,y", "--judges", "z", "--truth", "human"]
    shown = CliRunner().invoke(app, asked).stdout
    [line] = [text.strip() for text in shown.splitlines() if "tallystick label" in text]
    words = shlex.split(line)
    assert words[:5] == ["tallystick", "label", "outputs.csv", "--question", "difference"]
    done = CliRunner().invoke(app, [*words[1:], "--next", "10", "--json"])
    assert done.exit_code == 0, done.output
    body = json.loads(done.stdout)
    assert body["question"] == "score"
    assert len(body["batch"]) == 10


@pytest.mark.usefixtures("table")
def test_a_settled_answer_asks_for_no_labels():
    rows = drawn(items=120, graded=100, rates={"b": 0.95, "c": 0.3})
    with Path("clear.csv").open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(rows)
        writer.writerows(zip(*rows.values(), strict=True))
    shown = CliRunner().invoke(app, ["score", "clear.csv"]).stdout
    assert "is better than" in shown
    assert "tallystick label" not in shown


@pytest.mark.usefixtures("table")
def test_the_grades_that_are_there_count_in_the_session_that_score_begins():
    shown = CliRunner().invoke(app, ["score", "outputs.csv"]).stdout
    [line] = [text.strip() for text in shown.splitlines() if "tallystick label" in text]
    words = shlex.split(line)
    assert words[words.index("--label-draw") + 1] == "random"
    done = CliRunner().invoke(app, [*words[1:], "--json"])
    body = json.loads(done.stdout)
    assert body["read"] > 0
    assert "are the first draws" in body["notes"][0]

    # And back: score reads the session, and says how to go on with it.
    path = words[words.index("--session") + 1]
    again = CliRunner().invoke(app, ["score", "outputs.csv", "--truth-file", path]).stdout
    assert f"tallystick label --session {path} --next 20 --out batch.csv" in again


@pytest.mark.usefixtures("table")
def test_the_page_shows_the_command_of_the_terminal_and_no_other():
    from html import unescape

    shown = CliRunner().invoke(app, ["score", "outputs.csv", "--html", "page.html"]).stdout
    [line] = [text.strip() for text in shown.splitlines() if "tallystick label" in text]
    page = unescape(Path("page.html").read_text(encoding="utf-8"))
    assert page.count("tallystick label ") == page.count(line) == 1
