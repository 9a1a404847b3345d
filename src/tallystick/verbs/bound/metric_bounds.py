"""The bounds of every metric under one label model: the forward dual, its intervals, the plug-in
beside them.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import NormalDist

import numpy as np

from tallystick.results import Interval, Unknown
from tallystick.stats.transport import Side, programme, two_labels
from tallystick.verbs.bound.forward import (
    Evidence,
    FloatArray,
    ForwardEnd,
    ForwardRun,
    Scheme,
    Summary,
    cost_ends,
    cost_learner,
    ends_of,
    forward,
    known_rows,
)
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
    evidence = replace(one.evidence, p=one.p, view=None)
    plain: list[float] = []
    inner: list[float] = []
    sides: tuple[tuple[Side, float], ...] = (("lower", 1.0), ("upper", -1.0))
    for side, inward in sides:
        value, error = plug_in(evidence, wanted, side)
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
        independent_estimate=float(independent(evidence, wanted)),
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


# The plug-in of the paper: sharp bounds of the observed shares, with its interval. To be shown,
# not to be trusted.
#
# With many patterns it collapses: the best potentials of few rows fit their noise, so the upper
# end
# is too low and the lower one too high (Jensen). The forward dual has no such bias.


def plug_in(evidence: Evidence, wanted: Summary, side: Side) -> tuple[FloatArray, FloatArray]:
    r"""Return an end of the observed shares and its standard error by [MP23]_, Theorem 2.4 and
    Corollary 3.1.

    The corollary is corrected: the denominator of F1 is squared, and the parts of P(h = c) and P(Y
    = c) are in it. The label model is taken for known.
    """
    counts = np.asarray(evidence.counts, dtype=np.float64)
    if evidence.p is None:
        raise TypeError("the plug-in needs P(Y | z)")
    known = known_rows(evidence.p)[..., None].astype(np.float64)
    p = np.where(known > 0, evidence.p, 0.0)
    q = counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1)
    run = ForwardRun(evidence.counts * 0, counts[None], None, p, q[None], known)
    bare = Evidence(counts=evidence.counts, p=evidence.p, bins=evidence.bins)
    return ends_of(run, wanted, side, bare)


def plug_in_interval(
    evidence: Evidence, wanted: Summary, *, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return [L - z s, U + z s], the interval that the paper draws: (2.7) at both ends."""
    z = NormalDist().inv_cdf(1 - alpha / 2)
    low, low_error = plug_in(evidence, wanted, "lower")
    high, high_error = plug_in(evidence, wanted, "upper")
    return low - z * low_error, high + z * high_error


def independent(evidence: Evidence, wanted: Summary) -> FloatArray:
    """Return the metric if prediction and label are independent given z: one point inside the
    bounds.

    Patterns of which nothing is known are left out; NaN where the metric does not exist.
    """
    if evidence.p is None:
        raise TypeError("the estimate under independence needs P(Y | z)")
    known = known_rows(evidence.p)
    p = np.where(known[..., None], evidence.p, 0.0)
    counts = np.asarray(evidence.counts, dtype=np.float64) * known[:, None]
    n = np.maximum(counts.sum(axis=(-2, -1)), 1e-300)[..., None]
    t = (counts * p).sum(axis=-2) / n
    y = (counts.sum(axis=-1, keepdims=True) * p).sum(axis=-2) / n
    return wanted.slopes(t, counts.sum(axis=-2) / n, y).value
