"""Outputs of systems as grades: the panel of a table that judges and people grade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table.cells import Label
from tallystick.table.data import Data, RowPatterns, needs_rows
from tallystick.table.grades import Scale, read_column, word_worth
from tallystick.table.panel import Entries, Floats, Ints
from tallystick.table.reading_names import ROW_NAMES, plain
from tallystick.table.roles import first_repeat
from tallystick.table.tables import Table, blank_cell
from tallystick.table.tally import Tally
from tallystick.table.words import as_word, is_no_answer, is_tie


@dataclass(frozen=True, kw_only=True, eq=False)
class GradePanel(Entries):
    """Outputs with their grades on [0, 1], NaN where there is none.

    Parameters
    ----------
    systems, judges
        Their names.
    system
        The position of each entry's system.
    grades
        Entries x judges.
    truth
        Human grade per entry.
    counts
        How many outputs an entry stands for.
    pass_fail
        Whether the human grades are pass and fail; otherwise they are numbers.
    votes
        Whether all judges say pass or fail.
    item
        The number of each entry's item; None if items cannot be told.
    no_items
        Why items cannot be told.
    own_items
        Whether items are known and each has one output, so that nothing need be joined by them.
    unit
        What one item is called in sentences.
    coding, coded
        What the columns *coded* say, and the entry of each row; None where each entry is a row.
    probability, weight
        Of being graded, and in the sample or a target mix; None if all alike.
    slice, slices
        The slice of each entry, -1 for blank, and their names.
    scale, judge_scale
        Least and greatest grade of people, and of the judges where it is another.
    turned
        Whether less was better, so that all grades were turned round.
    preferences
        The two systems of each "system", whose score is the win rate of the first.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    system: Ints
    grades: Floats
    truth: Floats
    pass_fail: bool
    votes: bool
    item: Ints | None = None
    no_items: str = ""
    own_items: bool = False
    unit: str = "item"
    coding: RowPatterns | None = None
    coded: tuple[str, ...] = ()
    probability: Floats | None = None
    slice: Ints | None = None
    slices: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None
    judge_scale: tuple[float, float] | None = None
    turned: bool = False
    preferences: tuple[tuple[str, str], ...] = ()

    @property
    def has_items(self) -> bool:
        """Whether items are known."""
        return self.item is not None or self.own_items

    @property
    def n(self) -> int:
        """How many outputs there are."""
        return round(float(self.counts.sum()))

    @cached_property
    def sizes(self) -> Ints:
        """How many outputs each system has."""
        return np.rint(self.by_system(self.counts)).astype(np.int64)

    @cached_property
    def labels(self) -> Ints:
        """How many outputs of each system have a human grade."""
        return np.rint(self.by_system(self.counts * self.known)).astype(np.int64)

    def of(self, system: int) -> NDArray[np.bool_]:
        """Return which entries belong to a system."""
        return np.asarray(self.system == system)

    def by_system(self, values: Floats) -> Floats:
        """Sum values of the entries within systems."""
        found = np.bincount(self.system, weights=values, minlength=len(self.systems))
        return found.astype(np.float64)

    def mean(self, values: Floats, *, weighed: bool = True) -> Floats:
        """Return the mean of each system, NaN where none."""
        heavy = self.counts if self.weight is None or not weighed else self.counts * self.weight
        seen = ~np.isnan(values)
        times = self.by_system(np.where(seen, heavy, 0.0))
        total = self.by_system(np.where(seen, values, 0.0) * heavy)
        none = np.full(len(times), np.nan)
        return np.asarray(np.divide(total, times, out=none, where=times > 0))

    @cached_property
    def mean_grade(self) -> Floats:
        """The mean grade of the judges per entry, NaN where no judge graded."""
        seen = ~np.isnan(self.grades)
        total, graded = np.where(seen, self.grades, 0.0).sum(axis=1), seen.sum(axis=1)
        return np.asarray(
            np.divide(total, graded, out=np.full(len(total), np.nan), where=graded > 0)
        )

    @cached_property
    def consensus(self) -> Floats:
        """The same; where no judge graded, the mean of the system."""
        middle = np.nan_to_num(self.mean(self.mean_grade, weighed=False), nan=0.5)
        return np.where(np.isnan(self.mean_grade), middle[self.system], self.mean_grade)

    @property
    def alike(self) -> bool:
        """Whether every output of an item stands for as many items."""
        if self.item is None:
            return False
        first = np.zeros(int(self.item.max(initial=-1)) + 1)
        first[self.item] = self.counts
        return bool((first[self.item] == self.counts).all())

    @property
    def place(self) -> NDArray[np.integer]:
        """The entry of each row of the table."""
        assert self.coding is not None, "outputs were read row by row"
        return self.coding.place

    def words(self, column: str) -> list[Label]:
        """Return what a column says, each word once."""
        return [] if self.coding is None else coded_words(self.coding, self.coded, column)


