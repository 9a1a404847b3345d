r"""The robust range: what every label model of the family allows, widened by how much they differ.

.. math:: [\min_a L_a - D,\ \max_a U_a + D]   \tag{B8}

over the seven label models of :mod:`~tallystick.verbs.bound.label_model_checks`, with D their
median distance (B7). An error of D in P(Y | Z) moves the ends of accuracy by D; the ends of ratios
and of a risk are moved as far as such an error can move them.

The range is no guarantee: that the truth is no farther from the family than its members are from
one another is an assumption. Where all weak labels copy one of them on 40 % of the rows it misses
the truth on .5 % of tables, on 60 % of the rows 4 %, with fewer copies on none. It held on six real
tables and is often wide (benchmarks/truth/bound_honest.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, seed_of, spawn
from tallystick.errors import InputError
from tallystick.papers.frechet_bounds import Summary
from tallystick.papers.frechet_bounds.dual import agreement, breakdown
from tallystick.results import Interval, Result, Unknown
from tallystick.stats.latent_covotes import CoVotes, covote_misfit
from tallystick.table import Label, Tally
from tallystick.verbs.bound.forward import (
    Evidence,
    Scheme,
    cost_ends,
    cost_learner,
    forward,
    shrunk,
)
from tallystick.verbs.bound.label_model_checks import Family, Fitting, Prepared, family_of, prepared
from tallystick.verbs.bound.label_models import LabelModel
from tallystick.verbs.bound.metric_bounds import bounds_under
from tallystick.verbs.bound.result import Bound, Breakdown
from tallystick.verbs.bound.weak_votes import BoundTarget, WeakTable

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


# How wrong the label model may be before a claim is no longer proved.


_SWEEP = (0.0, 0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
_HALVINGS = 12


def breakdown_of(
    one: Prepared, bound: Bound, target: BoundTarget, generator: np.random.Generator
) -> Breakdown | None:
    r"""Return the δ at which the lower end, with confidence, reaches the claim; None if nothing is
    claimed.

    *bound* allows for no error of the label model: δ is the whole of it, whatever part the shown
    bounds allow for.

    An average error δ moves the ends of accuracy by exactly δ, so its breakdown is their distance;
    for ratios it is found by halving. If every pattern may be wrong by δ, it solves :math:`\sum_z
    P(z)(l_z - \delta)_+ = c` over the label model's bins, which may only make it smaller (a coarser
    z). [MP23]_, Theorem A.3, has the rate only.
    """
    if (
        target.at_least is None
        or target.metrics[0] == "risk"
        or bound.low is None
        or bound.high is None
    ):
        return None
    wanted = target.summaries(one.table)[0]
    claim = target.at_least
    seed = int(generator.integers(2**31))
    critical = NormalDist().inv_cdf(1 - target.alpha / 2)
    plain = wanted.metric in ("accuracy", "micro-f1")

    def ends(delta: float) -> tuple[float, float]:
        if plain:
            return max(0.0, (bound.low or 0.0) - delta), min(1.0, (bound.high or 1.0) + delta)
        evidence = replace(one.evidence, delta=delta)
        [(low, high)] = forward(evidence, [wanted], rng=seed, scheme=Scheme.fitting(one.table.n))
        return float(np.clip(low.edge(critical), 0, 1)), float(np.clip(high.edge(critical), 0, 1))

    sweep = tuple({"delta": d, **dict(zip(("low", "high"), ends(d), strict=True))} for d in _SWEEP)
    if plain:
        average = max(0.0, bound.low - claim)
    elif ends(0.0)[0] <= claim:
        average = 0.0
    else:
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (middle, high) if ends(middle)[0] > claim else (low, middle)
        average = low
    return Breakdown(
        claim=f"{wanted.metric} ≥ {claim:g}",
        on_average=average,
        in_every_pattern=_in_every_pattern(one, wanted, bound.low, claim, average),
        sweep=sweep,
    )


def _in_every_pattern(
    one: Prepared, wanted: Summary, low: float, claim: float, average: float
) -> float | Unknown:
    """Return the breakdown if every pattern may be wrong by δ, never below that *on average*.

    An error of δ in every pattern is also one of δ on average, so the claim survives whatever it
    survives on average. Only the coarser bins used here could give less.
    """
    if wanted.metric != "accuracy":
        return Unknown(f"known in closed form for accuracy, not for {wanted.metric}")
    if low <= claim:
        return 0.0
    bins = one.evidence.bins
    member = np.eye(int(bins.max()) + 1)[bins] * one.table.weight[:, None]
    size = member.sum(axis=0)
    share = (member / np.maximum(size, 1))[:, size > 0].T
    p = np.where(np.isfinite(one.p), one.p, 1 / one.p.shape[1])
    q = one.table.counts / np.maximum(one.table.weight, 1)[:, None]
    end = agreement(share @ q, share @ p).lower
    # What chance and coarsening leave between this end and the proved one is taken off the room for
    # error.
    margin = max(0.0, end.mean(size[size > 0]) - low)
    return max(average, breakdown(end, claim + margin, size[size > 0]))


# Statistical matching: what two separate tables, (X, Z) and (Y, Z), say of X and Y together.
#
# No row shows X and Y, so only bounds exist: for every z an optimal transport problem between P(X
# |
# z) and P(Y | z) with cost g ([MP23]_, A.1 and section 5).


@dataclass(frozen=True, kw_only=True)
class MatchResult(Result):
    """Between what E[g(X, Y)] lies."""

    verb: ClassVar[str] = "bound"

    lower: float
    upper: float
    interval: Interval
    independent_estimate: float

    def rows(self) -> list[dict[str, Any]]:
        """Return the one row."""
        return [{"lower": self.lower, "upper": self.upper, "interval": self.interval}]


def match(
    first: Tally,
    second: Tally,
    *,
    x: str,
    y: str,
    shared: Sequence[str],
    event: npt.ArrayLike,
    alpha: float = 0.05,
    rng: Rng = 0,
) -> MatchResult:
    """Bound P((X, Y) in B), or E[g(X, Y)], from a table of (X, Z) and another one of (Y, Z).

    The second table is the labelled sample of the rectifier: its own chance is part of the
    interval, whatever P(Y | Z) is estimated to be. Both tables have to be samples of one
    population.

    Parameters
    ----------
    first, second
        Counts over *shared* and *x*, and over *shared* and *y*.
    x, y
        The columns never seen together.
    shared
        The columns that both tables have.
    event
        g, labels of x by labels of y in their canonical order: 1 inside B and 0 outside, or any
        bounded cost.

    Examples
    --------
    >>> a = Tally.from_patterns({"z": [0, 0, 1, 1], "x": [0, 1, 0, 1]}, [450, 50, 100, 400])
    >>> b = Tally.from_patterns({"z": [0, 0, 1, 1], "y": [0, 1, 0, 1]}, [400, 100, 50, 450])
    >>> found = match(a, b, x="x", y="y", shared=["z"], event=[[0, 0], [0, 1]])
    >>> bool(found.lower < 0.5 * 0.1 * 0.2 + 0.5 * 0.8 * 0.9 < found.upper)
    True
    """
    cost = np.asarray(event, dtype=np.float64)
    atoms, labels = _present(first, x), _present(second, y)
    if cost.shape != (len(atoms), len(labels)) or not np.isfinite(cost).all():
        raise InputError(
            f"event must be finite, of shape {(len(atoms), len(labels))} ({x} by {y}), got"
            f" {cost.shape}"
        )
    keys: dict[tuple[Label, ...], int] = {}
    rows = _counted(first, shared, x, atoms, keys)
    gold = _counted(second, shared, y, labels, keys)
    counts = np.zeros((len(keys), len(atoms)), dtype=np.int64)
    counts[: len(rows)] = rows
    # bins may not rest on y, and nothing else orders the patterns
    bins = np.zeros(len(keys), dtype=np.int64)
    overall = shrunk(gold, bins)
    evidence = Evidence(counts=counts, p=None, bins=bins, gold=gold)
    low, high = cost_ends(
        evidence, cost, cost_learner(cost), rng=rng, scheme=Scheme.fitting(float(counts.sum()))
    )
    z = NormalDist().inv_cdf(1 - alpha / 2)
    least, most = float(cost.min()), float(cost.max())
    ends = [float(np.clip(end, least, most)) for end in (low.edge(z), high.edge(z))]
    share = counts / counts.sum()
    return MatchResult(
        verdict=(
            f"E[g({x}, {y})] is between {ends[0]:.3f} and {ends[1]:.3f} ({100 * (1 - alpha):g} %), "
            "whatever joins them."
        ),
        n_items=int(counts.sum() + gold.sum()),
        assumptions=("both tables are random samples of one population",),
        seed=seed_of(rng),
        lower=float(np.clip(low.estimate, least, most)),
        upper=float(np.clip(high.estimate, least, most)),
        interval=Interval(
            ends[0], ends[1], level=1 - alpha, method="forward dual, rectified by the second table"
        ),
        independent_estimate=float(np.einsum("zx,zy,xy->", share, overall, cost)),
    )


def _present(tally: Tally, name: str) -> tuple[Label, ...]:
    if name not in tally.names:
        raise InputError(f"the tally has no column {name!r}: it has {', '.join(tally.names)}")
    return tuple(label for label in tally.labels[name] if label is not None)


def _counted(
    tally: Tally,
    shared: Sequence[str],
    name: str,
    labels: tuple[Label, ...],
    keys: dict[tuple[Label, ...], int],
) -> npt.NDArray[np.int64]:
    part = tally.marginal([*shared, name])
    places, values = [], []
    for codes, count in zip(part.codes, part.counts, strict=True):
        label = part.labels[name][codes[-1]]
        if label is None:
            continue
        key = tuple(
            part.labels[column][code] for column, code in zip(shared, codes[:-1], strict=True)
        )
        places.append((keys.setdefault(key, len(keys)), labels.index(label)))
        values.append(int(count))
    out = np.zeros((len(keys), len(labels)), dtype=np.int64)
    np.add.at(out, tuple(np.array(places).T), values)
    return out
