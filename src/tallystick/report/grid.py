"""The main table of a result, as readable cells: columns that are empty are left out, numbers of a
column line up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tallystick.report.shorten import shorten
from tallystick.results import Interval, Result, Unknown

__all__ = ["Grid", "grid"]

_GAP = "–"


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
    rows: tuple[tuple[str, ...], ...]
    numeric: tuple[bool, ...]
    total: int
    promise: str = ""

    def text(self) -> str:
        """Return the table as plain text, numbers set to the right."""
        lines = [self.names, *self.rows]
        widths = [max(len(line[j]) for line in lines) for j in range(len(self.names))]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if right else cell.ljust(width)
                for cell, width, right in zip(line, widths, self.numeric, strict=True)
            ).rstrip()
            for line in lines
        )


def grid(result: Result, *, most: int) -> Grid:
    """Return the first *most* rows of the main table of *result*.

    A column in which nothing is known is left out; an interval is one cell.

    Examples
    --------
    >>> from tallystick.tally import Tally, describe
    >>> print(grid(describe(Tally.of({"a": [0, 1, 1], "b": [0, 1, 0]})), most=2).text())
    a  b  count   share
    0  0      1  0.3333
    1  0      1  0.3333
    """
    every = result.rows()
    rows = every[:most]
    names = [
        name
        for name in dict.fromkeys(n for row in rows for n in row)
        if any(map(_known, _column(rows, name)))
    ]
    columns = [_column(rows, name) for name in names]
    intervals = {
        _promise(cell) for column in columns for cell in column if isinstance(cell, Interval)
    }
    return Grid(
        names=tuple(shorten(name.replace("_", " ")) for name in names),
        rows=tuple(zip(*map(_cells, columns), strict=True)),
        numeric=tuple(
            all(_is_number(cell) for cell in column if _known(cell)) for column in columns
        ),
        total=len(every),
        promise=intervals.pop() if len(intervals) == 1 else "",
    )


def _promise(interval: Interval) -> str:
    return f"{100 * interval.level:g} %, " + (
        f"if {interval.assumption}" if interval.assumption else interval.guarantee
    )


def _column(rows: Sequence[dict[str, Any]], name: str) -> list[Any]:
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


def _cells(column: Sequence[Any]) -> list[str]:
    """Return the cells of one column as text, its fractions with the same number of decimals."""
    floats = [cell for cell in column if isinstance(cell, float)]
    floats += [end for cell in column if isinstance(cell, Interval) for end in cell]
    decimals = _decimals([number for number in floats if math.isfinite(number)])
    return [_cell(cell, decimals) for cell in column]


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


def _cell(cell: Any, decimals: int | None) -> str:
    if not _known(cell):
        return _GAP
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, Interval):
        return f"[{_number(cell.low, decimals)}, {_number(cell.high, decimals)}]"
    if isinstance(cell, float):
        return _number(cell, decimals)
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, Mapping):
        return shorten(
            ", ".join(f"{key}: {_cell(_plain(value), None)}" for key, value in cell.items()), 400
        )
    if isinstance(cell, Sequence) and not isinstance(cell, str):
        return shorten(", ".join(_cell(_plain(value), None) for value in cell), 400)
    return shorten(str(cell), 400)


def _number(number: float, decimals: int | None) -> str:
    if math.isinf(number):
        return "∞" if number > 0 else "-∞"
    return f"{number:.4g}" if decimals is None else f"{number:,.{decimals}f}"
