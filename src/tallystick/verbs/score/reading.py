"""From the one door to outputs: rows of a table, or counts that an engine or a file holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.table import Data, Label, Table, Tally
from tallystick.table.data import RowPatterns
from tallystick.table.engine import fits
from tallystick.table.frames import lazily
from tallystick.table.roles import first_repeat
from tallystick.verbs.score.grades import Column, Scale, read_column, word_worth

if TYPE_CHECKING:
    import narwhals as nw

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]

ALONE = "all outputs"
"""The name of the only system, where no column names systems."""

FROM_COUNTS = "a tally counts outputs and does not say which of them belong to one item"
NO_ITEM = "no column names the items (--item), so outputs of one item cannot be put side by side"


@dataclass(frozen=True, kw_only=True, eq=False)
class Graded:
    """Outputs of systems with their grades on [0, 1], NaN where there is none.

    An entry is one row of the table, or one pattern with the number of outputs that show it. Scores
    need nothing else; pairs of systems also need to know the item of each output.

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
        The number of each entry's item; None if items cannot be told. An entry that stands for
        several outputs is one of as many items that look alike.
    no_items
        Why items cannot be told.
    coding
        The words behind the entries, where these are patterns: what the columns *coded* say, and
        which entry each row of the table shows. None where each entry is a row.
    probability
        Known probability with which each output was chosen for a human grade; None if all alike.
    weight
        The sampling weight of each output, or what it counts in a target mix; None if all alike.
    slice
        The slice of each entry, -1 for blank; only for a target mix.
    unit
        What one item is called in sentences.
    preferences
        For preferences: the two systems of each "system", whose score is the win rate of the first.
    """

    systems: tuple[str, ...]
    judges: tuple[str, ...]
    system: Ints
    grades: Floats
    truth: Floats
    counts: Floats
    pass_fail: bool
    votes: bool
    item: Ints | None = None
    no_items: str = ""
    coding: RowPatterns | None = None
    coded: tuple[str, ...] = ()
    probability: Floats | None = None
    weight: Floats | None = None
    slice: Ints | None = None
    slices: tuple[str, ...] = ()
    unit: str = "item"
    scale: Scale | None = None
    judge_scale: Scale | None = None
    turned: bool = False
    preferences: tuple[tuple[str, str], ...] = ()

    @property
    def known(self) -> NDArray[np.bool_]:
        """Which entries have a human grade."""
        return ~np.isnan(self.truth)

    @property
    def n(self) -> int:
        """How many outputs there are."""
        return round(float(self.counts.sum()))

    @property
    def n_labels(self) -> int:
        """How many outputs have a human grade."""
        return round(float(self.counts[self.known].sum()))

    @property
    def mass(self) -> Floats:
        """What each entry counts in a mean."""
        return self.counts if self.weight is None else self.counts * self.weight

    def of(self, system: int) -> NDArray[np.bool_]:
        """Return which entries belong to a system."""
        return np.asarray(self.system == system)

    def by_system(self, values: Floats) -> Floats:
        """Sum values of the entries within systems."""
        found = np.bincount(self.system, weights=values, minlength=len(self.systems))
        return found.astype(np.float64)

    def mean(self, values: Floats) -> Floats:
        """Return the mean over each system's outputs, NaN where no entry has a value."""
        seen = ~np.isnan(values)
        times = self.by_system(np.where(seen, self.mass, 0.0))
        total = self.by_system(np.where(seen, values, 0.0) * self.mass)
        none = np.full(len(times), np.nan)
        return np.asarray(np.divide(total, times, out=none, where=times > 0))

    def part(self, chosen: NDArray[Any]) -> Graded:
        """Return the chosen entries: a mask, or places that may repeat."""

        def taken(column: NDArray[Any] | None) -> Any:
            return None if column is None else column[chosen]

        return replace(
            self,
            system=self.system[chosen],
            grades=self.grades[chosen],
            truth=self.truth[chosen],
            counts=self.counts[chosen],
            item=taken(self.item),
            probability=taken(self.probability),
            weight=taken(self.weight),
            slice=taken(self.slice),
        )

    @cached_property
    def mean_grade(self) -> Floats:
        """The mean grade of the judges per entry, NaN where no judge graded."""
        seen = ~np.isnan(self.grades)
        total = np.where(seen, self.grades, 0.0).sum(axis=1)
        graded = seen.sum(axis=1)
        none = np.full(len(total), np.nan)
        return np.asarray(np.divide(total, graded, out=none, where=graded > 0))

    @cached_property
    def consensus(self) -> Floats:
        """The same; where no judge graded, the mean of the system: it says nothing."""
        middle = np.nan_to_num(replace(self, weight=None).mean(self.mean_grade), nan=0.5)
        return np.where(np.isnan(self.mean_grade), middle[self.system], self.mean_grade)


