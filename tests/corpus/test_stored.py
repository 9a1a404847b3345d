"""Every file that the second version wrote is read or migrated, and says what it said then.

What a file holds is checked: counts, labels, answers that were paid for. Numbers that an estimator
makes of it are checked where the file promises them: a session ends by the rule that it began with.
"""

from __future__ import annotations

import contextlib
import csv
import json
import re
import shlex
import shutil
import sqlite3
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from tests.corpus.kept import same
from tests.corpus.run import STORED, run, served
from tests.corpus.tables import write_rows

JUDGES = "--judges gpt,claude,llama"
CALL = "items.csv --truth y --old spring --api replay:june --item id"
ASK = "ask items.csv --api replay:june --as gpt --labels good,bad --item id -o out.csv"


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """A copy of the stored files, which a test may change."""
    shutil.copytree(STORED, tmp_path, dirs_exist_ok=True)
    return tmp_path


def answer(folder: Path, line: str, stdin: bytes = b"") -> Any:
    """Run a command in the folder and return its JSON."""
    code, out, err = run((*shlex.split(line), "--json"), folder, stdin)
    assert code == 0, err
    return json.loads(out)


def at(value: Any, path: str) -> Any:
    """Return what stands at a dotted path of a JSON object."""
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


@pytest.mark.parametrize(
    ("folder", "line", "said"),
    [
        ("tally", "judge votes.tally --truth gold", {"n_items": 120, "n_labels": 40}),
        ("tally", "judge weighted.tally --ignore gold", {"n_items": 240}),
        ("tally", "merge votes.tally more.tally -o both.tally", {"n_items": 180, "patterns": 18}),
        (
            "tally",
            "bound cut.tally --score score --weak 'lf_*' --truth label --label-model majority",
            {"n_items": 200, "classes": ["ham", "spam"]},
        ),
        (
            "tally",
            "compare board.parquet",
            {"n_items": 80, "models.0.name": "new", "pairs.0.a_only": 12, "pairs.0.b_only": 2},
        ),
        ("tally", "compare board.csv", {"n_items": 80, "pairs.0.a_only": 12}),
        ("tally", f"judge items.csv {JUDGES} --truth gold", {"n_items": 120, "n_labels": 40}),
        (
            "label",
            "label --session judges.label",
            {
                "asked": 30,
                "answered": 20,
                "pending": 10,
                "stop": None,
                "measures.0.estimate": 0.915204678362573,
                "measures.0.interval": [0.6583333333333333, 0.975],
                "measures.0.anytime_interval": [0.5538565086517337, 0.975],
                "measures.2.anytime_interval": [0.4866182444957303, 0.9583333333333334],
            },
        ),
        (
            "label",
            "label --session score.label",
            {
                "asked": 30,
                "answered": 20,
                "pending": 10,
                "stop": None,
                "measures.0.name": "new - old",
                "measures.0.estimate": 0.26576576576576577,
                "measures.0.anytime_interval": [-0.5517138371596957, 0.825],
            },
        ),
        (
            "label",
            "label --session finished.label",
            {"answered": 30, "stop": "budget", "measures.0.name": "pass"},
        ),
        (
            "label",
            "label --session readers.label",
            {"asked": 15, "answered": 10, "pending": 5},
        ),
        ("label", f"judge votes.csv {JUDGES} --truth-file judges.label", {"n_labels": 20}),
        ("label", "score outputs.csv --truth-file score.label", {"n_labels": 20}),
        (
            "calls",
            f"shift {CALL} --budget 50 --journal shift.journal",
            {"calls": 50, "requests.from_journal": 50},
        ),
        (
            "calls",
            f"shift {CALL} --budget 50 --since shift.journal",
            {"flip_rate.estimate": 0.0, "calls": 50},
        ),
        ("calls", f"{ASK} --journal ask.journal", {"answered": 120, "from_journal": 120}),
        ("calls", f"{ASK} --journal killed.journal", {"answered": 120, "from_journal": 60}),
        (
            "calls",
            "shift baseline.csv --truth y --old old --new june",
            {"accuracy_change.estimate": -13 / 120, "flip_rate.estimate": 13 / 120},
        ),
        (
            "calls",
            "shift baseline items.csv --api replay:spring --as old --labels bad,good --item id"
            " --journal baseline.journal -o out.csv",
            {"n_items": 120},
        ),
        ("exports", f"judge rows.csv {JUDGES} --truth label", {"n_items": 160, "n_labels": 40}),
        ("exports", f"judge rows.ndjson {JUDGES} --truth label", {"n_items": 160, "n_labels": 40}),
        ("exports", f"judge rows.parquet {JUDGES} --truth label", {"n_items": 160, "n_labels": 40}),
        ("exports", "judge support.tally --truth label", {"n_items": 160, "n_labels": 40}),
    ],
)
def test_a_stored_file_says_what_it_said(
    folder: str, line: str, said: dict[str, Any], stored: Path
) -> None:
    found = answer(stored / folder, line)
    differ = {path: at(found, path) for path in said if not same(at(found, path), said[path])}
    assert not differ, said


