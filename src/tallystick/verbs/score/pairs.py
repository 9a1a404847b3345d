"""Which system is better: every pair, compared in the way that its human grades allow.

All pairs come from the fit that the scores come from: on the differences item by item where people
graded the same items for all systems, otherwise on the scores. A labelling session has a rule of
its own: `session_pairs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.results import Unknown
from tallystick.sampling.duels import SessionOrder
from tallystick.stats.adverse_forecast import CertifiedRows, LabelRange, label_range
from tallystick.stats.anytime import betting
from tallystick.stats.few_labels import FewPairs
from tallystick.stats.maxt import holm
from tallystick.stats.signs import ranks
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Graded
from tallystick.verbs.score.systems import (
    FIRST,
    Fitted,
    Places,
    System,
    SystemBoard,
    SystemPair,
    agreeing,
    board_of,
    certified_levels,
    inverted,
    population_of,
    score_of,
)

FEWEST = 3
"""Common items below which exact intervals come from the scores."""

TOO_FEW = "the two systems have too few human grades on the same items to forecast"


def compare_pairs(
    outputs: Graded, systems: list[System], question: ScoreQuestion, found: Fitted | None
) -> list[SystemPair]:
    """Compare every pair of systems that has human grades.

    Parameters
    ----------
    outputs, systems
        The outputs and the scores.
    question
        Level, population, certified or not, seed.
    found
        The fit that the scores come from.
    """
    if found is None or len(found.systems) < 2:
        return []
    if outputs.item is None and outputs.coding is not None:
        return []  # a tally does not say which grades are on common items
    tested = found.few.pairs(rng=as_rng(question.seed), alpha=question.alpha)
    if question.certified:
        tested = _certified(outputs, tested, found, systems, question)
    common, items = (part[tested.first, tested.second] for part in found.in_common())
    needed = _needed(found, tested, common, items, question.alpha)
    return [
        SystemPair(
            first=found.systems[tested.first[i]],
            second=found.systems[tested.second[i]],
            difference=gap,
            interval=agreeing(tested.interval[i], gap, gap, adjusted, question.alpha),
            p_value=float(tested.p_value[i]),
            adjusted_p=adjusted,
            needed=needed[i],
            common=int(common[i]),
        )
        for i, (gap, adjusted) in enumerate(
            zip(tested.difference.tolist(), tested.adjusted_p.tolist(), strict=True)
        )
    ]


def _needed(
    found: Fitted,
    tested: FewPairs,
    common: NDArray[np.int64],
    items: NDArray[np.int64],
    alpha: float,
) -> list[LabelRange | Unknown]:
    """Forecast how many items settle each pair, from one end of its interval to the other."""
    low, high = tested.interval.low, tested.interval.high
    near, far = (pick(np.abs(low), np.abs(high)) for pick in (np.minimum, np.maximum))
    best, worst = (
        found.few.forecast_pairs(
            tested.first, tested.second, gap=gap, alpha=alpha / tested.first.size
        )
        for gap in (far, near)
    )
    # While 0 is possible, no number of labels is sure to settle it.
    worst = np.where((low <= 0) & (high >= 0), np.inf, worst)
    return [
        label_range(min(least, n), None if math.isinf(most) else most, n)
        if graded >= min(FIRST, n) > 0
        else Unknown(TOO_FEW)
        for least, most, graded, n in zip(
            best.tolist(), worst.tolist(), common.tolist(), items.tolist(), strict=True
        )
    ]


# Exact intervals: bets on the differences where people graded the same items, otherwise the two
# exact scores, each at half the level. All pairs share the level (Bonferroni and Holm).


def _certified(
    outputs: Graded,
    tested: FewPairs,
    found: Fitted,
    systems: list[System],
    question: ScoreQuestion,
) -> FewPairs:
    """Return the pairs with exact intervals around the differences of the scores shown."""
    board = board_of(outputs, found.systems)
    same = board is not None and board.same_items and bool((board.counts == 1).all())
    if board is not None and same and board.shared.sum() >= FEWEST:
        ends_at = _of_differences(board, tested, question)
    else:
        ends_at = _of_scores(outputs, tested, found, question)

    def holds(some: Places, alpha: Floats) -> NDArray[np.bool_]:
        low, high = ends_at(some, alpha)
        return (low <= 0) & (high >= 0)

    count = tested.first.size
    p_value = np.array(inverted(holds, count))
    low, high = ends_at(np.arange(count), np.full(count, question.alpha / count))
    scores = np.array([score_of(systems[s]) for s in found.systems])
    gap = scores[tested.first] - scores[tested.second]
    interval = replace(
        tested.interval,
        low=np.minimum(low, gap),
        high=np.maximum(high, gap),
        guarantee="exact",
        method="exact, all pairs",
    )
    return replace(
        tested, difference=gap, p_value=p_value, adjusted_p=holm(p_value), interval=interval
    )


def _of_differences(
    board: SystemBoard, tested: FewPairs, question: ScoreQuestion
) -> Callable[[Places, Floats], tuple[Floats, Floats]]:
    m = board.shared
    order = as_rng(question.seed).permutation(int(m.sum()))
    truth, values = board.truth[m][order], board.values[m][order]
    a, b = tested.first, tested.second
    labels, judged = (truth[:, a] - truth[:, b]).T, (values[:, a] - values[:, b]).T
    if population_of(question) == "new":

        def new(some: Places, alpha: Floats) -> tuple[Floats, Floats]:
            found = [
                betting(labels[row], alpha=float(level), bounds=(-1.0, 1.0))[0]
                for row, level in zip(some, alpha, strict=True)
            ]
            return np.array([one.low for one in found]), np.array([one.high for one in found])

        return new
    every = list((board.values[:, a] - board.values[:, b]).T)
    rows = CertifiedRows.of(labels, judged, every, bounds=(-1.0, 1.0))
    return lambda some, alpha: rows.take(some).ends(alpha)


def _of_scores(
    outputs: Graded, tested: FewPairs, found: Fitted, question: ScoreQuestion
) -> Callable[[Places, Floats], tuple[Floats, Floats]]:
    levels = [certified_levels(outputs, s, question) for s in found.systems]

    def at(some: Places, alpha: Floats) -> tuple[Floats, Floats]:
        ends = np.zeros((2, 2, some.size))
        for side, places in enumerate((tested.first[some], tested.second[some])):
            for s in np.unique(places):
                mine = places == s
                ends[side][:, mine] = levels[s](alpha[mine] / 2)[1:]
        (low_a, high_a), (low_b, high_b) = ends
        return np.maximum(-1.0, low_a - high_b), np.minimum(1.0, high_a - low_b)

    return at


# The order of the systems: ranks, contenders and tiers, from the pairs that are settled.


@dataclass(frozen=True)
class Known:
    """What is known of the order: names and rank intervals."""

    order: tuple[int, ...]
    rank: Mapping[int, tuple[int, int]]
    contenders: tuple[str, ...]
    tiers: tuple[tuple[str, ...], ...]


def ranked(
    systems: Sequence[System],
    pairs: Sequence[SystemPair],
    alpha: float,
    session: SessionOrder | None = None,
) -> Known:
    """Return ranks, contenders and tiers of the systems that have a score.

    A system without one may stand anywhere: it is a contender, and widens every rank. Whom a
    labelling session has named comes first, and whom it has thrown out is no contender.
    """
    graded = [s for s, one in enumerate(systems) if one.score is not None]
    blank = len(systems) - len(graded)
    named = None if session is None else session.winner
    order = sorted(graded, key=lambda s: (systems[s].name != named, -float(systems[s].score or 0)))
    place = {s: i for i, s in enumerate(graded)}
    first = np.array([place[pair.first] for pair in pairs], dtype=np.intp)
    second = np.array([place[pair.second] for pair in pairs], dtype=np.intp)
    sign = [sign_of(pair, alpha) for pair in pairs]
    found = ranks(first, second, sign, [place[s] for s in order])
    names = [systems[s].name for s in graded]
    contenders, tiers = found.named(names)
    rest = tuple(one.name for one in systems if one.score is None)
    low = {s: int(found.low[i]) for s, i in place.items()}
    if session is not None:
        out = [name for name, live in zip(session.names, session.live, strict=True) if not live]
        left = tuple(name for name in contenders if name not in out)
        contenders = left or contenders
        low = {s: max(2, rank) if systems[s].name in out else rank for s, rank in low.items()}
    return Known(
        order=tuple(order),
        rank={s: (low[s], max(low[s], int(found.high[i]) + blank)) for s, i in place.items()},
        contenders=(*contenders, *rest),
        tiers=tiers,
    )


def sign_of(pair: SystemPair, alpha: float) -> int:
    """Return 1 or -1 where the order is shown: by the session, or by the test as displayed."""
    if pair.decided is not None:
        return pair.decided
    if pair.adjusted_p > alpha or pair.interval.low < 0 < pair.interval.high:
        return 0
    return int(np.sign(pair.difference))
