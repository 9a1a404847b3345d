"""Pairwise preferences: each row shows outputs of two systems, and judges say a, b or tie.

For each pair of systems the score is the win rate of the first, a tie counting half. Where an item
was shown in both orders, a judge's two answers are averaged, so that a judge that always prefers
the first position says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.data import Data
from tallystick.errors import InputError
from tallystick.io import Table
from tallystick.score.outputs import Floats, Ints, Outputs
from tallystick.values import Label, is_no_answer, is_tie
from tallystick.values.words import as_word

__all__ = ["Swaps", "read_preferences"]

_FIRST = frozenset({"a", "first", "left", "1"})
_SECOND = frozenset({"b", "second", "right", "2"})


@dataclass(frozen=True)
class Swaps:
    """Items that were shown in both orders, and how often each judge then changed its mind."""

    items: int
    changed: dict[str, float]


def read_preferences(data: Data) -> tuple[Outputs, Swaps]:
    """Return one entry per item and pair of systems, and what the position swap showed."""
    first, second = data.roles.systems
    judges, truth = data.roles.judges, data.roles.truth
    columns = [first, second, *judges, *([truth] if truth else [])]
    coded = data.words(*columns)
    words = [str(label) for label in coded.labels]
    codes = coded.codes.astype(np.int64)
    a, b = codes[:, 0], codes[:, 1]
    _check_sides(data, a, b, (first, second), words)

    # A pair is the same pair in either order; it is named in the order of the names.
    swapped = np.array([words[i] > words[j] for i, j in zip(a, b, strict=True)])
    low, high = np.where(swapped, b, a), np.where(swapped, a, b)
    keys = low * len(words) + high
    names, pair = np.unique(keys, return_inverse=True)
    order = [(words[key // len(words)], words[key % len(words)]) for key in names]

    grades = [
        _answers(data, name, codes[:, j + 2], coded.labels, (a, b), (first, second))
        for j, name in enumerate(columns[2:])
    ]
    values = np.stack([np.where(swapped, 1 - one, one) for one in grades], axis=1)
    item = _items(data)
    _refuse_twice(data, item, a, b)

    # Both orders of one item and pair become one entry.
    entries = item * len(names) + pair.ravel()
    _, place = np.unique(entries, return_inverse=True)
    place = place.ravel()
    merged = _averaged(values, place)
    chosen = np.zeros(len(merged), np.int64)
    chosen[place] = np.arange(len(place))
    said = values[~np.isnan(values)]
    outputs = Outputs(
        systems=tuple(f"{one} over {two}" for one, two in order),
        judges=tuple(judges),
        system=pair.ravel()[chosen].astype(np.int64),
        grades=merged[:, : len(judges)],
        truth=merged[:, -1] if truth else np.full(len(merged), np.nan),
        counts=np.ones(len(merged)),
        pass_fail=bool(np.isin(merged[~np.isnan(merged)], (0.0, 1.0)).all()) and 0.5 not in said,
        votes=bool(np.isin(merged[~np.isnan(merged)], (0.0, 1.0)).all()),
        item=item[chosen],
        preferences=tuple(order),
    )
    return outputs, _swaps(values, place, swapped, judges)


def _check_sides(data: Data, a: Ints, b: Ints, names: tuple[str, str], words: list[str]) -> None:
    for codes, name in zip((a, b), names, strict=True):
        if (codes < 0).any():
            place = data.place(int(np.flatnonzero(codes < 0)[0]) + 1)
            raise InputError(f"{place}: {name!r} is blank. Name both systems of every row")
    same = np.flatnonzero(a == b)
    if same.size:
        raise InputError(
            f"{data.place(int(same[0]) + 1)}: {names[0]!r} and {names[1]!r} both name"
            f" {words[int(a[same[0]])]!r}. A preference is between two systems"
        )


def _answers(
    data: Data,
    name: str,
    codes: Ints,
    labels: Sequence[Label],
    sides: tuple[Ints, Ints],
    columns: tuple[str, str],
) -> Floats:
    """Return 1 where side a is preferred, 0 for side b, 1/2 for a tie, NaN for no answer."""
    values = np.full(len(codes), np.nan)
    for code in np.unique(codes):
        if code < 0:
            continue
        label, here = labels[code], codes == code
        word = str(label).strip().casefold()
        if is_no_answer(label):
            continue
        if is_tie(label):
            values[here] = 0.5
        elif word in _FIRST or word == columns[0].casefold():
            values[here] = 1.0
        elif word in _SECOND or word == columns[1].casefold():
            values[here] = 0.0
        else:
            # The answer names a system: it must be one of the two in that row.
            named = [np.array([_same(labels[c], label) for c in side[here]]) for side in sides]
            if not (named[0] | named[1]).all():
                row = int(np.flatnonzero(here)[np.flatnonzero(~(named[0] | named[1]))[0]])
                where = str(data.place(row + 1)) if isinstance(data.held, Table) else data.source
                raise InputError(
                    f"{where}, column {name}: {label!r} is not a preference. Write a, b or tie, or"
                    " the name of one of the two systems"
                )
            values[here] = np.where(named[0], 1.0, 0.0)
    return values


def _same(one: Label, two: Label) -> bool:
    return one == two or (as_word(one) is not None and as_word(one) == as_word(two))


def _items(data: Data) -> Ints:
    if data.roles.item is None:
        return np.arange(data.n_rows)
    return data.words(data.roles.item).codes[:, 0].astype(np.int64)


def _refuse_twice(data: Data, item: Ints, a: Ints, b: Ints) -> None:
    """Refuse an item that was shown twice with the same two systems in the same order."""
    span = int(max(a.max(), b.max())) + 1
    keys = (item * span + a) * span + b
    _, first, count = np.unique(keys, return_index=True, return_counts=True)
    if (count > 1).any():
        key = keys[first[np.flatnonzero(count > 1)[0]]]
        rows = np.flatnonzero(keys == key)[:2]
        raise InputError(
            f"one item has the same two systems in the same order twice, at"
            f" {data.place(int(rows[0]) + 1)} and {data.place(int(rows[1]) + 1)}: keep one row"
        )


def _averaged(values: Floats, place: Ints) -> Floats:
    """Return the mean answer per entry and column, NaN where there is none."""
    size = int(place.max()) + 1
    columns = []
    for column in values.T:
        seen = ~np.isnan(column)
        total = np.bincount(place[seen], weights=column[seen], minlength=size)
        times = np.bincount(place[seen], minlength=size)
        columns.append(np.divide(total, times, out=np.full(size, np.nan), where=times > 0))
    return np.stack(columns, axis=1)


def _swaps(values: Floats, place: Ints, swapped: Ints, judges: Sequence[str]) -> Swaps:
    """Count entries that were shown in both orders, and how often a judge then changed its mind."""
    size = int(place.max()) + 1
    orders = [np.bincount(place[side], minlength=size) > 0 for side in (~swapped, swapped)]
    both = orders[0] & orders[1]
    changed = {}
    for j, judge in enumerate(judges):
        ends = []
        for side in (~swapped, swapped):
            one = np.full(size, np.nan)
            one[place[side]] = values[side, j]
            ends.append(one)
        seen = both & ~np.isnan(ends[0]) & ~np.isnan(ends[1])
        if seen.any():
            changed[judge] = float((ends[0][seen] != ends[1][seen]).mean())
    return Swaps(int(both.sum()), changed)