def test_moments_are_read(stored: Path) -> None:
    import tallystick

    moments = tallystick.Moments.load(stored / "tally" / "scores.moments")
    assert moments.n == 80


def test_a_session_goes_on_where_it_stood(stored: Path) -> None:
    """The ten items that were asked for are answered, and the next batch holds others."""
    folder = stored / "label"
    first = _filled(folder / "judges-batch.csv", "pass")
    answer(folder, "label --session judges.label --add judges-batch.csv")
    done = answer(folder, "label --session judges.label --next 5 --out next.csv")
    assert (done["answered"], done["pending"]) == (30, 5)
    assert not first & _filled(folder / "next.csv", "fail")


def _filled(path: Path, label: str) -> set[str]:
    """Answer every item of a batch with this label and return the items."""
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    write_rows(path, list(rows[0]), [[*list(row.values())[:-1], label] for row in rows])
    return {row["id"] for row in rows}


def test_tasks_of_another_tool_come_back(stored: Path) -> None:
    folder = stored / "label"
    tasks = json.loads((folder / "tasks.json").read_text(encoding="utf-8"))
    for task in tasks:
        task["annotations"] = [{"completed_by": 1, "result": [{"value": {"choices": ["1"]}}]}]
    (folder / "export.json").write_text(json.dumps(tasks), encoding="utf-8")
    assert answer(folder, "label --session score.label --add export.json")["answered"] == 30
    records = json.loads((folder / "records.json").read_text(encoding="utf-8"))
    for record in records:
        record["responses"] = {"label": [{"value": "pass", "user_id": "a"}]}
    (folder / "export.json").write_text(json.dumps(records), encoding="utf-8")
    done = answer(folder, "label --session readers.label --add export.json --reader 1")
    assert (done["answered"], done["pending"]) == (15, 0)


def test_a_history_goes_on(stored: Path) -> None:
    folder = stored / "calls"
    answer(folder, f"shift {CALL} --budget 50 --seed 2 --history history.ndjson")
    lines = (folder / "history.ndjson").read_text(encoding="utf-8").splitlines()
    kept = (STORED / "calls" / "history.ndjson").read_text(encoding="utf-8").splitlines()
    assert lines[:2] == kept
    assert len(lines) == 3


def test_a_stream_goes_on_from_its_state_and_sees_what_changed(stored: Path) -> None:
    folder = stored / "calls"
    rest = (folder / "rest.csv").read_bytes()
    words = ("judge", "-", "--follow", "--window", "200", "--state", "watch.json")
    code, out, err = run(words, folder, rest)
    assert code == 0, err
    windows = [json.loads(line) for line in out.splitlines()]
    assert [one["window"]["start"] for one in windows] == [400, 600, 800]
    assert [one["window"]["end"] for one in windows if one["alarms"]] == [800]


def test_the_service_goes_on_with_its_queue_and_takes_what_a_client_kept(stored: Path) -> None:
    serve = pytest.importorskip("tallystick.serve")
    pytest.importorskip("starlette", reason="the extra serve is not installed")
    then = json.loads((stored / "exports" / "judge.json").read_text(encoding="utf-8"))
    with served(stored / "service") as url:
        found = _get(f"{url}/v1/streams/support/results/judge")
        assert found["n_items"] == then["n_items"]
        assert found["n_labels"] == then["n_labels"]
        asked = _get(f"{url}/v1/streams/bots/next")
        assert (asked["done"], asked["left"]) == (24, 16)
        spool = stored / "exports" / "votes.spool"
        serve.Client(f"{url}/v1/streams/support", spool=spool).close()
        assert _get(f"{url}/v1/streams/support")["rows"] == 165
        assert not spool.exists()
    # The start has brought the database up to date, and kept it as it was beside.
    checked = answer(stored / "service", "serve check --data .")
    assert (checked["ok"], [one["rows"] for one in checked["streams"]][-1]) == (True, 165)
    assert (stored / "service" / "tallystick-schema-4.sqlite").exists()


def _get(address: str) -> Any:
    with urllib.request.urlopen(address, timeout=60) as reply:
        return json.loads(reply.read())


def test_no_stored_file_holds_a_path_or_an_address() -> None:
    private = re.compile(rb"(?<![\w+/=])/(?:home|root|tmp|work|Users|var)/|127\.0\.0\.1|localhost")
    for path in STORED.rglob("*"):
        if path.is_file() and path.name != "README.md":
            assert not private.search(path.read_bytes()), path.name
    with contextlib.closing(sqlite3.connect(STORED / "service" / "tallystick.sqlite")) as database:
        assert database.execute("select count(*) from key").fetchone() == (0,)
