"""From data and a question to what is known of a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick._rng import seed_of
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import PatternTable, Result
from tallystick.sampling.tasks import random_sample
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
)
from tallystick.table.weights import refuse_weight
from tallystick.verbs.bound.label_models import (
    LabelModel,
    audit,
    consensus,
    named,
    ranges_under,
)
from tallystick.verbs.bound.labels import (
    FromLabels,
    auc_from_labels,
    from_labels,
    labelling,
    with_session,
    without_truth,
)
from tallystick.verbs.bound.question import MODELS, BoundQuestion, cases_of, demo, positive_class
from tallystick.verbs.bound.result import Bound, BoundResult, LabelModelAudit
from tallystick.verbs.bound.verdict import (
    ENOUGH,
    Conclusion,
    assumptions_of,
    conclude_from_labels,
    conclude_from_votes,
    conclude_pairs,
    conclude_thresholds,
    warnings_of,
)
from tallystick.verbs.bound.votes import WeakVotes, at_thresholds, no_class, weak_summary


def evaluate(source: Any, **options: Any) -> BoundResult:
    """Say how good a classifier is, given weak labels of the same rows and labels of few or none.

    From 20 random labels an interval decides that trusts no weak label; accuracies are those that
    `judge` and `compare` give the same columns. Without them the answer is a range for each of two
    label models, which holds if that label model is right: for each pattern z of weak votes only
    P(h | z) and P(Y | z) are known, and the bounds hold for every joint law with these marginals,
    [MP23]_, (1.1). Nothing is decided by them.

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
    >>> [one.label_model for one in result.bounds], result.decision
    (['majority', 'dawid-skene'], 'undecided')
    """
    result: BoundResult = answered(CAPABILITY, source, options)
    return result


def answer(data: Data, question: BoundQuestion) -> Result:
    """Answer from data that was read; slices know every class that the whole table shows."""
    if data.session is not None and random_sample(data.session):
        data = replace(data, session=None)  # labels like any others
    if data.session is not None:
        return with_session(_answer(without_truth(data), question, None), data, question)
    result = _answer(data, question, None)
    if data.roles.by is None:
        return result

    def part(piece: Data, alpha: float) -> Result:
        return _answer(piece, replace(question, alpha=alpha), result.classes)

    return replace(result, slices=by_slice(data, part, alpha=question.alpha))


def _answer(data: Data, question: BoundQuestion, classes: Sequence[Label] | None) -> BoundResult:
    roles = data.roles
    refuse_weight(roles, "bound")
    if bool(roles.prediction) == (roles.score is not None):
        raise InputError(
            "name the column to judge: --prediction for labels, or --score for numbers in [0, 1]"
        )
    tally = _counted(data, question)
    known = tuple(classes) if classes is not None else _classes(data, tally)
    question = _with_positive(question, known, roles.score)
    predictions: tuple[str, ...] = roles.prediction
    thresholds: dict[str, float] = {}
    if roles.score is not None:
        pair = _negative_and_positive(question, known)
        tally, thresholds = at_thresholds(tally, roles.score, pair)
        predictions = tuple(thresholds)
    if question.at_least is not None and len(predictions) > 1:
        raise InputError(
            f"at_least ({question.at_least:g}) is a claim on one prediction, and {len(predictions)}"
            " are asked about: name one, or choose the threshold"
        )
    votes = WeakVotes.of(
        tally, weak=roles.weak, predictions=predictions, truth=roles.truth, classes=known
    )
    result = _told(votes, question, thresholds, data)
    if roles.score is not None:
        result = _with_auc(result, data, question, known)
    else:
        result = replace(result, table=_attachable(votes, result, question, data))
    return result


def _told(
    votes: WeakVotes, question: BoundQuestion, thresholds: Mapping[str, float], data: Data
) -> BoundResult:
    """Let labels decide if there are enough; otherwise say what follows from label models."""
    wanted = question.summaries(votes)
    cuts = [thresholds.get(name) for name in votes.predictions]
    labelled = votes.labels >= ENOUGH
    found = from_labels(votes, question, wanted, thresholds) if labelled else None
    models, refusals = _models(votes, question, data, labelled=labelled)
    bounds: list[Bound] = []
    audits: list[LabelModelAudit] = []
    for model in models:
        bounds += ranges_under(model, votes, wanted, alpha=question.alpha, thresholds=cuts)
        audits.append(audit(model, votes))
    conclusion = _concluded(votes, question, found, (bounds, audits), data.roles.score or "")
    gold = () if found is None else found.gold
    return BoundResult(
        verdict=conclusion.verdict,
        sentences=conclusion.sentences,
        decision=conclusion.decision,
        needed=conclusion.needed,
        n_items=votes.n,
        assumptions=assumptions_of(audits, labelled=votes.labels > 0),
        warnings=(*refusals, *warnings_of(votes, audits)),
        seed=seed_of(question.seed),
        predictions=votes.predictions,
        weak=votes.asked,
        classes=votes.panel.classes,
        gold=gold,
        population=gold[0].population if gold else None,
        pairs=() if found is None else found.pairs,
        bounds=tuple(bounds),
        label_models=tuple(audits),
        weak_labels=weak_summary(
            votes, None if found is None else found.weak, alpha=question.alpha
        ),
    )


def _models(
    votes: WeakVotes, question: BoundQuestion, data: Data, *, labelled: bool
) -> tuple[list[LabelModel], list[str]]:
    """Return the label model that was named, otherwise both; with labels none is needed.

    One that cannot be fitted is left out with its reason, unless it was named and nothing else
    answers.
    """
    asked = MODELS if question.label_model is None else (question.label_model,)
    if labelled and question.label_model is None:
        return [], []
    out, refusals = [], []
    for model in asked:
        try:
            out.append(named(votes, model, data))
        except NotIdentifiable as error:
            if question.label_model is not None and not labelled:
                raise
            refusals.append(f"the label model {model} was left out: {error}")
    return out, refusals


def _concluded(
    votes: WeakVotes,
    question: BoundQuestion,
    found: FromLabels | None,
    ranges: tuple[Sequence[Bound], Sequence[LabelModelAudit]],
    score: str,
) -> Conclusion:
    """Let labels conclude if they can, otherwise the votes."""
    bounds, audits = ranges
    if found is None:
        first = [one for one in bounds if one.metric == question.metrics[0]]
        return conclude_from_votes(first, audits, question, votes, score)
    leading = found.gold[: len(votes.predictions)]
    if len(leading) == 1:
        return conclude_from_labels(leading[0], question, found.needed, votes.n)
    if score:
        return conclude_thresholds(leading, score, question)
    return conclude_pairs(leading, found.pairs, found.needed, votes.n)


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


def _negative_and_positive(
    question: BoundQuestion, classes: Sequence[Label]
) -> tuple[Label, Label]:
    """Return the two classes between which a score decides."""
    if len(classes) != 2:
        raise InputError(
            f"a score decides between two classes, got {len(classes)}: give predictions instead"
        )
    words = [str(label) for label in classes]
    if str(question.positive) not in words:
        raise no_class("positive", question.positive, classes)
    at = words.index(str(question.positive))
    return classes[1 - at], classes[at]


def _counted(data: Data, question: BoundQuestion) -> Tally:
    """Count votes, prediction or score, and truth; a score is cut at the thresholds."""
    score = data.roles.score
    if score is None:
        return data.tally("weak", "prediction", "truth")
    if not isinstance(data.held, Tally):
        data.numbers(score, low=0.0, high=1.0)
    return data.tally("weak", "score", "truth", cut={score: question.edges()})


def _classes(data: Data, tally: Tally) -> tuple[Label, ...]:
    """Return the classes that were named, otherwise every label that votes, prediction or truth
    show.
    """
    columns = [name for name in tally.names if name != data.roles.score]
    if data.rules.labels:
        shown = {str(label): label for name in columns for label in tally.labels[name]}
        return in_order(shown.get(str(label), label) for label in data.rules.labels)
    found = in_order(label for name in columns for label in tally.labels[name] if label is not None)
    if len(found) == 1:
        raise InputError(
            f"only the class {found[0]!r} occurs in {', '.join(columns)}: name all of them"
            " (--labels)"
        )
    return found


def _with_auc(
    result: BoundResult, data: Data, question: BoundQuestion, classes: Sequence[Label]
) -> BoundResult:
    """Add the AUC from labels; a saved tally has no scores, only bins."""
    roles = data.roles
    bare = isinstance(data.held, Tally) or roles.weight is not None or not result.gold
    if bare or roles.score is None or roles.truth is None:
        return result
    pair = _negative_and_positive(question, classes)
    one = auc_from_labels(data, roles.score, roles.truth, pair, question.alpha)
    return result if one is None else replace(result, gold=(*result.gold, one))


def _attachable(
    votes: WeakVotes, result: BoundResult, question: BoundQuestion, data: Data
) -> PatternTable:
    """Give every row P(Y | z) of the label model that was named, otherwise of the weighted votes,
    and the consensus of the votes.
    """
    weighted = consensus(votes)
    law = weighted
    if question.label_model is not None and result.label_models:
        held = named(votes, question.label_model, data).law
        law = np.where(np.isfinite(held), held, 1 / len(votes.classes))
    alone = votes.panel.only(votes.weak)
    pattern = np.zeros(alone.votes.patterns, dtype=np.int64)
    pattern[alone.place] = votes.place
    law, weighted = law[pattern], weighted[pattern]
    columns: dict[str, Any] = {
        f"p_{label}": law[:, votes.classes.index(label)].tolist() for label in votes.panel.classes
    }
    columns["label_from_votes"] = [votes.classes[k] for k in law.argmax(axis=1)]
    # The support of the consensus is a share of weighted votes, not a probability of being right.
    columns["consensus"] = [votes.classes[k] for k in weighted.argmax(axis=1)]
    columns["support"] = weighted.max(axis=1).tolist()
    return PatternTable(alone.votes, columns)


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which bound answers a table with these roles, None if it cannot."""
    if not roles.weak or not (roles.prediction or roles.score):
        return None
    judged = {"prediction": roles.prediction} if roles.prediction else {"score": roles.score}
    beside = {"count": roles.count, "weight": roles.weight}
    return {**judged, "weak": roles.weak, "truth": roles.truth, **beside}


CAPABILITY: Capability[Any] = Capability(
    verb="bound",
    question=BoundQuestion,
    answer=answer,
    reads=("prediction", "score", "weak", "truth", "item", "count", "weight", "by"),
    door=Door(verb="bound", want="weak"),
    applies=applies,
    demo=demo,
    labelling=labelling,
    cases=cases_of,
)
