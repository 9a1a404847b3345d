"""A table of signed numbers: blue above zero, orange below, the interval under its number."""

from __future__ import annotations

from typing import Any

from tallystick.report.drawing import TintedCell, TintedTable
from tallystick.report.kinds.kind import Kind
from tallystick.report.shorten import shorten
from tallystick.report.words import NAME, group_words, plain_cell, title
from tallystick.results import Figure, Interval, estimate_texts

__all__ = ["KIND", "MOST_SIDE", "matrix"]

MOST_SIDE = 30
"""How many rows and columns of a matrix are drawn."""

_MOST_WRITTEN = 12
"""Beyond this many columns the intervals are shown under the pointer only."""
_TINTS = 5


def matrix(figure: Figure) -> TintedTable:
    """Draw *figure*; columns with the names of the rows are in the order of the rows."""
    columns = {role: figure.columns[name] for role, name in figure.roles.items()}
    rows = list(dict.fromkeys(map(str, columns["row"])))
    across = list(dict.fromkeys(map(str, columns["column"])))
    across = rows if set(rows) == set(across) else across
    sizes = [abs(value) for value in map(_number, columns["value"]) if value is not None]
    largest = max(sizes, default=0.0) or 1.0

    made: dict[tuple[str, str], TintedCell] = {}
    for i in range(figure.size):
        cell = {role: plain_cell(values[i]) for role, values in columns.items()}
        place = str(columns["row"][i]), str(columns["column"][i])
        made[place] = _cell(figure, cell, largest, written=len(across) <= _MOST_WRITTEN)
    return TintedTable(
        corner=title(figure, "row"),
        across=title(figure, "column"),
        columns=tuple(shorten(name, NAME) for name in across),
        rows=tuple(
            (shorten(row, NAME), tuple(made.get((row, column)) for column in across))
            for row in rows
        ),
    )


def _cell(figure: Figure, cell: dict[str, Any], largest: float, *, written: bool) -> TintedCell:
    value, low, high = (_number(cell.get(role)) for role in ("value", "low", "high"))
    known = None if low is None or high is None else Interval(min(low, high), max(low, high))
    own, ends = estimate_texts(value, known, figure.unit)
    text = cell["text"] if "text" in figure.roles else own
    # a mark that says nothing leaves the cell without colour: the number proves nothing
    proved = "mark" not in figure.roles or bool(cell["mark"])
    tint = round(_TINTS * (value or 0.0) / largest) if proved else 0
    hover = " ".join(
        part for part in (f"{cell['row']}, {cell['column']}:", str(text), ends) if part
    )
    return TintedCell(text=str(text), under=ends if written else "", tint=tint, hover=hover)


def _number(value: Any) -> float | None:
    known = isinstance(value, int | float) and value - value == 0
    return float(value) if known else None


def _key(figure: Figure) -> list[str]:
    words = ["blue: above zero, orange: below", *group_words(figure)]
    if "mark" in figure.roles:
        marks = {str(plain_cell(value) or "") for value in figure.columns[figure.roles["mark"]]}
        words += (
            [f"no colour: not {shorten(max(marks))}"] if len(marks) == 2 and "" in marks else []
        )
    return words


def _thin(figure: Figure) -> tuple[Figure, str]:
    """Keep the corner of the first rows and columns."""
    sides = [figure.columns[figure.roles[role]] for role in ("row", "column")]
    rows, columns = (list(dict.fromkeys(side)) for side in sides)
    if max(len(rows), len(columns)) <= MOST_SIDE:
        return figure, ""

    shown = set(rows[:MOST_SIDE]), set(columns[:MOST_SIDE])
    kept = [
        i
        for i, (row, column) in enumerate(zip(*sides, strict=True))
        if row in shown[0] and column in shown[1]
    ]
    note = f"the first {MOST_SIDE} of {len(rows):,} rows and {len(columns):,} columns are drawn"
    return figure.rows(kept), note


KIND = Kind(
    name="matrix",
    words="Table of signed numbers",
    draw=matrix,
    key=_key,
    thin=_thin,
)
