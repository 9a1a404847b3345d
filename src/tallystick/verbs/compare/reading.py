"""From data to a board: answers held against the truth, runs of an item averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results.numbers import count
from tallystick.table import Data, Label, Table, Tally, identifier, identity, is_missing
from tallystick.table.cells import in_order
from tallystick.table.data import labels_in
from tallystick.table.formats import Loss
from tallystick.table.reading_names import ROLE_NAMES, is_mark, plain
from tallystick.verbs.compare.board import Board, Drawn
from tallystick.verbs.compare.in_common import (
    no_item_in_common,
    no_shared_label,
    summary_rows,
    who_costs_items,
)
from tallystick.verbs.compare.question import LEAST_SHARE, Settings, score_range
from tallystick.verbs.compare.verdict import left_out_warning

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Places = npt.NDArray[np.int64]


def read_board(data: Data, *, settings: Settings | None = None) -> Board:
    """Return the board of *data*; cells that are not scores are refused with their place.

    Parameters
    ----------
    data
        What was read; its roles say which columns are the models, the truth, the item, the cluster
        and the weight.
    settings
        Between what scores must lie (the first one outside is refused by row), and which way is
        better.
    """
    roles = data.roles
    if roles.item is None:
        _refuse_hidden_replicates(data)
    cells = _scored(data, settings or Settings()) if roles.truth is None else _answered(data)
    beside = _beside(data)
    grouped = Grouped.of(beside.items, cells.answered, own_runs=roles.replicate is not None)
    if not grouped.used.any():
        raise InputError(f"{data.source}: {no_item_in_common(roles.models, cells.answered)}")
    if roles.cluster is not None:
        _refuse_blank_clusters(data, roles.cluster, beside.clusters or (), grouped.used)

    first = grouped.first
    losses = [str(note) for note in data.notes if isinstance(note, Loss)]
    notes = [*losses, *cells.notes, *_silent(roles.models, cells.answered, grouped)]
    if grouped.repeated:
        scores, runs, right = _averaged(data, cells, beside, grouped)
        if roles.replicate is None:
            notes.append(_several_rows(grouped))
    else:
        scores, runs, right = cells.scores[first], None, None
    if beside.items is not None and cells.gold is None:
        notes += summary_rows([beside.items[i] for i in first], scores)
    blank = cells.gold is not None and bool((cells.gold[first] < 0).any())
    board = Board(
        names=roles.models,
        scores=scores,
        **beside.of(first),
        answers=cells.answers[first] if blank and cells.answers is not None else None,
        gold=cells.gold[first] if blank and cells.gold is not None else None,
        drawn=_drawn(data),
        truth=cells.truths(grouped.places, len(first)),
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
    blank, where there is a truth; *words* are those labels.
    """

    scores: Floats
    answered: Bools
    answers: npt.NDArray[np.int32] | None = None
    gold: npt.NDArray[np.int32] | None = None
    words: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()

    def truths(self, places: Places, n: int) -> tuple[Label, ...] | None:
        """Return the true label of each item; None where it is blank, or where its rows have
        several.
        """
        if self.gold is None:
            return None
        found = np.full(n, -2)
        used = places >= 0
        found[places[used]] = self.gold[used]
        several = np.zeros(n, bool)
        several[places[used][found[places[used]] != self.gold[used]]] = True
        return tuple(
            None if unsure or code < 0 else self.words[code]
            for code, unsure in zip(found.tolist(), several.tolist(), strict=True)
        )


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


def _scored(data: Data, settings: Settings) -> _Cells:
    scores = _scores(data, settings)
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
    given = {
        name: _occurring(column[column < len(words)], words)
        for name, column in zip(roles.models, answers.T, strict=True)
    }
    return _Cells(
        scores=np.where(gold[:, None] < 0, np.nan, (answers == gold[:, None]).astype(float)),
        answered=answered,
        answers=answers,
        gold=gold,
        words=tuple(words),
        notes=tuple(no_shared_label(str(roles.truth), _occurring(gold, words), given)),
    )


