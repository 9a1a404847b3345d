r"""Which system is better: paired differences, with the error over all pairs held.

Where people graded the same items for all systems, the differences of adjusted labels are tested by
step-down max-T (AL10) and bounded simultaneously (AL11). Otherwise each pair comes from the two
scores (AL9), p-values invert the intervals, and Holm's rule adjusts them.

**One point estimate.** The difference that is shown is the difference of the two scores that are
shown. (AL11) is centred at the difference of mean adjusted labels, which is another estimate of the
same number from the same labels. Its interval is moved by the distance of the two.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.score.outputs import Floats, ItemGrid, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.systems import System, estimate_systems, population_of
from tallystick.stats.adverse import (
    AdverseEstimate,
    CommonItems,
    Spread,
    adjust,
    adverse_difference,
    certified_difference,
    compare_systems,
    difference_of_estimates,
    mean_outlook,
)
from tallystick.stats.multiplicity import holm

__all__ = ["SystemBoard", "SystemPair", "board_of", "compare_pairs", "crossed"]

FEWEST = 3
"""Common items below which pairs are not tested on the differences themselves."""

SMALLEST = 1e-6
"""No p-value from an inverted interval is looked for below this."""
HALVINGS = 24

Differences: TypeAlias = Callable[[int, int], Callable[[float], Interval] | None]
"""From two systems, by position, to the interval of their difference at any level."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemBoard:
    """Outputs by item and system, for the systems that have human grades.

    Parameters
    ----------
    systems
        Positions of these systems.
    truth, values
        Items x systems: human grades (NaN for none) and consensus.
    counts
        How many items each row stands for. A row with a human grade is always one item.
    complete
        Whether every item has an output of each of them.
    """

    systems: tuple[int, ...]
    truth: Floats
    values: Floats
    counts: Floats
    complete: bool

    @property
    def n(self) -> int:
        """How many items there are."""
        return round(float(self.counts.sum()))

    def every(self, values: Floats) -> Floats:
        """Return one value per row as one value per item."""
        return np.repeat(values, self.counts.astype(np.int64))

    def common(self, a: int, b: int) -> NDArray[np.bool_]:
        """Return the items on which two systems (columns) were both graded."""
        return np.asarray(~np.isnan(self.truth[:, a]) & ~np.isnan(self.truth[:, b]))

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Items that were graded for every system."""
        return np.asarray(~np.isnan(self.truth).any(axis=1))

    @property
    def same_items(self) -> bool:
        """Whether all systems have all their outputs and all their grades on the same items."""
        graded = ~np.isnan(self.truth)
        return self.complete and bool((graded == graded[:, :1]).all())


@dataclass(frozen=True, kw_only=True)
class SystemPair:
    """Two systems, by position: how much better the first is.

    *variance* is that of one pair of labels, for forecasts; None where there is none. *items* are
    those that could be graded for both.
    """

    first: int
    second: int
    difference: float
    interval: Interval
    p_value: float
    adjusted_p: float
    variance: float | None
    common: int
    items: int


def board_of(outputs: Outputs, values: Floats, systems: tuple[int, ...]) -> SystemBoard | None:
    """Put the outputs of some systems side by side, item by item; None if items are not known."""
    if outputs.grid is not None:
        return _board_of_grid(outputs, outputs.grid, values, systems)
    if outputs.item is None or not outputs.plain:
        return None
    column = np.full(len(outputs.systems), -1, np.int64)
    column[list(systems)] = np.arange(len(systems))
    used = column[outputs.system] >= 0
    items, row = np.unique(outputs.item[used], return_inverse=True)
    shape = (len(items), len(systems))
    truth, c = np.full(shape, np.nan), np.full(shape, np.nan)
    place = row.ravel(), column[outputs.system[used]]
    truth[place], c[place] = outputs.truth[used], values[used]
    return SystemBoard(
        systems=systems,
        truth=truth,
        values=c,
        counts=np.ones(len(items)),
        complete=not bool(np.isnan(c).any()),
    )


def _board_of_grid(
    outputs: Outputs, grid: ItemGrid, values: Floats, systems: tuple[int, ...]
) -> SystemBoard:
    """Look up grades and consensus of items that an engine put side by side."""
    entries = grid.entries[:, list(systems)]
    seen = (entries >= 0).any(axis=1)
    entries, counts = entries[seen], grid.counts[seen]
    graded = np.append(outputs.known, False)[entries].any(axis=1)
    # Labelled items enter the tests one by one; they are few.
    times = np.where(graded, counts, 1).astype(np.int64)
    entries, counts = np.repeat(entries, times, axis=0), np.repeat(counts / times, times)
    c = np.append(values, np.nan)[entries]
    return SystemBoard(
        systems=systems,
        truth=np.append(outputs.truth, np.nan)[entries],
        values=c,
        counts=counts,
        complete=not bool(np.isnan(c).any()),
    )


def compare_pairs(
    outputs: Outputs,
    values: Floats,
    systems: list[System],
    question: ScoreQuestion,
    *,
    estimates: Callable[[float], list[System]] | None = None,
    differences: Differences | None = None,
) -> list[SystemPair]:
    """Compare every pair of systems that has human grades.

    Parameters
    ----------
    outputs, values
        The outputs and their consensus.
    systems
        The scores.
    question
        Level, population, certified or not, seed.
    estimates
        Gives the scores at another level; by default those of `estimate_systems`. A target mix has
        its own, and its pairs always come from the scores.
    differences
        Gives the interval of a pair at any level, or None where the two scores have to do: for
        labels that were not drawn uniformly.
    """
    graded = tuple(s for s, one in enumerate(systems) if one.score is not None)
    if len(graded) < 2 or (outputs.counted and outputs.grid is None):
        return []  # a tally does not say which grades are on common items
    board = board_of(outputs, values, graded)
    simple = estimates is None and outputs.probability is None
    at = estimates or (lambda alpha: estimate_systems(outputs, values, question, alpha=alpha))
    if board is not None and board.same_items and simple and board.shared.sum() >= FEWEST:
        if question.certified:
            return _certified(board, systems, question)
        return _simultaneous(board, systems, question)
    return _from_scores(
        board, graded, systems, at, question, paired=simple, differences=differences
    )


def _simultaneous(
    board: SystemBoard, systems: list[System], question: ScoreQuestion
) -> list[SystemPair]:
    """Compare systems that were graded on the same items."""
    m = board.shared
    found = compare_systems(
        board.truth[m],
        board.values[m],
        board.values,
        counts=board.counts,
        rng=as_rng(question.seed),
        population=population_of(question),
        alpha=question.alpha,
    )
    u = _adjusted_labels(board.truth[m], board.values[m], board.values, board.counts)
    pairs = []
    for i, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
        first, second = board.systems[a], board.systems[b]
        difference = _score(systems[first]) - _score(systems[second])
        shift = difference - float(found.difference[i])
        interval = found.interval[i]
        moved = Interval(
            max(-1.0, min(difference, interval.low + shift)),
            min(1.0, max(difference, interval.high + shift)),
            interval.level,
            interval.guarantee,
            interval.assumption,
            interval.method,
        )
        outlook = mean_outlook(u[:, a] - u[:, b], board.n, bounds=(-1.0, 1.0))
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=_agreeing(
                    moved, difference, float(found.difference[i]), found.adjusted_p[i], question
                ),
                p_value=float(found.p_value[i]),
                adjusted_p=float(found.adjusted_p[i]),
                variance=outlook.variance,
                common=int(m.sum()),
                items=board.n,
            )
        )
    return pairs


def _agreeing(
    interval: Interval, difference: float, tested: float, p: float, question: ScoreQuestion
) -> Interval:
    """Make the interval and the test tell one story.

    Not settled: the interval holds 0. Settled by step-down while the simultaneous interval, which
    takes no step down, still holds 0: its nearer end is 0 ([HH94]_).
    """
    settled = p <= question.alpha and difference * tested > 0
    if not settled:
        return _ends(interval, min(interval.low, 0.0), max(interval.high, 0.0))
    if difference > 0:
        return _ends(interval, max(interval.low, 0.0), interval.high)
    return _ends(interval, interval.low, min(interval.high, 0.0))


def _ends(interval: Interval, low: float, high: float) -> Interval:
    return Interval(
        low, high, interval.level, interval.guarantee, interval.assumption, interval.method
    )


def crossed(interval: Interval) -> bool:
    """Return whether an interval leaves the sign of a difference open."""
    return interval.low <= 0 <= interval.high


def _certified(
    board: SystemBoard, systems: list[System], question: ScoreQuestion
) -> list[SystemPair]:
    """Bound every difference exactly, at a level that all pairs share (Bonferroni)."""
    m = board.shared
    k = len(board.systems)
    count = k * (k - 1) // 2
    order = as_rng(question.seed).permutation(int(m.sum()))
    u = _adjusted_labels(board.truth[m], board.values[m], board.values, board.counts)

    def interval_of(a: int, b: int, alpha: float) -> Interval:
        difference = (board.truth[m][:, a] - board.truth[m][:, b])[order]
        consensus = (board.values[m][:, a] - board.values[m][:, b])[order]
        return certified_difference(
            difference,
            consensus,
            board.every(board.values[:, a] - board.values[:, b]),
            population=population_of(question),
            anytime=question.anytime,
            alpha=alpha,
        )

    raw = []
    for a in range(k):
        for b in range(a + 1, k):
            p = _inverted(partial(interval_of, a, b))
            raw.append((a, b, p, interval_of(a, b, question.alpha / count)))
    adjusted = holm([p for *_, p, _ in raw])
    pairs = []
    for (a, b, p, interval), step in zip(raw, adjusted, strict=True):
        first, second = board.systems[a], board.systems[b]
        difference = _score(systems[first]) - _score(systems[second])
        low, high = min(interval.low, difference), max(interval.high, difference)
        outlook = mean_outlook(u[:, a] - u[:, b], board.n, bounds=(-1.0, 1.0))
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=_ends(interval, low, high),
                p_value=p,
                adjusted_p=float(step),
                variance=outlook.variance,
                common=int(m.sum()),
                items=board.n,
            )
        )
    return pairs


def _from_scores(
    board: SystemBoard | None,
    graded: tuple[int, ...],
    systems: list[System],
    at: Callable[[float], list[System]],
    question: ScoreQuestion,
    *,
    paired: bool,
    differences: Differences | None = None,
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
        way = _way(board, (i, j), (graded[i], graded[j]), scores, question, paired=paired)
        own = None if differences is None else differences(graded[i], graded[j])
        ways.append(way if own is None else replace(way, interval=own))
    p_values = [_inverted(way.interval) for way in ways]
    adjusted = holm(p_values)
    level = question.alpha / len(places)
    pairs = []
    for (i, j), way, p, step in zip(places, ways, p_values, adjusted, strict=True):
        first, second = graded[i], graded[j]
        difference = _score(systems[first]) - _score(systems[second])
        interval = way.interval(level)
        centre = way.centre(level)
        shift = difference - centre
        moved = _ends(
            interval,
            max(-1.0, min(difference, interval.low + shift)),
            min(1.0, max(difference, interval.high + shift)),
        )
        moved = Interval(
            moved.low,
            moved.high,
            1 - question.alpha,
            moved.guarantee,
            moved.assumption,
            moved.method,
        )
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=_agreeing(moved, difference, centre, float(step), question),
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
        u = _adjusted_labels(
            board.truth[both][:, two],
            board.values[both][:, two],
            _filled(board.values[:, two], board.counts),
            board.counts,
        )
        outlook = mean_outlook(u[:, 0] - u[:, 1], board.n, bounds=(-1.0, 1.0))
        variance = outlook.variance
    return _Way(
        interval=lambda alpha: estimate(alpha).interval,
        centre=lambda alpha: _number(estimate(alpha)),
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

    u = _adjusted_labels(
        board.truth[both][:, [a, b]],
        board.values[both][:, [a, b]],
        board.values[:, [a, b]],
        board.counts,
    )
    outlook = mean_outlook(u[:, 0] - u[:, 1], board.n, bounds=(-1.0, 1.0))
    return _Way(
        interval=lambda alpha: estimate(alpha).interval,
        centre=lambda alpha: _number(estimate(alpha)),
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
    value = _number(one) - _number(two)
    return AdverseEstimate(
        estimate=value,
        interval=interval,
        labels_only=interval,
        n_labels=one.n_labels + two.n_labels,
        worth=float(one.n_labels + two.n_labels),
    )


def _inverted(interval: Callable[[float], Interval]) -> float:
    """Return the p-value that an interval implies: the least α at which it excludes 0."""
    if crossed(interval(1 - 1e-9)):
        return 1.0
    if not crossed(interval(SMALLEST)):
        return SMALLEST
    low, high = math.log(SMALLEST), 0.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if crossed(interval(math.exp(middle))):
            low = middle
        else:
            high = middle
    return math.exp(high)


def _adjusted_labels(truth: Floats, values: Floats, every: Floats, counts: Floats) -> Floats:
    """Return u of (AL5) for every system, each with its own slope."""
    ones = np.ones((1, len(truth)))
    columns = [
        adjust(
            truth[None, :, s],
            values[None, :, s],
            Spread.of(every[:, s], counts),
            bounds=(0.0, 1.0),
            weights=ones,
        ).values[0]
        for s in range(truth.shape[1])
    ]
    return np.stack(columns, axis=1)


def _filled(values: Floats, counts: Floats) -> Floats:
    """Put the mean of a system where it has no output."""
    weight = np.where(np.isnan(values), 0.0, counts[:, None])
    mean = (np.nan_to_num(values) * weight).sum(axis=0) / weight.sum(axis=0)
    return np.where(np.isnan(values), mean, values)


def _score(system: System) -> float:
    if system.score is None:
        raise InputError(f"{system.name!r} has no human grades")
    return system.score


def _number(found: AdverseEstimate) -> float:
    if isinstance(found.estimate, Unknown):
        raise InputError(str(found.estimate))
    return found.estimate
