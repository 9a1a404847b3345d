"""How the command line leaves: bad input is 1, an error of ours is 70, and nothing is left lying."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tallystick.cli.tables


def test_an_error_of_ours_has_its_own_exit_code_and_asks_for_a_report(
    in_process, votes, monkeypatch
):
    def broken(tally):
        raise ZeroDivisionError("a fault")

    monkeypatch.setattr(tallystick.cli.tables, "describe", broken)
    done = in_process("tally", votes)
    assert done.returncode == 70
    assert "ZeroDivisionError: a fault" in done.stderr
    assert "Please report it" in done.stderr
    assert "Traceback" not in done.stderr
    monkeypatch.setenv("TALLYSTICK_TRACEBACK", "1")
    assert "Traceback" in in_process("tally", votes).stderr


@pytest.mark.parametrize(
    ("verb", "text", "name"),
    [
        ("tally", '{"a": "\\ud800", "b": "x"}\n', "surrogate"),
        ("tally", '{"": 1, "b": 2}\n', "a key is blank"),
        ("tally", "a\n" + "x" * 10, None),
    ],
)
def test_bad_input_is_refused_in_a_sentence(in_process, verb, text, name):
    done = in_process(verb, "-", stdin=text)
    assert done.returncode == (0 if name is None else 1)
    assert "Traceback" not in done.stderr
    assert name is None or name in done.stderr


def test_a_label_with_two_dashes_is_a_label(in_process, tmp_path):
    (tmp_path / "v.csv").write_text("item,a,b\n1,--1,1\n2,1,--1\n3,1,1\n", encoding="utf-8")
    done = in_process("judge", "v.csv", "--judges", "a,b", "--labels", "--1,1")
    assert done.returncode in (0, 1), done.stderr


@pytest.mark.parametrize(
    ("votes", "said"),
    [
        ('{"a": "x", "b": "x"}\n7\n', "line 2 of stdin is no JSON object"),
        ("a,b\n1,1\n1,2,3\n", "line 3 of stdin is no JSON object"),
        ("a,b\n1\n", "line 2 of stdin is no JSON object"),
        ("a,a\n1,1\n", "line 1 of stdin is no JSON object"),
    ],
)
def test_a_line_that_is_no_row_is_refused_by_its_number(in_process, votes, said):
    done = in_process("judge", "-", "--follow", "--window", "9", stdin=votes)
    assert (done.returncode, done.stdout) == (1, "")
    assert said in done.stderr


SLEEPER = """
import sys, time
from tallystick import cli
from tallystick.table.sources import scratch
from tallystick.cli import app
def run(*given, **options):
    print(scratch(), flush=True)
    time.sleep(60)
app.app.main = run
cli.main(["tally"])
"""


@pytest.mark.skipif(os.name != "posix", reason="only POSIX sends SIGTERM")
def test_sigterm_removes_the_scratch_files(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    ) as child:
        folder = Path(child.stdout.readline().strip())
        assert folder.is_dir()
        child.send_signal(signal.SIGTERM)
        child.wait(timeout=60)
    assert child.returncode == 143
    assert not folder.exists()


@pytest.mark.skipif(os.name != "posix", reason="only POSIX sends SIGKILL")
def test_leftovers_of_a_killed_process_are_removed_by_the_next(tmp_path):
    def start():
        return subprocess.Popen(
            [sys.executable, "-c", SLEEPER],
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "TMPDIR": str(tmp_path)},
        )

    with start() as first:
        left = Path(first.stdout.readline().strip())
        first.kill()
    assert left.is_dir()
    old = time.time() - 3600
    os.utime(left / "owner.lock", (old, old))
    with start() as second:
        alive = Path(second.stdout.readline().strip())
        os.utime(alive / "owner.lock", (old, old))
        assert not left.exists()
        with start() as third:
            third.stdout.readline()
            assert alive.is_dir()  # its owner lives
            third.terminate()
        second.terminate()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no FIFO")
def test_a_fifo_is_read_like_a_file(installed, votes, tmp_path):
    os.mkfifo(tmp_path / "pipe.csv")
    with subprocess.Popen(["cp", str(votes), str(tmp_path / "pipe.csv")]):
        done = installed("tally", "pipe.csv", "--json")
    assert done.returncode == 0, done.stderr
    assert '"n_items": 4' in done.stdout


def test_a_device_is_refused(in_process):
    done = in_process("tally", os.devnull)
    assert done.returncode == 1
    assert "is not a file" in done.stderr


@pytest.mark.skipif(os.name != "posix", reason="only POSIX has a umask")
def test_a_saved_tally_honours_the_umask(in_process, votes, tmp_path):
    before = os.umask(0o022)
    try:
        in_process("tally", votes, "-o", "t.tally")
    finally:
        os.umask(before)
    assert (tmp_path / "t.tally").stat().st_mode & 0o777 == 0o644
