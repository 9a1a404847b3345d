"""Score systems from a labelling session: intervals that know how each output was drawn.

A session of the goal ``mean`` draws at random, so ``score`` reads its labels like any others. This
is for the rest, where what is uniform depends on the goal:

==============  ====================================================================================
goal            how labels were drawn, and what their intervals rest on
==============  ====================================================================================
``mean``        with skips, labels of unknown origin, or begun by the second version: by strata,
                inside which every output was equally likely, so each system is a stratified mean
``difference``  whole items, by strata of the vote difference: stratified means, and the difference
                of the two labels of each item, in the same strata (AL19)
``best``        whole items, uniformly: the strata of ``score`` itself, and the difference of two
                systems by the estimator that all verbs share, on the items labelled for both
==============  ====================================================================================

An output that a person skipped, or on which two readers disagree for good, counts as a fail for the
lower end and as a pass for the upper one. Labels of unknown origin are known, and no part of the
sample. Who is better is said by the rule that the session itself stops by (`session_pairs`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import hypot

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Claims, Interval, Sentences, Unknown, count
from tallystick.results.numbers import plural
from tallystick.sampling.duels import NEITHER, SessionOrder, session_order
from tallystick.sampling.planned import Apart, planned_mean
from tallystick.stats.few_labels import Rows, fit, least_alpha
from tallystick.stats.intervals import Intervals
from tallystick.stats.maxt import holm
from tallystick.stats.pairs import agreeing
from tallystick.stats.signs import step_down_order
from tallystick.table import Data
from tallystick.table.panel import Floats, Ints
from tallystick.table.panel_grades import GradePanel
from tallystick.table.session import Session
from tallystick.verbs.score.labelling import rows_by_item, session_goal, session_task
from tallystick.verbs.score.pairs import SystemPair
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.result import SystemPairRow, SystemRow, Units
from tallystick.verbs.score.systems import System, score_of, system_strata
from tallystick.verbs.score.verdict import written

METHOD = "adverse likelihood"
GOES_ON = "the session says itself how long it goes on"

_PAIR_METHOD = "adverse likelihood, MOVER"


@dataclass(frozen=True, kw_only=True, eq=False)
class SessionDraws:
    """Which outputs were drawn for a label, and from which strata.

    Parameters
    ----------
    outputs
        The outputs with the labels of the session as human grades.
    stratum
        The stratum of each output, -1 for those that could not be drawn.
    drawn
        Which outputs were drawn and may be read.
    apart
        Which outputs have a label of unknown origin.
    rows
        Items x systems of outputs, where all outputs of an item were labelled together.
    uniform
        Whether items were drawn uniformly.
    order
        Who is better by the rule of the session; None where its goal was the means.
    level
        The level at which the session settles its question.
    """

    outputs: GradePanel
    stratum: Ints
    drawn: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    rows: Ints | None
    uniform: bool = False
    order: SessionOrder | None = None
    level: float = 0.95

    def systems(self, alpha: float) -> list[System]:
        """Return the score of every system at a level."""
        return [self._system(s, alpha) for s in range(len(self.outputs.systems))]

    def gaps(self, first: int, second: int) -> tuple[Floats, Floats]:
        """Return the differences of two systems on the items labelled for both, in item order.

        Skips are at the least value in the first array and at the largest in the second.
        """
        a, b = self._both(first, second)
        gap = self.outputs.truth[a] - self.outputs.truth[b]
        return np.where(np.isnan(gap), -1.0, gap), np.where(np.isnan(gap), 1.0, gap)

    def difference(self, first: int, second: int, alpha: float) -> Interval | None:
        """Return the interval of a difference, where items were drawn as a whole."""
        low, high = self.gaps(first, second)
        if self.rows is None or not low.size:
            return None
        a, b = self.rows[:, first], self.rows[:, second]
        if not self.uniform:
            sizes = np.bincount(self.stratum[a])
            where = self.stratum[self._both(first, second)[0]]
            return planned_mean(
                sizes, where, (low, high), bounds=(-1.0, 1.0), counted=False, alpha=alpha
            )[1]
        both = self.drawn[a] & self.drawn[b]
        below = self._fitted(a, b, both, low, alpha)
        same = np.array_equal(low, high)
        above = below if same else self._fitted(a, b, both, high, alpha)
        return replace(below, high=above.high)

    def _fitted(
        self, a: Ints, b: Ints, both: NDArray[np.bool_], gaps: Floats, alpha: float
    ) -> Interval:
        """Return the interval of the estimator that all verbs share, from the items of both."""
        outputs, at = self.outputs, np.concatenate((a, b))
        y = np.full((2, a.size), np.nan)
        y[0, both], y[1, both] = outputs.truth[a][both], outputs.truth[b][both]
        unknown = np.isnan(y).any(axis=0) & both
        # A skip speaks against the first, or for it: one passes and the other fails.
        y[0, unknown] = (1 + gaps[unknown[both]]) / 2
        y[1, unknown] = (1 - gaps[unknown[both]]) / 2
        rows = Rows(
            y=y.ravel(),
            grades=outputs.grades[at],
            system=np.repeat([0, 1], a.size),
            item=np.tile(np.arange(a.size), 2),
        )
        few = fit(rows, pass_fail=outputs.pass_fail)
        return few.difference(0, 1, alpha=alpha).interval[0]

    def _both(self, first: int, second: int) -> tuple[Ints, Ints]:
        """Return the outputs of two systems on the items that were drawn for both."""
        if self.rows is None:
            none = np.empty(0, np.int64)
            return none, none
        a, b = self.rows[:, first], self.rows[:, second]
        both = self.drawn[a] & self.drawn[b]
        return a[both], b[both]

    def estimate(self, s: int, alpha: float) -> tuple[float, Interval] | None:
        """Return the score of one system and its interval, None if none of it was drawn."""
        outputs, mine = self.outputs, self.outputs.of(s)
        inside, seen, known = mine & (self.stratum >= 0), mine & self.drawn, mine & self.apart
        if not seen.any():
            return None
        value, ends = planned_mean(
            np.bincount(self.stratum[inside]),
            self.stratum[seen],
            _both_ways(outputs.truth[seen]),
            counted=outputs.pass_fail,
            alpha=alpha,
        )
        apart = Apart(
            known=int(known.sum()),
            total=float(outputs.truth[known].sum()),
            sampled=int(inside.sum()),
        )
        return apart.whole(value), apart.interval(replace(ends, method=METHOD))

    def _system(self, s: int, alpha: float) -> System:
        outputs, mine = self.outputs, self.outputs.of(s)
        known, n = int((mine & self.apart).sum()), int(mine.sum())
        found = self.estimate(s, alpha)
        name = outputs.systems[s]
        if found is None:
            return System(name=name, n=n, n_labels=known)
        value, interval = found
        m = int((mine & self.drawn).sum())
        return System(
            name=name,
            n=n,
            n_labels=m + known,
            score=value,
            interval=interval,
            worth=float(m),
            needed=Unknown(GOES_ON),
        )


def _both_ways(labels: Floats) -> tuple[Floats, Floats]:
    """Return the labels with skips at the least value, and at the largest."""
    skipped = np.isnan(labels)
    return np.where(skipped, 0.0, labels), np.where(skipped, 1.0, labels)


def session_draws(data: Data, outputs: GradePanel, question: ScoreQuestion) -> SessionDraws:
    """Return the draws of the session that the truth comes from."""
    session = data.session
    assert session is not None  # the caller asks only then
    session.require_drawn("score", rows=False)
    if question.certified or question.population == "new" or data.roles.by is not None:
        raise InputError(
            "labels of a session were drawn by strata: they have no certified intervals, and say"
            " nothing of new items or of slices. Leave out --certified, --population and --by"
        )
    session.require_labels()
    goal = session_goal(session)
    of, rows = session.strata().astype(np.int64), None
    stratum = of
    if session.head.units == "items":
        rows = rows_by_item(outputs)
        own = system_strata(outputs)[rows] if goal == "best" else of[:, None]
        stratum = np.full(outputs.system.size, -1, np.int64)
        stratum[rows] = own
    if stratum.size != outputs.system.size:
        raise InputError(f"{session.path} was drawn from a table with other rows")
    drawn, apart = _drawn(session, stratum.size)
    return SessionDraws(
        outputs=outputs,
        stratum=stratum,
        drawn=drawn,
        apart=apart,
        rows=rows,
        uniform=goal == "best",
        order=None if goal == "mean" else _order(data, session, outputs, question.alpha),
        level=1 - session.head.alpha,
    )


def _order(data: Data, session: Session, outputs: GradePanel, alpha: float) -> SessionOrder:
    """Say who is better, at the level that is asked for."""
    task = session_task(data, session, scale=outputs.scale, judge_scale=outputs.judge_scale)
    order = session_order(session, task, alpha=alpha)
    if order.best is not None and alpha < session.head.alpha:
        # Systems left the contest at its own level, which proves less than is asked for.
        return replace(order, winner=None, certain=False, live=np.ones_like(order.live))
    return order


def _drawn(session: Session, rows: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows were drawn and may be read, and which have a label of unknown origin."""
    drawn, apart = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)
    last = session.readable()
    drawn[[ask.row for ask in session.asks if ask.draw < last]] = True
    apart[list(session.apart)] = True
    return drawn, apart


