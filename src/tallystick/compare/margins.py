"""The number a gate compares with its bar: exact where that is possible, else with its assumption
named.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.compare.board import Board
from tallystick.compare.exact_pair import across_zero, exact_score
from tallystick.compare.pairs import mcnemar
from tallystick.compare.ranking import rank
from tallystick.compare.score_range import score_range, unit_of
from tallystick.compare.settings import Settings
from tallystick.compare.verdict import on_answered
from tallystick.results import GateEstimate, Interval, Unknown
from tallystick.results.numbers import count
from tallystick.stats.intervals import betting, clopper_pearson

__all__ = ["gate_estimate", "margin"]

NEVER_TRUE = "if no answer is a wrong answer, add --never-true ''"
"""The way out where missing answers leave something open."""


def margin(
    board: Board, left: str, right: str | None, *, settings: Settings | None = None, rng: Rng = 0
) -> Interval | Unknown:
    """Bound ``left - right``, or the score of *left*, as surely as the scores allow.

    Right/wrong scores on independent items: exact (:func:`exact_score`, Clopper-Pearson), and the
    interval contains 0 wherever McNemar's exact test does not separate the two. Scores in bounds:
    betting, exact, in an order drawn with *rng*. Clusters, weights, blanks and unbounded scores:
    the interval that :func:`rank` gives for the two; unknown where too few clusters or too skewed
    scores allow none.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 1] * 50, "new": [1, 1, 0, 1] * 50})
    >>> print(margin(board, "new", "old"))
    [0.191, 0.317] (95 %, exact)
    """
    return _measured(board, left, right, settings or Settings(), rng)[1]


def gate_estimate(
    board: Board,
    left: str,
    right: str | None,
    *,
    offset: float = 0.0,
    settings: Settings | None = None,
    rng: Rng = 0,
) -> GateEstimate:
    """Return ``left - right``, or the score of *left*, with the interval of :func:`margin`.

    Where scores are too skewed for their mean to be settled, ``new <= old`` is checked by what the
    verdict compares: the typical ratio with 1, or on how many of the differing items *left* is
    higher with one half. A gate with an *offset*, or on one score, is about means: it stays open.

    Where models gave no answer, the interval is also worked out with every missing score at the end
    of its range that speaks against *left*, and at the other end.

    Examples
    --------
    >>> board = Board.of({"old": [1, 0, 0, 1] * 50, "new": [1, 1, 0, 1] * 50})
    >>> gate_estimate(board, "new", "old").estimate
    0.25
    """
    chosen = settings or Settings()
    found = _estimate(board, left, right, offset, chosen, rng)
    if not board.left_out:
        return found
    named = [name for name in (left, right) if name is not None]
    found = replace(found, where=on_answered(board.n, len(board.names)), way_out=NEVER_TRUE)
    ends = score_range(board.scores, chosen, binary=board.right is not None)
    if board.whole is None or ends is None:
        unknown = Unknown("nothing says what the missing answers are worth")
        some = f"{count(board.left_out)} items have no answer of every model"
        return replace(found, extremes=(GateEstimate(unknown, unknown),), missing=some)

    # The missing scores of *left* at one end and those of the others at the other, and vice versa.
    extremes = tuple(
        _estimate(_filled(board.whole, left, fill, chosen), left, right, offset, chosen, rng)
        for fill in (ends, ends[::-1])
    )
    lacks = np.isnan(board.whole.of_models(named).scores)
    silent = [name for j, name in enumerate(named) if lacks[:, j].any()]
    missing = (
        f"{count(int(lacks.any(axis=1).sum()))} of {count(board.whole.n)} items have no answer of"
        f" {' or '.join(silent or board.names)}"
    )
    return replace(found, extremes=extremes, missing=missing)


def _estimate(
    board: Board, left: str, right: str | None, offset: float, chosen: Settings, rng: Rng
) -> GateEstimate:
    """Return the same of a board without a missing answer."""
    other = _without_mean(board, left, right, offset, chosen, rng)
    if other is not None:
        return other
    places = [board.place(name) for name in (left, right) if name is not None]
    ends = score_range(board.scores[:, places], chosen, binary=board.right is not None)
    within = ends
    if ends is not None and right is not None:
        within = (ends[0] - ends[1], ends[1] - ends[0])
    estimate, interval = _measured(board, left, right, chosen, rng)
    return GateEstimate(estimate, interval, unit_of(ends), within=within)


def _filled(board: Board, left: str, fill: tuple[float, float], chosen: Settings) -> Board:
    """Return the board with the first score of *fill* where *left* has none, and the second where
    another model has none.
    """
    scores = np.where([name == left for name in board.names], *fill)
    filled = np.where(np.isnan(board.scores), scores, board.scores)
    if board.runs is None:
        return replace(board, scores=filled)
    # As many runs as pass@k asks for, all of them right or all wrong.
    runs = np.where(board.runs > 0, board.runs, 1 if chosen.passes is None else chosen.passes.k)
    right = None if board.right is None else np.where(board.runs > 0, board.right, runs * scores)
    return replace(board, scores=filled, runs=runs, right=right)


def _without_mean(
    board: Board, left: str, right: str | None, offset: float, chosen: Settings, rng: Rng
) -> GateEstimate | None:
    """Return what is compared instead of the mean; None where the mean is settled."""
    places = [board.place(name) for name in (left, right) if name is not None]
    if _plain(board, board.scores[:, places], chosen, rng) is not None or len(board.names) < 2:
        return None
    names = [left, right] if right is not None else list(board.names)
    result = rank(board.of_models(names), settings=chosen, rng=rng)
    if result.estimand not in ("ratio", "signs"):
        return None
    pair = result.pairs[0]
    if right is None or offset:
        return GateEstimate(pair.difference, pair.interval, "number")
    if result.estimand == "ratio" and pair.ratio is not None and pair.ratio_interval is not None:
        ratio, held = pair.ratio, pair.ratio_interval
        if pair.a != left:
            ratio, held = 1 / ratio, replace(held, low=1 / held.high, high=1 / held.low)
        return GateEstimate(ratio, held, "number", "typical ratio", 1.0)

    # With zeros or negative scores only the signs are left: the exact sign test, as an interval.
    x = board.scores[:, places]
    higher, lower = int((x[:, 0] > x[:, 1]).sum()), int((x[:, 0] < x[:, 1]).sum())
    if not higher + lower:
        return GateEstimate(pair.difference, pair.interval, "number")
    interval = clopper_pearson(higher, higher + lower, alpha=chosen.alpha)
    what = f"{left} is higher on this share of the items that differ:"
    return GateEstimate(higher / (higher + lower), interval, "share", what, 0.5)


def _measured(
    board: Board, left: str, right: str | None, chosen: Settings, rng: Rng
) -> tuple[float | Unknown, Interval | Unknown]:
    places = [board.place(name) for name in (left, right) if name is not None]
    exact = _plain(board, board.scores[:, places], chosen, rng)
    return exact or _evaluated(board, left, right, chosen, rng)


def _plain(
    board: Board, x: npt.NDArray[np.float64], chosen: Settings, rng: Rng
) -> tuple[float, Interval] | None:
    """Return an exact answer for independent items; None where there is none."""
    if board.clusters is not None or board.weights is not None or board.answers is not None:
        return None
    alone = x.shape[1] == 1
    binary = bool(np.isin(x, (0.0, 1.0)).all())
    values = x[:, 0] if alone else x[:, 0] - x[:, 1]
    estimate = float(values.mean())

    if binary and alone:
        return estimate, clopper_pearson(int(x.sum()), board.n, alpha=chosen.alpha)
    if binary:
        wins, losses = int((values > 0).sum()), int((values < 0).sum())
        interval = exact_score(wins, losses, board.n, alpha=chosen.alpha)
        # The interval and the test must agree on whether the two are separated.
        separated = mcnemar(wins, losses, mid_p=chosen.mid_p) <= chosen.alpha
        return estimate, interval if separated else across_zero(interval)
    if chosen.bounds is not None:
        low, high = chosen.bounds
        bounds = (low, high) if alone else (low - high, high - low)
        shuffled = as_rng(rng).permutation(values)
        return estimate, betting(shuffled, alpha=chosen.alpha, bounds=bounds)[0]
    return None


def _evaluated(
    board: Board, left: str, right: str | None, chosen: Settings, rng: Rng
) -> tuple[float | Unknown, Interval | Unknown]:
    """Return what the comparison itself says of the model, or of the two."""
    if right is None:
        result = rank(board, settings=chosen, rng=rng)
        model = next(row for row in result.models if row.name == left)
        return model.score, model.interval

    pair = rank(board.of_models([left, right]), settings=chosen, rng=rng).pairs[0]
    if pair.a == left:
        return pair.difference, pair.interval
    held = pair.interval
    turned = held if isinstance(held, Unknown) else replace(held, low=-held.high, high=-held.low)
    return (pair.difference if isinstance(pair.difference, Unknown) else -pair.difference), turned
