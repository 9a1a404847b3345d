"""The name alone shows how to begin, with commands that exist."""

from __future__ import annotations

import re
import shlex

from click.testing import CliRunner

from tallystick.cli.app import START, app, summaries
from tallystick.cli.verb import command_of
from tallystick.registry import ENTRIES, capability


def test_the_name_alone_shows_the_commonest_commands() -> None:
    run = CliRunner().invoke(app, [])
    assert (run.exit_code, run.output) == (0, START)
    assert all(len(line) <= 100 for line in START.splitlines())


def test_every_command_that_it_shows_exists() -> None:
    shown = re.findall(r"tallystick ([a-z]+) ", START)
    assert len(shown) >= 4
    assert {name for name in shown if name != "says"} <= set(summaries())


def test_the_help_of_every_verb_ends_with_an_example_that_its_own_parser_takes() -> None:
    for entry in ENTRIES:
        shown = CliRunner().invoke(app, [*entry.verb.split(), "--help"]).output
        assert f"Example:\n    tallystick {entry.example}" in shown, entry.verb
        words = shlex.split(entry.example)[len(entry.verb.split()) :]
        command = command_of(capability(entry.verb))
        command.make_context(entry.verb, words)  # an unknown option would raise