# Pairs of systems from a labelling session: who is better by its own rule, and by how much.
#
# A session that asks who is better stops when its anytime evidence says so. People look at it after
# every batch, so only that evidence may order two systems: an approximate interval that is looked
# at again and again excludes 0 far too often. The p-value of a pair is (W13), for both directions;
# all directions together are stepped down by (M5), so that no wrong order is claimed. The interval
# of the difference is approximate, for the size of the difference, and agrees with the verdict
# about 0.
#
# A session whose goal were the means has drawn each system's outputs independently of the others'.
# There a difference comes from the two scores (AL9), with nothing in common: which items happen to
# be labelled for both says nothing of how far the two estimates are off together.


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

        def ends_at(alpha: Floats) -> tuple[Floats, Floats]:
            found = [interval(pair, float(a)) for pair, a in zip(places, alpha, strict=True)]
            return np.array([one.low for one in found]), np.array([one.high for one in found])

        p_values = least_alpha(ends_at, 0.0, np.empty(len(places)), halvings=HALVINGS)
        steps = holm(p_values).tolist()
        evidence = [(p, step, 0) for p, step in zip(p_values.tolist(), steps, strict=True)]
    else:
        evidence = _evidence(draws, draws.order, graded)
    return [
        _pair(draws, systems, pair, found, one, question.alpha)
        for pair, found, one in zip(places, intervals, evidence, strict=True)
    ]


