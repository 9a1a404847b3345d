"""Systems that people graded on different items, or partly common ones: pairs from their scores.

A pair with all its grades in common is compared by the differences themselves, the others by the
two scores (AL9). p-values invert the intervals, and Holm's rule adjusts them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.score.board import FEWEST, SystemBoard, adjusted_labels, pair_outlook
from tallystick.score.outputs import Floats
from tallystick.score.question import ScoreQuestion
from tallystick.score.system_pair import (
    Places,
    SystemPair,
    agreeing,
    inverted,
    number_of,
    score_of,
)
from tallystick.score.systems import System, population_of
from tallystick.stats.adverse import (
    AdverseEstimate,
    CommonItems,
    LevelEnds,
    Levels,
    Outlook,
    Population,
    Spread,
    adverse_difference,
    difference_ends,
    difference_of_estimates,
)
from tallystick.stats.multiplicity import holm

__all__ = ["from_scores"]


def from_scores(
    board: SystemBoard | None,
    graded: tuple[int, ...],
    systems: list[System],
    levels: Sequence[Levels | None],
    question: ScoreQuestion,
    *,
    paired: bool,
) -> list[SystemPair]:
    """Compare systems by their scores, and pairs with all grades in common by their differences."""
    places = [(i, j) for i in range(len(graded)) for j in range(i + 1, len(graded))]
    ways = [
        _way(board, (i, j), (graded[i], graded[j]), systems, question, paired=paired)
        for i, j in places
    ]

    def holds(rows: Places, alpha: Floats) -> NDArray[np.bool_]:
        _, low, high = _ends([ways[row] for row in rows], levels, alpha, question.certified)
        return (low <= 0) & (high >= 0)

    p_values = inverted(holds, len(ways))
    adjusted = holm(p_values)
    level = np.full(len(ways), question.alpha / len(places))
    found = zip(*_ends(ways, levels, level, question.certified), strict=True)
    pairs = []
    for way, (centre, low, high), p, step in zip(ways, found, p_values, adjusted, strict=True):
        difference = score_of(systems[way.first]) - score_of(systems[way.second])
        shift = difference - float(centre)
        # Each interval is at a level of its own so that all of them hold at the level asked.
        moved = replace(
            way.kind,
            low=max(-1.0, min(difference, float(low) + shift)),
            high=min(1.0, max(difference, float(high) + shift)),
            level=1 - question.alpha,
        )
        pairs.append(
            SystemPair(
                first=way.first,
                second=way.second,
                difference=difference,
                interval=agreeing(moved, difference, float(centre), float(step), question.alpha),
                p_value=p,
                adjusted_p=float(step),
                outlook=way.outlook,
                common=way.common,
            )
        )
    return pairs


@dataclass(frozen=True, kw_only=True, eq=False)
class _Way:
    """How one pair is compared.

    *kind* is an interval of the sort that the pair has. *own* gives the difference itself at a
    level, where all grades are in common; None where it comes from the two scores, with *shared*
    and *correlation* of (AL9).
    """

    first: int
    second: int
    kind: Interval
    own: Callable[[float], AdverseEstimate] | None = None
    shared: float = 0.0
    correlation: float = 0.0
    outlook: Outlook | None
    common: int


def _ends(
    ways: Sequence[_Way], levels: Sequence[Levels | None], alpha: Floats, certified: bool
) -> LevelEnds:
    """Return centre, lower and upper end of each pair at its own level."""
    places = np.array([[way.first, way.second] for way in ways], np.intp).reshape(-1, 2)
    scored = np.array([way.own is None for way in ways], np.bool_)
    # Two exact intervals hold together at half the level each.
    each = np.repeat((alpha / 2 if certified else alpha)[:, None], 2, axis=1)
    parts = np.zeros((3, *places.shape))
    for s in np.unique(places[scored]):
        mine = (places == s) & scored[:, None]
        score = levels[s]
        if score is None:
            raise InputError("a pair of systems needs human grades of both")
        parts[:, mine] = score(each[mine])

    value, low, high = parts
    centre = value[:, 0] - value[:, 1]
    if certified:
        ends = np.maximum(-1.0, low[:, 0] - high[:, 1]), np.minimum(1.0, high[:, 0] - low[:, 1])
    else:
        ends = difference_ends(
            (value[:, 0], low[:, 0], high[:, 0]),
            (value[:, 1], low[:, 1], high[:, 1]),
            shared=np.array([way.shared for way in ways]),
            correlation=np.array([way.correlation for way in ways]),
        )
    found = np.array([centre, *ends])
    for row, way in enumerate(ways):
        if way.own is not None:
            one = way.own(float(alpha[row]))
            found[:, row] = number_of(one), one.interval.low, one.interval.high
    return found[0], found[1], found[2]


def _way(
    board: SystemBoard | None,
    columns: tuple[int, int],
    places: tuple[int, int],
    systems: list[System],
    question: ScoreQuestion,
    *,
    paired: bool,
) -> _Way:
    a, b = columns
    both = board.common(a, b) if board is not None else np.zeros(0, np.bool_)
    count = int(both.sum())
    if board is not None and paired and not question.certified and _all_common(board, a, b):
        return _paired(board, columns, places, both, question)

    one, two = (systems[place].found for place in places)
    if one is None or two is None:
        raise InputError("a pair of systems needs human grades of both")
    # Where items are not known, all of them may be common, in the worst way.
    both_labels = min(systems[place].n_labels for place in places)
    common: CommonItems | None = CommonItems(count=both_labels, correlation=-1.0)
    if board is not None:
        common = None
    if board is not None and count:
        common = CommonItems.of(board.truth[both, a], board.truth[both, b])
        # A slice without a share, or labels counted apart, take no part in the two estimates.
        common = replace(common, count=min(common.count, one.n_labels, two.n_labels))
    kind = _boxed(one) if question.certified else difference_of_estimates(one, two).interval

    outlook = None
    if board is not None and count >= 2:
        columns_of = [a, b]
        u = adjusted_labels(
            board.truth[both][:, columns_of],
            board.values[both][:, columns_of],
            _filled(board.values[:, columns_of], board.counts),
            board.counts,
        )
        whole = ~np.isnan(board.values[:, columns_of]).any(axis=1)
        outlook = pair_outlook(
            u,
            board.truth[both][:, columns_of],
            round(float(board.counts[whole].sum())),
            new=population_of(question) == "new",
            paired=False,
        )
    return _Way(
        first=places[0],
        second=places[1],
        kind=kind,
        shared=0.0 if common is None else common.count / math.sqrt(one.n_labels * two.n_labels),
        correlation=0.0 if common is None else common.correlation,
        outlook=outlook,
        common=count,
    )


def _all_common(board: SystemBoard, a: int, b: int) -> bool:
    """Return whether two systems have all outputs, and all grades, on the same items."""
    graded = ~np.isnan(board.truth[:, [a, b]])
    whole = not np.isnan(board.values[:, [a, b]]).any()
    return whole and bool((graded[:, 0] == graded[:, 1]).all()) and graded[:, 0].sum() >= FEWEST


def _paired(
    board: SystemBoard,
    columns: tuple[int, int],
    places: tuple[int, int],
    both: NDArray[np.bool_],
    question: ScoreQuestion,
) -> _Way:
    two = list(columns)
    labels = board.truth[both][:, two]
    difference = board.values[:, two[0]] - board.values[:, two[1]]
    own = partial(
        _difference,
        labels[:, 0] - labels[:, 1],
        difference[both],
        Spread.of(difference, board.counts),
        population_of(question),
    )
    u = adjusted_labels(labels, board.values[both][:, two], board.values[:, two], board.counts)
    return _Way(
        first=places[0],
        second=places[1],
        kind=own(question.alpha).interval,
        own=own,
        outlook=pair_outlook(u, labels, board.n, new=population_of(question) == "new"),
        common=int(both.sum()),
    )


def _difference(
    labels: Floats, consensus: Floats, every: Spread, population: Population, alpha: float
) -> AdverseEstimate:
    return adverse_difference(labels, consensus, every, population=population, alpha=alpha)


def _boxed(one: AdverseEstimate) -> Interval:
    """Return the kind of a difference of two exact intervals: exact at the sum of their levels."""
    return Interval(-1.0, 1.0, guarantee=one.interval.guarantee, method="two exact intervals")


def _filled(values: Floats, counts: Floats) -> Floats:
    """Put the mean of a system where it has no output."""
    weight = np.where(np.isnan(values), 0.0, counts[:, None])
    mean = (np.nan_to_num(values) * weight).sum(axis=0) / weight.sum(axis=0)
    return np.where(np.isnan(values), mean, values)
