"""From the one door to outputs: rows of a table, or counts that an engine or a file holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.data import Data
from tallystick.data.assign import first_repeat
from tallystick.errors import InputError
from tallystick.io import Table
from tallystick.score.grades import Column, Scale, read_column
from tallystick.score.item_grid import grid_of
from tallystick.score.outputs import Floats, Ints, Outputs
from tallystick.score.word_grades import word_worth
from tallystick.tally import Tally
from tallystick.values import Label

__all__ = ["ALONE", "OutputPatterns", "item_groups", "read_outputs", "read_patterns"]

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
        What was read. Roles: system, judges, truth, item, probability, weight.
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
    >>> from tallystick.data import read
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
    if data.roles.weight is not None:
        counts = data.numbers(data.roles.weight, low=0.0)[:, 0]
        if np.isnan(counts).any() or (counts != np.floor(counts)).any():
            raise InputError(
                f"{data.source}: the weight {data.roles.weight!r} says how many outputs a row"
                " stands for, so it must be a whole number in every row"
            )
    if not counts.sum():
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
    if (counts != np.floor(counts)).any():
        raise InputError("the tally holds weights that are not whole numbers: count outputs")
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
