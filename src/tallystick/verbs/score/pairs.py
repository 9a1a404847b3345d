"""Which system is better: every pair, compared in the way that its human grades allow.

All pairs come from the fit that the scores come from: on the differences item by item where people
graded the same items for all systems, otherwise on the scores. A labelling session has a rule of
its own: `session_pairs`. What is settled becomes ranks and claims, and what is open becomes the
next outputs to grade.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng
from tallystick.results import Claims, Interval, Unknown
from tallystick.stats.adverse_binary import Ends
from tallystick.stats.anytime import betting_ends
from tallystick.stats.certified import CertifiedRows, LabelRange, label_range
from tallystick.stats.few_labels import FewPairs, holm_pairs
from tallystick.stats.pairs import agreeing
from tallystick.stats.signs import ranks
from tallystick.table.panel import Floats, Ints
from tallystick.table.panel_grades import GradePanel
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.systems import (
    FORECAST,
    MIX,
    NO_FORECAST,
    TOO_FEW,
    Fitted,
    MixFit,
    System,
    as_range,
    certified_levels,
    population_of,
    score_of,
)

if TYPE_CHECKING:
    from tallystick.sampling.duels import SessionOrder

FIRST = 20
"""Random items that systems should have grades on before anything can be forecast."""

FEWEST = 3
"""Common items below which exact intervals come from the scores."""

CERTIFIED = 1.5
"""Width of certified intervals against the default's."""

EXACT = "exact"
_PROVED: dict[str, Any] = {"guarantee": "exact", "halvings": 24}
"""Intervals with a proof take longer, so their p-values are good to a millionth only."""


@dataclass(frozen=True, kw_only=True)
class SystemPair:
    """Two systems, by position: how much better the first is.

    *needed* are labels of both in all that would settle it. *decided* is 1 or -1 where a labelling
    session has settled who is better by its own rule, 0 where it has not, and None where the test
    decides. *rate* is the win rate behind a pair of preferences.
    """

    first: int
    second: int
    difference: float
    interval: Interval
    p_value: float
    adjusted_p: float
    needed: LabelRange | Unknown
    common: int
    decided: int | None = None
    rate: int | None = None

    def sign(self, alpha: float) -> int:
        """Return 1 or -1 where the order is shown: by the session, or by the test as displayed."""
        if self.decided is not None:
            return self.decided
        if self.adjusted_p > alpha or self.interval.low < 0 < self.interval.high:
            return 0
        return int(np.sign(self.difference))


def _listed(
    tested: FewPairs,
    systems: Sequence[int],
    needed: Sequence[LabelRange | Unknown],
    common: Ints,
    alpha: float,
) -> list[SystemPair]:
    """Return tested pairs by the positions of their systems; interval and test tell one story."""
    shown = agreeing(tested.interval, tested.difference, tested.adjusted_p, alpha)
    return [
        SystemPair(
            first=int(systems[tested.first[i]]),
            second=int(systems[tested.second[i]]),
            difference=gap,
            interval=shown[i],
            p_value=float(tested.p_value[i]),
            adjusted_p=float(tested.adjusted_p[i]),
            needed=needed[i],
            common=int(common[i]),
        )
        for i, gap in enumerate(tested.difference.tolist())
    ]