def read_outputs(
    data: Data,
    *,
    scale: Scale | None,
    judge_scale: Scale | None = None,
    turned: bool = False,
    sliced: bool = False,
) -> Graded:
    """Return the outputs of a long table, of a tally, or of a frame of another engine.

    Parameters
    ----------
    data
        What was read. Roles: system, judges, truth, item, probability.
    scale
        Least and greatest grade; None for pass/fail.
    judge_scale
        Those of the judges; None if they are the same.
    turned
        Whether less is better, so that all grades are turned round.
    sliced
        Whether to read the slice of each output, for a target mix.
    """
    columns = data.roles.columns("system", "judges", "truth", *(["by"] if sliced else []))
    if isinstance(data.held, Table):
        found = _graded(data, data.patterns(*columns), columns, scale, judge_scale)
        found = _by_row(data, found)
    else:
        counted = _tally(data, columns)
        found = _graded(data, _counted(counted, columns), columns, scale, judge_scale)
        if data.in_engine and data.roles.item is not None:
            found = _by_item(data, counted, found)
        if data.roles.probability is not None:
            raise InputError(
                f"{data.source} holds counts, and probability {data.roles.probability!r} belongs to"
                " single outputs: give the table itself"
            )
    if turned:
        found = replace(found, grades=1 - found.grades, truth=1 - found.truth, turned=True)
    return found


def read_patterns(data: Data, *, scale: Scale | None, judge_scale: Scale | None = None) -> Graded:
    """Return the outputs of a table of any length, each distinct one once.

    Ten million rows of three grades show a few hundred patterns: four bytes per row say which.

    Examples
    --------
    >>> from tallystick.table import read
    >>> data = read({"system": ["a", "b", "a"], "gpt": [1, 0, 1]}, judges=("gpt",), system="system")
    >>> found = read_patterns(data, scale=None)
    >>> found.counts.tolist(), found.coding.place.tolist()
    ([2.0, 1.0], [0, 1, 0])
    """
    columns = data.roles.columns("system", "judges", "truth")
    return _graded(data, data.patterns(*columns), columns, scale, judge_scale)


def words_of(outputs: Graded, column: str) -> list[Label]:
    """Return what a column says, each word once."""
    return [] if outputs.coding is None else _words(outputs.coding, outputs.coded, column)


def item_groups(data: Data) -> NDArray[np.int32]:
    """Return the number of each row's item; an item that a system answered twice is refused."""
    if data.roles.item is None:
        raise InputError(NO_ITEM)
    if data.memory is None or data.roles.item not in data.memory.groups:  # else it was checked
        _refuse_twice(data)
    return data.groups(data.roles.item)


def _graded(
    data: Data,
    cells: RowPatterns,
    columns: tuple[str, ...],
    scale: Scale | None,
    judge_scale: Scale | None,
) -> Graded:
    """Turn words into grades: every distinct row once."""
    if not cells.counts.sum():
        raise InputError(f"{data.source} holds no outputs")
    worth, judges, truth = word_worth(data.rules.labels), data.roles.judges, data.roles.truth

    def graded(name: str, span: Scale | None, *, human: bool = False) -> tuple[Floats, bool]:
        place = partial(_place, data, name)
        words = _words(cells, columns, name)
        found = read_column(name, words, span, place, human=human, worth=worth)
        return _looked_up(cells, columns, name, found), found.pass_fail

    grades = [graded(name, judge_scale or scale) for name in judges]
    votes = all(pass_fail for _, pass_fail in grades)
    human = (np.full(len(cells.counts), np.nan), votes)
    if truth is not None:
        human = graded(truth, scale, human=True)

    systems: tuple[str, ...] = (ALONE,)
    system = np.zeros(len(cells.counts), np.int64)
    if data.roles.system is not None:
        systems, system = _named(cells, columns, data.roles.system)
        if (system < 0).any():
            raise InputError(
                f"{_place(data, data.roles.system, None)}: the system {data.roles.system!r} is"
                " blank. Name the system of every output, or remove the row"
            )
    slices: tuple[str, ...] = ()
    part = None
    if data.roles.by is not None and data.roles.by in columns:
        slices, part = _named(cells, columns, data.roles.by)
    return Graded(
        systems=systems,
        judges=judges,
        system=system,
        grades=np.stack([values for values, _ in grades], axis=1),
        truth=human[0],
        counts=cells.counts,
        pass_fail=human[1],
        votes=votes,
        no_items=FROM_COUNTS,
        coding=cells,
        coded=columns,
        slice=part,
        slices=slices,
        scale=scale,
        judge_scale=judge_scale,
    )


def _by_row(data: Data, patterns: Graded) -> Graded:
    """Return one entry per row of the table, with what belongs to single outputs."""
    assert patterns.coding is not None
    place, roles = patterns.coding.place, data.roles
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
    # Nearly every row may have an item of its own: they are numbered without making words of them,
    # unless several spellings may be one item.
    item = data.words(roles.item).codes[:, 0] if data.rules.coerce else None
    if item is None:
        item = data.groups(roles.item, data.rules.missing)
    return replace(found, item=item.astype(np.int64), unit=_unit(roles.item), no_items="")


