"""From the one door to outputs: rows of a table, or counts that an engine or a file holds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import ConvergenceError, InputError, NotIdentifiable
from tallystick.stats.adverse_binary import graded_strata, vote_strata
from tallystick.table import Data, Label, Table, Tally
from tallystick.table.engine import fits
from tallystick.table.frames import lazily
from tallystick.table.roles import first_repeat
from tallystick.verbs.score.grades import Column, Scale, read_column, word_worth

if TYPE_CHECKING:
    import narwhals as nw

ALONE = "all outputs"
"""The name of the only system, where no column names systems."""

FROM_COUNTS = "a tally counts outputs and does not say which of them belong to one item"
NO_ITEM = "no column names the items (--item), so outputs of one item cannot be put side by side"


@dataclass(frozen=True)
class _Cells:
    """Cells of several columns as codes into one list of labels, -1 for blank, with counts."""

    codes: Ints
    labels: tuple[Label, ...]
    counts: Floats
    columns: tuple[str, ...]

    def column(self, name: str) -> Ints:
        return np.asarray(self.codes[:, self.columns.index(name)], dtype=np.int64)

    def words(self, name: str) -> list[Label]:
        """Return the distinct labels of a column."""
        return [self.labels[code] for code in np.unique(self.column(name)) if code >= 0]


def read_outputs(
    data: Data,
    *,
    scale: Scale | None,
    judge_scale: Scale | None = None,
    turned: bool = False,
    sliced: bool = False,
) -> Outputs:
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
    columns = _columns(data, sliced=sliced)
    cells, rows = _cells(data, columns)
    place = _place(data)
    worth = word_worth(data.rules.labels)
    grades, votes = _grades(cells, data.roles.judges, judge_scale or scale, place, worth)
    truth, pass_fail = _truth(cells, data.roles.truth, scale, place, worth)
    if data.roles.truth is None:
        pass_fail = votes
    systems, system = _systems(cells, data, place)
    outputs = Outputs(
        systems=systems,
        judges=data.roles.judges,
        system=system,
        grades=grades,
        truth=truth,
        counts=cells.counts,
        pass_fail=pass_fail,
        votes=votes,
        no_items=FROM_COUNTS if isinstance(data.held, Tally) else NO_ITEM,
        counted=not rows,
        scale=scale,
        judge_scale=judge_scale,
        turned=turned,
    )
    if turned:
        outputs = replace(outputs, grades=1 - grades, truth=1 - truth)
    if data.roles.probability is not None:
        outputs = replace(outputs, probability=_probability(data, cells, outputs, rows))
    if sliced and data.roles.by is not None:
        labels, codes = _named(cells, data.roles.by)
        outputs = replace(outputs, slices=labels, slice=codes)
    if data.in_engine and data.roles.item is not None:
        counted = _tally(data)
        grid = grid_of(data.held, counted, item=data.roles.item, system=data.roles.system)
        if isinstance(grid, str):
            return replace(outputs, no_items=grid)
        if data.roles.system is not None:  # a column of the grid is a label of the tally
            held = [str(label) for label in counted.labels[data.roles.system]]
            order = [held.index(name) for name in systems]
            grid = replace(grid, entries=grid.entries[:, order])
        return replace(outputs, grid=grid, unit=_unit(data.roles.item), no_items="")
    if rows and data.roles.item is not None:
        _refuse_twice(data)
        item = _items(data, cells)
        outputs = replace(outputs, item=item, unit=_unit(data.roles.item), no_items="")
    return outputs


@dataclass(frozen=True, kw_only=True, eq=False)
class OutputPatterns:
    """The distinct outputs of a table, and which of them each row shows.

    Parameters
    ----------
    outputs
        One entry per pattern of system, grades and human grade, with the number of its rows.
    place
        The entry of each row.
    first
        The first row of each entry.
    words
        What the columns of judges and of people say, each word once.
    """

    outputs: Outputs
    place: NDArray[np.integer]
    first: NDArray[np.int64]
    words: Mapping[str, Sequence[Label]]


def read_patterns(
    data: Data, *, scale: Scale | None, judge_scale: Scale | None = None
) -> OutputPatterns:
    """Return the outputs of a table of any length, each distinct one once.

    Ten million rows of three grades show a few hundred patterns: four bytes per row say which.

    Examples
    --------
    >>> from tallystick.table import read
    >>> data = read({"system": ["a", "b", "a"], "gpt": [1, 0, 1]}, judges=("gpt",), system="system")
    >>> found = read_patterns(data, scale=None)
    >>> found.outputs.counts.tolist(), found.place.tolist()
    ([2.0, 1.0], [0, 1, 0])
    """
    columns = data.roles.columns("system", "judges", "truth")
    found = data.patterns(*columns)
    counts, place = found.counts, found.place
    if not len(place):
        raise InputError(f"{data.source} holds no outputs")
    cells = _Cells(found.codes.astype(np.int64), found.labels, counts, columns)
    where = _place(data)
    worth = word_worth(data.rules.labels)
    grades, votes = _grades(cells, data.roles.judges, judge_scale or scale, where, worth)
    truth, pass_fail = _truth(cells, data.roles.truth, scale, where, worth)
    systems, system = _systems(cells, data, where)
    outputs = Outputs(
        systems=systems,
        judges=data.roles.judges,
        system=system,
        grades=grades,
        truth=truth,
        counts=counts,
        pass_fail=votes if data.roles.truth is None else pass_fail,
        votes=votes,
        no_items=FROM_COUNTS,
        counted=True,
        scale=scale,
        judge_scale=judge_scale,
    )
    words = {name: cells.words(name) for name in data.roles.columns("judges", "truth")}
    return OutputPatterns(outputs=outputs, place=place, first=found.first, words=words)


def item_groups(data: Data) -> NDArray[np.int32]:
    """Return the number of each row's item; an item that a system answered twice is refused."""
    if data.roles.item is None:
        raise InputError(NO_ITEM)
    if data.memory is None or data.roles.item not in data.memory.groups:  # else it was checked
        _refuse_twice(data)
    return data.groups(data.roles.item)


