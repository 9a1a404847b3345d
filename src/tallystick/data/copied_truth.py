"""True labels that are a copy of one column: then they say nothing about that column's errors.

People label with a model's answer in view, or a script fills the column of labels from a model. The
labels then equal that model's answers on every row while the other columns err. A model may also be
that good: so this is a warning, and what every interval rests on, not a refusal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.data.counted_cells import spelled_codes
from tallystick.data.data import VOTES, Data
from tallystick.io import Table
from tallystick.tally import Tally
from tallystick.values import as_number, without_missing
from tallystick.values.sql import Kind

__all__ = ["CopiedTruth", "copied_truth", "likely_copy", "reversed_votes"]

_LEAST = 30
"""Rows with a label and an answer below which equal columns say little."""

_SHARE = 1 / 3
"""The share of the next best column's error rate that a good column is taken to have."""

_ACCIDENT = 0.05
_OPPOSITE = 0.35
"""Share of labelled rows below which a column of two labels says the opposite of the truth."""

_MOST_COLUMNS = 200


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


def copied_truth(data: Data) -> CopiedTruth | None:
    """Return the column that the truth may have been copied from, None if no column stands out.

    Labels of a labelling session are not looked at: its readers did not see the votes. Nor are rows
    that another engine holds.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"gold": [0, 1] * 40, "gpt": [0, 1] * 40, "claude": [0, 1, 0, 0] * 20}
    >>> copied_truth(read(table, truth="gold", judges=("gpt", "claude"))).column
    'gpt'
    """
    truth = data.roles.truth
    columns = data.roles.columns(*VOTES)[:_MOST_COLUMNS]
    if truth is None or data.session is not None or data.in_engine or len(columns) < 2:
        return None
    return likely_copy(truth, _agreements(data, truth, columns))


def reversed_votes(data: Data) -> tuple[str, float] | None:
    """Return the truth and the best agreement with it, where every column says the opposite.

    With two labels, columns that all agree with the truth on far less than half of the labelled
    rows are not that bad: 0 means "pass" on one side and "fail" on the other.
    """
    truth = data.roles.truth
    columns = data.roles.columns(*VOTES)[:_MOST_COLUMNS]
    if truth is None or data.in_engine or not columns:
        return None
    found = _agreements(data, truth, columns, most_labels=2)
    shares = [same / rows for rows, same in found.values() if rows >= _LEAST]
    if not shares or len(shares) < len(columns) or max(shares) >= _OPPOSITE:
        return None
    return truth, max(shares)


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


def _agreements(
    data: Data, truth: str, columns: Sequence[str], *, most_labels: int | None = None
) -> dict[str, tuple[int, int]]:
    """Return for each column the rows that have both, and those on which they are equal.

    Nothing is returned of a truth with one label, or with more than *most_labels*.
    """
    held, missing = data.held, data.rules.missing
    if isinstance(held, Tally):
        labels, found = _in_counts(held, (truth, *columns), missing)
    elif truth in held.columns:
        labels, found = _in_rows(held, truth, columns, missing)
    else:
        return {}
    # A column that always says the one label is no copy, and no opposite.
    if labels < 2 or (most_labels is not None and labels > most_labels):
        return {}
    pairs = zip(found[::2], found[1::2], strict=True)
    return {name: (int(rows), int(same)) for name, (rows, same) in zip(columns, pairs, strict=True)}


def _in_counts(
    tally: Tally, columns: Sequence[str], missing: Sequence[str]
) -> tuple[int, list[int]]:
    """Return how many true labels there are; rows with both and equal ones, for each column."""
    codes, counts = spelled_codes(tally, columns, missing)
    codes, counts = codes[codes[:, 0] >= 0], counts[codes[:, 0] >= 0]
    true = codes[:, 0]
    found = [
        int(counts[which].sum())
        for column in codes[:, 1:].T
        for which in (column >= 0, column == true)
    ]
    return len(np.unique(true)), found


def _in_rows(
    table: Table, truth: str, columns: Sequence[str], missing: Sequence[str]
) -> tuple[int, list[int]]:
    """Return the same of rows, counted in their engine."""
    true = _key(truth, table.kinds[truth], missing)
    cells = ", ".join(
        f"{_key(name, table.kinds[name], missing)} as c{k}" for k, name in enumerate(columns)
    )
    counts = ", ".join(
        f"count(c{k}), count(*) filter (where c{k} = t)" for k in range(len(columns))
    )
    [(labels, *found)] = table.query(
        f"select count(distinct t), {counts} from"
        f" (select {true} as t, {cells} from rows) where t is not null"
    )
    return int(labels), found


def _key(column: str, kind: Kind, missing: Sequence[str]) -> str:
    """Return the SQL of a cell such that cells which read alike are equal."""
    cell = f"({without_missing(column, kind, missing)})"
    if kind == "boolean":
        return f"cast(cast({cell} as integer) as double)::varchar"
    if kind != "text":
        return f"cast({cell} as double)::varchar"
    return f"coalesce(({as_number(cell, kind)})::varchar, lower(trim({cell})))"
