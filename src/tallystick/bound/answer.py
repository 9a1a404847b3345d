"""From data and a question to bounds on a classifier."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tallystick.bound.cases import cases_of
from tallystick.bound.classifier import bound
from tallystick.bound.costs import read_costs
from tallystick.bound.demo import demo
from tallystick.bound.from_session import with_session, without_truth
from tallystick.bound.item_probabilities import item_model
from tallystick.bound.label_draw import draw_of, with_draw
from tallystick.bound.label_models import LabelModel, read_model
from tallystick.bound.labelling import labelling
from tallystick.bound.positive import positive_class
from tallystick.bound.prepared import NAMES, fitted
from tallystick.bound.question import BoundQuestion
from tallystick.bound.result import BoundResult
from tallystick.bound.rivals import compare_classifiers
from tallystick.bound.score_auc import with_auc
from tallystick.bound.selection import SelectResult
from tallystick.bound.thresholds import sweep
from tallystick.bound.weak_votes import WeakTable, weak_table
from tallystick.data import Capability, Data, Door, Roles, answered, by_slice, read
from tallystick.errors import InputError
from tallystick.results import Result
from tallystick.tally import Tally
from tallystick.values import Label, in_order

__all__ = ["CAPABILITY", "answer", "evaluate"]

_ROWS_COUNT = (
    "a row of weight w stands for w items that were seen alike: these are not sampling weights"
)


def evaluate(source: Any, **options: Any) -> BoundResult:
    """Bound metrics of a classifier from weak labels of the same rows.

    Parameters
    ----------
    source
        Whatever `tallystick.data.read` takes.
    **options
        Roles (*prediction* or *score*, *weak*, *truth*, *item*, *weight*, *by*), the fields of
        `BoundQuestion`, and the options of reading.

    Examples
    --------
    >>> from tallystick.bound.demo import spam
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
    door=Door(want="weak"),
    applies=applies,
    demo=demo,
    labelling=labelling,
    cases=cases_of,
)
