"""True labels that are a copy of one column: then they say nothing about that column's errors.

People label with a model's answer in view, or a script fills the column of labels from a model. The
labels then equal that model's answers on every row while the other columns err. A model may also be
that good: so this is a warning, and what every interval rests on, not a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tallystick.data.answer_counts import AnswerCounts

__all__ = ["CopiedTruth", "copied_truth", "likely_copy", "reversed_votes"]

_LEAST = 30
"""Rows with a label and an answer below which equal columns say little."""

_SHARE = 1 / 3
"""The share of the next best column's error rate that a good column is taken to have."""

_ACCIDENT = 0.05
_OPPOSITE = 0.35
"""Share of labelled rows below which a column of two labels says the opposite of the truth."""


@dataclass(frozen=True, kw_only=True)
class CopiedTruth:
    """A column that the truth equals on every labelled row.

    Parameters
    ----------
    truth, column
        The truth and the column.
    rows
        How many rows have both.
    other, agreement
        The next best column, and on which share of its labelled rows it equals the truth.
    """

    truth: str
    column: str
    rows: int
    other: str
    agreement: float


def copied_truth(counts: AnswerCounts) -> CopiedTruth | None:
    """Return the column that the truth may have been copied from, None if no column stands out.

    Examples
    --------
    >>> from tallystick.data import read
    >>> from tallystick.data.answer_counts import answer_counts
    >>> table = {"gold": [0, 1] * 40, "gpt": [0, 1] * 40, "claude": [0, 1, 0, 0] * 20}
    >>> copied_truth(answer_counts(read(table, truth="gold", judges=("gpt", "claude")))).column
    'gpt'
    """
    # A column that always says the one label is no copy.
    if counts.labels < 2 or len(counts.columns) < 2:
        return None
    return likely_copy(counts.truth, counts.agreements())


def reversed_votes(counts: AnswerCounts) -> tuple[str, float] | None:
    """Return the truth and the best agreement with it, where every column says the opposite.

    With two labels, columns that all agree with the truth on far less than half of the labelled
    rows are not that bad: 0 means "pass" on one side and "fail" on the other.
    """
    if counts.labels != 2:
        return None
    shares = [same / rows for rows, same in counts.agreements().values() if rows >= _LEAST]
    if not shares or len(shares) < len(counts.columns) or max(shares) >= _OPPOSITE:
        return None
    return counts.truth, max(shares)


def likely_copy(truth: str, agreements: Mapping[str, tuple[int, int]]) -> CopiedTruth | None:
    r"""Return the column whose agreement with the truth is too good, given the next best.

    With *n* labelled rows and a next best column that errs on a share *e* of its rows, a column
    that errs a third as often agrees everywhere with probability

    .. math:: (1 - e/3)^n .    \tag{CP1}

    Parameters
    ----------
    truth
        The column of true labels.
    agreements
        For each column, the rows that have both, and those on which the two are equal.

    Examples
    --------
    >>> likely_copy("gold", {"gpt": (51, 51), "claude": (51, 38)}).column
    'gpt'
    >>> likely_copy("gold", {"gpt": (51, 51), "claude": (51, 49)}) is None  # easy items
    True
    """
    shares = {name: same / rows for name, (rows, same) in agreements.items() if rows >= _LEAST}
    whole = [name for name, share in shares.items() if share == 1.0]
    others = {name: share for name, share in shares.items() if share < 1.0}
    if not whole or not others:
        return None
    column = max(whole, key=lambda name: agreements[name][0])
    other = max(others, key=others.__getitem__)
    rows = agreements[column][0]
    if (1 - _SHARE * (1 - others[other])) ** rows > _ACCIDENT:  # (CP1)
        return None
    return CopiedTruth(truth=truth, column=column, rows=rows, other=other, agreement=others[other])
