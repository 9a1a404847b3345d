"""Answers that were not read as a label decide nothing that they could turn round."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import shift
from tallystick.sampling import Strata
from tallystick.verbs.shift.assess import assess
from tallystick.verbs.shift.design import Items
from tallystick.verbs.shift.estimates import Answers

LABELS = ["A", "B", "C", "D"]


def _table(*, raw_old: float = 0.0, raw_new: float = 0.0, right: float = 0.8) -> dict[str, list]:
    """Two columns of equally good answers, some of them wrapped in a sentence."""
    rng = np.random.default_rng(7)
    gold = rng.choice(LABELS, 400)

    def answers(share: float) -> list[str]:
        plain = np.where(rng.random(400) < right, gold, rng.choice(LABELS, 400))
        wrapped = rng.random(400) < share
        return [f"It may be {a}, I think" if w else a for a, w in zip(plain, wrapped, strict=True)]

    return {"gold": gold.tolist(), "old": answers(raw_old), "new": answers(raw_new)}


@pytest.mark.parametrize("which", ["raw_new", "raw_old"])
@pytest.mark.parametrize("way", [{"new": "new"}, {"api": "replay:new", "budget": 300}])
def test_wrapped_answers_make_neither_version_better(which, way) -> None:
    result = shift(_table(**{which: 0.4}), truth="gold", old="old", **way)
    assert result.decision == "undecided"
    assert result.accuracy_change.interval.low < 0 < result.accuracy_change.interval.high
    if which == "raw_new":
        assert "could not be read" in result.verdict
        assert not any(cell.survives for cell in result.top_cells if cell.answered == "(other)")


def test_the_way_of_reading_holds_for_both_columns() -> None:
    table = _table(raw_old=0.4, raw_new=0.4)
    for name in ("old", "new"):
        table[name] = [
            text.replace("It may be ", "Answer: ").removesuffix(", I think") for text in table[name]
        ]
    read = shift(table, truth="gold", old="old", new="new", answer="words")
    unwrapped = {name: [text[-1] for text in column] for name, column in table.items()}
    plain = shift(unwrapped, truth="gold", old="old", new="new")
    assert read.accuracy_change == plain.accuracy_change
    assert read.flip_rate == plain.flip_rate
    assert not read.warnings


def test_a_change_that_no_reading_can_turn_round_is_decided() -> None:
    table = _table(right=0.2)
    table["new"] = [gold if n % 4 else f"It may be {gold}" for n, gold in enumerate(table["gold"])]
    result = shift(table, truth="gold", old="old", new="new")
    assert result.decision == "decided"
    assert "better" in result.verdict


def test_refusals_are_answers_and_other_words_may_be_another_vocabulary() -> None:
    def answered(first: str, second: str):
        table = _table()
        table["new"] = [
            first if n % 3 == 0 else second if n % 3 == 1 else text
            for n, text in enumerate(table["new"])
        ]
        return shift(table, truth="gold", old="old", new="new")

    declined = "I'm sorry, I cannot help with that."
    refused, strange = answered(declined, "E"), answered("F", "E")
    for result in (refused, strange):
        assert result.accuracy_change.interval.high < 0
    assert refused.changed is True
    assert refused.unheard["refused"].answers == 134
    # Two thirds are words that are none of the labels.
    assert strange.decision == "undecided"


def test_the_interval_grows_by_the_share_that_was_not_read() -> None:
    items = Items.of(["A", "B"] * 50, old=["A", "B"] * 50)
    codes = items.truth.copy()
    codes[:10] = 2
    strata = Strata(items.truth)
    asked = np.arange(100)
    plain = assess(items, strata, Answers.of(asked, codes)).accuracy_change.interval
    why = (asked < 10).astype(int)
    wide = assess(items, strata, Answers.of(asked, codes, why=why)).accuracy_change.interval
    assert wide.low == plain.low
    assert wide.high == pytest.approx(plain.high + 0.1)


def test_an_api_that_declines_everything_has_changed():
    """A refusal is read as one: only what may hold a label proves nothing."""
    table = {**_table(), "new": ["I'm sorry, I can't."] * 400}
    found = shift(table, truth="gold", old="old", api="replay:new", budget=100, deterministic=True)
    assert found.changed is True
    assert found.verdict.startswith("The API changed: 100.0")
    assert found.unheard["refused"].answers == found.calls


def test_labels_on_a_part_leave_the_headline_alone_and_are_named():
    gold = [label if n < 40 else None for n, label in enumerate(["a", "b"] * 100)]
    old = ["a", "b"] * 100
    new = ["b" if n % 4 == 0 else label for n, label in enumerate(old)]
    found = shift({"id": range(200), "gold": gold, "old": old, "new": new}, item="id",
                  truth="gold", old="old", new="new", deterministic=True)  # fmt: skip
    assert found.verdict.startswith("The API changed: 25.0")
    assert "on the 40 items with a true label" in found.verdict
    assert found.flip_rate.estimate == 0.25