def coded_words(cells: RowPatterns, columns: Sequence[str], name: str) -> list[Label]:
    """Return what a column says, each word once."""
    codes = cells.codes[:, columns.index(name)]
    return [cells.labels[code] for code in np.unique(codes) if code >= 0]


# From the one door to outputs: rows of a long table, or counts.


ALONE = "all outputs"
"""The name of the only system, where no column names systems."""

FROM_COUNTS = "a tally counts outputs and does not say which of them belong to one item"
NO_ITEM = "no column names the items (--item), so outputs of one item cannot be put side by side"


def read_outputs(
    data: Data,
    scale: Scale | None,
    judge_scale: Scale | None = None,
    *,
    turned: bool = False,
    sliced: bool = False,
    by_row: bool = False,
) -> GradePanel:
    """Return the outputs of a long table, of a tally, or of a frame of another engine.

    Parameters
    ----------
    data
        What was read. Roles: system, judges, truth, item, probability, weight.
    scale
        Least and greatest grade; None for pass/fail.
    judge_scale
        Those of the judges; None if they are the same.
    turned
        Whether less is better, so that all grades are turned round.
    sliced
        Whether to read the slice of each output.
    by_row
        Whether the caller needs one entry per row of the table. Otherwise the outputs of one system
        are patterns with counts: each is an item of its own, so nothing belongs to single rows.
    """
    columns = data.roles.columns("system", "judges", "truth", *(["by"] if sliced else []))
    if isinstance(data.held, Table):
        found = _graded(data, data.patterns(*columns), columns, scale, judge_scale)
        roles = data.roles
        alike = not (roles.system or roles.weight or roles.probability or roles.replicate)
        if by_row or not alike or data.session is not None:
            found = _by_row(data, found)
        elif roles.item is not None:
            _refuse_twice(data)
            found = replace(found, own_items=True, unit=_unit(roles.item), no_items="")
    else:
        counted = _counted(data.held.marginal(columns), columns)
        found = _graded(data, counted, columns, scale, judge_scale)
        if data.roles.probability is not None:
            raise needs_rows(data.source, repr(data.roles.probability))
    if turned:
        found = replace(found, grades=1 - found.grades, truth=1 - found.truth, turned=True)
    return found


def read_patterns(
    data: Data, *, scale: Scale | None, judge_scale: Scale | None = None
) -> GradePanel:
    """Return the outputs of a table of any length, each distinct one once."""
    columns = data.roles.columns("system", "judges", "truth")
    return _graded(data, data.patterns(*columns), columns, scale, judge_scale)


def item_groups(data: Data) -> NDArray[np.int32]:
    """Return the number of each row's item; refuse one answered twice."""
    if data.roles.item is None:
        raise InputError(NO_ITEM)
    _refuse_twice(data)
    return data.groups(data.roles.item)


