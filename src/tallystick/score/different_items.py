"""Systems that people graded on different items, or partly common ones: pairs from their scores.

A pair with all its grades in common is compared by the differences themselves, the others by the
two scores (AL9). p-values invert the intervals, and Holm's rule adjusts them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.score.board import FEWEST, SystemBoard, adjusted_labels
from tallystick.score.outputs import Floats
from tallystick.score.question import ScoreQuestion
from tallystick.score.system_pair import SystemPair, agreeing, inverted, number_of, score_of
from tallystick.score.systems import System, population_of
from tallystick.stats.adverse import (
    AdverseEstimate,
    CommonItems,
    Spread,
    adverse_difference,
    difference_of_estimates,
    mean_outlook,
)
from tallystick.stats.multiplicity import holm

__all__ = ["from_scores"]


def from_scores(
    board: SystemBoard | None,
    graded: tuple[int, ...],
    systems: list[System],
    at: Callable[[float], list[System]],
    question: ScoreQuestion,
    *,
    paired: bool,
) -> list[SystemPair]:
    """Compare systems by their scores, and pairs with all grades in common by their differences."""
    cache: dict[float, list[System]] = {}

    def scores(alpha: float) -> list[System]:
        if alpha not in cache:
            cache[alpha] = at(alpha)
        return cache[alpha]

    places = [(i, j) for i in range(len(graded)) for j in range(i + 1, len(graded))]
    ways = []
    for i, j in places:
        ways.append(_way(board, (i, j), (graded[i], graded[j]), scores, question, paired=paired))
    p_values = [inverted(way.interval) for way in ways]
    adjusted = holm(p_values)
    level = question.alpha / len(places)
    pairs = []
    for (i, j), way, p, step in zip(places, ways, p_values, adjusted, strict=True):
        first, second = graded[i], graded[j]
        difference = score_of(systems[first]) - score_of(systems[second])
        interval = way.interval(level)
        centre = way.centre(level)
        shift = difference - centre
        # Each interval is at a level of its own so that all of them hold at the level asked.
        moved = replace(
            interval,
            low=max(-1.0, min(difference, interval.low + shift)),
            high=min(1.0, max(difference, interval.high + shift)),
            level=1 - question.alpha,
        )
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=agreeing(moved, difference, centre, float(step), question.alpha),
                p_value=p,
                adjusted_p=float(step),
                variance=way.variance,
                common=way.common,
                items=way.items,
            )
        )
    return pairs


@dataclass(frozen=True, kw_only=True, eq=False)
class _Way:
    """How one pair is compared: an interval and its centre at any level."""

    interval: Callable[[float], Interval]
    centre: Callable[[float], float]
    variance: float | None
    common: int
    items: int


def _way(
    board: SystemBoard | None,
    columns: tuple[int, int],
    places: tuple[int, int],
    scores: Callable[[float], list[System]],
    question: ScoreQuestion,
    *,
    paired: bool,
) -> _Way:
    a, b = columns
    both = board.common(a, b) if board is not None else np.zeros(0, np.bool_)
    count = int(both.sum())
    if board is not None and paired and not question.certified and _all_common(board, a, b):
        return _paired(board, a, b, both, question)
    held = scores(question.alpha)
    both_labels = min(held[place].n_labels for place in places)
    # Where items are not known, all of them may be common, in the worst way.
    common: CommonItems | None = CommonItems(count=both_labels, correlation=-1.0)
    if board is not None:
        common = None
    if board is not None and count:
        common = CommonItems.of(board.truth[both, a], board.truth[both, b])
        # A slice without a share, or labels counted apart, take no part in the two estimates.
        used = [one.n_labels for place in places if (one := held[place].found) is not None]
        common = replace(common, count=min(common.count, *used))

    def estimate(alpha: float) -> AdverseEstimate:
        # Two exact intervals hold together at half the level each.
        held = scores(alpha / 2 if question.certified else alpha)
        one, two = held[places[0]].found, held[places[1]].found
        if one is None or two is None:
            raise InputError("a pair of systems needs human grades of both")
        if question.certified:
            return _boxed(one, two)
        return difference_of_estimates(one, two, common=common)

    variance = None
    if board is not None and count >= 2:
        two = [a, b]
        u = adjusted_labels(
            board.truth[both][:, two],
            board.values[both][:, two],
            _filled(board.values[:, two], board.counts),
            board.counts,
        )
        outlook = mean_outlook(u[:, 0] - u[:, 1], board.n, bounds=(-1.0, 1.0))
        variance = outlook.variance
    return _Way(
        interval=lambda alpha: estimate(alpha).interval,
        centre=lambda alpha: number_of(estimate(alpha)),
        variance=variance,
        common=count,
        items=board.n if board is not None else 0,
    )


def _all_common(board: SystemBoard, a: int, b: int) -> bool:
    """Return whether two systems have all outputs, and all grades, on the same items."""
    graded = ~np.isnan(board.truth[:, [a, b]])
    whole = not np.isnan(board.values[:, [a, b]]).any()
    return whole and bool((graded[:, 0] == graded[:, 1]).all()) and graded[:, 0].sum() >= FEWEST


def _paired(
    board: SystemBoard, a: int, b: int, both: NDArray[np.bool_], question: ScoreQuestion
) -> _Way:
    labels = board.truth[both, a] - board.truth[both, b]
    difference = board.values[:, a] - board.values[:, b]
    every = Spread.of(difference, board.counts)

    def estimate(alpha: float) -> AdverseEstimate:
        return adverse_difference(
            labels, difference[both], every, population=population_of(question), alpha=alpha
        )

    u = adjusted_labels(
        board.truth[both][:, [a, b]],
        board.values[both][:, [a, b]],
        board.values[:, [a, b]],
        board.counts,
    )
    outlook = mean_outlook(u[:, 0] - u[:, 1], board.n, bounds=(-1.0, 1.0))
    return _Way(
        interval=lambda alpha: estimate(alpha).interval,
        centre=lambda alpha: number_of(estimate(alpha)),
        variance=outlook.variance,
        common=int(both.sum()),
        items=board.n,
    )


def _boxed(one: AdverseEstimate, two: AdverseEstimate) -> AdverseEstimate:
    """Return the difference of two exact intervals: exact at the sum of their levels."""
    low = max(-1.0, one.interval.low - two.interval.high)
    high = min(1.0, one.interval.high - two.interval.low)
    level = 1 - 2 * (1 - one.interval.level)
    interval = Interval(low, high, level, one.interval.guarantee, None, "two exact intervals")
    value = number_of(one) - number_of(two)
    return AdverseEstimate(
        estimate=value,
        interval=interval,
        labels_only=interval,
        n_labels=one.n_labels + two.n_labels,
        worth=float(one.n_labels + two.n_labels),
    )


def _filled(values: Floats, counts: Floats) -> Floats:
    """Put the mean of a system where it has no output."""
    weight = np.where(np.isnan(values), 0.0, counts[:, None])
    mean = (np.nan_to_num(values) * weight).sum(axis=0) / weight.sum(axis=0)
    return np.where(np.isnan(values), mean, values)
