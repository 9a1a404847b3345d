"""From data and a question to bounds on a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.frechet_bounds.dual import entropy_width
from tallystick.results import Interval, PatternTable, Result, Unknown
from tallystick.stats.adverse_ratios import adverse_auc
from tallystick.stats.latent_covotes import CoVotes
from tallystick.table import (
    Capability,
    Data,
    Door,
    Label,
    Roles,
    Tally,
    answered,
    by_slice,
    in_order,
    read,
)
from tallystick.verbs.bound.forward import FloatArray, IntArray, read_costs
from tallystick.verbs.bound.label_model_checks import (
    NAMES,
    Fitting,
    ModelLike,
    Prepared,
    audit,
    family_of,
    fitted,
    prepared,
)
from tallystick.verbs.bound.label_models import (
    LabelModel,
    consensus_of,
    read_model,
    weighted_majority,
)
from tallystick.verbs.bound.labels import (
    draw_of,
    item_model,
    labelling,
    with_draw,
    with_session,
    without_truth,
)
from tallystick.verbs.bound.metric_bounds import bounds_under
from tallystick.verbs.bound.question import BoundQuestion, cases_of, demo, positive_class
from tallystick.verbs.bound.result import Bound, BoundResult, Breakdown, GoldEstimate
from tallystick.verbs.bound.robust import (
    ASSUMPTION,
    Robust,
    breakdown_of,
    robust_bound,
    robust_bounds,
    votes_contradict,
)
from tallystick.verbs.bound.selection import SelectResult, compare_classifiers
from tallystick.verbs.bound.thresholds import AucEnds, auc_ends, sweep
from tallystick.verbs.bound.verdict import (
    ENOUGH,
    Conclusion,
    LabelledRows,
    NamedModel,
    assumptions_of,
    conclude_from_labels,
    conclude_from_votes,
    labels_to_decide,
    warnings_of,
)
from tallystick.verbs.bound.weak_votes import (
    BoundTarget,
    WeakTable,
    class_codes,
    row_patterns,
    weak_summary,
    weak_table,
)

_ROWS_COUNT = (
    "a row of weight w stands for w items that were seen alike: these are not sampling weights"
)


def evaluate(source: Any, **options: Any) -> BoundResult:
    """Bound metrics of a classifier from weak labels of the same rows.

    Parameters
    ----------
    source
        Whatever `tallystick.table.door` takes.
    **options
        Roles (*prediction* or *score*, *weak*, *truth*, *item*, *weight*, *by*), the fields of
        `BoundQuestion`, and the options of reading.

    Examples
    --------
    >>> from tallystick.verbs.bound.question import spam
    >>> result = evaluate(spam(2000, rng=1), prediction="classifier")
    >>> result.bounds[0].metric, result.bounds[0].method
    ('accuracy', 'robust')
    """
    result: BoundResult = answered(
        CAPABILITY, source, options
    )  # the kind that its answers mostly have
    return result


def answer(data: Data, question: BoundQuestion) -> Result:
    """Answer from data that was read; slices know every class that the whole table shows."""
    if data.session is not None:
        result = _answer(without_truth(data), question, None)
        if not isinstance(result, BoundResult):
            raise InputError("a labelling session answers for one classifier: name one prediction")
        return with_session(result, data, question)
    result = _answer(data, question, None)
    if data.roles.by is None:
        return result
    classes = result.classes if isinstance(result, BoundResult) else None

    def part(piece: Data, alpha: float) -> Result:
        return _answer(piece, replace(question, alpha=alpha), classes)

    return replace(result, slices=by_slice(data, part, alpha=question.alpha))


def _answer(
    data: Data, question: BoundQuestion, classes: Sequence[Label] | None
) -> BoundResult | SelectResult:
    roles = data.roles
    if bool(roles.prediction) == (roles.score is not None):
        raise InputError(
            "name the column to judge: --prediction for labels, or --score for numbers in [0, 1]"
        )
    tally = _counted(data, question)
    other = _fitting_tally(data, question)
    known = tuple(classes) if classes is not None else _classes(data, question, tally, other)
    truth = _truth(data, tally, other, question)
    question = _with_positive(question, known, roles.score)
    shared: dict[str, Any] = {
        "weak": roles.weak,
        "truth": truth,
        "label_models": _models(data, question, known, tally, other),
        "target": question.target(_cost(question.cost, known)),
        "fitting": replace(question.fitting(), classes=known),
        "rng": question.seed,
    }
    result: BoundResult | SelectResult
    if roles.score is not None:
        result = with_auc(data, question, sweep(tally, score=roles.score, **shared), shared)
    elif len(roles.prediction) > 1:
        result = compare_classifiers(tally, predictions=roles.prediction, **shared)
    else:
        result = bound(tally, prediction=roles.prediction[0], **shared)
    if roles.weight is not None or tally.weighted:
        result = replace(result, assumptions=(*result.assumptions, _ROWS_COUNT))
        return result  # weights are no counts of a draw
    columns = [*roles.weak, *roles.prediction, *(() if roles.score is None else (roles.score,))]
    return with_draw(result, draw_of(tally, columns, truth))


def _with_positive(
    question: BoundQuestion, classes: Sequence[Label], score: str | None
) -> BoundQuestion:
    """Return the question with its positive class; ask where a score could mean either class."""
    if question.positive is not None or len(classes) != 2:
        return question
    found = positive_class(classes, score)
    if found is None and score is not None:
        one, other = classes
        raise InputError(
            f"which class does a high {score!r} mean, {one!r} or {other!r}? Say --positive {other}"
            f" or --positive {one}"
        )
    return question if found is None else replace(question, positive=found)


def _models(
    data: Data,
    question: BoundQuestion,
    classes: Sequence[Label],
    tally: Tally,
    other: Tally | None,
) -> list[str | LabelModel]:
    """Return the label models that were named, those of files read and those of --fit fitted."""
    named = data.roles.truth or data.truth_elsewhere

    def votes(counted: Tally) -> WeakTable:
        truth = named if _has_labels(counted, named) else None
        return weak_table(counted, weak=data.roles.weak, truth=truth, classes=classes)

    # The label models are learnt where the labels are: in the file for fitting if there is one.
    sample = tally if other is None else other
    asked = list(question.label_models)
    if other is not None and not asked:
        asked = ["dawid-skene"]  # another file was named to fit one model on
    models: list[str | LabelModel] = []
    for model in asked:
        if isinstance(model, LabelModel) or (model in NAMES and other is None):
            models.append(model)
        elif model in NAMES:
            models.append(fitted(model, votes(sample), question.fitting()))
        else:
            per_item = item_model(data, votes(tally), str(model))
            models.append(read_model(votes(sample), model) if per_item is None else per_item)
    return models


def _counted(data: Data, question: BoundQuestion) -> Tally:
    """Count votes, prediction or score, and truth; a score is cut at the thresholds."""
    score = data.roles.score
    if score is None:
        return data.tally("weak", "prediction", "truth")
    if not isinstance(data.held, Tally):
        data.numbers(score, low=0.0, high=1.0)
    return data.tally("weak", "score", "truth", cut={score: question.edges()})


def _fitting_tally(data: Data, question: BoundQuestion) -> Tally | None:
    """Count the weak labels of the file on which the label models are fitted, if one is named."""
    if question.fit is None:
        return None
    rules = {"missing": data.rules.missing, "coerce": data.rules.coerce}
    with read(question.fit, Door(pivots=False), **rules) as other:
        columns = other.table.columns
        lacking = [name for name in data.roles.weak if name not in columns]
        if lacking:
            raise InputError(
                f"{question.fit} has no column {lacking[0]!r}: fit needs the same weak labels"
            )
        named = data.roles.truth or data.truth_elsewhere
        truth = named if named in columns else None
        roles = Roles(weak=data.roles.weak, truth=truth)
        return replace(other, roles=roles).tally("weak", "truth")


def _has_labels(tally: Tally, truth: str | None) -> bool:
    return truth in tally.names and any(label is not None for label in tally.labels[truth or ""])


def _truth(data: Data, tally: Tally, other: Tally | None, question: BoundQuestion) -> str | None:
    """Return the column of the truth if these rows have labels; refuse it if no file has any."""
    truth = data.roles.truth or data.truth_elsewhere
    if other is None or _has_labels(tally, truth):
        return truth
    if truth is not None and not _has_labels(other, truth):
        raise InputError(
            f"neither the input nor {question.fit} has a label in column {truth!r}: name the"
            " column that has them, or leave out the truth"
        )
    return None


def _classes(
    data: Data, question: BoundQuestion, tally: Tally, other: Tally | None
) -> tuple[Label, ...]:
    """Return the classes that were named, otherwise every label that votes, prediction or truth
    show.
    """
    named = question.classes or data.rules.labels
    if named:
        shown = {str(label): label for name in tally.names for label in tally.labels[name]}
        return in_order(shown.get(str(label), label) for label in named)
    found = [
        label
        for one in (tally, other)
        if one is not None
        for name in one.names
        if name != data.roles.score
        for label in one.labels[name]
    ]
    return in_order(label for label in found if label is not None)


def _cost(cost: Any, classes: Sequence[Label]) -> Any:
    return read_costs(Path(cost), tuple(classes)) if isinstance(cost, str | Path) else cost


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which bound answers a table with these roles, None if it cannot."""
    if not roles.weak or not (roles.prediction or roles.score):
        return None
    judged = {"prediction": roles.prediction} if roles.prediction else {"score": roles.score}
    return {**judged, "weak": roles.weak, "truth": roles.truth, "weight": roles.weight}


