"""Labels that stand on one part of a table: one language, one customer, one task.

The intervals say "from random labels", and the rows of the other part had none. Whoever labelled
one part on purpose knows it; whoever reads the figure does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tallystick.data.data import Data
from tallystick.data.label_block import BEYOND_CHANCE, FEWEST_LABELS, label_cell, labelled_table
from tallystick.data.label_order import free_columns
from tallystick.io import Table, identifier
from tallystick.tally import Tally

__all__ = ["LabelSlice", "label_slice"]

_LOOKED = 2_000
_MOST_COLUMNS = 8
_MOST_VALUES = 50
"""Different cells up to which a column divides a table into parts."""

_LEAST_SHARE = 0.05
"""Part of the rows that must be left without labels, or nearly so, for it to matter."""


@dataclass(frozen=True, kw_only=True)
class LabelSlice:
    """A part of the table that has hardly any labels.

    Parameters
    ----------
    truth, column
        Column of the labels, and the column that divides the table.
    value
        The cell of the part.
    labels, all_labels
        Labels on the part, and on all rows.
    share
        The part of all rows.
    """

    truth: str
    column: str
    value: str
    labels: int
    all_labels: int
    share: float


def label_slice(data: Data) -> LabelSlice | None:
    r"""Return a part of the table that has far fewer labels than its rows, if it is no accident.

    Of m labels drawn at random from N rows, those on a part of n rows are hypergeometric. The part
    is named if it has less than a quarter of its share of labels, and the chance of so few, times
    the parts that were looked at, is below one in a million.

    Examples
    --------
    >>> from tallystick.data import read
    >>> gold = [1, None, None, None] * 25 + [None] * 100
    >>> table = {"x": [0, 1] * 100, "y": [1, 1] * 100, "lang": ["en"] * 100 + ["de"] * 100}
    >>> found = label_slice(read({**table, "gold": gold}, judges=("x", "y"), truth="gold"))
    >>> found.column, found.value, found.labels, found.share
    ('lang', 'de', 0, 0.5)
    """
    truth = data.roles.truth
    if truth is None or data.session is not None or data.roles.probability is not None:
        return None
    from tallystick.stats.urn_tails import smaller_tail

    found: tuple[float, LabelSlice] | None = None
    looked = 0
    for name, cells in _counted(data, truth).items():
        rows, labels = sum(n for _, n, _ in cells), sum(k for _, _, k in cells)
        if not 2 <= len(cells) <= _MOST_VALUES or labels < FEWEST_LABELS or labels == rows:
            continue
        for value, n, k in sorted(cells, key=lambda cell: str(cell[0])):
            looked += 1
            few = n >= _LEAST_SHARE * rows and 4 * k * rows < labels * n
            if value is None or not few:
                continue
            chance = smaller_tail(k, rows, n, labels)
            if found is None or chance < found[0]:
                part = LabelSlice(
                    truth=truth,
                    column=name,
                    value=value,
                    labels=k,
                    all_labels=labels,
                    share=n / rows,
                )
                found = chance, part
    return found[1] if found is not None and found[0] * looked <= BEYOND_CHANCE else None


def _counted(data: Data, truth: str) -> Mapping[str, Sequence[tuple[str | None, int, int]]]:
    """Return for each column that divides the rows: its cells, their rows and their labels."""
    table = data.held
    if isinstance(table, Tally):
        return {} if data.beside is None else data.beside.parts
    if labelled_table(data) is None:
        return {}
    names = _parts(data, table)
    label = label_cell(table, truth, frozenset(data.rules.missing)) if names else None
    if label is None:
        return {}
    return {
        name: table.query(
            f"select cast({identifier(name)} as varchar), count(*), count({label}) from rows"
            f" group by 1 limit {_MOST_VALUES + 1}"
        )
        for name in names
    }


def _parts(data: Data, table: Table) -> list[str]:
    """Return columns that no role has taken and whose few cells divide the table into parts."""
    names = free_columns(data, table, ("text", "boolean", "integer"), besides=("by", "cluster"))
    if not names:
        return []
    counts = ", ".join(f"count(distinct {identifier(name)})" for name in names)
    [found] = table.query(f"select {counts} from (select * from rows limit {_LOOKED})")
    parts = [n for n, k in zip(names, found, strict=True) if 2 <= k <= _MOST_VALUES]
    return parts[:_MOST_COLUMNS]
