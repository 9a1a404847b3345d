"""Whoever labels is blind: no vote, judge or system is shown unless somebody asks for it, and the
page, the terminal and the batch say which it is."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

from tallystick.cli import main
from tests.serve.web import running

BLIND = "Blind: no system, judge or other reader is shown."
WORDS = ("fail", "pass")
BEGIN = ["label", "t.csv", "--question", "judge", "--judges", "gpt,claude", "--session", "s.label"]
HIDDEN = ("model", "llama", "Expert", "judge_score", "gpt_reason", "rater")


@pytest.fixture(autouse=True)
def table(tmp_path, monkeypatch):
    """Two judges that are asked about, and much else that would tell a reader what others said."""
    monkeypatch.chdir(tmp_path)
    rows = [["id", "topic", "text", "llm_answer", "gpt", "claude", *HIDDEN]]
    for i in range(60):
        votes = [WORDS[i % k > 0] for k in (3, 4, 5)]
        expert = WORDS[i % 2].upper() if i > 50 else ""
        others = f"bot-{i % 2}", votes[2], expert, i / 60, f"I think {votes[0]}", f"r{i % 3}"
        rows.append([f"i{i}", "trains", f"question {i}", f"by {i}", *votes[:2], *others])
    with Path("t.csv").open("w", newline="") as stream:
        csv.writer(stream).writerows(rows)


def run(*words, typed=""):
    """Run a command that succeeds and return what it says, on both streams."""
    said, code = io.StringIO(), None
    before, sys.stdin = sys.stdin, io.StringIO(typed)
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main([str(word) for word in words])
        except SystemExit as leaving:
            code = leaving.code
        finally:
            sys.stdin = before
    assert not code, said.getvalue()
    return said.getvalue()


def batch(name="b.csv"):
    with Path(name).open(newline="") as stream:
        return list(csv.DictReader(stream))


@contextlib.contextmanager
def page():
    """Open the labelling page of the session and yield what it shows."""
    words = [sys.executable, "-m", "tallystick", "label", "--session", "s.label", "--open"]
    quiet = {**os.environ, "TALLYSTICK_NO_BROWSER": "1"}
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True, env=quiet) as process:
        try:
            link = next(
                found[1] for line in process.stderr if (found := re.search(r"(http\S+)", line))
            )
            for _ in range(100):
                with contextlib.suppress(httpx.TransportError):
                    yield httpx.get(link, timeout=5).text
                    break
                time.sleep(0.1)
        finally:
            process.terminate()


def test_a_batch_holds_what_is_read_and_nothing_that_others_said():
    said = run(*BEGIN, "--next", "5", "--out", "b.csv")
    assert f"b.csv: 5 items to label, in this order. {BLIND}" in said
    assert list(batch()[0]) == ["order", "id", "text", "llm_answer", "note", "answer"]


def test_the_terminal_shows_no_vote_and_says_so():
    run(*BEGIN)
    said = run("label", "--session", "s.label", "--terminal", typed="q\n")
    assert BLIND in said
    assert "text:" in said
    assert not [name for name in HIDDEN if f"{name}:" in said]


def test_the_page_shows_no_vote_and_says_so():
    run(*BEGIN)
    with page() as text:
        assert BLIND in text
        assert "llm_answer" in text
        assert not [name for name in HIDDEN if f">{name}<" in text]


def test_columns_that_are_asked_for_are_shown_and_named():
    said = run(*BEGIN, "--show", "text,llama,model,Expert", "--next", "5", "--out", "b.csv")
    sentence = "Not blind: llama, model and Expert are shown."
    assert sentence in said
    assert BLIND not in said
    assert list(batch()[0])[1:5] == ["text", "llama", "model", "Expert"]
    said = run("label", "--session", "s.label", "--terminal", typed="q\n")
    assert sentence in said
    with page() as text:
        assert sentence in text
        assert BLIND not in text
    one = run(*BEGIN[:-1], "two.label", "--show", "text,gpt", "--next", "2", "--out", "c.csv")
    assert "Not blind: gpt is shown." in one


def test_grades_of_others_on_the_scale_are_hidden():
    rows = [f"i{i},answer {i},{1 + i % 5},{1 + i % 4},{i * 10}" for i in range(60)]
    Path("g.csv").write_text("\n".join(["id,text,gpt,mia,length", *rows]))
    words = ["label", "g.csv", "--question", "score", "--judges", "gpt", "--scale", "1,5"]
    said = run(*words, "--session", "g.label", "--next", "3", "--out", "b.csv")
    assert BLIND in said
    assert list(batch()[0]) == ["order", "id", "text", "note", "answer"]


def test_outputs_that_only_the_system_tells_apart_are_not_called_blind():
    rows = [f"i{i},{s},{(i + k) % 2}" for i in range(40) for k, s in enumerate(("new", "old"))]
    Path("o.csv").write_text("\n".join(["id,system,gpt", *rows]))
    words = ["label", "o.csv", "--question", "score", "--judges", "gpt", "--session", "o.label"]
    said = run(*words, "--next", "3", "--out", "b.csv")
    assert "readers see column 'system': no other says which output" in said
    assert "Not blind: system is shown." in said
    assert {row["system"] for row in batch()} <= {"new", "old"}


EARLIER = """\
{"session": 1, "question": "judge", "options": {"reading": {"judges": ["gpt", "claude"], "shape": \
"auto", "item": "id"}, "fields": {}, "target": 0.05, "truth": null, "epsilon": null, "notes": []}, \
"source": ["t.csv"], "columns": ["gpt", "claude"], "fingerprint": \
"b56fa057fdfb562f24000905a7dd270e", "strata": "6e70ebec8031a224f87217761ac3db51", "n_units": 24, \
"classes": ["fail", "pass"], "scale": null, "units": "rows", "target": 0.05, "alpha": 0.05, \
"seed": 0, "budget": null, "item": "id", "system": null, "show": ["id", "model", "text", "llama"], \
"ask": "What is the right answer?", "instructions": "", "readers": ["1"], "origin": "unknown", \
"made": "2026-11-16T21:48:02+00:00", "sum": "78a0411cd3c757f9"}
{"strata": "eAFjYGAEQhAAkTAWhA3jIYsDAAFQAA0=", "sum": "d1fd3ad260c4cb72"}
{"batch": 0, "spread": [0.7071067811865476, 0.7071067811865476], "draws": [[7, 1, 0.5], [2, 1, \
0.4782608695652174], [15, 0, 0.5454545454545454], [20, 0, 0.5238095238095238]], "asks": [[0, 7, \
"i7", null], [1, 2, "i2", null], [2, 15, "i15", null], [3, 20, "i20", null]], "sum": \
"531e63dd6abf4d22"}
"""
"""A session of the version that showed readers the system and a third judge, with four draws."""


def test_a_session_of_an_earlier_version_is_finished_and_not_called_blind():
    rows = ["id,model,text,gpt,claude,llama"]
    for i in range(24):
        votes = ",".join(WORDS[i % k > 0] for k in (3, 4, 5))
        rows.append(f"i{i},bot-{7 + i % 2},answer {i},{votes}")
    Path("t.csv").write_text("\n".join(rows) + "\n")
    Path("s.label").write_text(EARLIER)

    said = run("label", "--session", "s.label", "--next", "24", "--out", "b.csv")
    assert "Not blind: model and llama are shown." in said
    asked = batch()
    assert [row["id"] for row in asked[:4]] == ["i7", "i2", "i15", "i20"]
    with Path("b.csv").open("w", newline="") as stream:
        writer = csv.DictWriter(stream, list(asked[0]))
        writer.writeheader()
        writer.writerows({**row, "answer": "pass"} for row in asked)
    assert "24 answers added" in run("label", "--session", "s.label", "--add", "b.csv")
    assert "gpt: 66.7" in run("label", "--session", "s.label")


def test_the_queue_of_the_service_hides_judges_and_systems_and_names_labels(tmp_path):
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    with running(tmp_path / "kept") as server:
        for stream, more in (("blind", {}), ("told", {"Verdict": "Pass"})):
            url = f"{server.address}/v1/streams/{stream}"
            assert httpx.put(url, json={"labels": ["pass", "fail"]}).status_code == 200
            show = {"Text": "Pass the salt", "gpt": "pass", "gpt reason": "so", "Who": "bot-7"}
            records = [
                {"item": f"q{k}", "system": "bot-7", "show": {**show, **more}}
                | {"votes": {"gpt": WORDS[k % 2], "llama": "pass"}}
                for k in range(20)
            ]
            assert httpx.post(f"{url}/records", json=records).json()["new"] == 20
            order = {"budget": 5, "overlap": 0}
            assert httpx.post(f"{url}/frames", json=order, timeout=60).status_code == 201
        text = httpx.get(f"{server.address}/streams/blind/label").text
        assert BLIND in text
        assert "Pass the salt" in text
        assert not [word for word in ("gpt", "bot-7", "llama") if word in text]
        text = httpx.get(f"{server.address}/streams/told/label").text
        assert "Not blind: Verdict is shown." in text
        assert BLIND not in text