CAPABILITY: Capability[Any] = Capability(
    verb="bound",
    summary="Within what bounds is my classifier, given only weak labels?",
    question=BoundQuestion,
    answer=answer,
    reads=("prediction", "score", "weak", "truth", "item", "weight", "by"),
    door=Door(verb="bound", want="weak"),
    applies=applies,
    demo=demo,
    labelling=labelling,
    cases=cases_of,
)

# How good a classifier is, given weak labels, and true labels of few rows or of none.


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
    the forward dual (:mod:`tallystick.verbs.bound.forward`), so that they hold with confidence also
    where patterns are many and rare.

    P(Y | z) itself comes from a label model, and votes alone cannot say which one is right. So
    without labels nothing is decided: the robust range over seven of them
    (:mod:`tallystick.verbs.bound.robust`) holds if no error is shared. From 20 random labels a
    likelihood interval decides that trusts none (:mod:`tallystick.verbs.bound.verdict`).

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
    >>> from tallystick.verbs.bound.question import spam
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


# The AUC of a score: from labels where there are 20, otherwise the robust range over label
# models.
#
# It needs the rows, since the score was cut into bins when it was counted.


_METHOD = "Fréchet bounds of the AUC, forward dual"


def with_auc(
    data: Data, question: BoundQuestion, result: BoundResult, shared: Mapping[str, Any]
) -> BoundResult:
    """Add the AUC to the answer for a score; a saved tally has no scores, only bins."""
    if isinstance(data.held, Tally) or data.roles.score is None or data.roles.weight is not None:
        return result
    score = data.numbers(data.roles.score, low=0.0, high=1.0).reshape(-1)
    table = weak_table(
        data.tally("weak", "truth"), weak=result.weak, truth=None, classes=result.classes
    )
    positive = (
        1 if question.positive is None else table.class_of(question.positive, role="positive")
    )
    label = result.classes[positive]

    # Labels first: they need no label model.
    truth = shared["truth"]
    if truth is not None:
        codes = class_codes(data, (truth,), result.classes)[:, 0]
        known = codes >= 0
        if known.sum() >= ENOUGH:
            yes = known & (codes == positive)
            found = adverse_auc(score[yes], score[known & ~yes], alpha=question.alpha)
            one = GoldEstimate(
                metric="auc",
                positive=label,
                labels=int(known.sum()),
                estimate=found.estimate,
                interval=found.interval,
                worth=Unknown("votes are not used for the AUC"),
            )
            return replace(result, gold=(*result.gold, one))

    place = row_patterns(data, table)
    fitting = question.fitting()
    family = family_of(table, balance=fitting.balance)
    streams = as_rng(question.seed).spawn(len(family.models) + len(shared["label_models"]) + 3)[3:]
    laws = [law[:, positive] for law in family.laws]
    rows = (score, place, table.weight)
    members = [
        _bound(_ends(rows, law, stream), model.name, label, question.alpha, family.distance, law)
        for model, law, stream in zip(family.models, laws, streams, strict=False)
    ]
    bounds = [robust_bound(members)]
    for named, stream in zip(shared["label_models"], streams[len(laws) :], strict=True):
        model = fitted(named, table, fitting)
        law = model.probabilities(table)[:, positive]
        bounds.append(_bound(_ends(rows, law, stream), model.name, label, question.alpha, 0.0, law))
    return replace(result, bounds=(*result.bounds, *bounds))


