"""Labels that stand on a few groups of rows: on six of twenty-five conversations.

The rows of one conversation, customer or document are alike. Labels on all rows of a few of them
say little about the others, and no interval for rows drawn at random shows it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tallystick.data.data import Data
from tallystick.data.label_block import BEYOND_CHANCE, FEWEST_LABELS, label_cell, labelled_table
from tallystick.data.label_order import free_columns
from tallystick.io import Table, identifier

__all__ = ["LabelGroups", "label_groups"]

_LOOKED = 5_000
_FEWEST_GROUPS, _MOST_GROUPS = 5, 2_000
_LEAST_ROWS = 3.0
"""Rows per group, on average, from which a column makes groups."""

_LEAST_SHARE = 0.25
"""Part of the rows in groups without a label, from which it matters."""

_MOST_COLUMNS = 6


@dataclass(frozen=True, kw_only=True)
class LabelGroups:
    """How many groups of a column have labels, of how many, and the rows without."""

    truth: str
    column: str
    labelled: int
    groups: int
    share: float


def label_groups(data: Data) -> LabelGroups | None:
    r"""Return the column by which labels stand on few groups, if chance would not put them there.

    Of m labels drawn at random from N rows, a group of n rows has none with chance
    :math:`\binom{N-n}{m} / \binom{N}{m}`. The number of such groups is held against the sum of
    these chances.

    Examples
    --------
    >>> from tallystick.data import read
    >>> talk = [k // 10 for k in range(200)]
    >>> table = {"talk": talk, "x": [0, 1] * 100, "y": [1, 1] * 100}
    >>> gold = [k % 2 if one < 4 else None for k, one in enumerate(talk)]
    >>> found = label_groups(read({**table, "gold": gold}, judges=("x", "y"), truth="gold"))
    >>> found.column, found.labelled, found.groups
    ('talk', 4, 20)
    """
    known = labelled_table(data)
    if known is None:
        return None
    table, truth = known
    names = _grouping(data, table)
    label = label_cell(table, truth, frozenset(data.rules.missing)) if names else None
    if label is None:
        return None
    for name in names:
        cells = table.query(
            f"select count(*), count({label}) from rows where {identifier(name)} is not null"
            f" group by {identifier(name)} limit {_MOST_GROUPS + 1}"
        )
        sizes, held = (np.array(column, dtype=np.int64) for column in zip(*cells, strict=True))
        rows, labels = int(sizes.sum()), int(held.sum())
        if not _FEWEST_GROUPS <= len(cells) <= _MOST_GROUPS or rows < _LEAST_ROWS * len(cells):
            continue
        empty = held == 0
        share = float(sizes[empty].sum() / rows)
        if labels < FEWEST_LABELS or labels == rows or share < _LEAST_SHARE:
            continue
        if _chance(sizes, labels, int(empty.sum())) <= BEYOND_CHANCE:
            return LabelGroups(
                truth=truth,
                column=name,
                labelled=int((~empty).sum()),
                groups=len(cells),
                share=share,
            )
    return None


def _chance(sizes: np.ndarray, labels: int, empty: int) -> float:
    """Return about how likely so many groups have none of the labels drawn at random."""
    rows = int(sizes.sum())
    whole = _log_ways(rows, labels)
    without = [math.exp(_log_ways(rows - int(n), labels) - whole) for n in sizes]
    # How many groups are empty, as if they were so independently.
    counts = np.zeros(empty + 1)
    counts[0] = 1.0
    for p in without:
        last = counts[-1]
        counts[1:] = counts[1:] * (1 - p) + counts[:-1] * p
        counts[-1] += last * p  # the last place means "at least so many"
        counts[0] *= 1 - p
    return float(counts[-1])


def _log_ways(n: int, k: int) -> float:
    if k > n:
        return -math.inf
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _grouping(data: Data, table: Table) -> list[str]:
    """Return columns that no role has taken and whose cells make groups of rows."""
    names = free_columns(data, table, ("text", "integer"), besides=("by", "cluster"))
    if not names:
        return []
    counts = ", ".join(
        f"count(distinct {identifier(name)}), count({identifier(name)})" for name in names
    )
    [found] = table.query(f"select {counts} from (select * from rows limit {_LOOKED})")
    pairs = zip(names, found[::2], found[1::2], strict=True)
    groups = [name for name, k, n in pairs if k >= _FEWEST_GROUPS and n >= _LEAST_ROWS * k]
    return groups[:_MOST_COLUMNS]