def _of_scores(draws: SessionDraws, pair: tuple[int, int], alpha: float) -> Interval:
    """Return the interval (AL9) of the difference of two scores with nothing in common."""
    one, two = (draws.estimate(s, alpha) for s in pair)
    assert one is not None
    assert two is not None  # only systems with a score are paired
    (a, first), (b, second) = one, two
    low = a - b - hypot(a - first.low, second.high - b)
    high = a - b + hypot(first.high - a, b - second.low)
    return Interval(max(-1.0, low), min(1.0, high), 1 - alpha, "approximate", None, _PAIR_METHOD)


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
        interval=held if turned else _agreeing(held, difference, adjusted, alpha),
        p_value=p,
        adjusted_p=adjusted,
        needed=Unknown(GOES_ON),
        common=common,
        decided=decided,
    )


def _agreeing(interval: Interval, difference: float, p: float, alpha: float) -> Interval:
    low, high = np.array([interval.low]), np.array([interval.high])
    ends = Intervals(low, high, interval.level, method=interval.method)
    return agreeing(ends, np.array([difference]), np.array([p]), alpha)[0]


def _as_named(order: SessionOrder, places: tuple[int, int]) -> int:
    """Return the direction in which the session has named one of two systems, 0 for none."""
    if len(order.names) != 2 or order.epsilon or order.winner in (None, NEITHER):
        return 0
    named = order.names.index(str(order.winner))
    return int(np.where(named == places[0], 1, -1))


# The sentences of ``score`` about a labelling session that asked who is better.
#
# The session has told its user who is better, or that this is open. ``score`` says the same, with
# its own numbers, and gives the session as the reason.


def with_session(
    said: Sentences,
    order: SessionOrder,
    rows: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    units: Units,
    alpha: float,
) -> Sentences:
    """Return the sentences with what the session has settled, or with what it still needs."""
    if order.winner is None:
        return replace(said, next="Next: go on with the labelling session." if order.left else "")
    reason = _reason(order, alpha)
    if order.winner == NEITHER:
        answer = f"Neither {' nor '.join(order.names)} is better on these items."
        return replace(said, answer=f"{answer} {reason}", open="", next="")
    rest = {name for name in order.names if name != order.winner}
    beaten = {row.b for row in pairs if row.settled and row.a == order.winner}
    answer = said.answer if rest <= beaten else _nearly(order, rows, units)
    return replace(said, answer=f"{answer} {reason}", open="", next="")


def _nearly(order: SessionOrder, rows: Sequence[SystemRow], units: Units) -> str:
    """Say that the winner is the best, or so close to it that the difference does not matter."""
    row = next(row for row in rows if row.name == order.winner)
    within = f"{100 * order.epsilon:g} points"
    return Claims(order.names).nearly(row.name, within, written(row, units))


def _reason(order: SessionOrder, alpha: float) -> str:
    """Say that the session settled it, after how many items, and how sure that is."""
    items = f"{count(order.labelled)} {plural('item', order.labelled)}"
    return f"The labelling session settled it after {items} ({order.sure(alpha)})."