def compare_pairs(
    outputs: GradePanel, systems: list[System], question: ScoreQuestion, found: Fitted | None
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
    alpha = question.alpha
    tested = found.few.pairs(rng=as_rng(question.seed), alpha=alpha)
    common, items = (part[tested.first, tested.second] for part in found.in_common())
    if question.certified:
        scores = np.array([score_of(systems[s]) for s in found.systems])
        gaps = scores[tested.first] - scores[tested.second]
        ends_at = _certified_ends(outputs, tested, found, question)
        tested = holm_pairs(
            ends_at, tested.first, tested.second, gaps, alpha, method=EXACT, **_PROVED
        )
    needed = _needed(found, tested, common, items, alpha)
    return _listed(tested, found.systems, needed, common, alpha)


def mixed_pairs(
    found: MixFit | None, systems: list[System], question: ScoreQuestion
) -> list[SystemPair]:
    """Compare the systems under a target mix, slice by slice."""
    if found is None or found.graded.size < 2:
        return []
    first, second = np.triu_indices(found.graded.size, 1)
    scores, alpha = np.array([score_of(systems[s]) for s in found.graded]), question.alpha
    ends_at, gaps = found.differences(first, second), scores[first] - scores[second]
    tested = holm_pairs(ends_at, first, second, gaps, alpha, method=MIX)
    common, needed = found.in_common(first, second), [Unknown(NO_FORECAST)] * first.size
    return _listed(tested, found.graded.tolist(), needed, common, alpha)


def _needed(
    found: Fitted, tested: FewPairs, common: Ints, items: Ints, alpha: float
) -> list[LabelRange | Unknown]:
    """Forecast how many items settle each pair, from one end of its interval to the other."""
    low, high = tested.interval.low, tested.interval.high
    near, far = (pick(np.abs(low), np.abs(high)) for pick in (np.minimum, np.maximum))
    level = alpha / tested.first.size
    best, worst = (
        found.few.forecast_pairs(tested.first, tested.second, gap=gap, alpha=level)
        for gap in (far, near)
    )
    # While 0 is possible, no number of labels is sure to settle it.
    worst = np.where((low <= 0) & (high >= 0), np.inf, worst)
    return [
        as_range(least, most, n) if graded >= min(FIRST, n) > 0 else Unknown(TOO_FEW)
        for least, most, graded, n in zip(
            best.tolist(), worst.tolist(), common.tolist(), items.tolist(), strict=True
        )
    ]


# Exact intervals: bets on the differences where people graded the same items, otherwise the two
# exact scores, each at half the level.


def _certified_ends(
    outputs: GradePanel, tested: FewPairs, found: Fitted, question: ScoreQuestion
) -> Callable[[Floats], Ends]:
    board = board_of(outputs, found.systems)
    a, b = tested.first, tested.second
    if board is not None and board.same_items and bool((board.counts == 1).all()):
        m = board.shared
        if m.sum() >= FEWEST:
            order = as_rng(question.seed).permutation(int(m.sum()))
            labels, judged = ((held[:, a] - held[:, b]).T for held in (board.truth, board.values))
            return _of_differences(labels[:, m][:, order], judged, m, order, question)

    levels = [certified_levels(outputs, s, question) for s in found.systems]

    def at(alpha: Floats) -> Ends:
        ends = np.zeros((2, 2, a.size))
        for side, places in enumerate((a, b)):
            for s in np.unique(places):
                mine = places == s
                ends[side][:, mine] = levels[s](alpha[mine] / 2)
        (low_a, high_a), (low_b, high_b) = ends
        return low_a - high_b, high_a - low_b

    return at


def _of_differences(
    labels: Floats, judged: Floats, m: NDArray[np.bool_], order: Ints, question: ScoreQuestion
) -> Callable[[Floats], Ends]:
    """Bet on the differences of the labels of each pair, in a random order of their items."""
    if population_of(question) == "these":
        rows = CertifiedRows.of(labels, judged[:, m][:, order], list(judged), bounds=(-1.0, 1.0))
        return rows.ends

    return lambda alpha: betting_ends(labels, alpha, bounds=(-1.0, 1.0))


# Preferences: each win rate is tested against one half.


def win_pairs(
    outputs: GradePanel,
    names: Sequence[str],
    systems: list[System],
    found: Fitted | None,
    question: ScoreQuestion,
) -> list[SystemPair]:
    """Return one pair per win rate; the difference is wins minus losses, 2 * rate - 1.

    p-values invert the interval of the win rate, and Holm's rule adjusts them for the number of
    pairs.
    """
    if found is None:
        return []
    rated, alpha = found.systems, question.alpha
    place = {name: i for i, name in enumerate(names)}
    sides = np.array([[place[name] for name in outputs.preferences[s]] for s in rated], np.intp)
    gaps = 2 * np.array([score_of(systems[s]) for s in rated]) - 1
    levels = [certified_levels(outputs, s, question) for s in rated] if question.certified else []

    def at(level: Floats) -> Ends:
        if levels:
            ends = [one(level[i : i + 1]) for i, one in enumerate(levels)]
            low, high = np.array(ends).reshape(-1, 2).T
        else:
            low, high = found.few.mean_levels(level)
        return 2 * low - 1, 2 * high - 1

    kind = {"method": EXACT, **_PROVED} if levels else {"method": "few labels"}
    tested = holm_pairs(at, sides[:, 0], sides[:, 1], gaps, alpha, **kind)
    needed = [systems[s].needed for s in rated]
    pairs = _listed(tested, range(len(names)), needed, outputs.labels[list(rated)], alpha)
    return [replace(pair, rate=s) for pair, s in zip(pairs, rated, strict=True)]


# Outputs side by side, item by item: the ground on which systems are compared.


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemBoard:
    """Outputs by item and system.

    Parameters
    ----------
    truth, values
        Items x systems: human grades (NaN for none) and consensus (NaN for no output).
    counts
        How many items each row stands for.
    """

    truth: Floats
    values: Floats
    counts: Floats

    @property
    def complete(self) -> bool:
        """Whether every item has an output of each system."""
        return not bool(np.isnan(self.values).any())

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Items that were graded for every system."""
        return np.asarray(~np.isnan(self.truth).any(axis=1))

    @property
    def same_items(self) -> bool:
        """Whether all systems have all their outputs and all their grades on the same items."""
        graded = ~np.isnan(self.truth)
        return self.complete and bool((graded == graded[:, :1]).all())

    def ungraded(self, items: int) -> int | None:
        """Return how many grades are missing until all systems have this many items.

        The best graded items come first. None where fewer items have an output of each system.
        """
        whole = ~np.isnan(self.values).any(axis=1)
        missing, counts = np.isnan(self.truth[whole]).sum(axis=1), self.counts[whole]
        if counts.sum() < items:
            return None
        order = np.argsort(missing, kind="stable")
        left = items - np.append(0.0, np.cumsum(counts[order])[:-1])
        return round(float(missing[order] @ np.clip(left, 0.0, counts[order])))


def board_of(outputs: GradePanel, systems: tuple[int, ...]) -> SystemBoard | None:
    """Put the outputs of some systems side by side, item by item; None if items are not known."""
    if outputs.item is None or not outputs.alike:
        return None
    column = np.full(len(outputs.systems), -1, np.int64)
    column[list(systems)] = np.arange(len(systems))
    used = column[outputs.system] >= 0
    items, row = np.unique(outputs.item[used], return_inverse=True)
    shape = (len(items), len(systems))
    truth, values, counts = np.full(shape, np.nan), np.full(shape, np.nan), np.zeros(len(items))
    place = row.ravel(), column[outputs.system[used]]
    truth[place], values[place] = outputs.truth[used], outputs.consensus[used]
    counts[place[0]] = outputs.counts[used]
    return SystemBoard(truth=truth, values=values, counts=counts)


# The order of the systems: ranks, contenders and tiers, from the pairs that are settled.


@dataclass(frozen=True)
class Known:
    """What is known of the order: ranks and tiers by position, and what may be claimed."""

    order: tuple[int, ...]
    rank: Mapping[int, tuple[int, int]]
    contenders: tuple[str, ...]
    tiers: tuple[tuple[str, ...], ...]
    claims: Claims


def ranked(
    names: Sequence[str],
    scores: Sequence[float | None],
    settled: Sequence[tuple[int, int, int]],
    session: SessionOrder | None = None,
) -> Known:
    """Return ranks, contenders and tiers of the systems that have a score.

    A system without one may stand anywhere: it is a contender, and widens every rank. Whom a
    labelling session has named comes first, and whom it has thrown out is no contender.

    Parameters
    ----------
    names, scores
        The systems; None for one without human grades.
    settled
        Pairs of positions with 1 or -1 where the first is shown to be better or worse, else 0.
    session
        What a labelling session says of the order.
    """
    graded = [s for s, score in enumerate(scores) if score is not None]
    blank = tuple(name for name, score in zip(names, scores, strict=True) if score is None)
    named = None if session is None else session.winner
    order = sorted(graded, key=lambda s: (names[s] != named, -float(scores[s] or 0)))
    place = {s: i for i, s in enumerate(graded)}
    first, second, sign = (
        np.array([one[j] for one in settled], dtype=np.intp).reshape(-1) for j in range(3)
    )
    first, second = (
        np.array([place[s] for s in part.tolist()], np.intp) for part in (first, second)
    )
    found = ranks(first, second, sign, [place[s] for s in order])
    contenders, tiers = found.named([names[s] for s in graded])
    low = {s: int(found.low[i]) for s, i in place.items()}
    if session is not None:
        out = [name for name, live in zip(session.names, session.live, strict=True) if not live]
        contenders = tuple(name for name in contenders if name not in out) or contenders
        low = {s: max(2, rank) if names[s] in out else rank for s, rank in low.items()}
    better = {
        (names[a], names[b]) if way > 0 else (names[b], names[a]) for a, b, way in settled if way
    }
    return Known(
        order=tuple(order),
        rank={s: (low[s], max(low[s], int(found.high[i]) + len(blank))) for s, i in place.items()},
        contenders=(*contenders, *blank),
        tiers=tiers,
        claims=Claims(tuple(names[s] for s in order), better, blank),
    )


# How many more human grades would be enough to settle a pair, and what to grade first.


@dataclass(frozen=True, kw_only=True)
class NextGrades:
    """Which outputs people should grade next.

    Parameters
    ----------
    items
        Items that get a grade of all systems (or of *pair*); outputs of each system where they are
        not *shared*.
    grades, low, high
        Outputs to grade for that, without those that have a grade already: the best guess, and
        what is plausible.
    most
        How many items there are.
    pair
        The two systems that it settles; None for the first grades of all systems.
    enough
        False where all items may not be enough to settle the pair.
    """

    items: int
    grades: int
    low: int = 0
    high: int = 0
    most: int = 0
    pair: tuple[str, str] | None = None
    shared: bool = True
    enough: bool = True


def first_grades(outputs: GradePanel, board: SystemBoard | None) -> NextGrades | None:
    """Return the first outputs to grade; None where enough of them have a grade.

    *board* holds the outputs of all systems. Where items are not known, or the systems were run on
    different ones, every system gets grades of its own.
    """
    sizes = outputs.sizes
    items = min(FIRST, int(sizes.min()))
    missing = None if board is None else board.ungraded(items)
    shared = missing is not None
    if missing is None:
        items = min(FIRST, int(sizes.max()))
        missing = int(np.maximum(0, np.minimum(items, sizes) - outputs.labels).sum())
    return NextGrades(items=items, grades=missing, shared=shared) if missing else None


def settling(
    sizes: Sequence[float],
    pair: SystemPair,
    names: tuple[str, str],
    most: int,
    ungraded: Callable[[int], int | None],
) -> NextGrades | None:
    """Return what would settle a pair if its difference is what it looks like.

    None where nothing can be forecast: no common labels, no difference at all, or nothing left to
    grade.

    Parameters
    ----------
    sizes
        Labels that settle it: if errors are smaller than they look, as large, and larger.
    pair, names, most
        The pair, its systems, and how many items there are.
    ungraded
        How many outputs have to be graded until so many items have a grade of both systems.
    """
    if isinstance(pair.needed, Unknown) or pair.difference == 0:
        return None
    # What was graded did not settle it, so a forecast of fewer labels than that is not believed.
    least = min(1.1 * pair.common, most)
    low, guess, high = (max(min(size, most), least) for size in sizes)
    spread, middle = label_range(low, high, most), label_range(guess, guess, most)
    items = [max(n or most, pair.common + 1) for n in (spread.low, middle.high, spread.high)]
    few, grades, many = (ungraded(min(n, most)) for n in items)
    if not few or not grades or not many:
        return None
    return NextGrades(
        items=min(items[1], most) - pair.common,
        grades=grades,
        low=few,
        high=many,
        most=most,
        pair=names,
        # With 95% of all items graded the pair is as good as known, settled or not.
        enough=guess < 0.95 * most,
    )


def spreads(question: ScoreQuestion) -> tuple[float, ...]:
    """Return how wrong forecasts of a spread usually are; exact intervals are wider by half."""
    wider = CERTIFIED if question.certified else 1.0
    return tuple(factor * wider for factor in (FORECAST[0], 1.0, FORECAST[1]))
