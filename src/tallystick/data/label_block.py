"""Labels that stand on one block of a table, such as its first hundred rows.

Labelling from the top is what people do. Such labels speak for the rest only if the table is in
random order, and a table that is sorted, or was logged while something changed, is not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tallystick.data.data import Data
from tallystick.io import Table, identifier
from tallystick.tally import Tally
from tallystick.values import is_missing, is_no_answer
from tallystick.values.sql import literal

__all__ = [
    "BEYOND_CHANCE",
    "FEWEST_LABELS",
    "MOST_ROWS",
    "LabelBlock",
    "label_block",
    "label_cell",
    "labelled_table",
]

FEWEST_LABELS = 8
"""Labels from which on a block is no accident."""

BEYOND_CHANCE = 1e-6
MOST_ROWS = 5_000_000
_MOST = 1_000
"""Different cells from which the truth holds no labels."""


@dataclass(frozen=True, kw_only=True)
class LabelBlock:
    """Where all labels stand.

    Parameters
    ----------
    column
        Of the labels.
    labels
        How many there are.
    first, last
        The rows between which they stand, from 1.
    rows
        All rows.
    """

    column: str
    labels: int
    first: int
    last: int
    rows: int


def label_block(data: Data) -> LabelBlock | None:
    r"""Return the block of rows that holds all labels, if chance would not put them there.

    m places drawn from [0, 1] lie within a span of s with chance :math:`m s^{m-1} - (m-1) s^m`.
    With systems in a long table the places are counted inside each system, because a table may be
    sorted by system and only one of them be graded.

    Examples
    --------
    >>> from tallystick.data import read
    >>> table = {"x": [0, 1] * 50, "y": [1, 1] * 50, "gold": [1, 0] * 10 + [None] * 80}
    >>> label_block(read(table, judges=("x", "y"), truth="gold")).last
    20
    >>> table["gold"] = [1, None, None, None, None] * 20
    >>> label_block(read(table, judges=("x", "y"), truth="gold")) is None
    True
    """
    truth = data.roles.truth
    table = data.held
    if truth is None or data.session is not None or data.roles.probability is not None:
        return None
    if data.in_engine or data.n_rows > MOST_ROWS:
        return None
    if isinstance(table, Tally):
        return _counted_block(data, table, truth)
    if truth not in table.columns:
        return None
    system = data.roles.system
    part = identifier(system) if system is not None and system in table.columns else "0"
    label = label_cell(table, truth, frozenset(data.rules.missing))
    if label is None:
        return None
    [(rows, labels, first, last, low, high, most)] = table.query(
        f"""
        with numbered as (
            select row_number() over () as row, {label} as label, {part} as part from rows
        ), placed as (
            select *, (row_number() over (partition by part order by row) - 0.5)
                / count(*) over (partition by part) as place,
                count(label) over (partition by part) as labels
            from numbered
        )
        select count(*), count(label), min(row) filter (label is not null),
            max(row) filter (label is not null), min(place) filter (label is not null),
            max(place) filter (label is not null), max(labels)
        from placed
        """
    )
    block = LabelBlock(column=truth, labels=labels, first=first or 0, last=last or 0, rows=rows)
    return block if labels and _is_no_chance(block, most, high - low) else None


def _is_no_chance(block: LabelBlock, most: int, width: float) -> bool:
    """Say whether *most* labels would hardly lie within that width by chance."""
    if most < FEWEST_LABELS or block.labels == block.rows:
        return False
    span = min(1.0, width + 1 / block.rows)
    chance = most * math.pow(span, most - 1) - (most - 1) * math.pow(span, most)
    return chance <= BEYOND_CHANCE


def _counted_block(data: Data, tally: Tally, truth: str) -> LabelBlock | None:
    """Return the block of a tally whose rows were counted where their order is known."""
    if data.beside is None or data.beside.labelled is None:
        return None
    silent = frozenset(data.rules.missing)
    labels = sum(
        int(n)
        for label, n in zip(tally.column(truth), tally.counts.tolist(), strict=True)
        if not is_missing(label, silent) and not is_no_answer(label)
    )
    first, last = data.beside.labelled
    rows = round(tally.n)
    block = LabelBlock(column=truth, labels=labels, first=first, last=last, rows=rows)
    return block if labels and _is_no_chance(block, labels, (last - first) / rows) else None


def labelled_table(data: Data) -> tuple[Table, str] | None:
    """Return the table and the column of its labels, if a few labels speak for all of its rows.

    None where a session or known probabilities say how rows were chosen, where the rows are not
    here, and where there are too many to look at.
    """
    truth, table = data.roles.truth, data.held
    if truth is None or data.session is not None or data.roles.probability is not None:
        return None
    if not isinstance(table, Table) or truth not in table.columns or data.n_rows > MOST_ROWS:
        return None
    return table, truth


def label_cell(table: Table, truth: str, missing: frozenset[str]) -> str | None:
    """Return the truth as SQL, null where a word means no answer; None if it is no label at all."""
    name = identifier(truth)
    cells = table.query(f"select distinct {name} from rows where {name} is not null limit {_MOST}")
    if len(cells) == _MOST:
        return None
    silent = [cell for (cell,) in cells if is_missing(cell, missing) or is_no_answer(cell)]
    if not silent:
        return name
    words = ", ".join(literal(str(cell)) for cell in silent)
    return f"case when {name}::varchar in ({words}) then null else {name} end"
