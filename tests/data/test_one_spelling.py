"""Capitals and blanks do not make two labels, where the table shows it."""

from __future__ import annotations

import pytest

from tallystick import compare, judge
from tallystick.errors import InputError

ROWS = 60


def table(**columns: list) -> dict[str, list]:
    return {name: (cells * ROWS)[:ROWS] for name, cells in columns.items()}


def test_a_slip_of_the_pen_is_read_as_the_label_of_the_truth_and_said() -> None:
    rows = table(gold=["refund", "billing"], old=["refund", "Billing"], new=["Refund ", "refund"])
    result = compare.evaluate(rows, truth="gold")
    assert [row.score for row in result.models] == [1.0, 0.5]
    assert any("differ only by capitals or blanks are read as one" in note for note in result.notes)


def test_a_truth_that_tells_capitals_apart_is_still_asked_about() -> None:
    rows = table(gold=["a", "A", "b"], x=["a", "a", "b"], y=["A", "b", "b"])
    with pytest.raises(InputError, match="spelled in two ways"):
        compare.evaluate(rows, truth="gold")


def test_without_a_truth_judges_that_each_keep_to_one_spelling_are_read_alike() -> None:
    rows = table(ann=["yes", "no"], bob=["Yes", "no"], eve=["yes", "no"])
    result = judge.evaluate(rows)
    assert result.agreement.pairs[0].raw.estimate == 1.0
    assert any("since no column tells them apart" in note for note in result.notes)


def test_a_judge_that_writes_both_spellings_may_mean_two_labels() -> None:
    rows = table(ann=["yes", "no", "yes"], bob=["Yes", "no", "yes"], eve=["yes", "no", "no"])
    with pytest.raises(InputError, match="spelled in two ways"):
        judge.evaluate(rows)


def test_a_tie_is_a_tie_in_any_spelling() -> None:
    rows = table(ann=["a", "b", "tie", "Tie"], bob=["a", "b", "TIE", "a"], eve=["a", "b", "b", "a"])
    result = judge.evaluate(rows)
    assert result.never_true == ("tie",)


def test_numbers_written_as_text_and_as_numbers_are_still_asked_about() -> None:
    rows = {"gold": ["0", "1"] * 30, "x": [0, 1] * 30, "y": [1, 1] * 30}
    with pytest.raises(InputError, match="spelled in two ways"):
        compare.evaluate(rows, truth="gold")
