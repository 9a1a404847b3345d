r"""Pairs of systems from a labelling session: who is better by its own rule, and by how much.

A session that asks who is better stops when its anytime evidence says so. People look at it after
every batch, so only that evidence may order two systems: an approximate interval that is looked at
again and again excludes 0 far too often. The p-value of a pair is (W13), for both directions; all
directions together are stepped down by (M5), so that no wrong order is claimed. The interval of the
difference is approximate, for the size of the difference, and agrees with the verdict about 0.

A session whose goal were the means has drawn each system's outputs independently of the others'.
There a difference comes from the two scores (AL9), with nothing in common: which items happen to be
labelled for both says nothing of how far the two estimates are off together.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import hypot

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.labels.session_order import NEITHER, SessionOrder
from tallystick.score.from_session import SessionDraws
from tallystick.score.outputs import Floats
from tallystick.score.question import ScoreQuestion
from tallystick.score.system_pair import (
    SMALLEST,
    Places,
    SystemPair,
    agreeing,
    crossed,
    inverted,
    score_of,
)
from tallystick.score.systems import System
from tallystick.stats.adverse.pair import METHOD
from tallystick.stats.multiplicity import holm
from tallystick.stats.order_tests import step_down_order

__all__ = ["session_pairs"]

HALVINGS = 14
"""Steps to a p-value: it is good to a tenth of a percent of itself."""


def session_pairs(
    draws: SessionDraws, systems: list[System], question: ScoreQuestion
) -> list[SystemPair]:
    """Compare every pair of systems that the session has labelled.

    Parameters
    ----------
    draws, systems
        How labels were drawn, and the scores at the level of the question.
    question
        The level.
    """
    graded = [s for s, one in enumerate(systems) if one.score is not None]
    places = list(combinations(graded, 2))

    def interval(pair: tuple[int, int], alpha: float) -> Interval:
        own = draws.difference(*pair, alpha)
        return _of_scores(draws, pair, alpha) if own is None else own

    level = question.alpha / max(1, len(places))
    intervals = [interval(pair, level) for pair in places]
    if draws.order is None:

        def holds(rows: Places, alpha: Floats) -> NDArray[np.bool_]:
            found = zip(rows, alpha, strict=True)
            return np.array([crossed(interval(places[row], float(a))) for row, a in found], bool)

        p_values = inverted(holds, len(places), halvings=HALVINGS)
        steps = [float(step) for step in holm(p_values)]
        evidence = [(p, step, 0) for p, step in zip(p_values, steps, strict=True)]
    else:
        evidence = _evidence(draws, draws.order, graded)
    return [
        _pair(draws, systems, pair, found, one, question.alpha)
        for pair, found, one in zip(places, intervals, evidence, strict=True)
    ]


def _of_scores(draws: SessionDraws, pair: tuple[int, int], alpha: float) -> Interval:
    """Return the interval (AL9) of the difference of two scores with nothing in common."""
    one, two = (draws.estimate(s, alpha) for s in pair)
    if one is None or two is None:
        raise InputError("a pair of systems needs human grades of both")
    (a, first), (b, second) = one, two
    low = a - b - hypot(a - first.low, second.high - b)
    high = a - b + hypot(first.high - a, b - second.low)
    return Interval(max(-1.0, low), min(1.0, high), 1 - alpha, "approximate", None, METHOD)


def _evidence(
    draws: SessionDraws, order: SessionOrder, graded: list[int]
) -> list[tuple[float, float, int]]:
    """Return the anytime p-value of each pair, the adjusted one, and the direction of both."""
    p_values = np.array(order.p_values, dtype=np.float64)
    items = 0 if draws.rows is None else len(draws.rows)
    for a, b in combinations(graded, 2):
        low, high = draws.gaps(a, b)
        left = items - low.size
        # What the labels prove needs no test: the items that are left cannot turn the sign.
        if low.sum() > left:
            p_values[a, b] = 0.0
        elif high.sum() < -left:
            p_values[b, a] = 0.0
    p_values = p_values[np.ix_(graded, graded)]
    adjusted = step_down_order(np.minimum(p_values, 1.0))
    found = []
    for a, b in combinations(range(len(graded)), 2):
        sign = 1 if p_values[a, b] <= p_values[b, a] else -1
        ahead = (a, b) if sign > 0 else (b, a)
        # Twice the smaller direction is for both (W13).
        both = min(1.0, 2 * float(p_values[ahead]))
        found.append((both, max(both, float(adjusted[ahead])), sign))
    return found


def _pair(
    draws: SessionDraws,
    systems: list[System],
    places: tuple[int, int],
    interval: Interval,
    evidence: tuple[float, float, int],
    alpha: float,
) -> SystemPair:
    p, adjusted, sign = evidence
    first, second = places
    difference = score_of(systems[first]) - score_of(systems[second])
    # Each interval is at a level of its own so that all of them hold at the level asked.
    held = replace(
        interval,
        low=min(difference, interval.low),
        high=max(difference, interval.high),
        level=1 - alpha,
    )
    decided = None
    if draws.order is not None:
        decided = sign if adjusted <= alpha else 0
        decided = _as_named(draws.order, places) or decided
        # Two systems are settled by the very words of the session, at the edge of its level too.
        adjusted = min(adjusted, alpha) if decided else adjusted
        p = min(p, adjusted)
    turned = bool(decided) and difference * float(decided or 0) <= 0
    common = draws.gaps(first, second)[0].size
    return SystemPair(
        first=first,
        second=second,
        difference=difference,
        # Later labels may have turned the estimate; the interval then shows it as it is.
        interval=held if turned else agreeing(held, difference, difference, adjusted, alpha),
        p_value=max(p, SMALLEST) if draws.order is None else p,
        adjusted_p=adjusted,
        outlook=None,
        common=common,
        decided=decided,
    )


def _as_named(order: SessionOrder, places: tuple[int, int]) -> int:
    """Return the direction in which the session has named one of two systems, 0 for none."""
    if len(order.names) != 2 or order.epsilon or order.winner in (None, NEITHER):
        return 0
    named = order.names.index(str(order.winner))
    return int(np.where(named == places[0], 1, -1))
