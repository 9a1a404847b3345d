"""Two hundred malformed tables at every change; ``make fuzz`` runs twenty thousand."""

from __future__ import annotations

import os
import sys

import pytest

from tests.fuzz import run
from tests.fuzz.run import Outcome, call, fault, findings
from tests.fuzz.tables import Case, case

FILES, CHUNK = 200, 25


@pytest.mark.parametrize("first", range(0, FILES, CHUNK))
def test_no_traceback_no_crash_no_hang_no_row_lost(first, tmp_path):
    for number in range(first, first + CHUNK):
        folder = tmp_path / str(number)
        folder.mkdir()
        one = case(number)
        assert fault(one, call(one, folder)) is None, f"case {number}: {one.arguments}"


@pytest.mark.parametrize("number", range(8))
def test_one_table_written_in_nine_ways_has_one_answer(number, tmp_path):
    assert run.moved(number, 0, tmp_path) is None


def test_a_case_is_made_again_by_its_number():
    assert case(17) == case(17)
    assert case(17) != case(17, seed=1)
    assert {case(number).arguments[0] for number in range(200)} >= {"tally", "judge", "audit"}


def test_the_fuzzer_notices_each_kind_of_fault():
    tally = Case(0, "t.csv", b"", ("tally", "t.csv", "--json"), 3)
    good = '{"n_items": 3}'
    assert fault(tally, Outcome(0, good, "")) is None
    assert fault(tally, Outcome(1, "", "t.csv is empty")) is None
    assert "traceback" in (fault(tally, Outcome(1, "", "Traceback …\nKeyError")) or "")
    assert "memory" in (fault(tally, Outcome(1, "", "MemoryError: Unable to allocate")) or "")
    assert "internal" in (fault(tally, Outcome(70, "", "internal error")) or "")
    assert "exit code 3" in (fault(tally, Outcome(3, "", "x")) or "")
    assert "without a message" in (fault(tally, Outcome(1, "", "")) or "")
    assert "2 of 3 rows" in (fault(tally, Outcome(0, '{"n_items": 2}', "")) or "")


def test_a_worker_that_dies_or_hangs_is_named_and_replaced(monkeypatch):
    stub = (
        "import os, sys, time\n"
        "a, b, *_ = map(int, sys.argv[2].split(','))\n"
        "for n in range(a, b):\n"
        "    print('begin', n, flush=True)\n"
        "    os.abort() if n == 1 else None\n"
        "    time.sleep(600) if n == 3 else None\n"
        "    print('end', n, 'null', flush=True)\n"
        "print('done', flush=True)\n"
    )
    real = run.subprocess.Popen

    def popen(command, **options):
        return real([sys.executable, "-c", stub, *command[-2:]], **options)

    monkeypatch.setattr(run.subprocess, "Popen", popen)
    monkeypatch.setattr(run, "PATIENCE", 3.0)
    found = list(findings(6, seed=0, first=0, per_process=6))
    assert [number for number, _ in found] == [1, 3]
    assert found[0][1].startswith("crash")
    assert found[1][1] == "hang"


def test_cases_run_in_a_process_of_their_own():
    assert list(findings(2, seed=0, first=0, per_process=2)) == []
    assert list(findings(2, seed=0, first=0, per_process=1)) == []


def test_a_case_that_kills_its_own_process_is_named_and_the_next_one_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(
        run, "_found", lambda number, *_: os.kill(os.getpid(), 9) if number == 1 else None
    )
    assert "crash: the process left with -9" in (run._forked(1, 0, tmp_path) or "")
    assert run._forked(2, 0, tmp_path) is None
