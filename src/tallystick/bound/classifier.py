"""How good a classifier is, given weak labels, and true labels of few rows or of none."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.bound.blocks import FloatArray
from tallystick.bound.breakdown import breakdown_of
from tallystick.bound.label_intervals import ENOUGH, LabelledRows, labels_to_decide
from tallystick.bound.label_models import audit, consensus_of, weighted_majority
from tallystick.bound.metric_bounds import bounds_under
from tallystick.bound.prepared import Fitting, ModelLike, Prepared, fitted, prepared
from tallystick.bound.result import Bound, BoundResult, Breakdown, GoldEstimate
from tallystick.bound.robust import ASSUMPTION, Robust, robust_bounds, votes_contradict
from tallystick.bound.target import BoundTarget
from tallystick.bound.verdict import (
    Conclusion,
    NamedModel,
    assumptions_of,
    conclude_from_labels,
    conclude_from_votes,
    warnings_of,
)
from tallystick.bound.weak_summary import weak_summary
from tallystick.bound.weak_votes import WeakTable, weak_table
from tallystick.errors import NotIdentifiable
from tallystick.results import PatternTable, Unknown
from tallystick.stats.latent import CoVotes
from tallystick.stats.transport import entropy_width
from tallystick.tally import Tally

__all__ = ["bound"]


def bound(
    tally: Tally,
    *,
    prediction: str,
    weak: Sequence[str] | None = None,
    truth: str | None = None,
    label_models: Sequence[ModelLike] = (),
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> BoundResult:
    r"""Bound metrics of a classifier from weak labels of the same rows, and labels of few or none.

    For each pattern z of weak votes only P(h | z) and P(Y | z) are known; the bounds hold for every
    joint law with these marginals: [MP23]_, (1.1), and no shorter ones do. They are estimated by
    the forward dual (:mod:`tallystick.bound.forward`), so that they hold with confidence also where
    patterns are many and rare.

    P(Y | z) itself comes from a label model, and votes alone cannot say which one is right. So
    without labels nothing is decided: the robust range over seven of them
    (:mod:`tallystick.bound.robust`) holds if no error is shared. From 20 random labels a likelihood
    interval decides that trusts none (:mod:`tallystick.bound.label_intervals`).

    Parameters
    ----------
    tally
        Counts over the weak labels, the prediction and, if any, the truth.
    prediction
        The column of predictions.
    weak
        The columns of weak labels; by default all others.
    truth
        A column of true labels, blank on most rows.
    label_models
        Names (labels, majority, weighted-majority, dawid-skene, triplet) or label models, the
        leading one first. None: the family of seven.
    target
        Metrics, confidence, claim.
    fitting
        Class balance, meaning of abstentions, tests.
    rng
        For the random orders of the rows and, in streams of their own, for the tests.

    Examples
    --------
    >>> from tallystick.bound.demo import spam
    >>> result = bound(Tally.of(spam(2000, rng=1)), prediction="classifier")
    >>> first = result.bounds[0]
    >>> first.method, result.decision, first.low < 0.85 < first.high
    ('robust', 'undecided', True)
    """
    target = BoundTarget() if target is None else target
    fitting = Fitting() if fitting is None else fitting
    columns = (
        tuple(weak)
        if weak is not None
        else tuple(n for n in tally.names if n not in (prediction, truth))
    )
    table = weak_table(
        tally, weak=columns, prediction=prediction, truth=truth, classes=fitting.classes
    )
    generator = as_rng(rng)
    # Streams of their own, so that no test shares its draws with the bounds or with the data.
    for_family, for_tests, for_surprise = generator.spawn(3)

    # Only labels decide, where there are enough; otherwise the family says what holds with an "if".
    estimates = _from_labels(table, target)
    robust = (
        robust_bounds(table, target, fitting, rng=for_family)
        if fitting.family and (not estimates or not label_models)
        else None
    )
    ready = _prepared(table, label_models, target, fitting, robust)
    bounds: list[Bound] = [] if robust is None or estimates else list(robust.bounds)
    again = deepcopy(generator)
    under = [bounds_under(one, target, generator) for one in ready]
    bounds += [one for group in under for one in group]

    # What each label model is worth, by votes and by labels.
    audits = []
    for one, stream in zip(ready, for_tests.spawn(len(ready)), strict=True):
        test = _test_of(one, label_models, robust, fitting, stream)
        p = one.p[: len(table.votes)]
        audits.append(audit(one.model, table, p, test=test, rng=for_surprise))

    distance: float | Unknown = (
        Unknown("no family of label models was fitted")
        if robust is None
        else robust.family.distance
    )
    lead = _leading(ready, label_models)
    breakdown = _breakdown(ready[lead], under[lead][0], target, generator, again)
    named = NamedModel(bound=under[lead][0], one=ready[lead], audit=audits[lead])
    shown = named if label_models or robust is None else None
    conclusion = _concluded(prediction, table, target, estimates, (robust, shown))
    said = np.where(np.isfinite(ready[lead].p), ready[lead].p, 1 / len(table.classes))
    said = said[: len(table.votes)]
    q = table.counts / np.maximum(table.weight, 1)[:, None]
    seen = table.weight > 0
    labels = 0 if table.gold is None else int(table.gold.sum())
    return BoundResult(
        verdict=conclusion.verdict,
        sentences=conclusion.sentences,
        decision=conclusion.decision,
        needed=conclusion.needed,
        n_items=table.n,
        assumptions=assumptions_of(
            ready if label_models else (),
            labelled=truth is not None,
            robust=None if robust is None or estimates else ASSUMPTION,
        ),
        warnings=warnings_of(table, ready if label_models else (), audits, labels),
        seed=seed_of(rng),
        prediction=prediction,
        weak=table.weak,
        classes=table.classes,
        bounds=tuple(bounds),
        label_models=tuple(audits),
        breakdown_delta=(
            Unknown("no claim was made: say at_least")
            if breakdown is None
            else breakdown.on_average
        ),
        breakdown=breakdown,
        label_model_distance=distance,
        gold=estimates,
        weak_labels=weak_summary(table, alpha=target.alpha),
        singleton_share=table.singletons,
        delta=target.delta,
        entropy_width=entropy_width(q[seen], said[seen], weights=table.weight[seen]),
        table=_attachable(tally, table, said),
    )


def _from_labels(table: WeakTable, target: BoundTarget) -> tuple[GoldEstimate, ...]:
    """Return every metric's interval from labels, if there are enough of them."""
    if table.gold is None or table.gold.sum() < ENOUGH:
        return ()
    rows = LabelledRows.of(table.counts, table.gold, consensus_of(table))
    found = []
    for wanted in target.summaries(table):
        one = rows.estimate(wanted, alpha=target.alpha)
        found.append(
            GoldEstimate(
                metric=wanted.metric,
                positive=None if wanted.positive is None else table.classes[wanted.positive],
                labels=rows.labels,
                estimate=one.estimate,
                interval=one.interval,
                worth=one.worth,
            )
        )
    return tuple(found)


