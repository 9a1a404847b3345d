"""Which system is better: every pair, compared in the way that its human grades allow.

Where people graded the same items for all systems, the differences of adjusted labels are tested by
step-down max-T (AL10) and bounded simultaneously (AL11): `same_items`. Otherwise each pair comes
from the two scores (AL9): `different_items`. A labelling session has a rule of its own:
`session_pairs`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.label_differences import SessionOrder
from tallystick.stats.adverse_binary import AdverseEstimate, Population
from tallystick.stats.adverse_ends import Spread
from tallystick.stats.adverse_forecast import CertifiedRows, Outlook, certified_difference
from tallystick.stats.adverse_numbers import adverse_difference
from tallystick.stats.adverse_ratios import LevelEnds, Levels
from tallystick.stats.adverse_systems import (
    CommonItems,
    compare_systems,
    difference_ends,
    difference_of_estimates,
)
from tallystick.stats.anytime import betting
from tallystick.stats.maxt import holm
from tallystick.stats.signs import ranks
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import Floats, Outputs
from tallystick.verbs.score.systems import (
    FEWEST,
    Places,
    System,
    SystemBoard,
    SystemPair,
    adjusted_labels,
    agreeing,
    board_of,
    inverted,
    number_of,
    pair_outlook,
    population_of,
    score_levels,
    score_of,
)


def compare_pairs(
    outputs: Outputs,
    values: Floats,
    systems: list[System],
    question: ScoreQuestion,
    *,
    levels: Sequence[Levels | None] | None = None,
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
    levels
        The scores as functions of the level; by default those of `score_levels`. A target mix has
        its own, and its pairs always come from the scores.
    """
    graded = tuple(s for s, one in enumerate(systems) if one.score is not None)
    if len(graded) < 2 or (outputs.counted and outputs.grid is None):
        return []  # a tally does not say which grades are on common items
    board = board_of(outputs, values, graded)
    simple = levels is None and outputs.probability is None
    if board is not None and board.same_items and simple and board.shared.sum() >= FEWEST:
        if question.certified:
            return certified(board, systems, question)
        return simultaneous(board, systems, question)
    if levels is None:
        levels = score_levels(outputs, values, question)
    return from_scores(board, graded, systems, levels, question, paired=simple)


# Systems that people graded on the same items: all pairs tested at once, or bounded exactly.
#
# **One point estimate.** The difference that is shown is the difference of the two scores that
# are
# shown. (AL11) is centred at the difference of mean adjusted labels, which is another estimate of
# the
# same number from the same labels. Its interval is moved by the distance of the two.


def simultaneous(
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
    graded, new = board.truth[m], population_of(question) == "new"
    u = adjusted_labels(graded, board.values[m], board.values, board.counts)
    pairs = []
    for i, (a, b) in enumerate(zip(found.first, found.second, strict=True)):
        first, second = board.systems[a], board.systems[b]
        difference = score_of(systems[first]) - score_of(systems[second])
        shift = difference - float(found.difference[i])
        interval = found.interval[i]
        moved = replace(
            interval,
            low=max(-1.0, min(difference, interval.low + shift)),
            high=min(1.0, max(difference, interval.high + shift)),
        )
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=agreeing(
                    moved,
                    difference,
                    float(found.difference[i]),
                    found.adjusted_p[i],
                    question.alpha,
                ),
                p_value=float(found.p_value[i]),
                adjusted_p=float(found.adjusted_p[i]),
                outlook=pair_outlook(u[:, [a, b]], graded[:, [a, b]], board.n, new=new),
                common=int(m.sum()),
            )
        )
    return pairs


def certified(
    board: SystemBoard, systems: list[System], question: ScoreQuestion
) -> list[SystemPair]:
    """Bound every difference exactly, at a level that all pairs share (Bonferroni)."""
    m = board.shared
    k = len(board.systems)
    count = k * (k - 1) // 2
    order = as_rng(question.seed).permutation(int(m.sum()))
    graded, new = board.truth[m], population_of(question) == "new"
    u = adjusted_labels(graded, board.values[m], board.values, board.counts)

    places = [(a, b) for a in range(k) for b in range(a + 1, k)]
    first, second = np.array(places).T
    truth, values = board.truth[m][order], board.values[m][order]
    labels, judged = (
        (truth[:, first] - truth[:, second]).T,
        (values[:, first] - values[:, second]).T,
    )
    every = [board.every(board.values[:, a] - board.values[:, b]) for a, b in places]
    population = population_of(question)
    if population == "new":
        ends_at = partial(_of_new, labels)
    else:
        ends_at = partial(_of_these, CertifiedRows.of(labels, judged, every, bounds=(-1.0, 1.0)))
    kind = certified_difference(labels[0], judged[0], every[0], population=population)

    def holds(some: Places, alpha: Floats) -> NDArray[np.bool_]:
        low, high = ends_at(some, alpha)
        return (low <= 0) & (high >= 0)

    p_values = inverted(holds, count)
    found = ends_at(np.arange(count), np.full(count, question.alpha / count))
    level = 1 - question.alpha / count
    raw = [
        (a, b, p, replace(kind, low=float(low), high=float(high), level=level))
        for (a, b), p, low, high in zip(places, p_values, *found, strict=True)
    ]
    adjusted = holm([p for *_, p, _ in raw])
    pairs = []
    for (a, b, p, interval), step in zip(raw, adjusted, strict=True):
        first, second = board.systems[a], board.systems[b]
        difference = score_of(systems[first]) - score_of(systems[second])
        ends = replace(
            interval, low=min(interval.low, difference), high=max(interval.high, difference)
        )
        pairs.append(
            SystemPair(
                first=first,
                second=second,
                difference=difference,
                interval=ends,
                p_value=p,
                adjusted_p=float(step),
                outlook=pair_outlook(u[:, [a, b]], graded[:, [a, b]], board.n, new=new),
                common=int(m.sum()),
            )
        )
    return pairs


def _of_these(rows: CertifiedRows, some: Places, alpha: Floats) -> tuple[Floats, Floats]:
    return rows.take(some).ends(alpha)


def _of_new(labels: Floats, some: Places, alpha: Floats) -> tuple[Floats, Floats]:
    found = [
        betting(labels[row], alpha=float(level), bounds=(-1.0, 1.0))[0]
        for row, level in zip(some, alpha, strict=True)
    ]
    return np.array([one.low for one in found]), np.array([one.high for one in found])


# Systems that people graded on different items, or partly common ones: pairs from their scores.
#
# A pair with all its grades in common is compared by the differences themselves, the others by the
# two scores (AL9). p-values invert the intervals, and Holm's rule adjusts them.


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
