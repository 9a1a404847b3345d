r"""Score systems from a labelling session: intervals that know how each output was drawn.

Labels of a session are not a uniform sample of outputs. What is uniform depends on its goal:

==============  ====================================================================================
goal            how labels were drawn, and what their intervals rest on
==============  ====================================================================================
``mean``        outputs, by strata with known probabilities: inside a stratum every output was
                equally likely, so each system is a stratified mean on the session's own strata
``difference``  whole items, by strata of the vote difference: stratified means, and the difference
                of the two labels of each item, in the same strata (AL19)
``best``        whole items, uniformly: the strata of ``score`` itself, and the difference of the
                two labels adjusted for the judges (AL6) on the items labelled for both
==============  ====================================================================================

An output that a person skipped, or on which two readers disagree for good, counts as a fail for the
lower end and as a pass for the upper one. Labels of unknown origin are known, and no part of the
sample. Who is better is said by the rule that the session itself stops by (`session_pairs`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.data import Data
from tallystick.data.session import Session
from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.labels.existing import Apart, both_ways, for_drawing
from tallystick.sampling.labels.planned_mean import planned_mean
from tallystick.sampling.labels.session_order import SessionOrder, session_order
from tallystick.score.consensus import consensus
from tallystick.score.labelling import rows_by_item, session_goal, session_task
from tallystick.score.outputs import Floats, Ints, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.systems import System, system_strata
from tallystick.stats.adverse import (
    AdverseEstimate,
    Spread,
    adverse_difference,
    adverse_means,
    adverse_shares,
)
from tallystick.stats.adverse.estimate import labels_worth

__all__ = ["SessionDraws", "session_draws"]

METHOD = "adverse likelihood on the strata of the session"


@dataclass(frozen=True, kw_only=True, eq=False)
class SessionDraws:
    """Which outputs were drawn for a label, and from which strata.

    Parameters
    ----------
    outputs, values
        The outputs with the labels of the session as human grades, and their consensus.
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

    outputs: Outputs
    values: Floats
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
        judged = self.values[a] - self.values[b]
        every, mine = Spread.of(judged), judged[self.drawn[a] & self.drawn[b]]
        below = above = adverse_difference(low, mine, every, alpha=alpha).interval
        if not np.array_equal(low, high):
            above = adverse_difference(high, mine, every, alpha=alpha).interval
        return replace(below, high=above.high)

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
            both_ways(*_skips(outputs.truth[seen])),
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
            return System(name=name, found=None, outlook=None, n=n, n_labels=known)
        value, interval = found
        labels = for_drawing(*_skips(outputs.truth[mine & self.drawn]))
        alone = _labels_alone(n, labels, value, alpha, counted=outputs.pass_fail)
        m = labels.size
        worth = labels_worth(np.array([m]), np.array([alone.width]), np.array([interval.width]))[0]
        held = AdverseEstimate(
            estimate=value, interval=interval, labels_only=alone, n_labels=m, worth=float(worth)
        )
        return System(name=name, found=held, outlook=None, n=n, n_labels=m + known)


def _skips(labels: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    return labels, np.isnan(labels)


def _labels_alone(n: int, labels: Floats, value: float, alpha: float, *, counted: bool) -> Interval:
    """Return what as many labels alone, drawn at random, would have given."""
    m = labels.size
    if not counted:
        rows = labels[None], np.zeros((1, m))
        return adverse_means(*rows, Spread.constant(n), alpha=alpha)[0].interval
    passes = float(np.clip(round(m * value), 0, m))
    counts = (np.array([[float(part)]]) for part in (n, m, passes))
    return adverse_shares(*counts, alpha=alpha)[0].interval


def session_draws(data: Data, outputs: Outputs, question: ScoreQuestion) -> SessionDraws:
    """Return the draws of the session that the truth comes from."""
    session = data.session
    if session is None:
        raise InputError("the truth does not come from a labelling session")
    head = session.head
    if head.question == "compare":
        raise InputError(
            f"{session.path} was drawn for compare, only where models differ: it says nothing"
            " about the score of a system. Begin a session with --question score"
        )
    if question.certified or question.population == "new":
        raise InputError(
            "labels of a session were drawn by strata: they have neither certified intervals nor"
            " say anything of new items. Leave out --certified and --population"
        )
    if not session.readable():
        raise InputError(f"{session.path} has no labels to read yet: answer its first items")
    goal, values = session_goal(session), consensus(outputs)
    of, rows = session.strata().astype(np.int64), None
    stratum = of
    if head.units == "items":
        rows = rows_by_item(outputs)
        own = system_strata(outputs, values)[rows] if goal == "best" else of[:, None]
        stratum = np.full(outputs.system.size, -1, np.int64)
        stratum[rows] = own
    if stratum.size != outputs.system.size:
        raise InputError(f"{session.path} was drawn from a table with other rows")
    drawn, apart = _drawn(session, stratum.size)
    return SessionDraws(
        outputs=outputs,
        values=values,
        stratum=stratum,
        drawn=drawn,
        apart=apart,
        rows=rows,
        uniform=goal == "best",
        order=None if goal == "mean" else _order(data, session, outputs, question.alpha),
        level=1 - head.alpha,
    )


def _order(data: Data, session: Session, outputs: Outputs, alpha: float) -> SessionOrder:
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
