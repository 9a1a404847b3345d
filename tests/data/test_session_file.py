"""A session's file loses no acknowledged line, whatever happens while it is written."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tallystick.errors import FileError, FormatError
from tallystick.table.ledger import Ledger
from tallystick.table.session import SESSIONS, SessionFile

HEAD = {"question": "judge"}


def test_what_is_written_is_read_back_in_order(tmp_path):
    path = tmp_path / "s.label"
    with SessionFile(path, HEAD) as file:
        file.append([{"answer": 0, "label": "é\n\u2028"}, {"answer": 1, "label": None}])
    events = SESSIONS.read(path)
    assert events[0] == {"session": 1, "question": "judge"}
    assert events[1:] == [{"answer": 0, "label": "é\n\u2028"}, {"answer": 1, "label": None}]
    assert SESSIONS.begins(path)


def test_an_unfinished_line_is_left_out_and_then_cut_off(tmp_path):
    path = tmp_path / "s.label"
    with SessionFile(path, HEAD) as file:
        file.append([{"answer": 0}])
    whole = path.read_bytes()
    for cut in range(1, len(whole.splitlines()[1])):
        path.write_bytes(whole[:-cut])
        assert SESSIONS.read(path) == [{"session": 1, "question": "judge"}]
    with SessionFile(path) as file:
        file.append([{"answer": 7}])
    assert SESSIONS.read(path)[1:] == [{"answer": 7}]


@pytest.mark.parametrize("place", [0, 1])
def test_a_changed_lost_or_moved_line_is_refused(tmp_path, place):
    path = tmp_path / "s.label"
    with SessionFile(path, HEAD) as file:
        file.append([{"answer": 0, "label": "a"}, {"answer": 1, "label": "b"}, {"answer": 2}])
    lines = path.read_bytes().splitlines(keepends=True)
    lost = b"".join(line for k, line in enumerate(lines) if k != 1 + place)
    changed = b"".join(lines).replace(b'"a"', b'"b"', 1)
    moved = b"".join([lines[0], lines[2], lines[1], lines[3]])
    for body in (lost, changed, moved):
        path.write_bytes(body)
        with pytest.raises(FormatError, match="was changed"):
            SESSIONS.read(path)


def test_another_file_is_never_overwritten(tmp_path):
    path = tmp_path / "precious.csv"
    path.write_text("a,b\n1,2\n")
    with pytest.raises(FormatError, match="not a labelling session"):
        SessionFile(path, HEAD)
    assert path.read_text() == "a,b\n1,2\n"


def test_a_newer_format_is_refused(tmp_path):
    path = tmp_path / "s.label"
    Ledger(path, replace(SESSIONS, format=2), HEAD, busy="").close()
    with pytest.raises(FormatError, match="update tallystick"):
        SESSIONS.read(path)


def test_a_second_writer_is_told_and_a_reader_is_not_stopped(tmp_path):
    path = tmp_path / "s.label"
    with SessionFile(path, HEAD) as file:
        other = subprocess.run(
            [
                sys.executable,
                "-c",
                "import sys; from tallystick.table.session import SESSIONS, SessionFile\n"
                "print(len(SESSIONS.read(sys.argv[1])))\n"
                "SessionFile(sys.argv[1])",
                str(path),
            ],
            capture_output=True,
            text=True,
        )
        assert other.stdout == "1\n"
        assert "another process is writing" in other.stderr
        file.append([{"answer": 0}])
    with SessionFile(path) as file:  # let go, it can be opened again
        assert len(file.events) == 2


def test_a_full_disk_leaves_the_file_as_it_was(tmp_path):
    path = tmp_path / "s.label"
    with SessionFile(path, HEAD) as file:
        file.append([{"answer": 0}])
        before = path.read_bytes()
        limits = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 40, limits[1]))
        try:
            with pytest.raises(FileError, match="nothing of this was saved"):
                file.append([{"answer": k} for k in range(1, 9)])
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        assert path.read_bytes() == before
        file.append([{"answer": 1}])  # and it goes on when there is room
    assert [event.get("answer") for event in SESSIONS.read(path)] == [None, 0, 1]


@pytest.mark.parametrize("part", ["0", "0.5", "0.98", "written", "synced"])
def test_kill_9_at_every_write_loses_no_acknowledged_answer_and_doubles_none(tmp_path, part):
    driver = Path(__file__).with_name("session_kills.py")
    command = [sys.executable, str(driver), str(tmp_path), part, "1", "2", "4", "7"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=120)
    report = json.loads(done.stdout)
    assert list(report) == ["1", "2", "4", "7"]
    for call, run in report.items():
        assert run["left"] == -9
        killed = tmp_path / f"{call}.killed"
        begun = b"\n" in killed.read_bytes()
        kept = [e["answer"] for e in SESSIONS.read(killed)[1:]] if begun else []
        acknowledged = run["acknowledged"]
        assert kept[: len(acknowledged)] == acknowledged
        assert len(kept) <= len(acknowledged) + 1  # at most the one that was being written

        assert run["again"] == 0
        whole = SESSIONS.read(tmp_path / f"{call}.label")
        assert [e["answer"] for e in whole[1:]] == list(range(6))
    assert any(run["acknowledged"] for run in report.values())


def test_a_head_that_was_never_finished_is_begun_again(tmp_path):
    path = tmp_path / "s.label"
    path.write_bytes(b'{"session": 1, "que')
    with SessionFile(path, HEAD) as file:
        assert len(file.events) == 1
    assert path.stat().st_size > 30