def _ends(
    rows: tuple[FloatArray, IntArray, FloatArray], law: FloatArray, stream: np.random.Generator
) -> AucEnds | None:
    score, place, weight = rows
    if not np.isfinite(law).all():
        return None
    return auc_ends(score, place, law, weight, rng=stream)


def _bound(
    ends: AucEnds | None,
    name: str,
    label: Any,
    alpha: float,
    distance: float,
    law: Sequence[float] | FloatArray,
) -> Bound:
    r"""Turn the ends into a bound, widened by what an error of *distance* can do.

    An error δ in P(Y | Z) moves the law of the positives by at most :math:`\delta/\pi` and that of
    the negatives by :math:`\delta/(1 - \pi)`, and the AUC by at most the sum.
    """
    shared = {"metric": "auc", "positive": label, "threshold": None, "label_model": name}
    if ends is None:
        reason = Unknown("the label model leaves a class without rows, or patterns unknown")
        blank: dict[str, Any] = dict.fromkeys(
            ("lower", "upper", "lower_interval", "upper_interval"), reason
        )
        blank |= dict.fromkeys(("independent_estimate", "plugin_lower", "plugin_upper"), reason)
        return Bound(**shared, **blank, method=_METHOD)
    pi = min(max(float(np.mean(law)), 1e-9), 1 - 1e-9)
    slack = distance * (1 / pi + 1 / (1 - pi))
    low, high = ends.edges(NormalDist().inv_cdf(1 - alpha / 2))
    low, high = max(0.0, low - slack), min(1.0, high + slack)
    lower = float(np.clip(ends.lower - slack, low, high))
    upper = float(np.clip(ends.upper + slack, lower, high))
    assumption = f"the label model {name} is right"
    return Bound(
        **shared,
        lower=lower,
        upper=upper,
        lower_interval=Interval(low, lower, 1 - alpha, "under", assumption, _METHOD),
        upper_interval=Interval(upper, high, 1 - alpha, "under", assumption, _METHOD),
        method=_METHOD,
        independent_estimate=ends.independent,
        plugin_lower=ends.sharp[0],
        plugin_upper=ends.sharp[1],
    )
