"""Several classifiers on the same rows: which is better by labels, and what label models say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.bound.label_intervals import ENOUGH, LabelledRows
from tallystick.bound.label_models import consensus_of, family_of
from tallystick.bound.prepared import Fitting, ModelLike, fitted
from tallystick.bound.result import Bound, GoldEstimate
from tallystick.bound.robust import ASSUMPTION, robust_bound
from tallystick.bound.selection import PairBound, SelectResult, select
from tallystick.bound.target import BoundTarget
from tallystick.bound.verdict import conclude_pairs
from tallystick.bound.weak_votes import WeakTable, weak_table
from tallystick.results import Interval
from tallystick.stats.adverse import Spread, adverse_difference
from tallystick.tally import Tally

__all__ = ["compare_classifiers"]


def compare_classifiers(
    tally: Tally,
    *,
    predictions: Sequence[str],
    weak: Sequence[str],
    truth: str | None = None,
    label_models: Sequence[ModelLike] = (),
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> SelectResult:
    """Bound every classifier and the difference in accuracy of every pair.

    From 20 random labels the intervals come from labels. Otherwise each pair has the robust range
    of its difference: the sharp paired bounds (`select`) under seven label models, widened by their
    distance. The intervals of all pairs hold together, by Bonferroni. A label model that is named
    is used instead. Without labels neither decides anything, and no classifier is called better.

    Parameters
    ----------
    tally
        Counts over the weak labels, all predictions and, if any, the truth.
    predictions
        Two or more columns.
    weak, truth, label_models, target, fitting, rng
        As for :func:`~tallystick.bound.bound`; one label model at most.

    Examples
    --------
    >>> from tallystick.bound.demo import spam
    >>> rows = spam(2000, rng=1, labelled=300)
    >>> rows["coin"] = np.random.default_rng(0).integers(0, 2, 2000)
    >>> found = compare_classifiers(
    ...     Tally.of(rows),
    ...     predictions=["classifier", "coin"],
    ...     weak=["links", "words", "sender", "caps"],
    ...     truth="truth",
    ... )
    >>> found.pairs[0].better, found.decision
    ('classifier', 'decided')
    """
    target = BoundTarget() if target is None else target
    fitting = Fitting() if fitting is None else fitting
    pairs = len(predictions) * (len(predictions) - 1) // 2
    shared = replace(target, at_least=None)
    table = weak_table(
        tally, weak=weak, prediction=predictions[0], truth=truth, classes=fitting.classes
    )
    labels = 0 if table.gold is None else int(table.gold.sum())
    columns = [*weak, *predictions]
    votes = tally.marginal(columns) if truth is not None else tally
    asked: dict[str, Any] = {"predictions": predictions, "weak": weak, "classes": table.classes}

    if label_models:
        named = fitted(label_models[0], table, fitting)
        found = select(votes, **asked, label_model=named, target=shared, fitting=fitting, rng=rng)
    else:
        found = _robust(votes, asked, (table, shared, fitting), rng)
    if labels >= ENOUGH:
        found = replace(
            found,
            pairs=_pairs_from_labels(tally, asked, truth, target.alpha / max(1, pairs)),
            gold=_from_labels(tally, asked, truth, shared),
        )
    robust = not label_models
    decided = sum(pair.better is not None for pair in found.pairs)
    if labels < ENOUGH:  # what holds with an "if" is not proved
        found = replace(found, pairs=tuple(replace(pair, better=None) for pair in found.pairs))
    best: object = found.chosen["lower bound"]
    if labels >= ENOUGH and found.gold:
        best = max(found.gold, key=lambda name: found.gold[name].interval.low)
    conclusion = conclude_pairs(
        best, decided, pairs, labels=labels, rows=int(tally.n), robust=robust
    )
    return replace(
        found,
        verdict=conclusion.verdict,
        decision=conclusion.decision,
        needed=conclusion.needed,
        n_items=int(tally.n),
        seed=seed_of(rng),
    )


def _robust(
    tally: Tally,
    asked: Mapping[str, Any],
    how: tuple[WeakTable, BoundTarget, Fitting],
    rng: Rng,
) -> SelectResult:
    """Select under each distinct member of the family, and keep what all of them exclude."""
    table, target, fitting = how
    family = family_of(replace(table, gold=None), balance=fitting.balance)
    count = len(asked["predictions"])
    each = replace(
        target,
        delta=max(target.delta, family.distance),
        alpha=target.alpha / max(1, count * (count - 1) // 2),
    )
    seed = int(as_rng(rng).integers(2**31))
    laws = [law.tobytes() for law in family.laws]
    found = [
        select(tally, **asked, label_model=model, target=each, fitting=fitting, rng=seed)
        for i, model in enumerate(family.models)
        if laws[i] not in laws[:i]
    ]
    models = {
        name: robust_bound([one.models[name] for one in found]) for name in asked["predictions"]
    }
    pairs = tuple(_robust_pair(same) for same in zip(*(one.pairs for one in found), strict=True))
    return replace(
        found[0],
        models=models,
        pairs=pairs,
        chosen={"lower bound": _safest(models)},
        assumptions=(f"for the robust ranges: {ASSUMPTION}",),
        warnings=(),
    )


def _robust_pair(same: Sequence[PairBound]) -> PairBound:
    low, high = min(p.interval.low for p in same), max(p.interval.high for p in same)
    first = same[0]
    return replace(
        first,
        lower=min(p.lower for p in same),
        upper=max(p.upper for p in same),
        interval=Interval(low, high, first.interval.level, "under", ASSUMPTION, "robust"),
        by_overlap=(min(p.by_overlap[0] for p in same), max(p.by_overlap[1] for p in same)),
        clipped=any(p.clipped for p in same),
        better=first.a if low > 0 else first.b if high < 0 else None,
    )


def _safest(models: Mapping[str, Bound]) -> str:
    return max(models, key=lambda name: models[name].low or 0.0)


def _pairs_from_labels(
    tally: Tally, asked: Mapping[str, Any], truth: str | None, alpha: float
) -> tuple[PairBound, ...]:
    """Estimate every difference from rows whose truth is known."""
    out = []
    for a, b in combinations(asked["predictions"], 2):
        table = weak_table(
            tally, weak=asked["weak"], prediction=[a, b], truth=truth, classes=asked["classes"]
        )
        size = len(table.classes)
        atom = np.arange(size * size)
        first, second = atom // size, atom % size
        consensus = consensus_of(table)[:, None]
        guess = ((first == consensus).astype(float) - (second == consensus)).ravel()
        gold = table.gold
        if gold is None:
            raise TypeError("no labels")
        truths = np.arange(size)
        won = (first[:, None] == truths).astype(float) - (second[:, None] == truths)
        counts = gold.ravel()
        found = adverse_difference(
            np.repeat(np.tile(won.ravel(), len(table.votes)), counts),
            np.repeat(np.repeat(guess, size), counts),
            Spread.of(guess, table.counts.ravel()),
            alpha=alpha,
        )
        low, high = found.interval.low, found.interval.high
        out.append(
            PairBound(
                a=a,
                b=b,
                lower=low,
                upper=high,
                interval=found.interval,
                by_overlap=(low, high),
                clipped=False,
                better=a if low > 0 else b if high < 0 else None,
                estimate=found.estimate,
            )
        )
    return tuple(out)


def _from_labels(
    tally: Tally, asked: Mapping[str, Any], truth: str | None, target: BoundTarget
) -> dict[str, GoldEstimate]:
    """Estimate the leading metric of each classifier from labels."""
    found = {}
    for name in asked["predictions"]:
        table = weak_table(
            tally, weak=asked["weak"], prediction=name, truth=truth, classes=asked["classes"]
        )
        if table.gold is None:
            raise TypeError("no labels")
        rows = LabelledRows.of(table.counts, table.gold, consensus_of(table))
        wanted = target.summaries(table)[0]
        one = rows.estimate(wanted, alpha=target.alpha)
        found[name] = GoldEstimate(
            metric=wanted.metric,
            positive=None if wanted.positive is None else table.classes[wanted.positive],
            labels=rows.labels,
            estimate=one.estimate,
            interval=one.interval,
            worth=one.worth,
        )
    return found
