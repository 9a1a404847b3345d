"""A table as readable cells: columns that are empty are left out, an interval stands with its
estimate, and rates are in per cent. Terminal, page, notebook and Markdown write the same cells.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from textwrap import wrap
from typing import Any

from tallystick.report.svg import element
from tallystick.results import (
    Interval,
    Result,
    Unit,
    Unknown,
    estimate_texts,
    harmless,
    interval_text,
    shorten,
    value_text,
)

_GAP = "–"
MOST_ROWS = 200
"""Rows in a notebook and in Markdown: more make it slow, and nobody reads them."""


@dataclass(frozen=True)
class GridCell:
    """One cell: its text, the interval that goes with it, and the number to sort by."""

    text: str
    under: str = ""
    order: float | None = None

    def __str__(self) -> str:
        return f"{self.text} {self.under}" if self.under else self.text


@dataclass(frozen=True)
class Grid:
    """A table of text.

    Parameters
    ----------
    names, rows
        Heads and cells.
    numeric
        Which columns hold numbers, and are set to the right.
    total
        How many rows there are in all.
    promise
        What the intervals in it promise, in words; empty if they differ or there are none.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[GridCell, ...], ...]
    numeric: tuple[bool, ...]
    total: int
    promise: str = ""

    def lines(self, width: int = 10_000) -> list[str]:
        """Return the table as lines of text; where it is too wide its heads break before its words,
        and no number does.
        """
        table = [[[name] for name in self.names], *([[str(cell)] for cell in r] for r in self.rows)]
        gap = "   " if _across(table, 3) <= width else "  "
        if _across(table, 2) > width:
            table[0] = [name.split() or [""] for name in self.names]
        words = [j for j, number in enumerate(self.numeric) if not number]
        if (over := _across(table, 2) - width) > 0 and words:
            widest = max(words, key=lambda j: _widths(table)[j])
            room = max(8, _widths(table)[widest] - over)
            for row in table[1:]:
                row[widest] = wrap(row[widest][0], room) or [""]

        # An estimate with its interval starts with the estimate, so such a column is set to the
        # left: the estimates then line up.
        right = [
            number and not any(row[j].under for row in self.rows)
            for j, number in enumerate(self.numeric)
        ]
        widths = _widths(table)
        return [
            gap.join(
                f"{text:>{size}}" if to_right else f"{text:<{size}}"
                for text, size, to_right in zip(texts, widths, right, strict=True)
            ).rstrip()
            for row in table
            for texts in zip_longest(*row, fillvalue="")
        ]

    def text(self) -> str:
        """Return the table as plain text."""
        return "\n".join(self.lines())


def _widths(table: Sequence[Sequence[Sequence[str]]]) -> list[int]:
    """Return the width of each column of a table whose cells are lines."""
    return [
        max(len(line) for cell in column for line in cell) for column in zip(*table, strict=True)
    ]


def _across(table: Sequence[Sequence[Sequence[str]]], gap: int) -> int:
    return sum(_widths(table)) + gap * (len(table[0]) - 1)


def grid(
    rows: Sequence[Mapping[str, Any]], units: Mapping[str, Unit] | None = None, *, most: int
) -> Grid:
    r"""Return the first *most* of *rows* as text.

    A column in which nothing is known is left out. An interval right after the number it belongs
    to stands in the same cell.

    Examples
    --------
    >>> rows = [{"model": "a", "score": 0.863, "interval": Interval(0.849, 0.876), "rank": None}]
    >>> print(grid(rows, {"score": "share"}, most=9).text().replace("\xa0", " "))
    model   score
    a       86.3% [84.9, 87.6]
    """
    units = units or {}
    shown = rows[:most]
    names = [
        name
        for name in dict.fromkeys(n for row in shown for n in row)
        if any(map(_known, _column(shown, name)))
    ]
    columns = {name: _column(shown, name) for name in names}
    joined = _joined(names, columns)
    kept = [name for name in names if name not in joined.values()]
    # A column that is said to hold numbers without an interval of its own, such as a judge's score
    # beside the corrected one, is written with the decimals of the estimate in its row.
    near = next((columns[after] for after in joined.values()), None)
    cells = [
        _grid_cells(columns[name], columns[joined[name]], units.get(name, "number"))
        if name in joined
        else _cells_beside(columns[name], near)
        if near is not None and units.get(name) == "number"
        else _grid_cells(columns[name], None, units.get(name, "number"))
        for name in kept
    ]
    intervals = {
        _promise(cell) for held in columns.values() for cell in held if isinstance(cell, Interval)
    }
    return Grid(
        names=tuple(shorten(name.replace("_", " ")) for name in kept),
        rows=tuple(zip(*cells, strict=True)),
        numeric=tuple(
            all(_is_number(cell) for cell in columns[name] if _known(cell)) for name in kept
        ),
        total=len(rows),
        promise=intervals.pop() if len(intervals) == 1 else "",
    )


def _joined(names: Sequence[str], columns: Mapping[str, Sequence[Any]]) -> dict[str, str]:
    """Return the interval column that belongs to each column of estimates."""
    found = {}
    for name, after in pairwise(names):
        ends = [cell for cell in columns[after] if _known(cell)]
        numbers = [cell for cell in columns[name] if _known(cell)]
        if (
            after.endswith("interval")
            and all(isinstance(cell, Interval) for cell in ends)
            and all(isinstance(cell, float | int) for cell in numbers)
        ):
            found[name] = after
    return found


