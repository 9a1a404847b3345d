"""The name alone shows how to begin, with commands that exist."""

from __future__ import annotations

import re

from click.testing import CliRunner

from tallystick.cli.app import START, app, summaries


def test_the_name_alone_shows_the_commonest_commands() -> None:
    run = CliRunner().invoke(app, [])
    assert (run.exit_code, run.output) == (0, START)
    assert all(len(line) <= 100 for line in START.splitlines())


def test_every_command_that_it_shows_exists() -> None:
    shown = re.findall(r"tallystick ([a-z]+) ", START)
    assert len(shown) >= 4
    assert {name for name in shown if name != "says"} <= set(summaries())
