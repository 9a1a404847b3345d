"""A board: models in columns, items in rows, one score each; and how it is read.

Answers are held against the truth, runs of an item are averaged, and an item counts only if every
model has a score there; what is left out is kept beside it, for the worst case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results import count
from tallystick.stats.replicates import item_values
from tallystick.table import Data, Door, Label, Moments, identity, is_missing, read
from tallystick.table.cells import in_order
from tallystick.table.logs import Loss
from tallystick.verbs.compare.asks import (
    left_out_warning,
    no_item_in_common,
    no_shared_label,
)
from tallystick.verbs.compare.question import CompareQuestion, PassMetric, score_range

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]
Codes = npt.NDArray[np.int32]
Drawn = Literal["random", "disagreements", "any"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Board:
    """The scores of several models on the same items.

    Parameters
    ----------
    names
        The models.
    scores
        Items x models. NaN only where the true label is not known yet, and then along the whole
        row.
    items
        The name of each item; None if they have none.
    clusters
        What each item belongs to (a document, a scenario); None without clusters.
    weights
        The weight of each item; None if all count alike.
    answers, gold
        Codes of the answers, items x models, and of the true labels, below 0 where they are blank;
        None unless some are.
    drawn
        How the true labels were chosen, if not all are there: at ``random`` among all items, at
        random among the ``disagreements`` of two models, or nobody knows (``any``).
    rows
        Which item each row of the source belongs to, -1 for a row that is not used.
    right, runs
        Items x models: how often an item was run, and how often it was right. *right* is None
        where scores are not 0 or 1, both where every item was run once.
    notes
        What was left out or averaged, for the reader.
    left_out
        Items that are left out because a model gave no answer there.
    whole
        The board with those items, NaN where a model gave no answer; None where nothing is left
        out, or where what is left out cannot be put beside the rest.

    Examples
    --------
    >>> board = Board.of({"id": ["q1", "q2", "q3"], "old": [1, 0, 0], "new": [1, 1, 0]}, item="id")
    >>> board.names, board.scores.mean(axis=0).round(3).tolist()
    (('old', 'new'), [0.333, 0.667])
    """

    names: tuple[str, ...]
    scores: Floats
    items: tuple[Label, ...] | None = None
    clusters: tuple[Label, ...] | None = None
    weights: Floats | None = None
    answers: Codes | None = None
    gold: Codes | None = None
    drawn: Drawn = "random"
    rows: Places | None = None
    right: Floats | None = None
    runs: Floats | None = None
    notes: tuple[str, ...] = ()
    left_out: int = 0
    whole: Board | None = None

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            raise InputError(f"two models are called {twice!r}: give each its own name")

    @classmethod
    def of(cls, data: Any, **options: Any) -> Board:
        """Read a board from a file, several files, an evaluation log, a relation, an Arrow table or
        a mapping.

        Parameters
        ----------
        data
            One row per item. Rows that repeat an *item* are replicates (epochs, seeds) and are
            averaged.
        **options
            Roles and options of reading: *models* (globs allowed; by default every column that is
            not named otherwise), *truth* (true answers, blank where not known: a model scores 1
            where it gives that answer; without it the columns of the models hold scores), *item*,
            *cluster*, *weight*, *replicate*, *missing* and *coerce*.
        """
        with read(data, Door(verb="compare", want="models", repeats=True), **options) as found:
            return read_board(found)

    @property
    def n(self) -> int:
        """How many items there are, labelled or not."""
        return len(self.scores)

    @property
    def known(self) -> Bools:
        """Which items have scores."""
        return np.asarray(~np.isnan(self.scores).any(axis=1))

    @property
    def independent(self) -> bool:
        """Whether every item counts alike, and by itself."""
        return self.clusters is None and self.weights is None

    def moments(self) -> Moments:
        """Count the board: sums and products of scores, by cluster if there are any."""
        columns: dict[str, Any] = {name: self.scores[:, j] for j, name in enumerate(self.names)}
        by = "cluster"
        while by in self.names:
            by += "_"
        if self.clusters is not None:
            columns[by] = np.array([str(label) for label in self.clusters], dtype=object)
        return Moments.of(columns, columns=self.names, by=by if self.clusters is not None else None)

    def of_models(self, names: Sequence[str]) -> Board:
        """Return the board of these models only."""
        places = [self.place(name) for name in names]
        own = {
            field: held[:, places]
            for field in ("answers", "right", "runs")
            if (held := getattr(self, field)) is not None
        }
        whole = None if self.whole is None else self.whole.of_models(names)
        return replace(self, names=tuple(names), scores=self.scores[:, places], whole=whole, **own)

    def place(self, name: str) -> int:
        """Return the position of a model, or refuse its name."""
        if name not in self.names:
            raise InputError(
                f"there is no model {name!r}: the models are {', '.join(self.names[:12])}"
            )
        return self.names.index(name)

    def shown(self, row: int) -> str:
        """Return what an item is called in an error."""
        return f"row {row + 1}" if self.items is None else f"item {self.items[row]!r}"


def read_board(data: Data, question: CompareQuestion | None = None) -> Board:
    """Return the board of *data*; cells that are not scores are refused with their place."""
    roles, asked = data.roles, question or CompareQuestion()
    cells = _scored(data, asked) if roles.truth is None else _answered(data)
    # A token that means "no answer" may well be the name of an item or of a cluster.
    words = data.cells(*roles.columns("item", "cluster"))
    beside = _Beside(
        items=None if roles.item is None else words[roles.item],
        clusters=None if roles.cluster is None else words[roles.cluster],
        weights=None if roles.weight is None else data.numbers(roles.weight)[:, 0],
    )
    grouped = Grouped.of(beside.items, cells.answered, own_runs=roles.replicate is not None)
    if not grouped.used.any():
        raise InputError(f"{data.source}: {no_item_in_common(roles.models, cells.answered)}")
    _refuse_blank_clusters(data, beside, grouped.used)

    first = grouped.first
    losses = [str(note) for note in data.notes if isinstance(note, Loss)]
    notes = [*losses, *cells.notes]
    if grouped.lost:
        most = roles.models[int(np.argmin(cells.answered.sum(axis=0)))]
        notes.append(left_out_warning(grouped.lost, grouped.total, most))
    scores, runs, right = cells.scores[first], None, None
    if grouped.repeated:
        scores, runs, right = _averaged(data, cells, beside, grouped)
        if roles.replicate is None:
            many = int((np.bincount(grouped.places[grouped.used]) > 1).sum())
            notes.append(
                f"{many:,} of {len(first):,} items have several rows: each item counts once, by the"
                " mean of its rows"
            )
    blank = cells.gold is not None and bool((cells.gold[first] < 0).any())
    board = Board(
        names=roles.models,
        scores=scores,
        **beside.of(first),
        answers=cells.answers[first] if blank and cells.answers is not None else None,
        gold=cells.gold[first] if blank and cells.gold is not None else None,
        drawn=_drawn(data),
        rows=grouped.places,
        right=right,
        runs=runs,
        notes=tuple(notes),
        left_out=grouped.lost,
    )
    return board if not grouped.lost else replace(board, whole=_whole(board, cells, beside))


@dataclass(frozen=True, eq=False, kw_only=True)
class _Cells:
    """The columns of the models, row by row.

    *scores* is NaN where there is none; *answers* and *gold* are codes of labels, below 0 for a
    blank, where there is a truth.
    """

    scores: Floats
    answered: Bools
    answers: Codes | None = None
    gold: Codes | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False, kw_only=True)
class _Beside:
    """What stands beside the scores of each row; None where no column says it."""

    items: Sequence[Label] | None
    clusters: Sequence[Label] | None
    weights: Floats | None

    def of(self, rows: Places) -> dict[str, Any]:
        """Return the fields of a board of these rows."""
        return {
            "items": None if self.items is None else tuple(self.items[i] for i in rows),
            "clusters": None if self.clusters is None else tuple(self.clusters[i] for i in rows),
            "weights": None if self.weights is None else self.weights[rows],
        }


def _scored(data: Data, question: CompareQuestion) -> _Cells:
    """Read scores; what is never true has the worst score."""
    models, never = data.roles.models, data.rules.never_true
    words = frozenset(str(token) for token in never if token != "")
    missing = (*data.rules.missing, *sorted(words))
    low, high = question.bounds or (None, None)
    scores = replace(data, rules=replace(data.rules, missing=missing)).numbers(
        *models, low=low, high=high
    )
    if never:
        wrong = np.isnan(scores) if "" in never else np.zeros(scores.shape, bool)
        if words:
            cells = data.cells(*models)
            said = [
                [is_missing(c, words) and not is_missing(c) for c in cells[name]] for name in models
            ]
            wrong |= np.array(said).T
        ends = score_range(scores, question)
        if ends is None:
            raise InputError(
                f"{data.source}: --never-true counts a cell as the worst score, and nothing says"
                " which that is: declare the range of scores (--bounds LO,HI)"
            )
        scores = np.where(wrong, ends[0 if question.better == "higher" else 1], scores)
    return _Cells(scores=scores, answered=~np.isnan(scores))


def _answered(data: Data) -> _Cells:
    """Hold answers against the truth: 1 where they are equal, NaN where the truth is blank."""
    roles = data.roles
    coded = data.labels(*roles.columns("models", "truth"))
    # Codes in canonical order: which label stands first in a table changes no digit.
    words = in_order(coded.labels)
    place = {identity(label): code for code, label in enumerate(words)}
    codes = np.array([*(place[identity(one)] for one in coded.labels), -1], np.int32)[coded.codes]
    answers, gold = codes[:, :-1], codes[:, -1]
    if (gold < 0).all():
        raise InputError(
            f"{data.source}: the truth {roles.truth!r} is blank everywhere: label a few items first"
        )
    answered = answers >= 0
    if "" in data.rules.never_true:
        # A blank that is never true is an answer, and a wrong one.
        answers, answered = np.where(answered, answers, len(words)), answered | True

    def occurring(column: Codes) -> list[Label]:
        inside = column[(column >= 0) & (column < len(words))]
        return [words[code] for code in np.flatnonzero(np.bincount(inside)).tolist()]

    given = {name: occurring(column) for name, column in zip(roles.models, answers.T, strict=True)}
    return _Cells(
        scores=np.where(gold[:, None] < 0, np.nan, (answers == gold[:, None]).astype(float)),
        answered=answered,
        answers=answers,
        gold=gold,
        notes=tuple(no_shared_label(str(roles.truth), occurring(gold), given)),
    )


def _drawn(data: Data) -> Drawn:
    """Say how true labels were chosen, as far as a session says it."""
    if data.session is None:
        return "random"
    # A session for two models draws among their disagreements; any other draws as it needs to.
    two = data.session.head.question == "compare" and len(data.roles.models) == 2
    return "disagreements" if two else "any"


def _averaged(
    data: Data, cells: _Cells, beside: _Beside, grouped: Grouped
) -> tuple[Floats, Floats, Floats | None]:
    """Return the mean of each item's rows, how many there are, and their sum where they are 0 or
    1.
    """
    if cells.gold is not None and (cells.gold[grouped.used] < 0).any():
        raise InputError(
            f"{data.source}: items repeat and some true labels are blank: average or remove the"
            " replicates first"
        )
    _alike(beside.items, beside.clusters, grouped, "cluster")
    _alike(beside.items, beside.weights, grouped, "weight")
    runs, sums = grouped.added(cells.answered.astype(float)), grouped.added(cells.scores)
    binary = bool(np.isin(cells.scores[cells.answered], (0.0, 1.0)).all())
    return sums / runs, runs, sums if binary else None


def _whole(board: Board, cells: _Cells, beside: _Beside) -> Board | None:
    """Return the board of all items, those left out among them; None if one has no cluster or no
    true label.
    """
    if cells.gold is not None and (cells.gold < 0).any():
        return None
    every = Grouped.of(beside.items, np.ones(cells.answered.shape, bool), own_runs=True)
    own = beside.of(every.first)
    if own["clusters"] is not None and None in own["clusters"]:
        return None
    runs = every.added(cells.answered.astype(float))
    sums = every.added(np.where(cells.answered, cells.scores, 0.0))
    several = bool((runs > 1).any())
    return Board(
        names=board.names,
        scores=np.divide(sums, runs, out=np.full(runs.shape, np.nan), where=runs > 0),
        **own,
        right=sums if several and board.right is not None else None,
        runs=runs if several else None,
    )


def _alike(
    items: Sequence[Label] | None,
    values: Sequence[Label] | Floats | None,
    grouped: Grouped,
    what: str,
) -> None:
    """Refuse an item whose replicates have two *values*."""
    if items is None or values is None:
        return
    held = list(values)
    for row, place in enumerate(grouped.places.tolist()):
        if place >= 0 and held[row] != held[grouped.first[place]]:
            raise InputError(
                f"item {items[row]!r} has the {what}s {held[grouped.first[place]]} and {held[row]}:"
                f" give all its rows one {what}"
            )


def _refuse_blank_clusters(data: Data, beside: _Beside, used: Bools) -> None:
    """Refuse a blank cluster: items of which nobody said where they belong are no cluster of their
    own.
    """
    for row, group in enumerate(beside.clusters or ()):
        if group is None and used[row]:
            raise InputError(
                f"{data.source}, row {row + 1}: the cluster {data.roles.cluster!r} is blank; name"
                " every cluster or remove the row"
            )


# Rows of one item are its runs: which row belongs to which item, and what its runs add up to.


@dataclass(frozen=True, eq=False, kw_only=True)
class Grouped:
    """Rows sorted into items.

    Parameters
    ----------
    places
        The item of each row, -1 for a row that is not used.
    first
        The first row of each item.
    used
        Which rows are used.
    lost, total
        Items that are left out because a model has no score there, and all items; rows where
        items have no names.
    """

    places: Places
    first: Places
    used: Bools
    lost: int
    total: int

    @classmethod
    def of(cls, items: Sequence[Label] | None, answered: Bools, *, own_runs: bool) -> Grouped:
        """Sort rows into items.

        Parameters
        ----------
        items
            The item of each row; None if every row is one.
        answered
            Rows x models: whether there is a score.
        own_runs
            Whether each model counts by its own runs of an item. Otherwise a row counts only if
            every model has a score in it.

        Examples
        --------
        >>> answered = np.array([[True, True], [True, False], [False, True]])
        >>> Grouped.of(["q1", "q1", "q2"], answered, own_runs=True).places.tolist()
        [0, 0, -1]
        >>> Grouped.of(["q1", "q1", "q2"], answered, own_runs=False).places.tolist()
        [0, -1, -1]
        """
        used = np.asarray(answered.all(axis=1))
        lost, total = int((~used).sum()), len(used)
        if items is None:
            rows = np.flatnonzero(used)
            places = np.full(total, -1, np.int64)
            places[rows] = np.arange(len(rows))
            return cls(places=places, first=rows, used=used, lost=lost, total=total)

        codes = _codes(items)
        if own_runs:
            total = int(codes.max()) + 1 if len(codes) else 0
            runs = [np.bincount(codes, column, minlength=total) for column in answered.T]
            complete = np.all(np.stack(runs) > 0, axis=0)
            used, lost = complete[codes] & answered.any(axis=1), int((~complete).sum())

        # The items that are left get their numbers in the order of their first used row.
        rows = np.flatnonzero(used)
        found, first = np.unique(codes[rows], return_index=True)
        order = np.argsort(first, kind="stable")
        number = np.full(int(codes.max(initial=0)) + 1, -1, np.int64)
        number[found[order]] = np.arange(len(found))
        places = np.where(used, number[codes], -1)
        return cls(places=places, first=rows[first[order]], used=used, lost=lost, total=total)

    @property
    def repeated(self) -> bool:
        """Whether an item has several rows."""
        return len(self.first) < int(self.used.sum())

    def added(self, values: Floats) -> Floats:
        """Return the sum of each column over the rows of each item, missing values left out."""
        n, known = len(self.first), np.nan_to_num(values[self.used])
        columns = [np.bincount(self.places[self.used], column, minlength=n) for column in known.T]
        return np.stack(columns, axis=1)


def _codes(items: Sequence[Label]) -> Places:
    seen: dict[Label, int] = {}
    codes = np.empty(len(items), np.int64)
    for row, item in enumerate(items):
        if item is None:
            raise InputError(f"row {row + 1}: the item is blank; name every item or remove the row")
        codes[row] = seen.setdefault(item, len(seen))
    return codes


def check_bounds(board: Board, question: CompareQuestion) -> None:
    """Refuse a score outside the declared range, by its item."""
    if question.bounds is None:
        return
    low, high = question.bounds
    outside = (board.scores < low) | (board.scores > high)
    if outside.any():
        row, column = (int(i[0]) for i in np.nonzero(outside))
        raise InputError(
            f"{board.shown(row)}: the score {board.scores[row, column]:g} of"
            f" {board.names[column]!r} is outside the bounds [{low:g}, {high:g}]: widen the bounds"
            " or correct the score"
        )


def check_size(names: tuple[str, ...], n: int) -> None:
    """Refuse fewer than two models or two items."""
    if len(names) < 2 or n < 2:
        raise InputError(
            "compare needs at least two models, and at least two items that all of them answered,"
            f" got {', '.join(names)} and {count(n)}: name the columns of models (--models), or"
            " another file"
        )


MOST_ROWS = 2_000
"""Rows from which on a pseudo-item changes nothing."""
MOST_MODELS = 40
"""Models beyond which looking at every pair of columns takes long."""
LEAST_MEASURED = 8
"""Rows that must differ before plain t is used for scores in bounds; see `are_measured`."""


def are_measured(scores: Floats) -> Bools:
    """Say which two models differ on a quarter of the rows and on at least 8, or on half of fewer
    than 16; pairs are listed as ``numpy.triu_indices`` lists them.

    Plain t needs no pseudo-item then: what could be rare and far away would have been seen as a
    spread.

    >>> are_measured(np.array([[0.81, 0.8, 0.8], [0.7, 0.78, 0.78], [0.83, 0.8, 0.8]] * 3)).tolist()
    [True, True, False]
    """
    first, second = np.triu_indices(scores.shape[1], 1)
    # From so many rows or models on a pseudo-item hardly counts, or takes long to look for.
    if not 2 < len(scores) <= MOST_ROWS or scores.shape[1] > MOST_MODELS:
        return np.zeros(first.size, bool)
    enough = max(min(LEAST_MEASURED, len(scores) / 2), len(scores) / 4)
    differ = (scores[:, first] != scores[:, second]).sum(axis=0)
    return np.asarray(differ >= enough)


def pass_board(board: Board, passes: PassMetric) -> Board:
    """Return the board with pass@k (or pass^k) of each item as its score.

    Examples
    --------
    >>> board = Board(
    ...     names=("a",), scores=np.array([[0.3]]), right=np.array([[3.0]]), runs=np.array([[10.0]])
    ... )
    >>> pass_board(board, PassMetric("pass@k", 5)).scores.round(4).tolist()
    [[0.9167]]
    """
    if board.right is None or board.runs is None:
        raise InputError(
            f"{passes} needs several runs per item with scores of 0 and 1: give logs with epochs,"
            " or name the items and the column that numbers the runs (--item, --replicate)"
        )
    columns = [
        item_values(board.right[:, j], board.runs[:, j], k=passes.k, kind=passes.kind)
        for j in range(len(board.names))
    ]
    return replace(board, scores=np.stack(columns, axis=1))