def _columns(data: Data, *, sliced: bool) -> tuple[str, ...]:
    roles = ["system", "judges", "truth", *(["by"] if sliced else [])]
    found = data.roles.columns(*roles)
    if not isinstance(data.held, Table) or not data.rules.coerce:
        return found
    return tuple(dict.fromkeys((*found, *data.roles.columns("item"))))


def _items(data: Data, cells: _Cells) -> Ints:
    """Return a number for each row, the same for outputs of one item."""
    item = str(data.roles.item)
    if item in cells.columns:  # several spellings may be one item
        return cells.column(item)
    # Nearly every row may have an item of its own: they are numbered without making words of them.
    return data.groups(item, data.rules.missing).astype(np.int64)


def _cells(data: Data, columns: Sequence[str]) -> tuple[_Cells, bool]:
    """Return the cells, and whether each entry is a row of the table."""
    if not isinstance(data.held, Table):
        return _counted(_tally(data, columns), columns), False
    coded = data.words(*columns)
    counts = np.ones(len(coded.codes))
    if not len(counts):
        raise InputError(f"{data.source} holds no outputs")
    return _Cells(coded.codes.astype(np.int64), coded.labels, counts, tuple(columns)), True


def _tally(data: Data, columns: Sequence[str] = ()) -> Tally:
    """Return the counts of a tally that was given, or count in the engine that holds the rows."""
    wanted = tuple(columns) or _columns(data, sliced=False)
    if isinstance(data.held, Tally):
        return data.held.marginal(wanted)
    return data.count_words(*wanted)


def _counted(tally: Tally, columns: Sequence[str]) -> _Cells:
    """Return the patterns of a tally as cells."""
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
    return _Cells(np.stack(blocks, axis=1), tuple(labels), counts, tuple(columns))


def _place(data: Data) -> Callable[[str], Callable[[Label], str]]:
    """Return, for a column, a function that says where a cell first stands."""

    def of(column: str) -> Callable[[Label], str]:
        def where(label: Label) -> str:
            if not isinstance(data.held, Table):
                return data.source
            found = data.held.row_of(column, label)
            return data.source if found is None else str(found)

        return where

    return of


