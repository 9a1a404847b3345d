"""The bounds of every metric under one label model: the forward dual, its intervals, the plug-in
beside them.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from tallystick.papers.frechet_bounds import Summary, independent, plug_in
from tallystick.papers.frechet_bounds.dual import Side, programme, two_labels
from tallystick.results import Interval, Unknown
from tallystick.verbs.bound.forward import ForwardEnd, Scheme, cost_ends, cost_learner, forward
from tallystick.verbs.bound.label_model_checks import Prepared
from tallystick.verbs.bound.result import Bound
from tallystick.verbs.bound.weak_votes import BoundTarget

_ROUNDING = 1e-9


def bounds_under(one: Prepared, target: BoundTarget, generator: np.random.Generator) -> list[Bound]:
    """Bound every metric that *target* names, under one label model."""
    scheme = Scheme.fitting(one.table.n)
    wanted = target.summaries(one.table)
    critical = NormalDist().inv_cdf(1 - target.alpha / 2)
    found = iter(forward(one.evidence, wanted, rng=generator, scheme=scheme) if wanted else [])
    summaries = iter(wanted)
    out = []
    for name in target.metrics:
        if name == "risk":
            out.append(_risk(one, target, critical, generator, scheme))
        else:
            out.append(bound_of(one, next(summaries), next(found), target.alpha, critical))
    return out


def bound_of(
    one: Prepared,
    wanted: Summary,
    ends: tuple[ForwardEnd, ForwardEnd],
    alpha: float,
    critical: float,
    threshold: float | None = None,
) -> Bound:
    """Turn the ends of one metric into a `Bound`, clipped to [0, 1] last."""
    counts = one.evidence.counts
    plain: list[float] = []
    inner: list[float] = []
    sides: tuple[tuple[Side, float], ...] = (("lower", 1.0), ("upper", -1.0))
    for side, inward in sides:
        value, error = plug_in(counts, one.p, wanted, side)
        plain.append(float(value))
        inner.append(float(value) + inward * critical * float(error))
    edges = [float(end.edge(critical)) for end in ends]
    label = None if wanted.positive is None else one.table.classes[wanted.positive]
    if not np.isfinite([*edges, *plain]).all():
        reason = Unknown(f"{wanted.metric} does not exist: {_absent(one, wanted)}")
        return Bound(
            metric=wanted.metric,
            positive=label,
            threshold=threshold,
            label_model=one.model.name,
            lower=reason,
            upper=reason,
            lower_interval=reason,
            upper_interval=reason,
            method=one.method,
            independent_estimate=reason,
            plugin_lower=reason,
            plugin_upper=reason,
        )
    estimates = [float(end.estimate) for end in ends]
    low, high = (float(np.clip(edge, 0, 1)) for edge in edges)
    lower, upper = (float(np.clip(end, 0, 1)) for end in estimates)
    shown = _in_order(lower, upper)
    return Bound(
        metric=wanted.metric,
        positive=label,
        threshold=threshold,
        label_model=one.model.name,
        lower=shown[0],
        upper=shown[1],
        lower_interval=interval_of(
            one, alpha, low, max(low, lower, float(np.clip(inner[0], 0, 1)))
        ),
        upper_interval=interval_of(
            one, alpha, min(high, upper, float(np.clip(inner[1], 0, 1))), high
        ),
        method=one.method,
        independent_estimate=float(independent(counts, one.p, wanted)),
        plugin_lower=float(np.clip(plain[0], 0, 1)),
        plugin_upper=float(np.clip(plain[1], 0, 1)),
    )


def _in_order(lower: float, upper: float) -> tuple[float, float] | tuple[Unknown, Unknown]:
    """Return the estimated ends, or why there are none: corrected by a few labels they may cross.

    Without labels they cross by rounding only.
    """
    if lower > upper + _ROUNDING:
        reason = Unknown(
            f"the labelled rows are too few to estimate the ends, which cross ({lower:.3f} and"
            f" {upper:.3f}): read the low and the high end, which allow for it, or label more rows"
        )
        return reason, reason
    return min(lower, upper), max(lower, upper)


def interval_of(
    one: Prepared, alpha: float, low: float, high: float, *, method: str | None = None
) -> Interval:
    """Return an interval that says on what it rests."""
    return Interval(
        low,
        high,
        level=1 - alpha,
        guarantee="approximate" if one.assumption is None else "under",
        assumption=one.assumption,
        method=one.method if method is None else method,
    )


def _absent(one: Prepared, wanted: Summary) -> str:
    """Say which class has no denominator: one never predicted, or one that the label model gives no
    probability.
    """
    p = np.where(np.isfinite(one.p), one.p, 1 / one.p.shape[1])
    never = one.evidence.counts.sum(axis=0) == 0
    impossible = one.table.weight @ p / one.table.n < 1e-12
    kind = wanted.metric.removeprefix("macro-")
    lacking = {"precision": never, "recall": impossible, "f1": never & impossible}[kind]
    which = np.flatnonzero(lacking) if wanted.positive is None else [wanted.positive]
    names = ", ".join(str(one.table.classes[c]) for c in which)
    why = {
        "precision": "never predicted",
        "recall": "given no probability by the label model",
        "f1": "never predicted and given no probability by the label model",
    }[kind]
    return f"class {names} is {why}"


def _risk(
    one: Prepared,
    target: BoundTarget,
    critical: float,
    generator: np.random.Generator,
    scheme: Scheme,
) -> Bound:
    cost = target.cost_matrix(len(one.table.classes))
    ends = cost_ends(one.evidence, cost, cost_learner(cost), rng=generator, scheme=scheme)
    seen = one.table.weight > 0
    q = one.table.counts[seen] / one.table.weight[seen, None]
    p = np.where(np.isfinite(one.p), one.p, 1 / one.p.shape[1])[seen]
    weight = one.table.weight[seen]
    if p.shape[1] == 2:
        plain = two_labels(q, p, cost).mean(weight)
    else:
        solved = [programme(q, p, cost, side=side).value for side in ("lower", "upper")]
        plain = (float(weight @ solved[0] / weight.sum()), float(weight @ solved[1] / weight.sum()))
    edges = [float(np.clip(end.edge(critical), cost.min(), cost.max())) for end in ends]
    lower, upper = (float(np.clip(end.estimate, cost.min(), cost.max())) for end in ends)
    shown = _in_order(lower, upper)
    return Bound(
        metric="risk",
        positive=None,
        threshold=None,
        label_model=one.model.name,
        lower=shown[0],
        upper=shown[1],
        lower_interval=interval_of(one, target.alpha, edges[0], max(lower, plain[0], edges[0])),
        upper_interval=interval_of(one, target.alpha, min(upper, plain[1], edges[1]), edges[1]),
        method=one.method,
        independent_estimate=float(np.einsum("z,zh,zy,hy->", weight / weight.sum(), q, p, cost)),
        plugin_lower=plain[0],
        plugin_upper=plain[1],
    )
