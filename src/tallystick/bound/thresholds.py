"""A score instead of a prediction: the bounds at every threshold, holding together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import NormalDist

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.bound.blocks import IntArray, Scheme
from tallystick.bound.metric_bounds import bound_of
from tallystick.bound.forward import Evidence, ForwardEnd, draw, forward, row_table, slopes_of
from tallystick.bound.label_models import audit
from tallystick.bound.metrics import Summary
from tallystick.bound.prepared import Fitting, ModelLike, Prepared, fitted, prepared
from tallystick.bound.result import Bound, BoundResult
from tallystick.bound.verdict import assumptions_of, condition_of, warnings_of
from tallystick.bound.target import BoundTarget
from tallystick.bound.weak_votes import weak_table
from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.stats.maxt import sup_t_critical
from tallystick.stats.transport import Side
from tallystick.tally import Label, Tally

__all__ = ["edges_of", "sweep"]

_CELLS = 20_000_000
"""Rows of the correlation of all thresholds that are held at once; beyond it Bonferroni, which is a
little wider."""


def edges_of(thresholds: Sequence[float]) -> tuple[float, ...]:
    """Return the edges with which a score in [0, 1] has to be cut to be swept over *thresholds*.

    >>> edges_of([0.5, 0.25])
    (0.0, 0.25, 0.5, 1.0)
    """
    held = sorted({float(t) for t in thresholds})
    if not held or not all(0 < t < 1 for t in held):
        raise InputError(f"thresholds must be numbers in (0, 1), got {list(thresholds)!r}")
    return (0.0, *held, 1.0)


def sweep(
    tally: Tally,
    *,
    score: str,
    weak: Sequence[str] | None = None,
    truth: str | None = None,
    classes: Sequence[Label] | None = None,
    label_models: Sequence[ModelLike] = ("dawid-skene",),
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> BoundResult:
    """Bound metrics of ``score ≥ threshold`` for two classes, simultaneously for all thresholds.

    The tally has counted *score* cut at the thresholds: ``cut={score: edges_of(thresholds)}``. A
    row predicts the positive class where its score is at least the threshold; all thresholds come
    from one table, by cumulative counts. The bands of one metric and label model hold together: the
    critical value is that of the largest of all deviations, drawn from the correlation of the rows.
    [MP23]_, Figures 1 and 2, have pointwise ones.

    Examples
    --------
    >>> from tallystick.bound.demo import spam
    >>> rows = spam(1000, rng=1)
    >>> rows["score"] = [0.2 + 0.5 * int(h) for h in rows.pop("classifier")]
    >>> tally = Tally.of(rows, cut={"score": edges_of([0.25, 0.5])})
    >>> result = sweep(tally, score="score")
    >>> [b.threshold for b in result.bounds]
    [0.25, 0.5]
    """
    target = BoundTarget() if target is None else target
    fitting = Fitting() if fitting is None else fitting
    if "risk" in target.metrics:
        raise InputError(
            "a sweep over thresholds knows no risk: choose other metrics, or one prediction"
        )
    if target.at_least is not None:
        raise InputError(
            f"at_least ({target.at_least:g}) is a claim on one prediction, and a score has one a"
            " threshold: choose the threshold and bound its prediction, or leave the claim out"
        )
    columns = (
        tuple(weak)
        if weak is not None
        else tuple(n for n in tally.names if n not in (score, truth))
    )
    table = weak_table(tally, weak=columns, score=score, truth=truth, classes=classes)
    if len(table.classes) != 2:
        raise InputError(
            f"a score decides between two classes, got {len(table.classes)}: give predictions"
            " instead"
        )
    thresholds = tally.cut[score][1:-1]
    if not thresholds:
        raise InputError(
            f"column {score!r} was cut at no threshold inside its range: use edges_of(thresholds)"
        )
    positive = 1 if target.positive is None else table.class_of(target.positive, role="positive")
    view = partial(_at_thresholds, positive=positive)
    generator = as_rng(rng)
    ready = [
        prepared(fitted(model, table, fitting), table, delta=target.delta) for model in label_models
    ]
    bounds: list[Bound] = []
    for one in ready:
        evidence = replace(one.evidence, view=view)
        for wanted in target.summaries(table):
            critical = _critical(evidence, wanted, target.alpha, generator)
            [(low, high)] = forward(
                evidence, [wanted], rng=generator, scheme=Scheme.fitting(table.n)
            )
            seen = view(one.table.counts[None])[0]
            for t, threshold in enumerate(thresholds):
                at = replace(one, evidence=replace(one.evidence, counts=seen[t]))
                ends = tuple(
                    ForwardEnd(end.side, end.estimate[t], end.error[t]) for end in (low, high)
                )
                bounds.append(
                    bound_of(at, wanted, (ends[0], ends[1]), target.alpha, critical, threshold)
                )
    audits = tuple(audit(one.model, table, one.p[: len(table.votes)]) for one in ready)
    return BoundResult(
        verdict=_verdict(score, bounds, ready[0], target),
        n_items=table.n,
        assumptions=assumptions_of(ready, labelled=truth is not None),
        warnings=warnings_of(table, ready, (), audits),
        seed=seed_of(rng),
        prediction=score,
        weak=table.weak,
        classes=table.classes,
        bounds=tuple(bounds),
        label_models=audits,
        breakdown_delta=Unknown(
            "a breakdown is that of one threshold: choose it and bound its prediction"
        ),
        singleton_share=table.singletons,
        delta=target.delta,
        entropy_width=Unknown("it is that of one threshold"),
    )


def _at_thresholds(parts: IntArray, *, positive: int) -> IntArray:
    """Turn blocks of (patterns, bins) into blocks of (thresholds, patterns, classes), by cumulative
    counts.
    """
    above = parts[..., ::-1].cumsum(axis=-1)[..., ::-1][..., 1:]
    both = [parts.sum(axis=-1, keepdims=True) - above, above]
    return np.moveaxis(np.stack(both if positive == 1 else both[::-1], axis=-1), -2, 1)


def _critical(
    evidence: Evidence, wanted: Summary, alpha: float, generator: np.random.Generator
) -> float:
    """Return the critical value for the ends of all thresholds at once."""
    if evidence.view is None:
        raise TypeError("a sweep has a view")
    bins = evidence.counts.shape[-1]
    ends = 2 * (bins - 1)
    if evidence.counts.size * ends > _CELLS:
        return NormalDist().inv_cdf(1 - alpha / (2 * ends))
    run = draw(evidence, Scheme(), generator)
    # One unit of mass in each bin says which prediction a bin means at each threshold.
    says = evidence.view(np.eye(bins, dtype=np.int64)[None])[0].argmax(axis=-1)
    weight = evidence.counts.reshape(-1) / evidence.counts.sum()
    sides: tuple[Side, Side] = ("lower", "upper")
    values = []
    for side in sides:
        m = run.choose(side)
        table = row_table(run, m, slopes_of(run, m, wanted, side, evidence.delta), side)[-1]
        values += [table[t][:, says[t]].reshape(-1) for t in range(bins - 1)]
    rows = np.nan_to_num(np.stack(values))
    rows -= (rows @ weight)[:, None]
    return max(
        sup_t_critical((rows * weight) @ rows.T, rng=generator, alpha=alpha),
        NormalDist().inv_cdf(1 - alpha / 2),
    )


def _verdict(score: str, bounds: Sequence[Bound], one: Prepared, target: BoundTarget) -> str:
    first = bounds[0].metric
    own = [
        b
        for b in bounds
        if b.metric == first and b.label_model == one.model.name and b.low is not None
    ]
    if not own:
        return f"The {first} of {score} cannot be bounded at any threshold."
    best = max(own, key=lambda b: b.low or 0.0)
    held = f"{100 * (1 - target.alpha):g} %, {condition_of(one, target)}"
    return (
        f"The largest lower bound on the {first} of {score} is that of threshold"
        f" {best.threshold:g}: between {best.low:.3f} and {best.high:.3f}; {len(own)} thresholds"
        f" hold together ({held})."
    )
