"""What is asked or refused before two models are compared: tables that look like scores of models
on items and are not, and items that the models do not share.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.results.numbers import count
from tallystick.table import Data, Label, Table, Tally, identifier, identity
from tallystick.table.cells import in_order
from tallystick.table.data import labels_in
from tallystick.table.reading_facts import are_places
from tallystick.table.reading_names import is_mark, lower_word, shared_lower_word
from tallystick.verbs.compare.question import LEAST_SHARE, CompareQuestion

if TYPE_CHECKING:
    from tallystick.verbs.compare.board import Board

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

# Models that give none of the true labels: they are never right, most often by their spelling.


_MOST_NAMED = 5


def no_shared_label(
    truth: str, true: Iterable[Label], given: Mapping[str, Iterable[Label]]
) -> list[str]:
    """Warn of each model that gives none of the true labels.

    Whoever holds the answers, as rows or as counts, knows which labels each column holds, so both
    ways of reading ask here.

    Parameters
    ----------
    truth, true
        The column of the truth and its labels; None (blank) is no label.
    given
        The labels that each model gives.

    Examples
    --------
    >>> [note] = no_shared_label("gold", ["yes", "no"], {"x": ["si", None], "y": ["no"]})
    >>> note.partition(". ")[0]
    "'x' answers 'si' and the truth 'gold' holds 'no', 'yes': no label is shared, so it is never right"
    """
    known = {identity(label): label for label in true if label is not None}
    found = []
    for name, labels in given.items():
        said = {identity(label): label for label in labels if label is not None}
        if said and not said.keys() & known.keys():
            found.append(
                f"{name!r} answers {_listed(said.values())} and the truth {truth!r} holds"
                f" {_listed(known.values())}: no label is shared, so it is never right. If they"
                " mean the same, write them alike"
            )
    return found[:_MOST_NAMED]


def _listed(labels: Iterable[Label]) -> str:
    shown = [repr(label) for label in in_order(labels)]
    return ", ".join(shown[:_MOST_NAMED]) + (" …" if len(shown) > _MOST_NAMED else "")


# Models are compared on items that all of them answered: which models leave too few of those.


def no_item_in_common(names: Sequence[str], answered: Bools) -> str:
    """Say how many items each model answered.

    >>> no_item_in_common(["A", "B", "C"], np.array([[1, 1, 0]] * 5 + [[0, 0, 1]], dtype=bool))
    'no item has an answer of every model (A answered 5, B 5, C 1): compare models on the same items (--models)'
    """
    many = answered.sum(axis=0)
    order = np.argsort(-many, kind="stable")
    each = ", ".join(
        f"{names[j]} {'answered ' if not k else ''}{count(int(many[j]))}"
        for k, j in enumerate([*order[:_MOST_NAMED], *order[_MOST_NAMED:][-1:]])
    )
    return (
        f"no item has an answer of every model ({each}): compare models on the same items"
        " (--models)"
    )


def left_out_warning(lost: int, total: int, most: str) -> str:
    """Warn that items without an answer of every model are left out; *most* lacks most answers."""
    return (
        f"{count(lost)} of {count(total)} items are left out because a model gave no answer"
        f" there (most often {most}). If no answer is a wrong answer, add --never-true ''"
    )


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
    if truth is None:
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
            " transpose it"
        )
    raise InputError(
        f"{data.source} has one row per {who[0]!r} and one column per measurement"
        f" ({', '.join(roles.models[:3])}): compare needs the single items behind these figures,"
        " with one row per item and one column per model. Figures alone do not say how sure they"
        " are"
    )


def refuse_odd_scores(board: Board) -> None:
    """Ask about a few scores outside 0 to 1 where all others lie inside: they may be codes.

    >>> from tallystick.verbs.compare import Board
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
    low, high = min(0.0, float(scores[outside].min())), max(1.0, float(scores[outside].max()))
    raise InputError(
        f"{board.shown(row)}: the score of {board.names[column]!r} is {odd:g}, and {count(inside.size)} of"
        f" {count(scores.size)} scores lie between 0 and 1. If {odd:g} stands for no score, read it"
        f" as one (--missing={odd:g}); if it is a score, declare the range"
        f" (--bounds={low:g},{high:g})"
    )


def refuse_two_scales(board: Board) -> None:
    """Refuse models of which one is scored in per cent and another in shares of 1.

    >>> from tallystick.verbs.compare import Board
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


def measured_as(data: Data) -> str | None:
    """Return what the scores are called, as far as that may say which way is better."""
    # Columns of one table may all be named after the measure: "old latency", "new latency".
    metric = data.metric or shared_lower_word(data.roles.models)
    word = lower_word(metric)
    if word is None:
        return metric
    # Answers that are held against a truth are right or wrong, whatever their columns are called.
    if data.roles.truth is not None:
        return None
    if word == "rank" and isinstance(data.held, Table):
        # A place is 1 at best. Scores from 0 to 1 in `rank_zephyr` belong to a model of that name.
        scores = data.numbers(*data.roles.models)
        if np.nanmin(scores) < 1 and not are_places(scores, first=0):
            return None
    return metric


def refuse_unnamed_places(board: Board, question: CompareQuestion) -> None:
    """Ask which way is better where every item ranks the models and no name says so."""
    said = question.lower_is_better is not None or question.better == "lower"
    if said or not are_places(board.scores):
        return
    raise InputError(
        f"every item gives {', '.join(board.names[:5])} the places 1 to {len(board.names)}: they"
        " are ranked. If 1 is the best place, add --lower-is-better; if 1 is the worst, add"
        " --higher-is-better"
    )