def _by_item(data: Data, counted: Tally, patterns: Graded) -> Graded:
    """Return one entry per output of every item that looks different from the others."""
    item, system = str(data.roles.item), data.roles.system
    grid = grid_of(data.held, counted, item=item, system=system)
    if isinstance(grid, str):
        return replace(patterns, no_items=grid)
    entries, counts = grid
    row, column = np.nonzero(entries >= 0)
    found = patterns.part(entries[row, column])
    unit = _unit(item)
    return replace(found, counts=counts[row], item=row.astype(np.int64), unit=unit, no_items="")


def _tally(data: Data, columns: Sequence[str]) -> Tally:
    """Return the counts of a tally that was given, or count in the engine that holds the rows."""
    if isinstance(data.held, Tally):
        return data.held.marginal(columns)
    return data.count_words(*columns)


def _counted(tally: Tally, columns: Sequence[str]) -> RowPatterns:
    """Return the patterns of a tally as cells; no row shows any of them."""
    labels: list[Label] = []
    blocks = []
    for j, name in enumerate(columns):
        own = tally.labels[name]
        shift = len(labels)
        labels += list(own)
        lookup = np.array(
            [-1 if label is None else shift + i for i, label in enumerate(own)], np.int64
        )
        blocks.append(lookup[np.asarray(tally.codes)[:, j]])
    counts = np.asarray(tally.counts, dtype=np.float64)
    none = np.empty(0, np.int64)
    return RowPatterns(
        codes=np.stack(blocks, axis=1), labels=tuple(labels), first=none, counts=counts, place=none
    )


def _place(data: Data, column: str, label: Label) -> str:
    """Say where a cell first stands."""
    if not isinstance(data.held, Table):
        return data.source
    found = data.held.row_of(column, label)
    return data.source if found is None else str(found)


def _words(cells: RowPatterns, columns: Sequence[str], name: str) -> list[Label]:
    codes = cells.codes[:, columns.index(name)]
    return [cells.labels[code] for code in np.unique(codes) if code >= 0]


def _looked_up(cells: RowPatterns, columns: Sequence[str], name: str, column: Column) -> Floats:
    values = np.full(len(cells.labels) + 1, np.nan)  # the last place is for -1
    codes = cells.codes[:, columns.index(name)]
    for code in np.unique(codes):
        if code >= 0:
            values[code] = column.values[cells.labels[code]]
    return np.asarray(values[codes])


def _named(cells: RowPatterns, columns: Sequence[str], name: str) -> tuple[tuple[str, ...], Ints]:
    """Return the labels of a column as text, in order, and each entry's position; -1 for blank."""
    codes = cells.codes[:, columns.index(name)]
    used = [int(code) for code in np.unique(codes) if code >= 0]
    used.sort(key=lambda code: _order(cells.labels[code]))
    lookup = np.full(len(cells.labels) + 1, -1, np.int64)
    lookup[used] = np.arange(len(used))
    return tuple(str(cells.labels[code]) for code in used), lookup[codes]


def _order(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def _probability(data: Data, outputs: Graded) -> Floats:
    """Return the probabilities of being graded; every output with a human grade needs one."""
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
    item, system = str(data.roles.item), data.roles.system
    twice = first_repeat(data.table, item, *([system] if system else []))
    if twice is not None:
        shown = f"item and system {twice[0]}" if system else f"item {twice[0]}"
        raise InputError(
            f"{shown} occur twice, at {twice[1]} and {twice[2]}: keep one row per output"
        )


def _unit(column: str) -> str:
    """Return what an item is called: the column's name where it is a plain word."""
    word = column.strip().lower().removesuffix("_id")
    plain = ("id", "uid", "qid", "uuid", "key", "index", "row", "item")
    return word if word.isalpha() and word not in plain else "item"


# Outputs of one item side by side, counted in the engine that holds them.
#
# A tally of (system, grades, human grade) knows no items, and pairs of systems need them. The
# engine gives each row the number of its pattern, puts the numbers of an item's systems side by
# side, and counts how many items look alike. Items that look alike are one row here, so what comes
# back grows with the different items and not with all of them.


TOO_MANY = (
    "too many items look different from all others to put their outputs side by side in memory"
    " (TALLYSTICK_MEMORY)"
)
ODD = "the engine reads some cells of the frame otherwise than they are counted"

Grid: TypeAlias = tuple[Ints, Floats]
"""Items x systems: the pattern of each output, -1 for none; and how many items look like that."""

_MOST_CODES = 1 << 60
_ITEMS, _EXTRA, _EXAMPLE = "items alike", "outputs too many", "one of them"
_CELL = 64
"""Bytes that one cell of the grid takes at the peak, without its grades."""


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


def grid_of(frame: Any, tally: Tally, *, item: str, system: str | None) -> Grid | str:
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
) -> Grid | str:
    """Fetch the rows, and turn pattern numbers into places in the tally."""
    import narwhals as nw

    system, systems, names = asked
    size = int(alike.select(nw.len().alias("n")).collect()["n"][0])
    if not fits(size * (len(names) + 2) * (_CELL + 16 * len(tally.names))):
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
    return (entries, counts) if _adds_up(entries, counts, tally) else ODD


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
