"""Labels that lie together in time, or in the numbers of the items, wherever their rows stand.

A table that was shuffled on export hides a block of labels (`label_block`). When each row was made,
or its running number, still shows it: the last hundred answers were labelled, and nothing is known
of those before.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tallystick.data.data import Data
from tallystick.data.detect.names import tokens
from tallystick.data.label_block import BEYOND_CHANCE, FEWEST_LABELS, label_cell, labelled_table
from tallystick.io import Table, identifier

__all__ = ["LabelOrder", "free_columns", "label_order"]

_LOOKED = 200
"""Rows by which a column is taken for a time or a running number."""

_MOST_LOOKED, _MOST_COLUMNS = 60, 6
_DIFFERENT = 0.9
"""Share of different numbers from which a column numbers its rows."""

_OF_LABELS = frozenset(
    {
        *("label", "labels", "labeled", "labelled", "labeling", "labelling", "annotated"),
        *("annotation", "annotator", "graded", "grade", "grading", "reviewed", "review", "rated"),
        *("rating", "judged", "checked", "updated", "update", "modified", "changed", "edited"),
        *("completed", "submitted", "lead", "seconds", "duration", "latency", "length", "tokens"),
        *("chars", "words"),
    }
)
"""Words in the names of columns that labelling itself fills or changes, or that measure an answer.
"""


@dataclass(frozen=True, kw_only=True)
class LabelOrder:
    """Where all labels lie in the order of another column.

    Parameters
    ----------
    truth
        Column of the labels.
    column
        The column that orders the rows.
    labels
        How many there are.
    low, high
        Its cells between which they all lie, as they are written.
    share
        The part of all rows between them.
    """

    truth: str
    column: str
    labels: int
    low: str
    high: str
    share: float


def label_order(data: Data) -> LabelOrder | None:
    r"""Return the column by which all labels lie together, if chance would not put them there.

    As for blocks of rows: m places drawn from [0, 1] lie within a span of s with chance
    :math:`m s^{m-1} - (m-1) s^m`, and s is the share of rows between the first and the last label.

    Examples
    --------
    >>> from tallystick.data import read
    >>> made = [7 * k % 100 for k in range(100)]
    >>> gold = [1 if day < 20 else None for day in made]
    >>> table = {"day": made, "x": [0, 1] * 50, "y": [1, 1] * 50, "gold": gold}
    >>> found = label_order(read(table, judges=("x", "y"), truth="gold"))
    >>> found.column, found.high, found.share
    ('day', '19', 0.2)
    """
    held = labelled_table(data)
    if held is None:
        return None
    table, truth = held
    orders = _orders(data, table)
    label = label_cell(table, truth, frozenset(data.rules.missing)) if orders else None
    if label is None:
        return None
    ends = ", ".join(
        f"min({x}) filter ({label} is not null), max({x}) filter ({label} is not null), count({x})"
        for x in orders.values()
    )
    [(rows, labels, *found)] = table.query(f"select count(*), count({label}), {ends} from rows")
    if labels < FEWEST_LABELS or labels == rows:
        return None
    for place, (name, x) in enumerate(orders.items()):
        low, high, known = found[3 * place : 3 * place + 3]
        if low is None or known < rows:
            continue  # a cell that only some rows have says nothing about the others
        between = f"{x} >= {_literal(low)} and {x} <= {_literal(high)}"
        [(inside,)] = table.query(f"select count(*) from rows where {between}")
        span = inside / rows
        chance = labels * math.pow(span, labels - 1) - (labels - 1) * math.pow(span, labels)
        if chance <= BEYOND_CHANCE:
            return LabelOrder(
                truth=truth,
                column=name,
                labels=labels,
                low=str(low),
                high=str(high),
                share=span,
            )
    return None


def free_columns(
    data: Data, table: Table, kinds: Sequence[str], *, besides: Sequence[str]
) -> list[str]:
    """Return the columns of some kinds that no role has taken, and that labelling does not fill.

    Columns of the roles *besides* are among them.
    """
    kept = {getattr(data.roles, role) for role in besides}
    used = set(data.roles.columns()) - kept
    found = table.kinds
    return [
        name
        for name in table.columns
        if name not in used and found[name] in kinds and not set(tokens(name)) & _OF_LABELS
    ][:_MOST_LOOKED]


def _orders(data: Data, table: Table) -> dict[str, str]:
    """Return the columns that order the rows, each as SQL for a time or a whole number."""
    names = free_columns(data, table, ("text", "integer", "other"), besides=("item", "time"))
    casts = {
        name: (
            f"try_cast({identifier(name)} as bigint)",
            f"try_cast({identifier(name)} as timestamp)",
        )
        for name in names
    }
    if not casts:
        return {}
    counted = ", ".join(
        f"count({identifier(name)}), count({number}), count(distinct {number}),"
        f" {f'count({time})' if table.kinds[name] != 'integer' else '0'}"
        for name, (number, time) in casts.items()
    )
    [found] = table.query(f"select {counted} from (select * from rows limit {_LOOKED})")
    orders: dict[str, str] = {}
    for place, (name, (number, time)) in enumerate(casts.items()):
        cells, numbers, different, times = found[4 * place : 4 * place + 4]
        if not cells:
            continue
        if numbers == cells and (different >= _DIFFERENT * cells or name == data.roles.item):
            orders[name] = number
        elif times == cells:
            orders[name] = time
    return dict(list(orders.items())[:_MOST_COLUMNS])


def _literal(value: object) -> str:
    return str(value) if isinstance(value, int) else f"timestamp '{value}'"
