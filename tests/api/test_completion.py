"""Shell completion, as documented: verbs and options are offered. Click writes it for every shell."""

import os
import subprocess
import sys
from pathlib import Path

COMMAND = str(Path(sys.executable).with_name("tallystick"))


def ask(what, **asked):
    env = {**os.environ, "_TALLYSTICK_COMPLETE": what, **asked}
    done = subprocess.run(
        [COMMAND], env=env, capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout


def test_verbs_and_options_are_completed_by_the_script_of_a_shell():
    assert "_TALLYSTICK_COMPLETE" in ask("zsh_source")
    verbs = ask("bash_complete", COMP_WORDS="tallystick jud", COMP_CWORD="1")
    assert "judge" in verbs
    assert "compare" not in verbs
    options = ask("bash_complete", COMP_WORDS="tallystick judge --tr", COMP_CWORD="2")
    assert "--truth" in options