def _graded(
    data: Data,
    cells: RowPatterns,
    columns: tuple[str, ...],
    scale: Scale | None,
    judge_scale: Scale | None,
) -> GradePanel:
    """Turn words into grades: every distinct row once."""
    if not cells.counts.sum():
        raise InputError(f"{data.source} holds no outputs")
    worth, roles = word_worth(data.rules.labels), data.roles

    def graded(name: str, span: Scale | None, *, human: bool = False) -> tuple[Floats, bool]:
        words, place = coded_words(cells, columns, name), partial(_place, data, name)
        found = read_column(name, words, span, place, human=human, worth=worth)
        values = np.full(len(cells.labels) + 1, np.nan)  # the last place is for -1, a blank cell
        codes = cells.codes[:, columns.index(name)]
        for code in np.unique(codes):
            if code >= 0:
                values[code] = found.values[cells.labels[code]]
        return values[codes], found.pass_fail

    grades = [graded(name, judge_scale or scale) for name in roles.judges]
    votes = all(pass_fail for _, pass_fail in grades)
    truth, pass_fail = np.full(len(cells.counts), np.nan), votes
    if roles.truth is not None:
        truth, pass_fail = graded(roles.truth, scale, human=True)

    systems: tuple[str, ...] = (ALONE,)
    system = np.zeros(len(cells.counts), np.int64)
    if roles.system is not None:
        systems, system = _named(cells, columns, roles.system)
        if (system < 0).any():
            raise blank_cell(_place(data, roles.system, None), "system", roles.system)
    by = roles.by if roles.by in columns else None
    slices, part = ((), None) if by is None else _named(cells, columns, by)
    return GradePanel(
        systems=systems,
        judges=roles.judges,
        system=system,
        grades=np.stack([values for values, _ in grades], axis=1),
        truth=truth,
        counts=cells.counts,
        pass_fail=pass_fail,
        votes=votes,
        no_items=FROM_COUNTS,
        coding=cells,
        coded=columns,
        slice=part,
        slices=slices,
        scale=scale,
        judge_scale=judge_scale,
    )


def _by_row(data: Data, patterns: GradePanel) -> GradePanel:
    """Return one entry per row, with what belongs to single outputs."""
    place, roles = patterns.place, data.roles
    found = replace(
        patterns.part(place), counts=np.ones(len(place)), coding=None, coded=(), no_items=NO_ITEM
    )
    if roles.weight is not None:
        found = replace(found, weight=data.numbers(roles.weight, low=0.0)[:, 0])
    if roles.probability is not None:
        found = replace(found, probability=_probability(data, found))
    if roles.item is None:
        return found
    _refuse_twice(data)
    # Items are numbered without making words of them, unless several spellings may be one item.
    item = data.words(roles.item).codes[:, 0] if data.rules.coerce else None
    if item is None:
        item = data.groups(roles.item, data.rules.missing)
    # A number of each row joins nothing. Where the column's name says what was asked (question,
    # prompt_id), or the caller names it, the systems were asked different things.
    unsure = data.how.get("item") == "only candidate" or plain(roles.item) in ROW_NAMES
    unsure &= "item" in data.how and data.session is None and len(found.systems) > 1
    if unsure and len(np.unique(item)) == len(item):
        return found
    return replace(found, item=item.astype(np.int64), unit=_unit(roles.item), no_items="")


def _counted(tally: Tally, columns: Sequence[str]) -> RowPatterns:
    """Return the patterns of a tally as cells; no row shows any of them."""
    labels: list[Label] = []
    blocks = []
    for j, name in enumerate(columns):
        own = tally.labels[name]
        places = [-1 if label is None else len(labels) + i for i, label in enumerate(own)]
        blocks.append(np.array(places, np.int64)[np.asarray(tally.codes)[:, j]])
        labels += list(own)
    none = np.empty(0, np.int64)
    return RowPatterns(
        codes=np.stack(blocks, axis=1),
        labels=tuple(labels),
        first=none,
        counts=np.asarray(tally.counts, dtype=np.float64),
        place=none,
    )


def _place(data: Data, column: str, label: Label) -> str:
    """Say where a cell first stands."""
    found = data.held.row_of(column, label) if isinstance(data.held, Table) else None
    return data.source if found is None else str(found)


