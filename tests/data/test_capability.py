from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.table.capability import Demo, Question, answered, conclude, option, options_of
from tests.toy.coins import CAPABILITY, evaluate
from tests.toy.coins.question import CoinQuestion

TOSSES = {"toss": ["heads", "heads", "heads", "tails"] * 5, "who": ["ann", "bob"] * 10}


@dataclass(frozen=True, kw_only=True)
class Toy(Question):
    rounds: int = option(3, "How many.", low=1, high=9)
    share: float | None = option(None, "A share.", within=(0.0, 1.0))
    kind: str = option("fast", "Which.", choices=("fast", "slow"))
    levels: tuple[float, ...] = option((), "Several.", low=0.0)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"rounds": 0}, "rounds must be at least 1, got 0"),
        ({"rounds": 10}, "rounds must be at most 9, got 10"),
        ({"share": 1.0}, r"share must be in \(0, 1\), got 1.0"),
        ({"share": float("nan")}, r"share must be in \(0, 1\), got nan"),
        ({"kind": "slwo"}, "kind must be one of fast, slow, got 'slwo': did you mean 'slow'"),
        ({"levels": (0.5, -1.0)}, "levels must be at least 0, got -1.0"),
        ({"alpha": 0}, r"alpha must be in \(0, 1\), got 0"),
    ],
)
def test_a_question_refuses_what_its_options_rule_out(given: dict, named: str) -> None:
    with pytest.raises(InputError, match=named):
        Toy(**given)


def test_a_question_takes_what_its_options_allow_and_lists_them_in_order() -> None:
    Toy(rounds=9, share=None, kind="slow", levels=(0.0, 2.5))
    assert list(options_of(Toy)) == ["alpha", "seed", "rounds", "share", "kind", "levels"]


def test_options_are_sorted_into_question_roles_and_reading() -> None:
    result = evaluate(TOSSES, judges="toss", side="tails", alpha=0.1)
    assert (result.side, result.share, result.interval.level) == ("tails", 0.25, 0.9)
    asked = CoinQuestion(side="tails")
    assert answered(CAPABILITY, TOSSES, {"question": asked, "judges": "toss"}).side == "tails"
    # An option beside a question changes that question only.
    mixed = {"question": asked, "judges": "toss", "side": "heads"}
    assert answered(CAPABILITY, TOSSES, mixed).share == 0.75


def test_a_role_that_is_not_read_is_refused_instead_of_ignored() -> None:
    with pytest.raises(InputError, match="coins does not read 'truth': it reads judges, item, by"):
        evaluate(TOSSES, judges="toss", truth="who")


def test_slices_are_answered_too_and_data_that_was_opened_before_stays_open() -> None:
    with read(TOSSES, judges="toss", by="who") as data:
        result = answered(CAPABILITY, data, {})
        assert [one.label for one in result.slices] == ["ann", "bob"]
        assert {one.answer.interval.level for one in result.slices} == {0.975}
        assert result.n_items == sum(one.answer.n_items for one in result.slices) == 20
        assert data.tally("judges").n == 20


def test_notes_of_reading_come_first_and_once() -> None:
    def with_note(data, question):
        return replace(CAPABILITY.answer(data, question), notes=("read", "learnt"))

    with read(TOSSES, judges="toss") as data:
        noted = replace(data, notes=("read",))
        result = conclude(replace(CAPABILITY, answer=with_note), noted, CoinQuestion())
    assert result.notes[0] == "read"
    assert result.notes[-1] == "learnt"
    assert result.notes.count("read") == 1


def test_a_demo_spells_its_options_for_the_command_line() -> None:
    demo = Demo(story="", table={}, options={"judges": ("a", "b"), "no_ties": True, "alpha": 0.1})
    assert demo.command() == ["--judges", "a,b", "--no-ties", "--alpha", "0.1"]
