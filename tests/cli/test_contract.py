"""The contract of the command line, held through the installed command."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from tests.cli.conftest import COMMAND

EVERY_OBJECT_HAS = {
    "schema",
    "verb",
    "verdict",
    "decision",
    "needed",
    "n_items",
    "assumptions",
    "warnings",
}


def test_json_is_exactly_one_object_on_stdout(installed, votes):
    done = installed("tally", votes, "--json")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") == 1
    out = json.loads(done.stdout)
    assert set(out) >= EVERY_OBJECT_HAS | {"columns", "patterns"}
    assert out["verb"] == "tally"
    assert out["columns"] == {"ann": ["ham", "spam"], "bob": ["ham", "spam", None]}
    assert out["patterns"] == 4
    assert out["n_items"] == 4


def test_what_was_read_is_part_of_the_answer(tallystick, votes):
    done = tallystick("tally", votes)
    assert done.stderr == ""
    first, second, *_ = done.stdout.splitlines()
    assert first == "read: 4 items (item) · judges ann, bob: ham or spam"
    assert second.startswith("4 rows of 2 columns show 4 of")


@pytest.mark.parametrize(
    "arguments", [("tally",), ("tally", "x.csv", "--nonsense"), ("nonsense",), ("merge", "a")]
)
def test_wrong_usage_leaves_with_two(tallystick, arguments):
    done = tallystick(*arguments)
    assert done.returncode == 2
    assert "Usage" in done.stderr
    assert done.stdout == ""


def test_a_reader_that_closes_its_pipe_early_causes_no_traceback(votes):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [COMMAND, "tally", str(votes)],
        stdout=write,
        stderr=subprocess.PIPE,
        check=False,
        timeout=60,
    )
    os.close(write)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr


def test_control_c_leaves_with_130_and_no_partial_file(tmp_path):
    """Interrupt a count whose input never ends; the tally that was there before stays whole."""
    out = tmp_path / "t.tally"
    out.write_bytes(b"what was there before")
    process = subprocess.Popen(
        [COMMAND, "tally", "-", "-o", str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=tmp_path,
    )
    # More than a pipe holds: when it is written, the command is reading.
    process.stdin.write(b"a,b\n" + b"1,0\n" * 100_000)
    process.stdin.flush()
    time.sleep(0.2)
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130
    assert stdout == b""
    assert b"Traceback" not in stderr
    assert out.read_bytes() == b"what was there before"
    assert [path.name for path in tmp_path.iterdir()] == ["t.tally"]


def test_control_c_during_a_long_count_leaves_with_130(tmp_path):
    draw = np.random.default_rng(0)
    rows = 1_000_000
    columns = {f"c{j}": draw.integers(0, 9000, rows).astype("int16") for j in range(6)}
    parquet.write_table(pa.table({"item": np.arange(rows), **columns}), tmp_path / "many.parquet")
    process = subprocess.Popen(
        [COMMAND, "tally", str(tmp_path / "many.parquet"), "-o", str(tmp_path / "t.tally")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    time.sleep(2)  # by now it counts
    process.send_signal(signal.SIGINT)
    _, stderr = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in stderr
    assert not (tmp_path / "t.tally").exists()


def test_the_version_is_that_of_the_package(tallystick):
    import tallystick as package

    assert tallystick("--version").stdout.strip() == package.__version__


def test_help_is_quick():
    best = min(_seconds([COMMAND, "--help"]) for _ in range(5))
    floor = min(_seconds([sys.executable, "-c", "pass"]) for _ in range(5))
    assert best - floor < 0.3, (
        f"--help took {best:.2f} s, of which {floor:.2f} s were the interpreter's"
    )


def test_a_verb_that_is_mistyped_is_suggested(tallystick):
    assert "did you mean 'compare'?" in tallystick("compar").stderr


def _seconds(command):
    """CPU seconds of a child: wall time would measure the neighbours too."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True, timeout=60)
    after = os.times()
    return (after.children_user - before.children_user) + (
        after.children_system - before.children_system
    )


def test_signs_that_steer_a_terminal_are_spelled_out(tallystick, tmp_path):
    for name, text, code in (("name", "a\x1b[31m,b\nx,y\n", 1), ("cell", "a,b\n\u202ex,y\n", 0)):
        (tmp_path / f"{name}.csv").write_text(text, encoding="utf-8")
        done = tallystick("tally", f"{name}.csv")
        assert done.returncode == code, done.stderr
        assert "\x1b" not in done.stdout + done.stderr
        assert "\u202e" not in done.stdout + done.stderr