def _grades(
    cells: _Cells,
    judges: Sequence[str],
    scale: Scale | None,
    place: Callable[[str], Callable[[Label], str]],
    worth: Mapping[str, float],
) -> tuple[Floats, bool]:
    """Return entries x judges, and whether all of them are pass or fail."""
    found = [
        read_column(name, cells.words(name), scale, place(name), worth=worth) for name in judges
    ]
    held = [_looked_up(cells, name, one) for name, one in zip(judges, found, strict=True)]
    return np.stack(held, axis=1), all(one.pass_fail for one in found)


def _truth(
    cells: _Cells,
    truth: str | None,
    scale: Scale | None,
    place: Callable[[str], Callable[[Label], str]],
    worth: Mapping[str, float],
) -> tuple[Floats, bool]:
    if truth is None:
        return np.full(len(cells.counts), np.nan), True
    words = cells.words(truth)
    found = read_column(truth, words, scale, place(truth), human=True, worth=worth)
    return _looked_up(cells, truth, found), found.pass_fail


def _looked_up(cells: _Cells, name: str, column: Column) -> Floats:
    values = np.full(len(cells.labels) + 1, np.nan)  # the last place is for -1
    codes = cells.column(name)
    for code in np.unique(codes):
        if code >= 0:
            values[code] = column.values[cells.labels[code]]
    return np.asarray(values[codes])


def _named(cells: _Cells, column: str) -> tuple[tuple[str, ...], Ints]:
    """Return the labels of a column as text, in order, and each entry's position; -1 for blank."""
    codes = cells.column(column)
    used = [int(code) for code in np.unique(codes) if code >= 0]
    used.sort(key=lambda code: _order(cells.labels[code]))
    lookup = np.full(len(cells.labels) + 1, -1, np.int64)
    lookup[used] = np.arange(len(used))
    return tuple(str(cells.labels[code]) for code in used), lookup[codes]


def _order(label: Any) -> tuple[bool, Any]:
    return isinstance(label, str), label


def _systems(
    cells: _Cells, data: Data, place: Callable[[str], Callable[[Label], str]]
) -> tuple[tuple[str, ...], Ints]:
    column = data.roles.system
    if column is None:
        return (ALONE,), np.zeros(len(cells.counts), np.int64)
    names, codes = _named(cells, column)
    if (codes < 0).any():
        raise InputError(
            f"{place(column)(None)}: the system {column!r} is blank. Name the system of every"
            " output, or remove the row"
        )
    return names, codes


def _probability(data: Data, cells: _Cells, outputs: Outputs, rows: bool) -> Floats:
    """Return the probabilities of being graded; every output with a human grade needs one."""
    column = str(data.roles.probability)
    if not rows:
        raise InputError(
            f"{data.source} holds counts, and probability {column!r} belongs to single outputs:"
            " give the table itself"
        )
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


# Outputs as arrays: the one shape on which every method of this capability works.


Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ItemGrid:
    """Items x systems: which entry of the outputs each one is, -1 for none.

    Items that look alike are one row; *counts* says how many they are.
    """

    entries: Ints
    counts: Floats


