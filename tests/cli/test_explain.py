"""Every verb and every word can be explained, in the terminal as in the docs."""

from __future__ import annotations

import pytest
from click.testing import CliRunner

from tallystick.cli.app import app, summaries
from tallystick.cli.first import explained, pages
from tallystick.errors import InputError
from tallystick.report.terminal import glossary

NOT_EXPLAINED = {"tally", "merge", "demo", "doctor", "explain"}
"""Verbs that conclude nothing."""


def test_every_verb_that_answers_has_a_page() -> None:
    assert set(summaries()) - NOT_EXPLAINED <= set(pages())


@pytest.mark.parametrize("verb", sorted(pages()))
def test_a_page_fits_the_terminal_and_names_no_markup(verb: str) -> None:
    text = explained(verb)
    assert all(len(line) <= 96 for line in text.splitlines())
    assert not {"**", "`"} & {text[i : i + n] for n in (1, 2) for i in range(len(text))}
    assert verb in text.splitlines()[0]


def test_a_word_is_found_in_any_case_number_and_spelling() -> None:
    for term in ("tier", "Tiers", "TIER"):
        assert explained(term).startswith("tier: ")
    assert explained("rank-interval").startswith("rank interval: ")
    assert explained("p-value").startswith("p-value: ")
    assert explained("shift baseline") == explained("shift")


def test_a_verb_that_is_also_a_word_gets_both() -> None:
    told = explained("label")
    assert told.startswith("How to read")
    assert f"label: {glossary()['label']}" in " ".join(told.split())


def test_an_unknown_word_is_answered_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean 'interval'"):
        explained("intervall")
    with pytest.raises(InputError, match="there are "):
        explained("xyzzy")


def test_the_command_prints_it_and_lists_everything_without_a_word() -> None:
    run = CliRunner().invoke(app, ["explain", "flip"])
    assert (run.exit_code, run.output.split(":")[0]) == (0, "flip")
    listed = CliRunner().invoke(app, ["explain"]).output
    assert all(name in listed for name in (*pages(), *glossary()))
