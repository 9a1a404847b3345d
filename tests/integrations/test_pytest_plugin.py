"""The fixture lets a build pass only when the data say so."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.errors import InputError
from tallystick.integrations.pytest_plugin import check_gate

SCORES = {"old": [1, 0, 0, 0] * 50, "new": [1, 1, 0, 1] * 50}
CLOSE = {"old": [1, 0] * 10, "new": [1, 1, 0, 0] * 5}


def test_a_gate_that_holds_returns_the_result() -> None:
    assert check_gate("compare", SCORES, "new >= old").gates[0].passed


def test_a_gate_that_fails_fails_the_test_with_the_verdict() -> None:
    with pytest.raises(pytest.fail.Exception, match=r"failed: old >= new\nnew is better than old"):
        check_gate("compare", SCORES, "old >= new")


def test_an_undecided_gate_is_no_pass_unless_the_test_says_so() -> None:
    with pytest.raises(pytest.fail.Exception, match="undecided: new >= old"):
        check_gate("compare", CLOSE, "new >= old")
    with pytest.raises(pytest.skip.Exception, match="undecided"):
        check_gate("compare", CLOSE, "new >= old", undecided="skip")
    assert check_gate("compare", CLOSE, "new >= old", undecided="pass").gates[0].passed is None


def test_a_test_without_a_gate_is_refused() -> None:
    with pytest.raises(InputError, match="at least one gate"):
        check_gate("compare", SCORES)


def test_the_fixture_works_in_a_real_run_and_shows_its_verdicts(tmp_path: Path) -> None:
    (tmp_path / "test_release.py").write_text(
        "SCORES = {'old': [1, 0, 0, 0] * 50, 'new': [1, 1, 0, 1] * 50}\n"
        "def test_good(tallystick_gate):\n"
        "    tallystick_gate('compare', SCORES, 'new >= old')\n"
        "def test_bad(tallystick_gate):\n"
        "    tallystick_gate('compare', SCORES, 'old >= new')\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q"]
    entries = subprocess.run(
        [*command, "--trace-config", "--collect-only", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
    ).stdout
    if "tallystick" not in entries:  # a checkout that was not installed again
        command += ["-p", "tallystick.integrations.pytest_plugin"]
    junit = tmp_path / "report.xml"
    run = subprocess.run(
        [*command, f"--junit-xml={junit}", str(tmp_path)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        check=False,
    )
    assert run.returncode == 1
    assert "1 failed, 1 passed" in run.stdout
    assert "test_good: new is better than old" in run.stdout
    assert "tallystick_verdict" in junit.read_text(encoding="utf-8")
