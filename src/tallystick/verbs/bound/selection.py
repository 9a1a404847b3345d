"""Which of several classifiers is best, and which weak labels are worth having, without a label?
Rules of the paper, and sharp bounds on differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers import frechet_bounds
from tallystick.papers.frechet_bounds import Summary, WeakSetStep, coarser, coarser_law
from tallystick.papers.frechet_bounds.dual import pair_cost
from tallystick.results import Figure, Interval, Result, Unit, Unknown
from tallystick.stats.adverse_ends import Spread
from tallystick.stats.adverse_numbers import adverse_difference
from tallystick.table import Label, Tally
from tallystick.table.cells import in_order
from tallystick.verbs.bound.forward import (
    Evidence,
    FloatArray,
    ForwardEnd,
    Scheme,
    cost_ends,
    forward,
    pair_learner,
)
from tallystick.verbs.bound.label_model_checks import (
    Fitting,
    ModelLike,
    Prepared,
    family_of,
    fitted,
    prepared,
)
from tallystick.verbs.bound.label_models import LabelModel, consensus_of
from tallystick.verbs.bound.metric_bounds import bound_of, interval_of
from tallystick.verbs.bound.result import Bound, GoldEstimate
from tallystick.verbs.bound.robust import ASSUMPTION, robust_bound
from tallystick.verbs.bound.verdict import ENOUGH, LabelledRows, conclude_pairs
from tallystick.verbs.bound.weak_votes import BoundTarget, WeakTable, weak_table


@dataclass(frozen=True, kw_only=True)
class PairBound:
    """Between what accuracy(a) - accuracy(b) lies, and which is better: by labels, or in `select`
    under its label model.

    ``interval`` holds whatever joins predictions and label; ``by_overlap`` is what the intervals of
    the two accuracies say, and ``clipped`` that one of these ends at 0 or 1, where overlap holds
    less often than it should.
    """

    a: str
    b: str
    lower: float
    upper: float
    interval: Interval
    by_overlap: tuple[float, float]
    clipped: bool
    better: str | None
    estimate: float | Unknown = Unknown("without labels a difference has bounds, no estimate")


@dataclass(frozen=True, kw_only=True)
class SelectResult(Result):
    """Bounds of several classifiers, and of the differences of every pair."""

    verb: ClassVar[str] = "bound"

    models: dict[str, Bound]
    chosen: Mapping[str, str | Unknown]
    pairs: tuple[PairBound, ...]
    gold: dict[str, GoldEstimate] = field(default_factory=dict)

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per classifier; from labels, if there are enough."""
        if self.gold:
            return [
                {
                    "model": name,
                    "metric": g.metric,
                    "estimate": g.estimate,
                    "interval": g.interval,
                    "labels": g.labels,
                }
                for name, g in self.gold.items()
            ]
        return [
            {
                "model": name,
                "low": b.low,
                "lower": b.lower,
                "independent": b.independent_estimate,
                "upper": b.upper,
                "high": b.high,
            }
            for name, b in self.models.items()
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return dict.fromkeys(("estimate", "low", "lower", "independent", "upper", "high"), "share")

    def figures(self) -> tuple[Figure, ...]:
        """Return the differences of all pairs."""
        return (
            Figure(
                kind="forest",
                title="How much better the first of two classifiers is",
                columns={
                    "pair": [f"{p.a} - {p.b}" for p in self.pairs],
                    "lower": [p.lower for p in self.pairs],
                    "upper": [p.upper for p in self.pairs],
                    "low": [p.interval.low for p in self.pairs],
                    "high": [p.interval.high for p in self.pairs],
                },
                roles={
                    "name": "pair",
                    "low": "lower",
                    "high": "upper",
                    "outer_low": "low",
                    "outer_high": "high",
                },
                unit="points",
            ),
        )


def select(
    tally: Tally,
    *,
    predictions: Sequence[str],
    weak: Sequence[str] | None = None,
    classes: Sequence[Label] | None = None,
    label_model: ModelLike = "dawid-skene",
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> SelectResult:
    r"""Choose among classifiers by their bounds, and bound the difference of every two of them.

    [MP23]_, A.4: by the largest lower bound (safe), upper bound (hopeful), average of the two, or
    the estimate under independence ("label model"). Beyond it: sharp bounds on accuracy(a) -
    accuracy(b), which use that both are judged by the same unknown label and so are never wider
    than the difference of the two bounds. Each pair has level α. Its interval is narrower than what
    the two intervals say, except where one of these ends at 0 or 1 because an accuracy must: there
    the two together hold too rarely (``docs/theory/bound.md``, differences of two classifiers).

    Parameters
    ----------
    tally
        Counts over the weak labels and all predictions.
    predictions
        Two or more columns of predictions.
    weak, classes, label_model, fitting, rng
        As for :func:`~tallystick.verbs.bound.evaluate`.
    target
        The first of its metrics ranks the classifiers; differences are those of accuracy.
    """
    target = BoundTarget() if target is None else target
    if len(predictions) < 2:
        raise InputError(f"predictions must name at least two columns, got {list(predictions)!r}")
    if target.metrics[0] == "risk":
        raise InputError(
            "classifiers are ranked by accuracy, precision, recall or F1, not by risk: name one"
            " first"
        )
    columns = (
        tuple(weak) if weak is not None else tuple(n for n in tally.names if n not in predictions)
    )
    # the same random orders for all: they differ by their rows alone
    orders = int(as_rng(rng).integers(2**63))
    critical = NormalDist().inv_cdf(1 - target.alpha / 2)
    if classes is None:
        seen = (label for name in (*columns, *predictions) for label in tally.labels[name])
        classes = in_order(label for label in seen if label is not None)
    fit = None
    bounds: dict[str, Bound] = {}
    accuracy: dict[str, tuple[float, float]] = {}
    for name in predictions:
        table = weak_table(tally, weak=columns, prediction=name, classes=classes)
        fit = fitted(label_model if fit is None else fit, table, fitting or Fitting())
        one = prepared(fit, table, delta=target.delta)
        wanted = target.summaries(table)[0]
        ends, plain = forward(
            _by_row(one, tally),
            [wanted, Summary("accuracy")],
            rng=orders,
            scheme=Scheme.fitting(table.n),
        )
        bounds[name] = bound_of(one, wanted, ends, target.alpha, critical)
        accuracy[name] = _within(plain, critical, 0.0)
    pairs = []
    for a, b in combinations(predictions, 2):
        table = weak_table(tally, weak=columns, prediction=[a, b], classes=classes)
        one = prepared(
            fitted(fit or label_model, table, fitting or Fitting()), table, delta=target.delta
        )
        low, high = cost_ends(
            _by_row(one, tally),
            pair_cost(len(classes)),
            pair_learner,
            rng=orders,
            scheme=Scheme.fitting(table.n),
        )
        pairs.append(
            _pair((a, b), (low, high), critical, (accuracy[a], accuracy[b]), one, target.alpha)
        )
    chosen = _chosen(bounds)
    decided = sum(pair.better is not None for pair in pairs)
    safe = chosen["lower bound"]
    conclusion = conclude_pairs(
        safe, decided, len(pairs), labels=0, rows=int(tally.n), robust=False
    )
    return SelectResult(
        verdict=conclusion.verdict,
        decision=conclusion.decision,
        needed=conclusion.needed,
        n_items=int(tally.n),
        assumptions=() if one.assumption is None else (one.assumption,),
        warnings=one.warnings,
        seed=seed_of(rng),
        models=bounds,
        chosen=chosen,
        pairs=tuple(pairs),
    )


def _by_row(one: Prepared, tally: Tally) -> Evidence:
    """Return the evidence whose blocks are drawn for the patterns of the whole tally, and so alike
    for every model.
    """
    return replace(
        one.evidence, counts=np.rint(tally.counts).astype(np.int64), view=one.table.counted
    )


def _pair(
    names: tuple[str, str],
    ends: tuple[ForwardEnd, ForwardEnd],
    critical: float,
    accuracies: tuple[tuple[float, float], tuple[float, float]],
    one: Prepared,
    alpha: float,
) -> PairBound:
    low, high = _within(ends, critical, -1.0)
    lower, upper = _within(ends, 0.0, -1.0)
    (a_low, a_high), (b_low, b_high) = accuracies
    return PairBound(
        a=names[0],
        b=names[1],
        lower=lower,
        upper=upper,
        interval=interval_of(one, alpha, low, high, method=f"{one.method}, of the difference"),
        by_overlap=(a_low - b_high, a_high - b_low),
        clipped=min(a_low, b_low) <= 0 or max(a_high, b_high) >= 1,
        better=names[0] if low > 0 else names[1] if high < 0 else None,
    )


def _within(
    ends: tuple[ForwardEnd, ForwardEnd], critical: float, least: float
) -> tuple[float, float]:
    """Return the two ends moved outward, clipped to [least, 1]; ends that meet may not cross by
    rounding.
    """
    low, high = (float(np.clip(end.edge(critical), least, 1)) for end in ends)
    return low, max(low, high)


def _chosen(bounds: Mapping[str, Bound]) -> dict[str, str | Unknown]:
    """Return what each rule of A.4 chooses; a classifier without bounds comes last."""
    names = list(bounds)
    lower, upper, guess = (
        [
            -np.inf if isinstance(part := getattr(one, field), Unknown) else part
            for one in bounds.values()
        ]
        for field in ("plugin_lower", "plugin_upper", "independent_estimate")
    )
    found = frechet_bounds.choose_model(lower, upper, guess)
    return {rule: names[place] for rule, place in found.items()}


# Several classifiers on the same rows: which is better by labels, and what label models say.


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
        As for :func:`~tallystick.verbs.bound.bound`; one label model at most.

    Examples
    --------
    >>> from tallystick.verbs.bound.question import spam
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


# Which weak labels are worth having: those that make the bounds short.


@dataclass(frozen=True, kw_only=True)
class WeakSetResult(Result):
    """Weak labels in the order in which they help, and those that do not."""

    verb: ClassVar[str] = "bound"

    start: tuple[str, ...]
    start_bounds: tuple[float, float]
    steps: tuple[WeakSetStep, ...]
    chosen: tuple[str, ...]
    useless: tuple[str, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a step."""
        return [
            {
                "added": s.added,
                "lower": s.lower,
                "upper": s.upper,
                "width": s.width,
                "useful": s.useful,
            }
            for s in self.steps
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the bounds by number of weak labels."""
        return (
            Figure(
                kind="bands",
                title="The bounds as weak labels are added",
                columns={
                    "weak labels": list(
                        range(len(self.start), len(self.start) + len(self.steps) + 1)
                    ),
                    "lower": [self.start_bounds[0], *(s.lower for s in self.steps)],
                    "upper": [self.start_bounds[1], *(s.upper for s in self.steps)],
                    "added": [", ".join(self.start), *(s.added for s in self.steps)],
                },
                roles={"x": "weak labels", "low": "lower", "high": "upper", "text": "added"},
            ),
        )


def choose_weak_labels(
    tally: Tally,
    *,
    prediction: str,
    start: Sequence[str],
    candidates: Sequence[str],
    label_model: ModelLike = "dawid-skene",
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> WeakSetResult:
    """Add weak labels one by one, each time the one that makes the bounds shortest.

    [MP23]_, section 4.2 and Figure 3. The label model is that of all weak labels together (it needs
    three anyway), fitted once; a set of weak labels is judged by the bounds that its patterns give
    under P(Y | those votes), which is the average of P(Y | all votes). More weak labels can then
    only help, so that the gain is what each is worth, and a label that says nothing of Y gains
    nothing.

    Parameters
    ----------
    tally
        Counts over all weak labels and the prediction.
    prediction
        The column of predictions.
    start
        Weak labels that are there already; may be empty.
    candidates
        Those that could be added.
    label_model, target, fitting, rng
        As for :func:`~tallystick.verbs.bound.evaluate`; the first metric counts.
    """
    target = BoundTarget() if target is None else target
    table = weak_table(tally, weak=[*start, *candidates], prediction=prediction)
    model = fitted(label_model, table, fitting or Fitting())
    p = model.probabilities(table)
    if not np.isfinite(p).all():
        raise NotIdentifiable(
            f"label model {model.name!r} says nothing of some patterns: choose among weak labels it"
            " knows"
        )
    seed = int(as_rng(rng).integers(2**31))

    def ends(weak: Sequence[str]) -> tuple[float, float]:
        part = table.only(weak)
        _, place = coarser(table.votes, [table.weak.index(name) for name in weak])
        law = coarser_law(p, table.weight, place)
        one = prepared(_as_model(part, law, model.name), part, delta=target.delta)
        wanted = target.summaries(part)[0]
        [(low, high)] = forward(one.evidence, [wanted], rng=seed, scheme=Scheme.fitting(part.n))
        return float(np.clip(low.estimate, 0, 1)), float(np.clip(high.estimate, 0, 1))

    first, steps = frechet_bounds.choose_weak_labels(ends, start=start, candidates=candidates)
    useful = [step for step in steps if step.useful]
    useless = tuple(step.added for step in steps if not step.useful)
    now = useful[-1].width if useful else first[1] - first[0]
    return WeakSetResult(
        verdict=(
            f"{len(useful)} of {len(candidates)} weak labels shorten the bounds, from"
            f" {first[1] - first[0]:.3f} to {now:.3f}; {len(useless)} do not."
        ),
        n_items=table.n,
        assumptions=(model.rests_on,),
        seed=seed_of(rng),
        start=tuple(start),
        start_bounds=first,
        steps=steps,
        chosen=(*start, *(step.added for step in useful)),
        useless=useless,
    )


def _as_model(part: WeakTable, p: FloatArray, name: str) -> LabelModel:
    return LabelModel(
        name=name,
        classes=part.classes,
        weak=part.weak,
        predict=lambda _: p,
        rests_on=f"the label model {name} is right",
    )
