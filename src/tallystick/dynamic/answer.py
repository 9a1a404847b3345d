"""From a question, and the log of a benchmark if there is one, to an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tallystick.data import Capability, Data, Roles, answered
from tallystick.dynamic.analyse import analyse
from tallystick.dynamic.demo import demo
from tallystick.dynamic.item_rows import item_columns
from tallystick.dynamic.question import AnalyseQuestion, TheoryQuestion
from tallystick.dynamic.reading import DOOR, log_of
from tallystick.dynamic.result import LogResult, TheoryResult
from tallystick.dynamic.theory import theory
from tallystick.dynamic.verdict import ROWS_COUNT
from tallystick.errors import InputError

__all__ = ["ANALYSE", "THEORY", "answer", "evaluate", "theory_answer"]


def evaluate(source: Any, **options: Any) -> LogResult:
    """Read the log of a real dynamic benchmark and say whether another round is worth it.

    Parameters
    ----------
    source
        Whatever `tallystick.data.read` takes: a wide log (one row per item, one column of answers
        per model, with *truth*) or a long one (item, round, model, correct).
    **options
        Roles (*item*, *round*, *model*, *correct*, *prediction*, *truth*, *models*, *validators*,
        *cost*, *weight*, *by*), the fields of `AnalyseQuestion`, and the options of reading.

    Examples
    --------
    >>> right, half = ["a"] * 40, ["a", "b"] * 20
    >>> log = {"round": [1] * 20 + [2] * 20, "gold": right, "m": half, "n": half[1:] + ["a"]}
    >>> result = evaluate(log, truth="gold", rollouts=20)
    >>> [(each.round, each.epsilon) for each in result.rounds], result.models
    ([(1, 0.5), (2, 0.5)], ('m', 'n'))
    """
    return answered(ANALYSE, source, options)


def answer(data: Data, question: AnalyseQuestion) -> LogResult:
    """Answer from the log that *data* holds."""
    log, notes = log_of(data, chain=question.chain)
    result = analyse(
        log,
        chain=question.chain,
        alpha=question.alpha,
        prices=question.prices,
        permutations=question.permutations,
        rollouts=question.rollouts,
        rng=question.seed,
    )
    result = replace(result, notes=notes)
    if log.weight is None:
        return result
    return replace(result, assumptions=(*result.assumptions, ROWS_COUNT))


def theory_answer(data: None, question: TheoryQuestion) -> TheoryResult:
    """Say what is proved before anything is run."""
    del data  # theory reads no table
    if question.epsilon is None:
        raise InputError(
            "theory needs the risk of each model on its own data: add --epsilon, e.g. .1"
        )
    mixing: Any = question.mixing  # one of the choices
    return theory(
        question.epsilon,
        rounds=question.rounds,
        distance=question.distance,
        noise=question.noise,
        mixing=mixing,
    )


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which analyse answers a table with these roles, None if it cannot."""
    models = (*roles.judges, *roles.prediction)
    if roles.round is None or len(models) < 2:
        return None
    beside = {"item": roles.item, "validators": roles.validators, "weight": roles.weight}
    return {"round": roles.round, "truth": roles.truth, "models": models, **beside}


ANALYSE = Capability(
    verb="dynamic analyse",
    summary="What does the log of a real dynamic benchmark say?",
    question=AnalyseQuestion,
    answer=answer,
    reads=(
        "item",
        "round",
        "model",
        "correct",
        "prediction",
        "truth",
        "models",
        "validators",
        "cost",
        "weight",
        "by",
    ),
    door=DOOR,
    applies=applies,
    demo=demo,
    items=item_columns,
)

THEORY = Capability(
    verb="dynamic theory",
    summary="What is proved about a dynamic benchmark, before anything is run?",
    question=TheoryQuestion,
    answer=theory_answer,
    input="none",
)
