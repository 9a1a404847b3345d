"""From the log of a benchmark to its answer: the verb ``dynamic analyse``, and its items."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array, majority_share
from tallystick.table import (
    Capability,
    Data,
    Door,
    ItemTable,
    Roles,
    answered,
)
from tallystick.verbs.dynamic.analyse import LogResult, analyse
from tallystick.verbs.dynamic.attempt_result import AttemptResult, analyse_attempts, attempts_of
from tallystick.verbs.dynamic.columns import columns_of
from tallystick.verbs.dynamic.log import RoundLog, log_of
from tallystick.verbs.dynamic.question import AnalyseQuestion, demo

_TIED = " | "

_OF_ITEMS = ("item", "round", "models", "correct", "prediction", "truth", "held_out")
_OF_ATTEMPTS = ("annotator", "fooled", "validated", "cost", "time", "by")
"""The roles that the two kinds of logs have."""


DOOR = Door(want="models", pivots=False, repeats=True, as_it_is=lambda table, given: True)
"""Logs of rounds have columns of their own, which `columns_of` finds: nothing is pivoted."""


def evaluate(source: Any, **options: Any) -> LogResult | AttemptResult:
    """Read the log of a real dynamic benchmark and answer its owner.

    Parameters
    ----------
    source
        Whatever `tallystick.table.door` takes: models' answers beside a truth, or right and
        wrong, one column per model; item, round and correct (or wrong), one row per
        answer; or a log of attempts (annotator, round, fooled, validated, cost).
    **options
        Roles (*item*, *round*, *models*, *correct*, *fooled*, *annotator*, *validated*, *held_out*,
        …), the fields of `AnalyseQuestion`, and the options of reading.

    Examples
    --------
    >>> log = {"round": [1] * 4, "gold": list("aaaa"), "m": list("aabb"), "n": list("abab"), "o": list("aaab")}
    >>> found = evaluate(log, truth="gold")
    >>> found.latest, found.rounds[0].accuracy, found.vote.rule
    ('o', 0.75, 'plurality')
    >>> tries = {"annotator": list("xxyyzz"), "round": [1] * 6, "fooled": [1, 0, 1, 1, 0, 0]}
    >>> evaluate(tries).rounds[0].success.rate
    0.5
    """
    return answered(ANALYSE, source, options)


def answer(data: Data, question: AnalyseQuestion) -> LogResult | AttemptResult:
    """Answer from the log that *data* holds."""
    columns = question.columns or columns_of(data)
    if columns.shape == "attempts":
        log, notes = attempts_of(data, columns)
        told = analyse_attempts(log, cost_unit=columns.cost, alpha=question.alpha)
        return replace(told, notes=notes)
    rounds, notes = log_of(data, columns)
    return replace(analyse(rounds, question), notes=notes)


def _found(data: Data) -> Mapping[str, Any] | None:
    """Return which column has which role, for the line that says what was read."""
    return columns_of(data).found()


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which analyse answers a table with these roles, None if it cannot."""
    models = (*roles.judges, *roles.prediction)
    if roles.round is None or len(models) < 2 or roles.count or roles.weight:
        return None
    return {"round": roles.round, "truth": roles.truth, "models": models, "item": roles.item}


# The items: what --items-out writes.


def item_rows(log: RoundLog) -> ItemTable:
    """Say of each item who errs on it, what its vote says, and when to have its label checked.

    Items are ordered by how many models err; among equals by how many of those give one and the
    same answer (if the label is wrong, models that are right agree on another one), and last by
    their place in the log. Nothing is drawn, so the order is the same each time.

    The columns: *item*; *round* (not on a path, where each item is tried in every round); *truth*,
    if the log has it; *answered* and *wrong*, numbers of models; *vote*, what most models answer
    (without answers, right or wrong), tied ones with bars between them; *vote_error*, 1 if more
    than half of the models are wrong and 1/2 if half of them are; *check_order*, 1 for the item to
    check first.
    """
    on_path = log.kind == "path"
    wrong, tried = log.errors.sum(axis=0), log.answered.sum(axis=0)
    vote, alike = _votes(log, wrong, tried)
    error = majority_share(wrong, np.maximum(tried, 1)).tolist()
    names = [None if on_path else log.round_names[code] for code in log.rounds]
    columns: dict[str, list[Any]] = {
        "item": list(log.items),
        "round": names,
        **({} if log.labels is None else {"truth": log.labels.tolist()}),
        "answered": tried.tolist(),
        "wrong": wrong.tolist(),
        "vote": vote,
        "vote_error": [one if many else None for one, many in zip(error, tried, strict=True)],
        "check_order": (np.argsort(np.lexsort((-alike, -wrong))) + 1).tolist(),
    }
    note = "round is blank: on a path every item is tried in every round"
    return ItemTable(columns, (note,) if on_path else ())


def _votes(log: RoundLog, wrong: Array, answered: Array) -> tuple[list[str], Array]:
    """Return what the vote says of each item, and the votes of its most common wrong answer."""
    if log.predictions is None or log.labels is None:
        words = np.array(["right", "wrong"])
        counts = np.stack([answered - wrong, wrong], axis=1)
        own = np.zeros(wrong.size, dtype=np.int64)
    else:
        words = np.unique(np.concatenate([log.predictions.reshape(-1), log.labels]))
        words = words[words != ""]
        counts = np.stack([(log.predictions == word).sum(axis=0) for word in words], axis=1)
        own = np.searchsorted(words, log.labels)
    top = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
    said = [_TIED.join(words[row].tolist()) for row in top]
    counts[np.arange(own.size), own] = 0
    return said, counts.max(axis=1)


def item_columns(result: Any, _: Data) -> ItemTable:
    """Return what ``--items-out`` writes."""
    if not isinstance(result, LogResult) or result.log is None:
        raise InputError("--items-out is for items and models: a log of attempts has no vote")
    return item_rows(result.log)


ANALYSE = Capability(
    verb="dynamic analyse",
    question=AnalyseQuestion,
    answer=answer,
    reads=(*_OF_ITEMS, *_OF_ATTEMPTS),
    door=DOOR,
    applies=applies,
    columns=_found,
    demo=demo,
    items=item_columns,
)
