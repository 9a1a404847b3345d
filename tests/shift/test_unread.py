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


def test_wrapped_new_answers_are_not_called_worse() -> None:
    result = shift.evaluate(_table(raw_new=0.4), truth="gold", old="old", new="new")
    assert result.decision == "undecided"
    assert result.accuracy_change.interval.low < 0 < result.accuracy_change.interval.high
    assert "could not be read" in result.verdict
    assert any("'It may be" in one for one in result.warnings)
    assert not any(cell.survives for cell in result.top_cells if cell.answered == "(other)")


def test_wrapped_old_answers_do_not_make_new_ones_better() -> None:
    result = shift.evaluate(_table(raw_old=0.4), truth="gold", old="old", new="new")
    assert result.decision == "undecided"
    assert result.accuracy_change.interval.low < 0 < result.accuracy_change.interval.high


def test_the_way_of_reading_holds_for_both_columns() -> None:
    table = _table(raw_old=0.4, raw_new=0.4)
    for name in ("old", "new"):
        table[name] = [
            text.replace("It may be ", "Answer: ").removesuffix(", I think") for text in table[name]
        ]
    read = shift.evaluate(table, truth="gold", old="old", new="new", answer="words")
    unwrapped = {name: [text[-1] for text in column] for name, column in table.items()}
    plain = shift.evaluate(unwrapped, truth="gold", old="old", new="new")
    assert read.accuracy_change == plain.accuracy_change
    assert read.flip_rate == plain.flip_rate
    assert not read.warnings


def test_a_change_that_no_reading_can_turn_round_is_decided() -> None:
    table = _table(right=0.2)
    table["new"] = [gold if n % 4 else f"It may be {gold}" for n, gold in enumerate(table["gold"])]
    result = shift.evaluate(table, truth="gold", old="old", new="new")
    assert result.decision == "decided"
    assert "better" in result.verdict


def test_refusals_and_other_words_are_wrong_answers() -> None:
    table = _table()
    table["new"] = [
        "I'm sorry, I cannot help with that." if n % 3 == 0 else "E" if n % 3 == 1 else text
        for n, text in enumerate(table["new"])
    ]
    narrow = shift.evaluate(table, truth="gold", old="old", new="new")
    interval = narrow.accuracy_change.interval
    assert interval.high < 0
    # Two thirds are none of the labels: that much may also be another vocabulary.
    assert narrow.decision == "undecided"


def test_an_api_whose_answers_are_wrapped_is_not_called_worse() -> None:
    result = shift.evaluate(
        _table(raw_new=0.4), truth="gold", old="old", api="replay:new", budget=300
    )
    assert result.decision == "undecided"
    assert result.accuracy_change.interval.high > 0


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
