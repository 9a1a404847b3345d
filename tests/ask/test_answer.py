import itertools
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick import ask
from tallystick.errors import FormatError, InputError
from tests.shift.conftest import serving

TABLE = {"id": [f"i{n}" for n in range(40)], "new": ["Yes.", "no", "I can't say.", "no"] * 10}
HTTP = {"request": {"id": "{id}", "new": "{new}"}, "item": "id", "name": "judge"}


def test_every_row_gets_its_answer_and_unread_ones_are_counted_apart(tmp_path):
    out = tmp_path / "votes.csv"
    result = ask(TABLE, api="replay:new", labels=("yes", "no"), out=out, name="gpt")
    assert result.table["gpt"][:4] == ["yes", "no", "(unread)", "no"]
    assert (result.asked, result.answered, result.unread, result.failed) == (40, 40, 10, 0)
    assert result.examples == ("I can't say.",)
    assert any("25.0" in warning and "--answer" in warning for warning in result.warnings)
    assert out.read_text().splitlines()[1] == "i0,Yes.,yes"
    rows = result.rows()
    assert {row["answer"]: row["rows"] for row in rows} == {"yes": 10, "no": 20, "(unread)": 10}
    assert sum(row["share"] for row in rows) == 1.0
    body = result.to_dict()
    assert "table" not in body
    for name in ("column", "asked", "answered", "unread", "failed", "cost", "examples"):
        assert name in body


def test_repeats_and_pairs_make_their_columns(tmp_path, monkeypatch):
    (tmp_path / "pair_api.py").write_text(
        "def better(row):\n    return 'A' if row['a'] > row['b'] else 'B'\n\n"
        "def first(row):\n    return 'A'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    table = {"id": [1, 2], "a": [5, 1], "b": [2, 4]}
    options = {"pair": "a,b", "labels": ("A", "B", "tie"), "name": "j", "item": "id"}
    fair = ask(table, api="python:pair_api:better", **options)
    assert fair.table["j"] == ["A", "B"]
    assert fair.disagree == 0
    biased = ask(table, api="python:pair_api:first", **options)
    assert biased.table["j"] == ["tie", "tie"]
    assert biased.disagree == 2
    assert biased.columns == ("j", "j.as_given", "j.swapped")
    again = ask(table, api="python:pair_api:first", repeats=3, item="id")
    assert again.columns == ("answer", "answer.2", "answer.3")
    assert again.asked == 6


def test_a_busy_server_slows_the_whole_client():
    table = {"id": [f"b{n}" for n in range(60)], "new": ["yes"] * 60}
    with serving(faults=0.05, kinds=("429",)) as api:
        ask(table, api=api.url, timeout=30, concurrency=4, **HTTP)
        stats = api.stats()
    assert stats["faults"]["429"]
    times = stats["times"]
    gaps = [later - before for before, later in itertools.pairwise(times)]
    longest = max(range(len(gaps)), key=gaps.__getitem__)
    assert gaps[longest] >= 0.9  # Retry-After: 1, and nobody asks meanwhile
    assert len(times) - longest > 10  # not only the item that was refused came later


def test_failed_rows_are_blank_and_are_asked_again_on_resume(tmp_path, monkeypatch):
    (tmp_path / "moody_api.py").write_text(
        "import os\n\ndef ask(row):\n    if row['n'] % 7 == 3 and not os.environ.get('WELL'):\n"
        "        raise ValueError('no')\n    return 'yes'\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    options = {"api": "python:moody_api:ask", "journal": tmp_path / "j", "name": "x"}
    table = {"n": list(range(50))}
    first = ask(table, **options)
    assert first.failed == 7
    assert first.table["x"][3] is None
    assert any("asks only these again" in warning for warning in first.warnings)
    monkeypatch.setenv("WELL", "1")
    second = ask(table, **options)
    assert (second.failed, second.answered, second.from_journal) == (0, 50, 43)
    assert second.cost.sent == 57


def test_the_limit_on_money_is_hard_and_what_is_left_is_blank(tmp_path):
    result = ask(TABLE, api="replay:new", price="0.5 USD", max_cost=10.2)
    assert result.cost.spent == 10.0
    assert sum(one is not None for one in result.table["answer"]) == 20
    assert any("20 questions were not asked" in warning for warning in result.warnings)
    told = []
    ask(TABLE, api="replay:new", price="0.5 USD", confirm=told.append)
    assert "40 questions (0 are in the journal), for about 20 USD, at most 20 USD" in told[0]


def test_stored_answers_are_read_again_without_a_call(tmp_path):
    table = {"id": [1, 2], "new": ["I would say yes.", "After all that: the answer is no."]}
    options = {"api": "replay:new", "labels": ("yes", "no"), "journal": tmp_path / "j"}
    assert ask(table, answer="exact", **options).unread == 2
    words = ask(table, answer="words", **options)
    assert words.table["answer"] == ["yes", "no"]
    assert words.cost.sent == 2
    with pytest.raises(FormatError, match="was asked something else"):
        ask({"id": [1, 2], "new": ["no", "no"]}, **options)


def test_a_file_that_is_no_journal_is_never_overwritten(tmp_path):
    (tmp_path / "notes.txt").write_text("dear diary")
    with pytest.raises(FormatError, match="not a journal"):
        ask(TABLE, api="replay:new", journal=tmp_path / "notes.txt")
    assert (tmp_path / "notes.txt").read_text() == "dear diary"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "--api"),
        ({"api": "replay:new", "name": "id"}, "already"),
        ({"api": "replay:new", "pair": "id,other"}, "'other'"),
        *(
            ({"api": "replay:new", "pair": pair}, r"pair \(--pair\) must name two columns")
            for pair in ("id", ("id", "id"), ("id", "new", "c"), ("id,",))
        ),
        ({"api": "replay:new", "name": "  "}, "must not be blank"),
        ({"api": "replay:new", "answer": "sometimes"}, "--answer"),
        ({"api": "openai:m@http://127.0.0.1:9", "prompt": "{nothing}"}, "nothing"),
    ],
)
def test_what_can_be_known_to_be_wrong_is_refused_before_a_call(options, words):
    with pytest.raises(InputError, match=words):
        ask(TABLE, **options)


def test_a_killed_run_resumes_and_says_what_was_paid_twice(tmp_path):
    rows = "\n".join(f"k{n},yes" for n in range(120))
    (tmp_path / "t.csv").write_text(f"id,new\n{rows}\n")
    with serving(delay=0.02) as api:
        command = [sys.executable, "-m", "tallystick", "ask", "t.csv", "--api", api.url]
        command += ["--request", json.dumps(HTTP["request"]), "--journal", "j", "--as", "x"]
        command += ["--json"]
        for lines in (40, 120):
            process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL)
            deadline = time.monotonic() + 60
            while _lines(tmp_path / "j") < lines and time.monotonic() < deadline:
                time.sleep(0.005)
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        done = subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
        )
        stats = api.stats()
    body = json.loads(done.stdout)
    assert (body["answered"], body["failed"]) == (120, 0)
    assert body["from_journal"] > 20
    # A request is journalled before it leaves, so a kill may stop it on its way: the journal counts
    # at least what the server saw, and at most the eight in flight at each of two kills more.
    sent, seen = body["cost"]["sent"], sum(stats["requests"].values())
    assert len(stats["requests"]) == 120
    assert seen <= sent <= seen + 2 * 8
    assert body["cost"]["paid_twice"] == sent - 120
    assert seen - 120 <= body["cost"]["paid_twice"]


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
