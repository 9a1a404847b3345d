"""What labels say of an estimate that was made without them, given that both are unsure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.parts import Alarm, Estimate, Number
from tallystick.judge.verdict_methods import (
    contradicted,
    not_contradicted,
    not_tested,
    rejected_alarm,
)
from tallystick.results import Interval
from tallystick.stats.intervals import Intervals, clopper_pearson

__all__ = ["Claim", "Doubt", "plain", "tested_by_labels"]

Doubt: TypeAlias = Callable[[float], tuple[Floats, Floats]]
"""From alpha to the lower and upper ends of every judge's accuracy, NaN where a method has none."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What one method says of all judges, and how unsure it is of that; the doubt is worked out
    only where asked.
    """

    estimate: Estimate
    doubt: Doubt


@dataclass(frozen=True, eq=False)
class _Graded:
    """Judges with labelled votes: their places, the share of right votes, exact ends for all of
    them at once.
    """

    place: NDArray[np.intp]
    share: Floats
    ends: Intervals
    level: float
    labels: int


def tested_by_labels(
    claims: Sequence[Claim], ballots: Ballots, alpha: float
) -> tuple[list[Estimate], list[Alarm]]:
    r"""Test every label-free estimate by the labels, simultaneously over judges, for items like
    these.

    Neither side is certain: the estimate :math:`\hat a` has a range [l, u] of its own, and the
    share :math:`\hat p` of right votes among the labelled ones has Clopper-Pearson's [L, U], both
    at alpha divided by the number of judges. An estimate above the share is rejected if

    .. math:: \hat a - \hat p > \sqrt{(\hat a - l)^2 + (U - \hat p)^2}   \tag{J10}

    and likewise below (the interval of a difference by recovered variances). Both rest on the same
    votes, so that they err together, which leaves the test on the safe side. Where a method has no
    range, for instance on the edge, that judge is not tested, and an estimate of which no judge is
    tested has ``rejected`` None. Not the intervals for these very items: with all of them labelled
    those would reject whatever is not exactly right.
    """
    known = (ballots.truth >= 0)[:, None]
    voted = ballots.codes >= 0
    labelled = ballots.counts @ (voted & known)
    right = ballots.counts @ (voted & known & (ballots.codes == ballots.truth[:, None]))
    use = np.flatnonzero(labelled > 0)
    if not use.size:
        return [claim.estimate for claim in claims], []
    level = alpha / len(use)
    graded = _Graded(
        use,
        right[use] / labelled[use],
        clopper_pearson(right[use], labelled[use], alpha=level),
        level,
        int(ballots.counts[ballots.truth >= 0].sum()),
    )
    tested = [_tested(claim, ballots.names, graded) for claim in claims]
    return tested, [rejected_alarm(estimate) for estimate in tested if estimate.rejected]


def _tested(claim: Claim, names: Sequence[str], graded: _Graded) -> Estimate:
    estimate, share, ends = claim.estimate, graded.share, graded.ends
    values = np.array([plain(estimate.accuracy[names[j]]) for j in graded.place])
    agreed = replace(estimate, rejected=False, why=not_contradicted(graded.labels))
    outside = (values < ends.low - 1e-9) | (values > ends.high + 1e-9)
    if not outside.any():
        return agreed  # no doubt of its own could change that
    low, high = (end[graded.place] for end in claim.doubt(graded.level))
    above = values > share
    apart = np.abs(values - share)
    reach = np.hypot(
        np.where(above, values - low, high - values),
        np.where(above, ends.high - share, share - ends.low),
    )
    unsure = ~np.isfinite(reach)
    rejected = outside & (apart > reach)
    if not rejected.any():
        if not (outside & unsure).any():
            return agreed
        name = names[int(graded.place[np.flatnonzero(outside & unsure)[0]])]
        return replace(estimate, why=not_tested(name))
    worst = int(np.flatnonzero(rejected)[np.argmax((apart - reach)[rejected])])
    own = Interval(min(low[worst], high[worst]), max(low[worst], high[worst]))
    allowed = Interval(ends.low[worst], ends.high[worst])
    name = names[int(graded.place[worst])]
    why = contradicted(name, float(values[worst]), own, graded.labels, allowed)
    return replace(estimate, rejected=True, why=why)


def plain(value: Number, otherwise: float = float("nan")) -> float:
    """Return a number, or *otherwise* where it is unknown."""
    return value if isinstance(value, float) else otherwise
