"""Shell completion, as documented: every shell is offered verbs and options."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = str(Path(sys.executable).with_name("tallystick"))


def ask(shell, words):
    asked = {
        "bash": {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)},
        "zsh": {"COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)},
        "fish": {"COMP_WORDS": words, "COMP_CWORD": words.split()[-1]},
    }[shell]
    return subprocess.run(
        [COMMAND],
        env={**os.environ, "_TALLYSTICK_COMPLETE": f"{shell}_complete", **asked},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    ).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_verbs_and_options_are_completed(shell):
    verbs = ask(shell, "tallystick jud")
    assert "judge" in verbs
    assert "compare" not in verbs
    assert "--truth" in ask(shell, "tallystick judge --tr")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_named_shell_can_be_had(shell):
    asked = {**os.environ, "_TALLYSTICK_COMPLETE": f"{shell}_source"}
    done = subprocess.run(
        [COMMAND], env=asked, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert "_TALLYSTICK_COMPLETE" in done.stdout
