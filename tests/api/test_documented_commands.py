"""Every command that README and documentation show names a verb that exists, with options that it
has."""

import re
import shlex
from pathlib import Path

import click
import pytest

from tallystick.cli.app import app

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def leaves(command, path=()):
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from leaves(command.get_command(context, name), (*path, name))
    else:
        yield (
            path,
            {
                option
                for parameter in command.params
                for option in (*parameter.opts, *parameter.secondary_opts)
            },
        )


VERBS = dict(leaves(app))
ROOT_OPTIONS = {"--help", "-h", "--version"}


def commands(text):
    """Command lines in blocks of code, and in single words of code that begin like one."""
    joined = re.sub(r"\\\n\s*", " ", text)
    lines = re.findall(r"^\s*(?:\$ |- run: )?(tallystick (?!=)[^\n]*)$", joined, re.MULTILINE)
    shown = lines + re.findall(r"`(tallystick [^`\n]+)`", joined)
    return [line for line in shown if "<Tab>" not in line]


def words_of(line):
    try:
        words = shlex.split(line, comments=True)
    except ValueError:  # an apostrophe in a sentence around it
        words = line.split()
    ends = [i for i, word in enumerate(words) if word in ("|", ">", "&&", ";", "·", "or")]
    return words[1 : min(ends, default=len(words))]


def faults(line):
    words = words_of(line)
    if not words or words[0].startswith("-"):
        return [word for word in words if word.startswith("-") and word not in ROOT_OPTIONS]
    verb = next((path for path in VERBS if tuple(words[: len(path)]) == path), None)
    if verb is None:
        groups = {path[0] for path in VERBS if len(path) > 1}
        return [] if words[0] in groups or words[0] == "VERB" else [words[0]]
    options = [word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)]
    return [option for option in options if option not in VERBS[verb] | ROOT_OPTIONS]


SHOWN = [
    (page.relative_to(ROOT).as_posix(), line)
    for page in PAGES
    for line in commands(page.read_text("utf-8"))
]


def test_commands_are_found():
    assert len(SHOWN) > 25
    assert {page.partition("/")[0] for page, _ in SHOWN} == {"README.md", "docs"}


@pytest.mark.parametrize(("page", "line"), SHOWN)
def test_the_command_exists_with_its_options(page, line):
    assert faults(line) == [], f"{page}: {line}"


@pytest.mark.parametrize(
    "line",
    ["tallystick guess x.csv", "tallystick judge x.csv --truht gold", "tallystick --versoin"],
)
def test_a_wrong_command_would_be_found(line):
    assert faults(line) != []
