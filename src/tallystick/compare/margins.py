"""The interval that a gate rests on: exact where there is an exact one, else with its assumption
named.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.compare.board import Board
from tallystick.compare.exact_pair import across_zero, exact_score
from tallystick.compare.pairs import mcnemar
from tallystick.compare.ranking import evaluate
from tallystick.compare.settings import Settings
from tallystick.results import Interval
from tallystick.stats.intervals import betting, clopper_pearson

__all__ = ["margin"]


def margin(
    board: Board, left: str, right: str | None, *, settings: Settings | None = None, rng: Rng = 0
) -> Interval:
    """Bound ``left - right``, or the score of *left*, as surely as the scores allow.

    Right/wrong on independent items: exact (:func:`exact_score`, Clopper-Pearson), holding 0 where
    McNemar's exact test does not tell the two apart. Scores in bounds: betting, exact, in an order
    drawn with *rng*. Clusters, weights, blanks and unbounded scores: what :func:`evaluate` gives
    for the two.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 1] * 50, "new": [1, 1, 0, 1] * 50})
    >>> print(margin(board, "new", "old"))
    [0.191, 0.317] (95 %, exact)
    """
    chosen = settings or Settings()
    places = [board.place(name) for name in (left, right) if name is not None]
    plain = board.clusters is None and board.weights is None and board.answers is None
    x = board.scores[:, places]
    if plain and np.isin(x, (0.0, 1.0)).all():
        if right is None:
            return clopper_pearson(int(x.sum()), board.n, alpha=chosen.alpha)
        lead = x[:, 0] - x[:, 1]
        wins, losses = int((lead > 0).sum()), int((lead < 0).sum())
        found = exact_score(wins, losses, board.n, alpha=chosen.alpha)
        return (
            found
            if mcnemar(wins, losses, mid_p=chosen.mid_p) <= chosen.alpha
            else across_zero(found)
        )
    if plain and chosen.bounds is not None:
        low, high = chosen.bounds
        values = x[:, 0] if right is None else x[:, 0] - x[:, 1]
        bounds = (low, high) if right is None else (low - high, high - low)
        return betting(as_rng(rng).permutation(values), alpha=chosen.alpha, bounds=bounds)[0]
    if right is None:
        result = evaluate(board, settings=chosen, rng=rng)
        return next(row.interval for row in result.models if row.name == left)
    result = evaluate(board.of_models([left, right]), settings=chosen, rng=rng)
    row = result.pairs[0]
    return (
        row.interval
        if row.a == left
        else replace(row.interval, low=-row.interval.high, high=-row.interval.low)
    )