def _named(cells: RowPatterns, columns: Sequence[str], name: str) -> tuple[tuple[str, ...], Ints]:
    """Return the labels of a column in order, and the place of each entry."""

    def order(code: int) -> tuple[bool, Any]:
        return isinstance(cells.labels[code], str), cells.labels[code]

    codes = cells.codes[:, columns.index(name)]
    used = sorted((int(code) for code in np.unique(codes) if code >= 0), key=order)
    lookup = np.full(len(cells.labels) + 1, -1, np.int64)
    lookup[used] = np.arange(len(used))
    return tuple(str(cells.labels[code]) for code in used), lookup[codes]


def _probability(data: Data, outputs: GradePanel) -> Floats:
    """Return the probabilities of being graded."""
    column = str(data.roles.probability)
    values = data.numbers(column, low=0.0, high=1.0)[:, 0]
    wrong = outputs.known & ~(values > 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise InputError(
            f"{data.place(row + 1)}: the output has a human grade, and its probability"
            f" {column!r} is {values[row]:g}. Write the probability with which it was chosen"
        )
    return np.asarray(values)


def _refuse_twice(data: Data) -> None:
    """Refuse an item that one system answered twice."""
    item, system, own = str(data.roles.item), data.roles.system, data.roles.replicate
    twice = first_repeat(data.table, item, *(name for name in (system, own) if name))
    if twice is not None:
        shown = f"item and system {twice[0]}" if system else f"item {twice[0]}"
        raise InputError(
            f"{shown} occur twice, at {twice[1]} and {twice[2]}: keep one row per output"
        )


def _unit(column: str) -> str:
    """Return what an item is called."""
    word = column.strip().lower().removesuffix("_id")
    return word if word in ("question", "prompt", "example", "task") else "item"


# Preferences: each row shows outputs of two systems, and judges say a, b or tie.
#
# The score of a pair is the win rate of the first, a tie counting half. Where an item was shown in
# both orders, a judge's two answers are averaged.

_FIRST = frozenset({"1", "a", "first", "left", "model_1", "model_a", "win"})
_SECOND = frozenset({"2", "b", "second", "right", "model_2", "model_b", "loss"})
_BOTH_BAD = frozenset({"tie (bothbad)", "both_bad", "bothbad"})


def preferred_side(label: Label) -> float | None:
    """Return 1 for the first of two, 0 for the second, 1/2 for a tie; None for any other word.

    >>> [preferred_side(word) for word in ("model_a", "right", "tie (bothbad)", "gpt-4")]
    [1.0, 0.0, 0.5, None]
    """
    word = str(label).strip().casefold().removesuffix(".0")
    if is_tie(label) or word in _BOTH_BAD:
        return 0.5
    return 1.0 if word in _FIRST else 0.0 if word in _SECOND else None


@dataclass(frozen=True)
class Swaps:
    """Items shown in both orders, and how often each judge changed its mind."""

    items: int
    changed: dict[str, float]


def read_preferences(data: Data) -> tuple[GradePanel, Swaps]:
    """Return one entry per item and pair, and what the position swap showed."""
    sides, judges, truth = data.roles.systems, data.roles.judges, data.roles.truth
    columns = [*sides, *judges, *([truth] if truth else [])]
    coded = data.words(*columns)
    words = [str(label) for label in coded.labels]
    codes = coded.codes.astype(np.int64)
    a, b = codes[:, 0], codes[:, 1]
    _check_sides(data, a, b, words)

    # A pair is the same pair in either order; it is named in the order of the names.
    swapped = np.array([words[i] > words[j] for i, j in zip(a, b, strict=True)])
    low, high = np.where(swapped, b, a), np.where(swapped, a, b)
    names, pair = np.unique(low * len(words) + high, return_inverse=True)
    order = [(words[key // len(words)], words[key % len(words)]) for key in names]
    values = np.stack(
        [
            _preferred(data, name, codes[:, j + 2], coded.labels, (a, b))
            for j, name in enumerate(columns[2:])
        ],
        axis=1,
    )
    values = np.where(swapped[:, None], 1 - values, values)

    # Both orders of one item and pair become one entry; the same order twice is a mistake.
    item = np.arange(len(a))
    if data.roles.item is not None:
        item = data.words(data.roles.item).codes[:, 0].astype(np.int64)
    entry = item * len(names) + pair.ravel()
    shown, count = np.unique(2 * entry + swapped, return_counts=True)
    if (count > 1).any():
        key = shown[np.flatnonzero(count > 1)[0]]
        rows = np.flatnonzero(2 * entry + swapped == key)[:2]
        raise InputError(
            f"one item has the same two systems in the same order twice, at"
            f" {data.place(int(rows[0]) + 1)} and {data.place(int(rows[1]) + 1)}: keep one row"
        )
    place = np.unique(entry, return_inverse=True)[1].ravel()
    ends = np.full((2, int(place.max()) + 1, values.shape[1]), np.nan)
    ends[swapped.astype(np.int64), place] = values
    times = (~np.isnan(ends)).sum(axis=0)
    none = np.full(times.shape, np.nan)
    merged = np.divide(np.nansum(ends, axis=0), times, out=none, where=times > 0)
    chosen = np.zeros(len(merged), np.int64)
    chosen[place] = np.arange(len(place))
    whole = bool(np.isin(merged[~np.isnan(merged)], (0.0, 1.0)).all())
    outputs = GradePanel(
        systems=tuple(f"{one} over {two}" for one, two in order),
        judges=tuple(judges),
        system=pair.ravel()[chosen].astype(np.int64),
        grades=merged[:, : len(judges)],
        truth=merged[:, -1] if truth else np.full(len(merged), np.nan),
        counts=np.ones(len(merged)),
        pass_fail=whole and not (values == 0.5).any(),
        votes=whole,
        item=item[chosen],
        preferences=tuple(order),
    )
    twice = times[:, : len(judges)] > 1
    apart = ends[0] != ends[1]
    changed = {
        judge: float(apart[twice[:, j], j].mean())
        for j, judge in enumerate(judges)
        if twice[:, j].any()
    }
    return outputs, Swaps(int((np.bincount(place) > 1).sum()), changed)


def _check_sides(data: Data, a: Ints, b: Ints, words: list[str]) -> None:
    names = data.roles.systems
    for codes, name in zip((a, b), names, strict=True):
        if (codes < 0).any():
            place = data.place(int(np.flatnonzero(codes < 0)[0]) + 1)
            raise blank_cell(place, "system", name)
    same = np.flatnonzero(a == b)
    if same.size:
        raise InputError(
            f"{data.place(int(same[0]) + 1)}: {names[0]!r} and {names[1]!r} both name"
            f" {words[int(a[same[0]])]!r}. A preference is between two systems"
        )


def _preferred(
    data: Data,
    name: str,
    codes: Ints,
    labels: Sequence[Label],
    sides: tuple[Ints, Ints],
) -> Floats:
    """Return 1 for side a, 0 for side b, 1/2 for a tie, NaN for no answer."""
    first, second = (column.casefold() for column in data.roles.systems)
    values = np.full(len(codes), np.nan)
    for code in np.unique(codes[codes >= 0]):
        label, here = labels[code], codes == code
        word = str(label).strip().casefold()
        if is_no_answer(label):
            continue
        side = preferred_side(label)
        if side is not None:
            values[here] = side
        elif word in (first, second):
            values[here] = float(word == first)
        else:
            # The answer names a system: it must be one of the two in that row.
            a, b = (np.array([_same(labels[c], label) for c in side[here]]) for side in sides)
            if not (a | b).all():
                row = int(np.flatnonzero(here)[np.flatnonzero(~(a | b))[0]])
                raise InputError(
                    f"{data.place(row + 1)}, column {name}: {label!r} is not a preference. Write a,"
                    " b or tie, or the name of one of the two systems"
                )
            values[here] = np.where(a, 1.0, 0.0)
    return values


def _same(one: Label, two: Label) -> bool:
    return one == two or (as_word(one) is not None and as_word(one) == as_word(two))