def _prepared(
    table: WeakTable,
    named: Sequence[ModelLike],
    target: BoundTarget,
    fitting: Fitting,
    robust: Robust | None,
) -> list[Prepared]:
    """Prepare the label models whose bounds are shown: those named, else the distinct members of
    the family.
    """
    labelled = table.gold is not None and table.gold.sum() >= ENOUGH
    models: list[ModelLike] = list(named)
    if not models and robust is not None:
        laws = [law.tobytes() for law in robust.family.laws]
        models = [m for i, m in enumerate(robust.family.models) if laws[i] not in laws[:i]]
    ready, refusals = [], []
    for model in models or ["weighted-majority"]:
        try:
            ready.append(prepared(fitted(model, table, fitting), table, delta=target.delta))
        except NotIdentifiable as error:
            # With labels the answer does not need this label model; without, its refusal is one.
            if not labelled:
                raise
            refusals.append(f"the label model {model} was left out: {error}")
    if not ready:
        ready = [prepared(fitted("weighted-majority", table, fitting), table, delta=target.delta)]
    return [replace(ready[0], warnings=(*refusals, *ready[0].warnings)), *ready[1:]]


def _leading(ready: Sequence[Prepared], named: Sequence[ModelLike]) -> int:
    """Return the label model of breakdown and items: the first named, or weighted majority."""
    if named:
        return 0
    names = [one.model.name for one in ready]
    return names.index("weighted majority") if "weighted majority" in names else 0


def _test_of(
    one: Prepared,
    named: Sequence[ModelLike],
    robust: Robust | None,
    fitting: Fitting,
    stream: np.random.Generator,
) -> CoVotes | None:
    """Return the misfit test that concerns a label model: its own, or that of the family."""
    if named and one.model.fit is not None:
        return votes_contradict(one.model, fitting, stream)
    return None if robust is None else robust.test


def _breakdown(
    one: Prepared,
    start: Bound,
    target: BoundTarget,
    generator: np.random.Generator,
    again: np.random.Generator,
) -> Breakdown | None:
    """Return the breakdown from bounds that allow for no error: δ is the whole of it."""
    if target.delta > 0 and target.at_least is not None:
        exact = replace(one, evidence=replace(one.evidence, delta=0.0))
        start = bounds_under(exact, target, again)[0]
    return breakdown_of(one, start, target, generator)


def _concluded(
    prediction: str,
    table: WeakTable,
    target: BoundTarget,
    estimates: Sequence[GoldEstimate],
    votes: tuple[Robust | None, NamedModel | None],
) -> Conclusion:
    """Let labels decide the leading metric if they can, otherwise the votes."""
    if estimates and target.metrics[0] != "risk" and table.gold is not None:
        first = estimates[0]
        needed = None
        if target.at_least is not None:
            rows = LabelledRows.of(table.counts, table.gold, consensus_of(table))
            needed = labels_to_decide(
                rows.outlook(target.summaries(table)[0]),
                first.estimate,
                target.at_least,
                rows=table.n,
                alpha=target.alpha,
            )
        return conclude_from_labels(prediction, first, target, needed, table.n)
    robust, named = votes
    return conclude_from_votes(
        prediction,
        None if robust is None else robust.bounds[0],
        Unknown("no family was fitted") if robust is None else robust.family.distance,
        target,
        named,
        rows=table.n,
        labels=0 if table.gold is None else int(table.gold.sum()),
    )


def _attachable(tally: Tally, table: WeakTable, said: FloatArray) -> PatternTable:
    """Give every row P(Y | z) of the leading label model, and the consensus of the votes."""
    p = said[table.place]
    columns: dict[str, Any] = {f"p_{c}": p[:, k].tolist() for k, c in enumerate(table.classes)}
    columns["label_from_votes"] = [table.classes[k] for k in p.argmax(axis=1)]

    # The support of the consensus is a share of weighted votes, not a probability of being right.
    weighted = weighted_majority(table).probabilities(table)[table.place]
    columns["consensus"] = [table.classes[k] for k in weighted.argmax(axis=1)]
    columns["support"] = weighted.max(axis=1).tolist()
    return PatternTable(tally, columns)
