r"""The robust range: what every label model of the family allows, widened by how much they differ.

.. math:: [\min_a L_a - D,\ \max_a U_a + D]   \tag{B8}

over the seven label models of :mod:`~tallystick.bound.label_models.family`, with D their median
distance (B7). An error of D in P(Y | Z) moves the ends of accuracy by D; the ends of ratios and of
a risk are moved as far as such an error can move them.

The range is no guarantee: that the truth is no farther from the family than its members are from
one another is an assumption. Where all weak labels copy one of them on 40 % of the rows it misses
the truth on .5 % of tables, on 60 % of the rows 4 %, with fewer copies on none. It held on six real
tables and is often wide (benchmarks/truth/bound_honest.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tallystick._rng import Rng, spawn
from tallystick.bound.label_models import Family, LabelModel, family_of
from tallystick.bound.metric_bounds import bounds_under
from tallystick.bound.prepared import Fitting, prepared
from tallystick.bound.result import Bound
from tallystick.bound.target import BoundTarget
from tallystick.bound.weak_votes import WeakTable
from tallystick.results import Interval, Unknown
from tallystick.stats.latent import CoVotes, covote_misfit

__all__ = ["FAMILY", "Robust", "robust_bound", "robust_bounds", "votes_contradict"]

FAMILY = "family of seven"
"""What stands for the label model in a robust range."""

ASSUMPTION = "the truth is no farther from the seven label models than these are from one another"
_OWN = Unknown("each label model has its own; the robust range is over seven of them")


@dataclass(frozen=True, eq=False, kw_only=True)
class Robust:
    """The robust range of every metric, and what it was made of.

    Parameters
    ----------
    family
        The seven label models.
    bounds
        One range per metric.
    test
        The misfit test of the independence model; None if the votes cannot test it, or if it was
        not asked for.
    """

    family: Family
    bounds: tuple[Bound, ...]
    test: CoVotes | None


def robust_bounds(table: WeakTable, target: BoundTarget, fitting: Fitting, *, rng: Rng) -> Robust:
    """Fit the family and bound every metric of *target* robustly, by votes alone.

    Parameters
    ----------
    table
        Votes and predictions; labels in it are not used.
    target, fitting
        Metrics and level; class balance and number of refits.
    rng
        Split into streams for the bounds and for the misfit test.
    """
    blind = replace(table, gold=None)
    for_ends, for_test = spawn(rng, 2)
    family = family_of(blind, balance=fitting.balance)
    wide = replace(target, delta=max(target.delta, family.distance), at_least=None)

    # Members that say the same (no abstentions, no near-duplicates) are bounded once.
    found: dict[bytes, list[Bound]] = {}
    members: list[list[Bound]] = []
    for model, law in zip(family.models, family.laws, strict=True):
        key = law.tobytes()
        if key not in found:
            one = prepared(model, blind, delta=wide.delta)
            found[key] = bounds_under(one, wide, for_ends)
        members.append(found[key])
    ranges = tuple(robust_bound(same) for same in zip(*members, strict=True))
    return Robust(
        family=family, bounds=ranges, test=votes_contradict(family.independence, fitting, for_test)
    )


def votes_contradict(model: LabelModel, fitting: Fitting, rng: Rng) -> CoVotes | None:
    """Test the independence that a fitted label model assumes, by the votes alone."""
    if model.fit is None or fitting.refits == 0:
        return None
    return covote_misfit(model.fit, n_refits=fitting.refits, rng=rng)


def robust_bound(members: Sequence[Bound]) -> Bound:
    """Return the range (B8) of one metric from the members' bounds, each already widened by D."""
    first = members[0]
    lows = [one.low for one in members if one.low is not None]
    highs = [one.high for one in members if one.high is not None]
    if not lows or not highs:
        return replace(first, label_model=FAMILY, method="robust")
    # A member for which the metric does not exist (it empties a class) rules nothing out.
    gone = len(lows) < len(members)
    low, high = (0.0, 1.0) if gone and first.metric != "risk" else (min(lows), max(highs))
    lower = max(low, _least([one.lower for one in members], min, low))
    upper = min(high, _least([one.upper for one in members], max, high))
    level = first.lower_interval.level if isinstance(first.lower_interval, Interval) else 0.95
    ends = [
        Interval(*pair, level, "under", ASSUMPTION, "robust")
        for pair in ((low, max(low, lower)), (min(high, upper), high))
    ]
    return Bound(
        metric=first.metric,
        positive=first.positive,
        threshold=first.threshold,
        label_model=FAMILY,
        lower=min(lower, upper),
        upper=max(lower, upper),
        lower_interval=ends[0],
        upper_interval=ends[1],
        method="robust",
        independent_estimate=_OWN,
        plugin_lower=_OWN,
        plugin_upper=_OWN,
    )


def _least(values: Sequence[float | Unknown], pick: object, otherwise: float) -> float:
    known = [value for value in values if not isinstance(value, Unknown)]
    if len(known) < len(values):
        return otherwise
    return float(np.min(known) if pick is min else np.max(known))
