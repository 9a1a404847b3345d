"""``tallystick score`` on the command line."""

import csv
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tests.score.tables import drawn


@pytest.fixture
def outputs(tmp_path):
    path = tmp_path / "outputs.csv"
    table = drawn(items=200, graded=50)
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(["question", *list(table)[1:]])
        writer.writerows(zip(*table.values(), strict=True))
    return str(path)


def run(*words):
    return CliRunner().invoke(app, ["score", *map(str, words)])


def test_one_command_answers(outputs):
    done = run(outputs, "--system", "system", "--judges", "x,y,z", "--truth", "human")
    assert done.exit_code == 0
    first = next(one for one in done.stdout.splitlines() if one.startswith("b is"))
    assert first.startswith("b is the best of three systems: ")
    assert "Your judges alone name another winner" in done.stdout
    assert "from 150 human grades on 50 questions" in done.stdout


def test_json_is_one_object_and_nothing_else(outputs):
    done = run(outputs, "--truth", "human", "--json")
    body = json.loads(done.stdout)
    assert [row["name"] for row in body["systems"]] == ["b", "c", "a"]


def test_gates_set_the_exit_code(outputs):
    assert run(outputs, "--truth", "human", "--gate", "b >= a - 0.02").exit_code == 0
    assert run(outputs, "--truth", "human", "--gate", "a >= b").exit_code == 10
    undecided = run(outputs, "--truth", "human", "--gate", "score(b) > 0.9")
    assert undecided.exit_code == 11
    assert "more of b" in undecided.stderr


def test_files_are_written(outputs, tmp_path):
    page, items = tmp_path / "r.html", tmp_path / "items.csv"
    done = run(outputs, "--truth", "human", "--html", page, "--items-out", items)
    assert done.exit_code == 0, done.stderr
    assert "Your judges alone" in page.read_text()
    with items.open() as stream:
        rows = list(csv.DictReader(stream))
    assert {"consensus", "probability", "label_next"} <= set(rows[0])
    assert len(rows) == 600


def test_a_misspelt_grade_is_asked_about_with_its_column(outputs):
    path = Path(outputs)
    lines = path.read_text().splitlines()
    lines[5] = lines[5].replace("pass", "passs", 1).replace("fail", "failed", 1)
    path.write_text("\n".join(lines))
    done = run(outputs, "--judges", "x,y,z", "--truth", "human")
    assert done.exit_code != 0
    assert "passs in y is neither pass nor fail" in str(done.exception)


def test_every_option_of_the_contract_is_there():
    shown = run("--help-all").stdout
    for flag in (
        "--system",
        "--systems",
        "--judges",
        "--truth",
        "--truth-file",
        "--scale",
        "--probability",
        "--label-draw",
        "--target-mix",
        "--population",
        "--criterion",
        "--certified",
        "--gate",
        "--separator",
        "--by",
        "--items-out",
    ):
        assert flag in shown
