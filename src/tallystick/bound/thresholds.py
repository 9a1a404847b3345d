"""A score instead of a prediction: the bounds at every threshold, holding together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.bound.bands import Band
from tallystick.bound.label_models import Family, audit, family_of
from tallystick.bound.prepared import Fitting, ModelLike, Prepared, fitted, prepared
from tallystick.bound.result import Bound, BoundResult
from tallystick.bound.robust import ASSUMPTION, votes_contradict
from tallystick.bound.target import BoundTarget
from tallystick.bound.verdict import assumptions_of, conclude_thresholds, warnings_of
from tallystick.bound.weak_summary import weak_summary
from tallystick.bound.weak_votes import WeakTable, weak_table
from tallystick.errors import InputError
from tallystick.results import Unknown
from tallystick.tally import Label, Tally

__all__ = ["edges_of", "sweep"]


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
    label_models: Sequence[ModelLike] = (),
    target: BoundTarget | None = None,
    fitting: Fitting | None = None,
    rng: Rng = 0,
) -> BoundResult:
    """Bound metrics of ``score ≥ threshold`` for two classes, simultaneously for all thresholds.

    Without labels the robust range over seven label models comes first, as in
    :func:`~tallystick.bound.bound`; from 20 random labels each threshold has its own interval.

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
    >>> [b.threshold for b in result.bounds if b.method == "robust"]
    [0.25, 0.5]
    """
    target = BoundTarget() if target is None else target
    fitting = Fitting() if fitting is None else fitting
    columns = (
        tuple(weak)
        if weak is not None
        else tuple(n for n in tally.names if n not in (score, truth))
    )
    table, edges = _score_table(tally, target, columns, (score, truth), fitting.classes)
    positive = 1 if target.positive is None else table.class_of(target.positive, role="positive")
    band = Band(edges=edges, positive=positive, target=target, table=table)
    generator = as_rng(rng)
    for_family, for_tests, for_surprise = generator.spawn(3)

    # Labels decide, where there are enough; otherwise the family of label models.
    estimates = band.from_labels()
    family = _family(table, fitting, label_models, bool(estimates))
    members = _distinct(family, table, max(target.delta, family.distance)) if family else []
    named = [
        prepared(fitted(model, table, fitting), table, delta=target.delta) for model in label_models
    ]
    bounds: list[Bound] = []
    wanted = target.summaries(table)
    if not estimates:
        for one in wanted:
            bounds += band.robust([band.bounds(member, one, for_family) for member in members])
    shown = named or _distinct(family, table, target.delta) if family or named else []
    for model in shown:
        for one in wanted:
            bounds += band.bounds(model, one, generator)
    roc, reliability = band.curves(members, for_family)

    test = votes_contradict(family.independence, fitting, for_tests) if family else None
    audits = tuple(
        audit(one.model, table, one.p[: len(table.votes)], test=test, rng=for_surprise)
        for one in shown
    )
    conclusion = conclude_thresholds(score, bounds, estimates, table.n, target.alpha)
    return BoundResult(
        verdict=conclusion.verdict,
        decision=conclusion.decision,
        needed=conclusion.needed,
        n_items=table.n,
        assumptions=assumptions_of(
            named,
            labelled=truth is not None,
            robust=None if estimates or family is None else ASSUMPTION,
        ),
        warnings=warnings_of(table, named, audits, band.labels),
        seed=seed_of(rng),
        prediction=score,
        weak=table.weak,
        classes=table.classes,
        bounds=tuple(bounds),
        label_models=audits,
        breakdown_delta=Unknown(
            "a breakdown is that of one threshold: choose it and bound its prediction"
        ),
        label_model_distance=(
            Unknown("no family of label models was fitted") if family is None else family.distance
        ),
        gold=estimates,
        weak_labels=weak_summary(table, alpha=target.alpha),
        roc=roc,
        reliability=reliability,
        singleton_share=table.singletons,
        delta=target.delta,
        entropy_width=Unknown("it is that of one threshold"),
    )


def _score_table(
    tally: Tally,
    target: BoundTarget,
    weak: Sequence[str],
    columns: tuple[str, str | None],
    classes: Sequence[Label] | None,
) -> tuple[WeakTable, tuple[float, ...]]:
    """Check the question and return the table of a score with the edges of its bins."""
    score, truth = columns
    if "risk" in target.metrics:
        raise InputError(
            "a sweep over thresholds knows no risk: choose other metrics, or one prediction"
        )
    if target.at_least is not None:
        raise InputError(
            f"at_least ({target.at_least:g}) is a claim on one prediction, and a score has one per"
            " threshold: choose the threshold and bound its prediction, or leave the claim out"
        )
    table = weak_table(tally, weak=weak, score=score, truth=truth, classes=classes)
    if len(table.classes) != 2:
        raise InputError(
            f"a score decides between two classes, got {len(table.classes)}: give predictions"
            " instead"
        )
    edges = tuple(float(edge) for edge in tally.cut[score])
    if len(edges) < 3:
        raise InputError(
            f"column {score!r} was cut at no threshold inside its range: use edges_of(thresholds)"
        )
    return table, edges


def _family(
    table: WeakTable, fitting: Fitting, named: Sequence[ModelLike], labelled: bool
) -> Family | None:
    if not fitting.family or (labelled and named):
        return None
    return family_of(replace(table, gold=None), balance=fitting.balance)


def _distinct(family: Family | None, table: WeakTable, delta: float) -> list[Prepared]:
    """Prepare the members of the family that differ, by votes alone."""
    if family is None:
        return []
    laws = [law.tobytes() for law in family.laws]
    return [
        prepared(model, replace(table, gold=None), delta=delta)
        for i, model in enumerate(family.models)
        if laws[i] not in laws[:i]
    ]
