"""Tables that look like scores of models on items and are not: asked about, with the way out."""

from __future__ import annotations

import numpy as np

from tallystick.compare.board import Board
from tallystick.data import Data
from tallystick.data.counted_cells import labels_in
from tallystick.data.detect.names import is_mark
from tallystick.errors import InputError
from tallystick.io import Table, identifier
from tallystick.tally import Tally

__all__ = ["refuse_marks_as_answers", "refuse_results_table", "refuse_two_scales"]

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
