r"""Score systems from a labelling session: intervals that know how each output was drawn.

Labels of a session are not a uniform sample: draws favour outputs on which judges tell little.
Inside a stratum every output (or item) was equally likely to be drawn, so each system is estimated
by the stratified adverse likelihood on the session's own strata. An output that a person skipped,
or on which two readers disagree for good, counts as a fail for the lower end and as a pass for the
upper one. Labels of unknown origin are known, and no part of the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.data import Data
from tallystick.data.session import Session
from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.labels.existing import Apart
from tallystick.sampling.labels.planned_share import planned_share
from tallystick.score.labelling import rows_by_item
from tallystick.score.outputs import Floats, Ints, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.systems import System
from tallystick.stats.adverse import AdverseEstimate, adverse_shares
from tallystick.stats.adverse.estimate import labels_worth

__all__ = ["SessionDraws", "session_draws"]

METHOD = "adverse likelihood on the strata of the session"


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
    """

    outputs: Outputs
    stratum: Ints
    drawn: NDArray[np.bool_]
    apart: NDArray[np.bool_]
    rows: Ints | None

    def systems(self, alpha: float) -> list[System]:
        """Return the score of every system at a level."""
        return [self._system(s, alpha) for s in range(len(self.outputs.systems))]

    def difference(self, first: int, second: int) -> Callable[[float], Interval] | None:
        """Return the interval of a difference at any level, where items were drawn as a whole."""
        if self.rows is None:
            return None
        a, b = self.rows[:, first], self.rows[:, second]
        both = self.drawn[a] & self.drawn[b]
        if not both.any():
            return None
        truth, stratum = self.outputs.truth, self.stratum[a]
        gap = truth[a] - truth[b]
        low, high = (np.where(np.isnan(gap), end, (gap + 1) / 2)[both] for end in (0.0, 1.0))

        def interval(alpha: float) -> Interval:
            found = _planned(stratum, stratum[both], (low, high), alpha)
            return Interval(
                2 * found[1] - 1, 2 * found[2] - 1, 1 - alpha, "approximate", None, METHOD
            )

        return interval

    def _system(self, s: int, alpha: float) -> System:
        outputs = self.outputs
        mine = outputs.of(s)
        inside, seen = mine & (self.stratum >= 0), mine & self.drawn
        known = mine & self.apart
        name, n = outputs.systems[s], int(mine.sum())
        if not seen.any():
            return System(name=name, found=None, outlook=None, n=n, n_labels=int(known.sum()))
        values = outputs.truth[seen]
        low, high = (np.where(np.isnan(values), end, values) for end in (0.0, 1.0))
        value, low_end, high_end = _planned(
            self.stratum[inside], self.stratum[seen], (low, high), alpha
        )
        apart = Apart(
            known=int(known.sum()),
            total=float(outputs.truth[known].sum()),
            sampled=int(inside.sum()),
        )
        interval = apart.interval(
            Interval(low_end, high_end, 1 - alpha, "approximate", None, METHOD)
        )

        # What as many labels alone, drawn at random, would have given.
        m = int(seen.sum())
        passes = float(np.clip(round(m * value), 0, m))
        alone = adverse_shares(
            np.array([[float(n)]]), np.array([[float(m)]]), np.array([[passes]]), alpha=alpha
        )[0].interval
        worth = labels_worth(np.array([m]), np.array([alone.width]), np.array([interval.width]))[0]
        found = AdverseEstimate(
            estimate=apart.whole(value),
            interval=interval,
            labels_only=alone,
            n_labels=m,
            worth=float(worth),
        )
        return System(name=name, found=found, outlook=None, n=n, n_labels=m + apart.known)


def session_draws(data: Data, outputs: Outputs, question: ScoreQuestion) -> SessionDraws:
    """Return the draws of the session that the truth comes from."""
    session = data.session
    if session is None:
        raise InputError("the truth does not come from a labelling session")
    head = session.head
    if head.question == "compare":
        raise InputError(
            f"{session.path} was drawn for compare, only where models differ: it says nothing of"
            " the score of a system. Begin a session with --question score"
        )
    if question.certified or question.population == "new":
        raise InputError(
            "labels of a session were drawn by strata: they have neither certified intervals nor"
            " say anything of new items. Leave out --certified and --population"
        )
    if not session.readable():
        raise InputError(f"{session.path} has no labels to read yet: answer its first items")
    of, rows = session.strata().astype(np.int64), None
    stratum = of
    if head.units == "items":
        rows = rows_by_item(outputs)
        stratum = np.full(outputs.system.size, -1, np.int64)
        stratum[rows] = of[:, None]
    if stratum.size != outputs.system.size:
        raise InputError(f"{session.path} was drawn from a table with other rows")
    drawn, apart = _drawn(session, stratum.size)
    return SessionDraws(outputs=outputs, stratum=stratum, drawn=drawn, apart=apart, rows=rows)


def _drawn(session: Session, rows: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which rows were drawn and may be read, and which have a label of unknown origin."""
    drawn, apart = np.zeros(rows, np.bool_), np.zeros(rows, np.bool_)
    last = session.readable()
    drawn[[ask.row for ask in session.asks if ask.draw < last]] = True
    apart[list(session.apart)] = True
    return drawn, apart


def _planned(
    every: Ints, seen: Ints, values: tuple[Floats, Floats], alpha: float
) -> tuple[float, float, float]:
    """Return estimate and ends of a mean, from values at the least and at the largest."""
    count = int(every.max()) + 1
    sizes = np.bincount(every[every >= 0], minlength=count)
    labelled = np.bincount(seen, minlength=count)
    sums = [np.bincount(seen, weights=part, minlength=count) for part in values]
    found = planned_share(sizes, labelled, *sums, alpha=alpha)
    interval = found.interval(alpha=alpha)
    return float(found.estimate[0]), interval.low, interval.high