def _promise(interval: Interval) -> str:
    return f"{100 * interval.level:g}%, " + (
        f"if {interval.assumption}" if interval.assumption else interval.guarantee
    )


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    return [_plain(row.get(name)) for row in rows]


def _plain(cell: Any) -> Any:
    # a NumPy scalar
    return cell.item() if hasattr(cell, "item") and hasattr(cell, "dtype") else cell


def _known(cell: Any) -> bool:
    return not (
        cell is None or isinstance(cell, Unknown) or (isinstance(cell, float) and math.isnan(cell))
    )


def _is_number(cell: Any) -> bool:
    return isinstance(cell, int | float | Interval) and not isinstance(cell, bool)


def _grid_cells(
    column: Sequence[Any], intervals: Sequence[Any] | None, unit: Unit
) -> list[GridCell]:
    """Return the cells of one column, its fractions with the same number of decimals."""
    floats = [cell for cell in column if isinstance(cell, float)]
    floats += [end for cell in column if isinstance(cell, Interval) for end in cell]
    decimals = _decimals([number for number in floats if math.isfinite(number)])
    beside = intervals if intervals is not None else [None] * len(column)
    return [
        GridCell(*estimate_texts(cell, ends, unit), float(cell))
        if isinstance(ends, Interval) and _known(cell)
        else GridCell(_cell(cell, unit, decimals), "", _order(cell))
        for cell, ends in zip(column, beside, strict=True)
    ]


def _cells_beside(column: Sequence[Any], intervals: Sequence[Any]) -> list[GridCell]:
    """Return numbers with the decimals of the interval in their row."""
    return [
        GridCell(estimate_texts(cell, ends)[0], "", float(cell))
        if isinstance(cell, float) and _known(cell) and isinstance(ends, Interval)
        else GridCell(_cell(cell, "number"), "", _order(cell))
        for cell, ends in zip(column, intervals, strict=True)
    ]


def _order(cell: Any) -> float | None:
    if isinstance(cell, Interval):
        return cell.low
    return float(cell) if _is_number(cell) and _known(cell) else None


def _decimals(numbers: Sequence[float]) -> int | None:
    """Return how many decimals show four digits of the largest number; None if the smallest would
    vanish.

    >>> _decimals([0.8675, 0.847]), _decimals([12.5, 3.0]), _decimals([0.5, 1e-9]), _decimals([4.0, 7.0])
    (4, 1, None, 0)
    """
    sizes = [abs(number) for number in numbers if number != 0]
    if not sizes or all(number == math.floor(number) for number in numbers):
        return 0
    decimals = min(6, max(0, 3 - math.floor(math.log10(max(sizes)))))
    while decimals and all(round(number, decimals - 1) == number for number in numbers):
        decimals -= 1
    return decimals if min(sizes) >= 0.5 * 10**-decimals else None


def _cell(cell: Any, unit: Unit, decimals: int | None = None) -> str:
    if not _known(cell):
        return _GAP
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Interval):
        return interval_text(cell, unit)
    if isinstance(cell, float):
        return value_text(cell, unit) if unit != "number" else _number(cell, decimals)
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, Mapping):
        pairs = (f"{key}: {_cell(_plain(value), unit)}" for key, value in cell.items())
        return shorten(", ".join(pairs), 400)
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        return shorten(", ".join(_cell(_plain(value), unit) for value in cell), 400)
    return shorten(str(cell), 400)


def _number(number: float, decimals: int | None) -> str:
    if decimals is None or math.isinf(number):
        return value_text(number)
    return f"{number:,.{decimals}f}".replace("-", "−")


def markdown(table: Grid) -> str:
    r"""Return a table as Markdown; names from the data cannot break out of their cell.

    >>> rows = [{"model": "a|b", "score": 0.86, "interval": Interval(0.8, 0.9)}]
    >>> print(markdown(grid(rows, most=9)))
    | model | score |
    |---|---:|
    | a\|b | 0.86 [0.80, 0.90] |
    """
    rule = "|" + "|".join("---:" if right else "---" for right in table.numeric) + "|"
    lines = [
        [_plain_words(name) for name in table.names],
        *(  # a number is ours, and harmless
            [
                str(cell) if number else _plain_words(str(cell))
                for cell, number in zip(row, table.numeric, strict=True)
            ]
            for row in table.rows
        ),
    ]
    head, *body = (f"| {' | '.join(line)} |" for line in lines)
    return "\n".join([head, rule, *body]) if table.names else ""


def _plain_words(text: str) -> str:
    # "|" would open the next cell, "<" a tag, and the others emphasis, code, a link or an escape.
    safe = harmless(text).replace("&", "&amp;").replace("<", "&lt;")
    return re.sub(r"([\\`*_\[\]|])", r"\\\1", safe)


def markdown_of(result: Result) -> str:
    """Return the main table of *result* as Markdown, for a pull request or a build summary."""
    return markdown(grid(result.rows(), result.units(), most=MOST_ROWS))


def html_table(table: Grid) -> str:
    """Return a table for a notebook; names from the data stay text.

    >>> html_table(grid([{"model": "<b>"}], most=9))
    '<table><thead><tr><th scope="col">model</th></tr></thead><tbody><tr><td>&lt;b&gt;</td></tr></tbody></table>'
    """
    heads = [element("th", harmless(name), scope="col") for name in table.names]
    body = [
        element("tr", *(element("td", harmless(str(cell))) for cell in row)) for row in table.rows
    ]
    return element("table", element("thead", element("tr", *heads)), element("tbody", *body))
