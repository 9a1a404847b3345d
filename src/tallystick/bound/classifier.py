"""Between what the metric of a classifier lies, given only weak labels."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from statistics import NormalDist
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.bound.blocks import FloatArray, Scheme
from tallystick.bound.breakdown import breakdown_of
from tallystick.bound.forward import ForwardEnd, forward
from tallystick.bound.forward_cost import cost_ends, cost_learner
from tallystick.bound.label_models import audit
from tallystick.bound.metrics import Summary
from tallystick.bound.plug_in import independent, plug_in
from tallystick.bound.prepared import Fitting, ModelLike, Prepared, fitted, prepared
from tallystick.bound.result import Bound, BoundResult, GoldEstimate
from tallystick.bound.verdict import assumptions_of, concluded, warnings_of
from tallystick.bound.target import BoundTarget
from tallystick.bound.weak_votes import WeakTable, weak_table
from tallystick.results import Interval, PatternTable, Unknown
from tallystick.stats.prediction_powered import prediction_powered_mean
from tallystick.stats.transport import Side, entropy_width, programme, two_labels
from tallystick.tally import Label, Tally

__all__ = ["bound"]

_ROUNDING = 1e-9


def bound(
    tally: Tally,
    *,
    prediction: str,
    weak: Sequence[str] | None = None,
    truth: str | None = None,
    classes: Sequence[Label] | None = None,
    label_models: Sequence[ModelLike] = ("dawid-skene",),
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> BoundResult:
    r"""Bound metrics of a classifier whose true labels were never seen, from weak labels of the
    same rows.

    For each pattern z of weak votes only P(h | z) and P(Y | z) are known; the bounds hold for every
    joint law with these marginals: [MP23]_, (1.1), and no shorter ones do. They are estimated by
    the forward dual (:mod:`tallystick.bound.forward`), so that they hold with confidence also where
    patterns are many and rare.

    Parameters
    ----------
    tally
        Counts over the weak labels, the prediction and, if any, the truth.
    prediction
        The column of predictions.
    weak
        The columns of weak labels; by default all others.
    truth
        A column of true labels, blank on most rows: they correct the label model, test it, and give
        an estimate.
    classes
        The labels that Y can take; by default all that occur.
    label_models
        Names (labels, majority, dawid-skene, triplet) or label models, the leading one first.
    target
        Metrics, confidence, claim.
    fitting
        Class balance, meaning of abstentions.
    rng
        For the random orders of the rows.

    Examples
    --------
    >>> from tallystick.bound.demo import spam
    >>> result = bound(Tally.of(spam(2000, rng=1)), prediction="classifier")
    >>> [b.metric for b in result.bounds], result.bounds[0].low < 0.85 < result.bounds[0].high
    (['accuracy'], True)
    """
    target = BoundTarget() if target is None else target
    fitting = Fitting() if fitting is None else fitting
    columns = (
        tuple(weak)
        if weak is not None
        else tuple(n for n in tally.names if n not in (prediction, truth))
    )
    table = weak_table(tally, weak=columns, prediction=prediction, truth=truth, classes=classes)
    ready = [
        prepared(fitted(model, table, fitting), table, delta=target.delta) for model in label_models
    ]
    generator = as_rng(rng)
    again = deepcopy(generator)
    bounds: list[Bound] = []
    for one in ready:
        bounds += _bounds(one, target, generator)
    leading = ready[0]
    gold = (
        tuple(_from_gold(one, bounds, target.alpha) for one in ready) if truth is not None else ()
    )
    start = bounds[0]
    if target.delta > 0 and target.at_least is not None:
        start = _bounds(
            replace(leading, evidence=replace(leading.evidence, delta=0.0)), target, again
        )[0]
    breakdown = breakdown_of(leading, start, target, generator)
    verdict, decision, needed = concluded(prediction, bounds[0], leading, target, breakdown, gold)
    said = np.where(np.isfinite(leading.p), leading.p, 1 / len(table.classes))[: len(table.votes)]
    q = table.counts / np.maximum(table.weight, 1)[:, None]
    audits = tuple(audit(one.model, table, one.p[: len(table.votes)]) for one in ready)
    return BoundResult(
        verdict=verdict,
        decision=decision,
        needed=needed,
        n_items=table.n,
        assumptions=assumptions_of(ready, labelled=truth is not None),
        warnings=warnings_of(table, ready, gold, audits),
        seed=seed_of(rng),
        prediction=prediction,
        weak=table.weak,
        classes=table.classes,
        bounds=tuple(bounds),
        label_models=audits,
        breakdown_delta=(
            Unknown("no claim was made: say at_least")
            if breakdown is None
            else breakdown.on_average
        ),
        breakdown=breakdown,
        gold=gold,
        singleton_share=table.singletons,
        delta=target.delta,
        entropy_width=entropy_width(
            q[table.weight > 0], said[table.weight > 0], weights=table.weight[table.weight > 0]
        ),
        table=_attachable(tally, table, said),
    )


def _bounds(one: Prepared, target: BoundTarget, generator: np.random.Generator) -> list[Bound]:
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
    """Put the ends of one metric into words and intervals, clipped to [0, 1] last."""
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


def _from_gold(one: Prepared, bounds: Sequence[Bound], alpha: float) -> GoldEstimate:
    """Estimate the accuracy from the labelled rows, with p(h | z) as the guess for every row."""
    table = one.table
    gold = table.gold
    if gold is None:
        raise TypeError("no labels")
    share = np.where(np.isfinite(one.p), one.p, 1 / one.p.shape[1])
    guess = share if one.model.labelled is None else np.full_like(share, 1 / share.shape[1])
    cells = gold.sum(axis=2)
    right = np.einsum("zcc->zc", gold)
    labels = np.concatenate([np.repeat(1.0, right.sum()), np.repeat(0.0, (cells - right).sum())])
    guesses = np.concatenate(
        [np.repeat(guess.ravel(), right.ravel()), np.repeat(guess.ravel(), (cells - right).ravel())]
    )
    found = prediction_powered_mean(
        labels,
        guesses,
        np.repeat(guess.ravel(), table.counts.ravel()),
        alpha=alpha,
        target="population",
    )
    interval = found.interval[0]
    own = next(
        (b for b in bounds if b.label_model == one.model.name and b.metric == "accuracy"), None
    )
    refuted = own is not None and own.low is not None and own.high is not None
    return GoldEstimate(
        metric="accuracy",
        label_model=one.model.name,
        labels=len(labels),
        estimate=float(found.estimate[0]),
        interval=interval,
        worth=float(found.worth[0]),
        refuted=bool(
            refuted
            and own is not None
            and (interval.high < (own.low or 0) or interval.low > (own.high or 1))
        ),
    )


def _attachable(tally: Tally, table: WeakTable, said: FloatArray) -> PatternTable:
    """Give every row its P(Y | z) and the likeliest class."""
    p = said[table.place]
    columns: dict[str, Any] = {f"p_{c}": p[:, k].tolist() for k, c in enumerate(table.classes)}
    columns["label_from_votes"] = [table.classes[k] for k in p.argmax(axis=1)]
    return PatternTable(tally, columns)
