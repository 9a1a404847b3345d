"""Outputs of one item side by side, counted in the engine that holds them.

A tally of (system, grades, human grade) knows no items, and pairs of systems need them. The engine
gives each row the number of its pattern, puts the numbers of an item's systems side by side, and
counts how many items look alike. Items that look alike are one row here, so what comes back grows
with the different items and not with all of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any

import numpy as np

from tallystick.data.frames import lazily
from tallystick.errors import InputError
from tallystick.io.memory import fits
from tallystick.score.outputs import Floats, Ints, ItemGrid
from tallystick.tally import Tally
from tallystick.values import Label

if TYPE_CHECKING:
    import narwhals as nw

__all__ = ["TOO_MANY", "grid_of"]

TOO_MANY = (
    "too many items look different from all others to put their outputs side by side in memory"
    " (TALLYSTICK_MEMORY)"
)
ODD = "the engine reads some cells of the frame otherwise than they are counted"

_MOST_CODES = 1 << 60
_ITEMS, _EXTRA, _EXAMPLE = "items alike", "outputs too many", "one of them"
_CELL = 64
"""Bytes that one cell of the grid takes at the peak."""


@dataclass(frozen=True)
class _Numbering:
    """The number of a row's pattern: each column's label times its stride."""

    labels: Mapping[str, Sequence[Label]]
    strides: Mapping[str, int]

    @classmethod
    def of(cls, tally: Tally, columns: Sequence[str]) -> _Numbering | None:
        """Return the numbering of *columns*; None where the numbers would not fit 64 bits."""
        labels = {name: [one for one in tally.labels[name] if one is not None] for name in columns}
        strides, size = {}, 1
        for name in columns:
            strides[name] = size
            size *= len(labels[name]) + 1
        return cls(labels, strides) if size < _MOST_CODES else None

    def expression(self) -> Any:
        """Return the number as an expression of the engine, from 1; a blank cell adds nothing."""
        import narwhals as nw

        parts = [
            _whole((place + 1) * self.strides[name], nw.col(name) == label)
            for name, labels in self.labels.items()
            for place, label in enumerate(labels)
        ]
        return reduce(add, parts, nw.lit(1))

    def numbers(self, tally: Tally) -> Ints:
        """Return the number of every pattern of the tally."""
        total = np.ones(len(tally.counts), np.int64)
        codes = np.asarray(tally.codes)
        for name, stride in self.strides.items():
            said = np.array([label is not None for label in tally.labels[name]], dtype=bool)
            place = np.where(said, np.cumsum(said), 0)
            total += stride * place[codes[:, tally.names.index(name)]]
        return total


def grid_of(frame: Any, tally: Tally, *, item: str, system: str | None) -> ItemGrid | str:
    """Return the items of a frame as rows of pattern numbers, or the reason why not.

    Parameters
    ----------
    frame
        A frame of another engine.
    tally
        Its patterns of (system, grades, human grade).
    item, system
        The columns of items and of systems.
    """
    import narwhals as nw

    columns = [name for name in tally.names if name != system]
    numbering = _Numbering.of(tally, columns)
    if numbering is None:
        return TOO_MANY
    systems: list[Label] = [None] if system is None else list(tally.labels[system])
    number = numbering.expression()
    cells = [
        _of_system(number, None if system is None else nw.col(system) == one).alias(f"s{j}")
        for j, one in enumerate(systems)
    ]
    names = [f"s{j}" for j in range(len(systems))]
    rows = lazily(frame).with_columns(nw.col(item).alias(_EXAMPLE), *cells)
    rows = rows.select(_EXAMPLE, *names)

    # One row per item: a system that answered adds its number, so a second output shows as one row
    # more than there are systems.
    sums = [nw.col(name).sum() for name in names]
    side = rows.group_by(_EXAMPLE).agg(nw.len().alias(_ITEMS), *sums)
    answered = reduce(add, (_whole(1, nw.col(name) > 0) for name in names))
    side = side.with_columns((nw.col(_ITEMS) - answered).alias(_EXTRA))
    alike = side.group_by(*names, _EXTRA).agg(
        nw.len().alias(_ITEMS), nw.col(_EXAMPLE).min().alias(_EXAMPLE)
    )
    return _collected(alike, numbering.numbers(tally), tally, (system, systems, names))


def _collected(
    alike: nw.LazyFrame[Any],
    numbers: Ints,
    tally: Tally,
    asked: tuple[str | None, Sequence[Label], Sequence[str]],
) -> ItemGrid | str:
    """Fetch the rows, and turn pattern numbers into places in the tally."""
    import narwhals as nw

    system, systems, names = asked
    size = int(alike.select(nw.len().alias("n")).collect()["n"][0])
    if not fits(size * (len(names) + 2) * _CELL):
        return TOO_MANY
    found = alike.collect()
    extra = np.asarray(found[_EXTRA].to_list(), np.int64)
    if (extra > 0).any():
        shown = found[_EXAMPLE].to_list()[int(np.argmax(extra > 0))]
        raise InputError(
            f"item {shown!r} has two outputs of one system: keep one row per item and system"
        )
    counts = np.asarray(found[_ITEMS].to_list(), np.float64)
    entries = np.full((len(counts), len(names)), -1, np.int64)
    for j, (name, one) in enumerate(zip(names, systems, strict=True)):
        own = np.ones(len(numbers), bool)
        if system is not None:
            place = list(tally.labels[system]).index(one)
            own = np.asarray(tally.codes)[:, tally.names.index(system)] == place
        where, known = np.flatnonzero(own), numbers[own]
        order = np.argsort(known)
        seen = np.asarray(found[name].to_list(), np.int64)
        spot = np.minimum(np.searchsorted(known[order], seen), len(known) - 1)
        hit = known[order][spot] == seen
        if (~hit & (seen > 0)).any():
            return ODD
        entries[:, j] = np.where(hit, where[order][spot], -1)
    return ItemGrid(entries, counts) if _adds_up(entries, counts, tally) else ODD


def _adds_up(entries: Ints, counts: Floats, tally: Tally) -> bool:
    """Say whether the items hold exactly the outputs that were counted."""
    total = np.zeros(len(tally.counts) + 1)
    for column in entries.T:
        np.add.at(total, column, counts)  # -1 is the last place, which nobody reads
    return math.isclose(float(np.abs(total[:-1] - tally.counts).max(initial=0.0)), 0.0)


def _of_system(number: Any, chosen: Any) -> Any:
    import narwhals as nw

    return number if chosen is None else nw.when(chosen).then(number).otherwise(nw.lit(0))


def _whole(value: int, chosen: Any) -> Any:
    """Return *value* where *chosen* holds, and 0 where it does not or is unknown."""
    import narwhals as nw

    return nw.when(chosen).then(nw.lit(value)).otherwise(nw.lit(0))
