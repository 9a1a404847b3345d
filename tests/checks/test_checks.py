"""Every verb in the registry passes every check, the toy capability included."""

from __future__ import annotations

import json
import shlex

import pytest
from click.testing import CliRunner

from tallystick import registry
from tallystick.cli.app import app
from tests.checks.checks import CHECKS, SAID, Subject, shown

TOY = registry.Entry("coins", "tests.toy.coins:CAPABILITY", "Is this coin fair?")


@pytest.fixture(scope="module")
def subjects():
    """One subject per verb, so that its answer is worked out once."""
    registry.ENTRIES.append(TOY)
    yield {verb: Subject(verb) for verb in shown()}
    registry.ENTRIES.remove(TOY)


@pytest.mark.parametrize("verb", [*shown(), TOY.verb])
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_verb_passes_every_check(check, verb, subjects, tmp_path):
    check(subjects[verb], tmp_path)


@pytest.mark.parametrize(
    "entry", [one for one in registry.ENTRIES if registry.capability(one.verb).input != "required"],
    ids=lambda one: one.verb,
)  # fmt: skip
def test_a_verb_without_a_table_answers_the_call_of_its_help(entry):
    done = CliRunner().invoke(app, [*shlex.split(entry.example), "--json"])
    assert done.exit_code == 0, done.output
    assert set(SAID) <= set(json.loads(done.stdout))
    wrong = CliRunner().invoke(app, [*shlex.split(entry.example), "--nonsense"])
    assert wrong.exit_code == 2
