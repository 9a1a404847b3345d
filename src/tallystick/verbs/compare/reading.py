"""From data to a board: answers held against the truth, runs of an item averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.table import Data, Label, Table, Tally, identifier, is_missing
from tallystick.table.data import labels_in
from tallystick.table.formats import Loss
from tallystick.table.reading_names import ROLE_NAMES, is_mark, plain
from tallystick.verbs.compare.board import Board
from tallystick.verbs.compare.clusters import Grouped
from tallystick.verbs.compare.partial import (
    no_item_in_common,
    no_shared_label,
    summary_rows,
    who_costs_items,
)
from tallystick.verbs.compare.question import Settings, score_range
from tallystick.verbs.compare.verdict import left_out_warning

Floats = npt.NDArray[np.float64]


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
    answers = truth = None
    shared: list[str] = []
    if roles.truth is None:
        scores = _scores(data, settings or Settings())
        answered = ~np.isnan(scores)
        hidden = np.zeros(len(scores), bool)
    else:
        answers, gold, words = _codes(data)
        hidden = gold < 0
        # A blank that is never true is an answer, and a wrong one.
        answered = (answers >= 0) | ("" in data.rules.never_true)
        scores = np.where(hidden[:, None], np.nan, (answers == gold[:, None]).astype(float))
        truth = [words[code] for code in gold.tolist()]
        given = {
            name: _occurring(column, words)
            for name, column in zip(roles.models, answers.T, strict=True)
        }
        shared = no_shared_label(roles.truth, _occurring(gold, words), given)

    beside = data.cells(*roles.columns("item", "cluster"))
    # A token that means "no answer" may well be the name of an item or of a cluster.
    items = None if roles.item is None else beside[roles.item]
    groups = None if roles.cluster is None else beside[roles.cluster]
    weights = None if roles.weight is None else _weights(data, roles.weight)
    grouped = Grouped.of(items, answered, own_runs=roles.replicate is not None)
    if not grouped.used.any():
        raise InputError(f"{data.source}: {no_item_in_common(roles.models, answered)}")
    losses = [str(note) for note in data.notes if isinstance(note, Loss)]
    notes = [*losses, *shared, *_silent(roles.models, answered, grouped)]
    if roles.cluster is not None:
        _refuse_blank_clusters(data, roles.cluster, groups or (), grouped.used)

    first, places = grouped.first, grouped.places
    marks, right, runs = scores, None, None
    if grouped.repeated:
        if hidden[grouped.used].any():
            raise InputError(
                f"{data.source}: items repeat and some true labels are blank: average or remove"
                " the replicates first"
            )
        runs, sums = grouped.runs(answered), grouped.sums(scores)
        binary = bool(np.isin(scores[answered], (0.0, 1.0)).all())
        right = sums if binary else None
        scores, answers = sums / runs, None
        _alike(items, groups, places, first, "is in cluster {} and in {}: give it one")
        _alike(
            items,
            weights,
            places,
            first,
            "has the weights {} and {}: give its replicates one weight",
        )
        if roles.replicate is None:
            many = int((np.bincount(places[grouped.used]) > 1).sum())
            notes.append(
                f"{many:,} of {len(first):,} items have several rows: each item counts once, by the"
                " mean of its rows"
            )
    else:
        scores, answers = scores[first], None if answers is None else answers[first]
    if items is not None and truth is None:
        notes += summary_rows([items[i] for i in first], scores)
    board = Board(
        names=roles.models,
        scores=scores,
        items=None if items is None else tuple(items[i] for i in first),
        clusters=None if groups is None else tuple(groups[i] for i in first),
        weights=None if weights is None else weights[first],
        answers=answers if hidden[first].any() else None,
        truth=None if truth is None else _one_truth(truth, places, len(first)),
        rows=places,
        right=right,
        runs=runs,
        notes=tuple(notes),
        left_out=grouped.lost,
    )
    if not grouped.lost or hidden.any():
        return board
    every = Grouped.of(items, np.ones(answered.shape, bool), own_runs=True)
    tried = (every.runs(answered), every.sums(np.where(answered, marks, 0.0)))
    return replace(board, whole=_whole(board, every.first, tried, items, groups, weights))


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


def _whole(
    board: Board,
    first: npt.NDArray[np.int64],
    tried: tuple[Floats, Floats],
    items: Sequence[Label] | None,
    groups: Sequence[Label] | None,
    weights: Floats | None,
) -> Board | None:
    """Return the board of all items, those left out among them; None if one has no cluster.

    *first* is the first row of each item, *tried* how many scores each model has there, and their
    sum.
    """
    clusters = None if groups is None else tuple(groups[i] for i in first)
    if clusters is not None and None in clusters:
        return None
    runs, sums = tried
    several = bool((runs > 1).any())
    return Board(
        names=board.names,
        scores=np.divide(sums, runs, out=np.full(runs.shape, np.nan), where=runs > 0),
        items=None if items is None else tuple(items[i] for i in first),
        clusters=clusters,
        weights=None if weights is None else weights[first],
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


def _codes(
    data: Data,
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], tuple[Label, ...]]:
    """Return one code per label over all columns, -1 for missing: of the answers, of the truth;
    and the labels, None at -1.
    """
    coded = data.labels(*data.roles.columns("models", "truth"))
    if (coded.codes[:, -1] < 0).all():
        raise InputError(
            f"{data.source}: the truth {data.roles.truth!r} is blank everywhere: label a few items"
            " first"
        )
    return coded.codes[:, :-1], coded.codes[:, -1], (*coded.labels, None)


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


def _weights(data: Data, name: str) -> Floats:
    weights = np.asarray(data.numbers(name, low=0.0)[:, 0])
    if np.isnan(weights).any():
        row = int(np.flatnonzero(np.isnan(weights))[0]) + 1
        raise InputError(
            f"{data.place(row)}: the weight {name!r} is missing. Weigh every row, or remove it"
        )
    if not (weights > 0).any():
        raise InputError("all weights are 0: weigh at least one item")
    return weights


def _alike(
    items: Sequence[Label] | None,
    values: Sequence[Label] | Floats | None,
    places: npt.NDArray[np.int64],
    first: npt.NDArray[np.int64],
    words: str,
) -> None:
    """Refuse an item whose replicates have two *values*."""
    if items is None or values is None:
        return
    held = list(values)
    for row, place in enumerate(places.tolist()):
        if place >= 0 and held[row] != held[first[place]]:
            shown = (
                repr(one) if isinstance(one, str) else f"{one}"
                for one in (held[first[place]], held[row])
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


def _one_truth(truth: Sequence[Label], places: npt.NDArray[np.int64], n: int) -> tuple[Label, ...]:
    """Return the true label of each item; None where it is blank, or where replicates have
    several.
    """
    if np.count_nonzero(places >= 0) == n:
        return tuple(
            label for label, place in zip(truth, places.tolist(), strict=True) if place >= 0
        )
    found: list[set[Label]] = [set() for _ in range(n)]
    for row, place in enumerate(places.tolist()):
        if place >= 0:
            found[place].add(truth[row])
    return tuple(next(iter(labels)) if len(labels) == 1 else None for labels in found)


# Tables that look like scores of models on items and are not: asked about, with the way out.


_WHO = frozenset({"model", "models", "system", "run", "name", "method", "checkpoint", "agent"})
_MOST_MODELS = 50
_LEAST_PERCENT = 20.0
"""Scores that reach this are no shares of 1."""


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
    raise InputError(
        f"{data.source} has one row per {who[0]!r} and one column per measurement"
        f" ({', '.join(roles.models[:3])}): compare needs the single items behind these figures,"
        " with one row per item and one column per model. Figures alone do not say how sure they"
        " are"
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
