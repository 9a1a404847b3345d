"""From a question, and the log of a benchmark if there is one, to an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tallystick.data import Capability, Data, Roles, answered
from tallystick.dynamic.analyse import analyse
from tallystick.dynamic.attempt_answer import analyse_attempts
from tallystick.dynamic.attempt_columns import is_attempt_table
from tallystick.dynamic.attempt_reading import attempts_of
from tallystick.dynamic.attempt_result import AttemptResult
from tallystick.dynamic.cases import cases_of
from tallystick.dynamic.demo import demo
from tallystick.dynamic.item_rows import item_columns
from tallystick.dynamic.log_result import LogResult
from tallystick.dynamic.question import AnalyseQuestion, TheoryQuestion
from tallystick.dynamic.reading import DOOR, log_of
from tallystick.dynamic.result import TheoryResult
from tallystick.dynamic.theory import theory
from tallystick.dynamic.verdict import ROWS_COUNT
from tallystick.errors import InputError

__all__ = ["ANALYSE", "THEORY", "answer", "evaluate", "theory_answer"]


def evaluate(source: Any, **options: Any) -> LogResult | AttemptResult:
    """Read the log of a real dynamic benchmark and say whether more of it is worth it.

    Parameters
    ----------
    source
        Whatever `tallystick.data.read` takes: a wide panel (one row per item, one column of answers
        per model, with *truth*), a long one (item, round, model, correct), the same items in every
        round (a path), or a log of attempts (annotator, round, model, fooled, validated, cost).
    **options
        Roles (*item*, *round*, *model*, *correct*, *fooled*, *annotator*, *validated*, *held_out*,
        …), the fields of `AnalyseQuestion`, and the options of reading.

    Examples
    --------
    >>> log = {"round": [1] * 4, "gold": list("aaaa"), "m": list("aabb"), "n": list("abab"), "o": list("aaab")}
    >>> found = evaluate(log, truth="gold")
    >>> found.advice.decision, found.rounds[0].risk
    ('not worth it', 0.25)
    >>> tries = {"annotator": list("xxyyzz"), "round": [1] * 6, "fooled": [1, 0, 1, 1, 0, 0]}
    >>> evaluate(tries).rounds[0].success.rate
    0.5
    """
    return answered(ANALYSE, source, options)


def answer(data: Data, question: AnalyseQuestion) -> LogResult | AttemptResult:
    """Answer from the log that *data* holds: a panel, a path, or attempts."""
    if is_attempt_table(data.table, data.roles):
        if data.roles.weight is not None:
            raise InputError("a log of attempts has no weights: every row is one attempt")
        attempts, wrong, columns, notes = attempts_of(data)
        found = analyse_attempts(
            attempts,
            wrong=wrong,
            named=columns.annotator is not None,
            cost_unit=columns.cost,
            alpha=question.alpha,
            rng=question.seed,
        )
        return replace(found, notes=notes)
    log, notes = log_of(data)
    result = replace(analyse(log, question), notes=notes)
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
    summary="Is another round worth it, judging by the log of the rounds or attempts so far?",
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
        "held_out",
        "annotator",
        "fooled",
        "validated",
        "validators",
        "cost",
        "time",
        "weight",
        "by",
    ),
    door=DOOR,
    applies=applies,
    demo=demo,
    items=item_columns,
    cases=cases_of,
)

THEORY = Capability(
    verb="dynamic theory",
    summary="What is proved about a dynamic benchmark, before anything is run?",
    question=TheoryQuestion,
    answer=theory_answer,
    input="none",
)