def _beside(data: Data) -> _Beside:
    roles = data.roles
    # A token that means "no answer" may well be the name of an item or of a cluster.
    cells = data.cells(*roles.columns("item", "cluster"))
    return _Beside(
        items=None if roles.item is None else cells[roles.item],
        clusters=None if roles.cluster is None else cells[roles.cluster],
        weights=None if roles.weight is None else data.numbers(roles.weight)[:, 0],
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
    _alike(beside.items, beside.clusters, grouped, "is in cluster {} and in {}: give it one")
    weights = "has the weights {} and {}: give its replicates one weight"
    _alike(beside.items, beside.weights, grouped, weights)
    runs, sums = grouped.runs(cells.answered), grouped.sums(cells.scores)
    binary = bool(np.isin(cells.scores[cells.answered], (0.0, 1.0)).all())
    return sums / runs, runs, sums if binary else None


def _several_rows(grouped: Grouped) -> str:
    many = int((np.bincount(grouped.places[grouped.used]) > 1).sum())
    return (
        f"{many:,} of {len(grouped.first):,} items have several rows: each item counts once, by the"
        " mean of its rows"
    )


def _scores(data: Data, settings: Settings) -> Floats:
    """Return scores, NaN where there is no answer; what is never true has the worst score."""
    models, never = data.roles.models, data.rules.never_true
    words = frozenset(str(token) for token in never if token != "")
    missing = (*data.rules.missing, *sorted(words))
    low, high = settings.bounds or (None, None)
    scores = replace(data, rules=replace(data.rules, missing=missing)).numbers(
        *models, low=low, high=high
    )
    if not never:
        return scores

    wrong = np.isnan(scores) if "" in never else np.zeros(scores.shape, bool)
    if words:
        cells = data.cells(*models)
        wrong |= np.array(
            [[is_missing(c, words) and not is_missing(c) for c in cells[name]] for name in models]
        ).T
    ends = score_range(scores, settings)
    if ends is None:
        raise InputError(
            f"{data.source}: --never-true counts a cell as the worst score, and nothing says which"
            " that is: declare the range of scores (--bounds LO,HI)"
        )
    return np.where(wrong, ends[0 if settings.better == "higher" else 1], scores)


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
    runs = every.runs(cells.answered)
    sums = every.sums(np.where(cells.answered, cells.scores, 0.0))
    several = bool((runs > 1).any())
    return Board(
        names=board.names,
        scores=np.divide(sums, runs, out=np.full(runs.shape, np.nan), where=runs > 0),
        **own,
        right=sums if several and board.right is not None else None,
        runs=runs if several else None,
    )


def _refuse_hidden_replicates(data: Data) -> None:
    """Refuse a column that is named like the items but repeats: its rows would be counted as
    independent items.
    """
    if not isinstance(data.held, Table):
        return
    named = data.roles.columns()
    for column in data.table.columns:
        usual = plain(column) in ROLE_NAMES["item"]
        if usual and column not in named and column not in data.table.left_out:
            raise InputError(
                f"{data.source}: column {column!r} is named like the items but repeats: name it"
                f" (--item {column}) to average the replicates of each item, or rename it if its"
                " rows are items of their own"
            )


def _occurring(codes: npt.NDArray[np.int32], words: Sequence[Label]) -> list[Label]:
    """Return the labels that occur in a column."""
    return [words[code] for code in np.flatnonzero(np.bincount(codes[codes >= 0])).tolist()]


def _silent(models: Sequence[str], answered: npt.NDArray[np.bool_], grouped: Grouped) -> list[str]:
    """Say how many items are left out because a model gave no answer there."""
    lost = grouped.lost
    if not lost:
        return []
    worst = int(np.argmin(answered.sum(axis=0)))
    return [
        left_out_warning(
            lost,
            grouped.total,
            most=models[worst],
            lacks=int((~answered[:, worst]).sum()),
            instead=who_costs_items(models, answered),
        )
    ]


def _alike(
    items: Sequence[Label] | None,
    values: Sequence[Label] | Floats | None,
    grouped: Grouped,
    words: str,
) -> None:
    """Refuse an item whose replicates have two *values*."""
    if items is None or values is None:
        return
    held = list(values)
    for row, place in enumerate(grouped.places.tolist()):
        if place >= 0 and held[row] != held[grouped.first[place]]:
            shown = (
                repr(one) if isinstance(one, str) else f"{one}"
                for one in (held[grouped.first[place]], held[row])
            )
            raise InputError(f"item {items[row]!r} {words.format(*shown)}")


def _refuse_blank_clusters(
    data: Data, column: str, groups: Sequence[Label], used: npt.NDArray[np.bool_]
) -> None:
    """Refuse a blank cluster: items of which nobody said where they belong are no cluster of their
    own.
    """
    for row, group in enumerate(groups):
        if group is None and used[row]:
            raise InputError(
                f"{data.source}, row {row + 1}: the cluster {column!r} is blank; name every"
                " cluster or remove the row"
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
        whole = np.asarray(answered.all(axis=1))
        if items is None:
            rows = np.flatnonzero(whole)
            places = np.full(len(whole), -1, np.int64)
            places[rows] = np.arange(len(rows))
            lost = int((~whole).sum())
            return cls(places=places, first=rows, used=whole, lost=lost, total=len(whole))

        codes = _codes(items)
        total = int(codes.max()) + 1 if len(codes) else 0
        if own_runs:
            runs = np.stack(
                [
                    np.bincount(codes, answered[:, j], minlength=total)
                    for j in range(answered.shape[1])
                ]
            )
            complete = np.asarray((runs > 0).all(axis=0))
            used = complete[codes] & answered.any(axis=1)
            lost, count = int((~complete).sum()), total
        else:
            used, lost, count = whole, int((~whole).sum()), len(whole)
        return cls._renumbered(codes, used, lost, count)

    @classmethod
    def _renumbered(cls, codes: Places, used: Bools, lost: int, total: int) -> Grouped:
        """Give the items that are left their numbers, in the order of their first used row."""
        rows = np.flatnonzero(used)
        found, first = np.unique(codes[rows], return_index=True)
        order = np.argsort(first, kind="stable")
        number = np.full(int(codes.max()) + 2 if len(codes) else 1, -1, np.int64)
        number[found[order]] = np.arange(len(found))
        places = np.where(used, number[codes], -1)
        return cls(places=places, first=rows[first[order]], used=used, lost=lost, total=total)

    @property
    def repeated(self) -> bool:
        """Whether an item has several rows."""
        return len(self.first) < int(self.used.sum())

    def runs(self, answered: Bools) -> Floats:
        """Return how many scores each model has of each item."""
        return self._added(answered.astype(float))

    def sums(self, scores: Floats) -> Floats:
        """Return the sum of each model's scores of each item, missing ones left out."""
        return self._added(np.nan_to_num(scores))

    def _added(self, values: Floats) -> Floats:
        n, used = len(self.first), self.used
        columns = [
            np.bincount(self.places[used], values[used, j], minlength=n)
            for j in range(values.shape[1])
        ]
        return np.stack(columns, axis=1)


def _codes(items: Sequence[Label]) -> Places:
    seen: dict[Label, int] = {}
    codes = np.empty(len(items), np.int64)
    for row, item in enumerate(items):
        if item is None:
            raise InputError(f"row {row + 1}: the item is blank; name every item or remove the row")
        codes[row] = seen.setdefault(item, len(seen))
    return codes


# Tables that look like scores of models on items and are not: asked about, with the way out.


_WHO = frozenset({"model", "models", "system", "run", "name", "method", "checkpoint", "agent"})
_MOST_MODELS = 50
_MOST_MEASURES = 20
"""Columns up to which a table with one row per model holds benchmarks, not items."""
_LEAST_PERCENT = 20.0
"""Scores that reach this are no shares of 1."""
_MOST_ODD = 0.01
"""Share of scores outside 0 to 1 up to which they are asked about."""


def refuse_marks_as_answers(data: Data) -> None:
    """Refuse columns called ``bert_correct`` that would be held against a truth of 0 and 1.

    They say whether an answer was right already: that they equal the label says nothing.
    """
    truth, held = data.roles.truth, data.held
    if truth is None or data.in_engine:
        return
    marks = [name for name in data.roles.models if is_mark(name)]
    if len(marks) < len(data.roles.models):
        return
    if isinstance(held, Table) and truth not in held.columns:
        return
    known = {"0", "1", "0.0", "1.0", "true", "false"}
    if not all(_some_cells(held, name) <= known for name in marks):
        return
    raise InputError(
        f"{data.source}: {', '.join(map(repr, marks[:4]))} say whether an answer was right, by"
        f" their names and their cells (0 and 1), so they are not compared with {truth!r}: leave"
        " out --truth, and they are the scores. If they are answers, rename them"
    )


def _some_cells(held: Table | Tally, column: str) -> set[str]:
    """Return different cells of a column in lower case, enough to see what they are."""
    if isinstance(held, Tally):
        return {str(label).lower() for label in labels_in(held, column)}
    cell = identifier(column)
    found = held.query(
        f"select distinct lower(cast({cell} as varchar)) from rows where {cell} is not null limit 7"
    )
    return {str(value) for (value,) in found}


def refuse_results_table(data: Data) -> None:
    """Refuse a table with one row per model and one column per benchmark.

    Its columns are what was measured and its rows are the models: compared as they stand, a
    benchmark would be named the best model.
    """
    held, roles = data.held, data.roles
    if not isinstance(held, Table) or roles.truth is not None or data.n_rows > _MOST_MODELS:
        return
    who = [
        name
        for name in held.columns
        if name not in roles.columns() and name.lower() in _WHO and held.kinds[name] == "text"
    ]
    if roles.item is not None and roles.item.lower() in _WHO:
        who.append(roles.item)
    if not who or held.repeats(who[0]):
        return
    if len(roles.models) > max(data.n_rows, _MOST_MEASURES):
        raise InputError(
            f"{data.source} has one row per {who[0]!r} and {len(roles.models):,} columns"
            f" ({', '.join(roles.models[:3])} …), so models are in rows and items in columns:"
            f" transpose it. {_transposed(data.source, who[0])}"
        )
    raise InputError(
        f"{data.source} has one row per {who[0]!r} and one column per measurement"
        f" ({', '.join(roles.models[:3])}): compare needs the single items behind these figures,"
        " with one row per item and one column per model. Figures alone do not say how sure they"
        " are"
    )


def _transposed(source: str, who: str) -> str:
    """Return the command that turns a table of models into one of items."""
    to = f"{source.rpartition('.')[0] or source}-items.csv"
    return (
        f"python -c \"import pandas as pd; pd.read_csv('{source}').set_index('{who}').T"
        f".to_csv('{to}', index_label='item')\" && tallystick compare {to} --item item"
    )


def refuse_odd_scores(board: Board) -> None:
    """Ask about a few scores outside 0 to 1 where all others lie inside: they may be codes.

    >>> scores = np.full((500, 2), 0.5)
    >>> scores[7, 1] = -2
    >>> refuse_odd_scores(Board(names=("a", "b"), scores=scores))
    Traceback (most recent call last):
        ...
    tallystick.errors.InputError: row 8: the score of 'b' is -2, and 999 of 1,000 scores lie between 0 and 1. If -2 stands for no score, read it as one (--missing=-2); if it is a score, declare the range (--bounds=-2,1)
    """
    scores = board.scores
    outside = (scores < 0) | (scores > 1)
    some = int(outside.sum())
    inside = scores[~outside]
    if not some or some > _MOST_ODD * scores.size or inside.max(initial=0.0) < LEAST_SHARE:
        return
    row, column = (int(place[0]) for place in np.nonzero(outside))
    odd = scores[row, column]
    item = f"item {board.items[row]!r}" if board.items is not None else f"row {row + 1}"
    low, high = min(0.0, float(scores[outside].min())), max(1.0, float(scores[outside].max()))
    raise InputError(
        f"{item}: the score of {board.names[column]!r} is {odd:g}, and {count(inside.size)} of"
        f" {count(scores.size)} scores lie between 0 and 1. If {odd:g} stands for no score, read it"
        f" as one (--missing={odd:g}); if it is a score, declare the range"
        f" (--bounds={low:g},{high:g})"
    )


def refuse_two_scales(board: Board) -> None:
    """Refuse models of which one is scored in per cent and another in shares of 1.

    >>> scores = np.array([[0.0, 100.0], [1.0, 0.0]])
    >>> refuse_two_scales(Board(names=("a", "b"), scores=scores))
    Traceback (most recent call last):
        ...
    tallystick.errors.InputError: 'a' has scores from 0 to 1 and 'b' from 0 to 100: these are two scales. Divide the scores of 'b' by 100 if they are per cent; if both are on one scale, declare it (--bounds 0,100)
    """
    low, high = board.scores.min(axis=0), board.scores.max(axis=0)
    small = np.flatnonzero((low >= 0) & (high <= 1) & (high > 0))
    large = np.flatnonzero((low >= 0) & (high >= _LEAST_PERCENT) & (high <= 100))
    if not small.size or not large.size:
        return
    a, b = int(small[0]), int(large[0])
    raise InputError(
        f"{board.names[a]!r} has scores from {low[a]:g} to {high[a]:g} and {board.names[b]!r} from"
        f" {low[b]:g} to {high[b]:g}: these are two scales. Divide the scores of {board.names[b]!r}"
        " by 100 if they are per cent; if both are on one scale, declare it (--bounds 0,100)"
    )