@dataclass(frozen=True, kw_only=True, eq=False)
class Outputs:
    """Outputs of systems with their grades on [0, 1], NaN where there is none.

    An entry is one row of the table, or one pattern of a tally with the number of outputs that show
    it. Scores need nothing else; pairs of systems also need to know the item of each output.

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
    counted
        Whether the entries are patterns of a tally.
    grid
        For patterns: the items, where an engine could put their outputs side by side.
    probability
        Known probability with which each output was chosen for a human grade; None if all alike.
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
    counted: bool = False
    grid: ItemGrid | None = None
    probability: Floats | None = None
    slice: Ints | None = None
    slices: tuple[str, ...] = ()
    unit: str = "item"
    scale: tuple[float, float] | None = None
    judge_scale: tuple[float, float] | None = None
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
    def plain(self) -> bool:
        """Whether every entry is one output."""
        return bool((self.counts == 1).all())

    def of(self, system: int) -> NDArray[np.bool_]:
        """Return which entries belong to a system."""
        return np.asarray(self.system == system)

    def part(self, chosen: NDArray[np.bool_]) -> Outputs:
        """Return the chosen entries."""
        return replace(
            self,
            system=self.system[chosen],
            grades=self.grades[chosen],
            truth=self.truth[chosen],
            counts=self.counts[chosen],
            item=None if self.item is None else self.item[chosen],
            probability=None if self.probability is None else self.probability[chosen],
            slice=None if self.slice is None else self.slice[chosen],
        )

    def mean_grade(self) -> Floats:
        """Return the mean grade of the judges per entry, NaN where no judge graded."""
        seen = ~np.isnan(self.grades)
        total = np.where(seen, self.grades, 0.0).sum(axis=1)
        graded = seen.sum(axis=1)
        none = np.full(len(total), np.nan)
        return np.asarray(np.divide(total, graded, out=none, where=graded > 0))


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


# One number per output from the judges' grades alone, never from labels.
#
# Three or more judges who say pass or fail: the posterior of a pass in the two-coin model of Dawid
# and Skene, fitted to the outputs of all systems. Otherwise: the mean grade. The consensus sorts
# outputs into strata and adjusts labels, so a wrong one costs width and never validity.


_FEWEST = 3
"""Judges below which the latent model has no unique solution."""

_PACKED = 39
"""Judges whose votes (0, 1, none) fit into one 64-bit number."""


def consensus(outputs: Outputs) -> Floats:
    """Return the consensus of every entry; the system's mean where no judge graded.

    Examples
    --------
    >>> grades = np.array([[1, 1, 0], [0, 0, 0], [1, 1, 1], [0, 1, 0]] * 25, dtype=float)
    >>> outputs = Outputs(systems=("a",), judges=("x", "y", "z"), system=np.zeros(100, np.int64),
    ...     grades=grades, truth=np.full(100, np.nan), counts=np.ones(100), pass_fail=True, votes=True)
    >>> (consensus(outputs)[:4] > 0.5).tolist()
    [True, False, True, False]
    """
    mean = outputs.mean_grade()
    found = _posterior(outputs) if outputs.votes and len(outputs.judges) >= _FEWEST else None
    values = mean if found is None else np.where(np.isnan(mean), np.nan, found)

    # An output that nobody graded is still one of the system's outputs: it says nothing.
    blank = np.isnan(values)
    if not blank.any():
        return values
    k, seen = len(outputs.systems), ~blank
    weight = outputs.counts[seen]
    total = np.bincount(outputs.system[seen], weights=weight * values[seen], minlength=k)
    times = np.bincount(outputs.system[seen], weights=weight, minlength=k)
    middle = np.divide(total, times, out=np.full(k, 0.5), where=times > 0)
    return np.where(blank, middle[outputs.system], values)


def _posterior(outputs: Outputs) -> Floats | None:
    """Return the posterior of a pass, None where the votes do not identify the model."""
    from tallystick.stats.latent_fit import fit

    codes = np.where(np.isnan(outputs.grades), -1, outputs.grades).astype(np.int64)
    patterns, where = _patterns(codes)
    counts = np.bincount(where, weights=outputs.counts)
    try:
        found = fit(patterns, counts, n_classes=2).posterior[:, 1]
    except (NotIdentifiable, ConvergenceError):
        return None  # the mean vote says all that such votes can say
    return np.asarray(found[where])


def _patterns(codes: Ints) -> tuple[Ints, Ints]:
    """Return the distinct rows and which of them each row is."""
    if codes.shape[1] <= _PACKED:
        # One number per row is sorted ten times as fast as rows are.
        packed = (codes + 1) @ (3 ** np.arange(codes.shape[1], dtype=np.int64))
        _, first, where = np.unique(packed, return_index=True, return_inverse=True)
        return codes[first], where.ravel()
    patterns, where = np.unique(codes, axis=0, return_inverse=True)
    return patterns, where.ravel()


def strata_of(values: Floats, counts: Floats, *, votes: bool) -> Ints:
    """Return the stratum of each output of one system: by vote, or three bins of grades.

    >>> strata_of(np.array([0.2, 0.7, 0.9]), np.ones(3), votes=True).tolist()
    [0, 2, 2]
    """
    return vote_strata(values) if votes else graded_strata(values, counts)
