"""Numbers that usually mean "no answer": 0 beside grades from 1 to 5, -1, 99, 999.

Such a code is a number like any other to every method, and it moves a mean far more than an honest
answer could. A number is doubted where it is one of the usual codes, lies at the end of its column,
and stands apart from all other cells. Where it moves the mean of its column by more than chance
would, the user is asked. Otherwise, and where the user has said between what scores lie, a warning
names the column, the number of cells and the option.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.data.counted_cells import cells_of
from tallystick.data.data import VOTES, Data
from tallystick.io import Table, identifier
from tallystick.io.arrays import as_numpy
from tallystick.tally import Tally
from tallystick.values import as_number, is_missing, is_no_answer, spelling, without_missing

__all__ = ["CodeDoubt", "doubted_codes", "stray_codes"]

Floats = NDArray[np.float64]

CODES = (0.0, -1.0, -9.0, -99.0, -999.0, -9999.0, 9.0, 99.0, 999.0, 9999.0)
"""Numbers that people write where there is no answer."""

_LOOKED = 50_000
"""Filled cells of a column that are looked at."""

_MOST_COLUMNS = 200
_LEAST = 5
"""Other cells that a column needs for its code to stand apart from them."""

_FAR = 3
"""Steps between grades from which 0 lies apart from them, whatever other columns say."""

_MOVES = 2.0
"""Standard errors by which a code moves the mean of its column, for the user to be asked."""


@dataclass(frozen=True, kw_only=True)
class CodeDoubt:
    """A number of one column that may mean no answer.

    Parameters
    ----------
    column, code
        Where it stands, and what it is.
    cells, of
        How many cells hold it, of how many that are filled.
    low, high
        From where to where the other cells go.
    moves
        By how many standard errors of the others' mean the code moves the mean of its column.
    """

    column: str
    code: int
    cells: int
    of: int
    low: float
    high: float
    moves: float

    @property
    def is_grave(self) -> bool:
        """Whether the code moves the column's mean by more than chance would."""
        return self.moves > _MOVES

    def text(self) -> str:
        """Say what was seen, and the option that reads it as no answer."""
        times = "1 cell" if self.cells == 1 else f"{self.cells:,} of {self.of:,} cells"
        return (
            f"column {self.column!r} says {self.code} in {times}, and its other cells go from"
            f" {self.low:g} to {self.high:g}. If {self.code} means no answer, add"
            f" --missing={self.code}"
        )


def doubted_codes(data: Data) -> tuple[CodeDoubt, ...]:
    """Return the numbers of the answers and of the truth that may mean no answer.

    A code that every column uses next to its other grades is a grade. Labels say -1 by a rule of
    their own (`tallystick.values.agree`). Rows that another engine holds are not looked at.

    Examples
    --------
    >>> from tallystick.data import read
    >>> grades = {"m1": [6, 7, 8, 9, 10] * 4, "m2": [0, 8, 9, 7, 10] * 4}
    >>> [(one.column, one.code, one.cells) for one in doubted_codes(read(grades, models=("m1", "m2")))]
    [('m2', 0, 4)]
    """
    if data.in_engine or len(data.roles.systems) == 2:
        return ()
    columns = data.roles.columns(*VOTES, "truth")[:_MOST_COLUMNS]
    table, missing = data.held, data.rules.missing
    held = {
        name: _counted_numbers(table, name, missing)
        if isinstance(table, Tally)
        else _numbers(table, name, missing)
        for name in columns
    }
    return stray_codes({name: values for name, values in held.items() if values is not None})


def stray_codes(columns: Mapping[str, Floats]) -> tuple[CodeDoubt, ...]:
    """Return the codes among columns of numbers that answer one question."""
    found = []
    ends = {name: {values.min(), values.max()} for name, values in columns.items() if values.size}
    for name in ends:
        values = columns[name]
        for code in sorted(ends[name] & set(CODES)):
            rest = values[values != code]
            others = [columns[other] for other in ends if other != name]
            if rest.size >= _LEAST and _stands_apart(code, rest, others):
                found.append(_doubt(name, code, values, rest))
    return tuple(found)


def _stands_apart(code: float, rest: Floats, others: Sequence[Floats]) -> bool:
    """Say whether *code* is no neighbour of the other cells of its column."""
    low, high = float(rest.min()), float(rest.max())
    distinct = np.unique(rest)
    if distinct.size < 2 or low <= code <= high:
        return False
    whole = bool((distinct == np.floor(distinct)).all())
    shared = any((other == code).any() for other in others)
    alone = bool(others) and not shared
    if code > 0:  # 9, 99, 999 above everything else, as far away as the others are wide
        return code - high >= max(2.0, high - low) and (whole or code > 9)
    if code < 0:
        if low < 0:
            return False
        # -1, 0 and 1 are three answers where every column gives them.
        return alone or not whole or low >= 1 or code < -1
    if not whole or distinct.size < 3 or low < 1:
        return False  # 0 beside fractions is a score, and 0 beside 1 and 2 too
    step = float(np.diff(distinct).max())
    return low >= _FAR * step or alone


def _doubt(name: str, code: float, values: Floats, rest: Floats) -> CodeDoubt:
    spread = float(rest.std(ddof=1)) / np.sqrt(rest.size)
    shift = abs(float(values.mean()) - float(rest.mean()))
    return CodeDoubt(
        column=name,
        code=int(code),
        cells=int(values.size - rest.size),
        of=int(values.size),
        low=float(rest.min()),
        high=float(rest.max()),
        moves=shift / spread if spread else float("inf"),
    )


def _numbers(table: Table, column: str, missing: Sequence[str]) -> Floats | None:
    """Return the numbers of a column, None if it holds anything else but words for no answer."""
    kind = table.kinds.get(column, "other")
    if kind not in ("text", "integer", "float"):
        return None
    cell = without_missing(column, kind, missing)
    some = f"(select {cell} as cell from rows where {identifier(column)} is not null)"
    filled = f"(select cell from {some} where cell is not null limit {_LOOKED})"
    if kind == "text":
        # A column of names or texts shows it in its first cells.
        words = table.query(
            f"select distinct cell from {filled} where {as_number('cell', kind)} is null limit 40"
        )
        if not _are_silent(word for (word,) in words):
            return None
    fetched = table.arrow(
        f"select {as_number('cell', kind)} as number from {filled} where"
        f" {as_number('cell', kind)} is not null"
    )["number"]
    values = np.asarray(as_numpy(fetched), dtype=np.float64)
    return values[np.isfinite(values)]


def _counted_numbers(tally: Tally, column: str, missing: Sequence[str]) -> Floats | None:
    """Return the same of counts."""
    labels, tokens = tally.labels[column], frozenset(missing)
    if any(isinstance(label, bool) for label in labels):
        return None
    numbers = np.full(len(labels), np.nan)
    for place, label in enumerate(labels):
        if is_missing(label, tokens):
            continue
        number = spelling(label)
        if isinstance(number, int | float):
            numbers[place] = float(number)
        elif not _are_silent((str(label),)):
            return None
    own = tally.marginal([column])
    codes, counts = own.codes, np.asarray(own.counts).astype(np.int64)
    known = np.isfinite(numbers[codes[:, 0]])
    return numbers[cells_of(codes[known], counts[known], _LOOKED)[:, 0]]


def _are_silent(words: Iterable[str]) -> bool:
    return all(is_no_answer(word) or spelling(word) == "(unread)" for word in words)
