"""From the log of a benchmark to its answer: the verb ``dynamic analyse``, and its items."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.errors import AskError, InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.table import (
    Capability,
    Cases,
    Data,
    Door,
    Found,
    ItemTable,
    Roles,
    Table,
    Tally,
    answered,
    gather,
)
from tallystick.table.capability import MOST_ROWS
from tallystick.verbs.dynamic.analyse import LogResult, analyse
from tallystick.verbs.dynamic.attempt_result import AttemptResult, analyse_attempts, attempts_of
from tallystick.verbs.dynamic.columns import Columns, columns_of
from tallystick.verbs.dynamic.log import RoundLog, log_of
from tallystick.verbs.dynamic.question import AnalyseQuestion, demo

_TIED = " | "
_KINDS = {
    "all wrong": "every model wrong",
    "could be repaired": "the next models could repair it",
    "tied": "a tie",
    "could break": "the next models could break it",
}
"""What is listed, in this order; items that nothing can move are not."""


def _as_it_is(table: Table, given: Roles) -> bool:
    del table, given
    return True


DOOR = Door(want="models", pivots=False, repeats=True, as_it_is=_as_it_is)
"""Logs of rounds have columns of their own, which `columns_of` finds: nothing is pivoted."""


def evaluate(source: Any, **options: Any) -> LogResult | AttemptResult:
    """Read the log of a real dynamic benchmark and answer its owner.

    Parameters
    ----------
    source
        Whatever `tallystick.table.door` takes: models' answers beside a truth, right or wrong, or
        scores (with *bar*), one column per model; item, round and correct (or wrong), one row per
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
    columns = question.columns or columns_of(data, bar=question.bar)
    if columns.shape == "attempts":
        log, notes = attempts_of(data, columns)
        found = analyse_attempts(
            log,
            named=columns.annotator is not None,
            cost_unit=columns.cost,
            alpha=question.alpha,
        )
        return replace(found, notes=notes)
    rounds, notes = log_of(data, columns, bar=question.bar)
    return replace(analyse(rounds, question), notes=notes, log=rounds, columns=columns)


def _found(data: Data) -> Mapping[str, Any] | None:
    """Return which column has which role, for the line that says what was read."""
    try:
        return columns_of(data).found()
    except AskError:
        return columns_of(data, bar=0.0).found()  # which bar does not change the columns


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which analyse answers a table with these roles, None if it cannot."""
    models = (*roles.judges, *roles.prediction)
    if roles.round is None or len(models) < 2 or roles.count or roles.weight:
        return None
    return {"round": roles.round, "truth": roles.truth, "models": models, "item": roles.item}


# The items on which the vote hangs, and those that every model gets wrong.


def cases_of(result: Any, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items to check first: those that all models get wrong, then those that hang."""
    if not isinstance(result, LogResult) or isinstance(data.held, Tally) or data.n_rows > MOST_ROWS:
        return None
    if result.log is None or result.columns is None:
        return None
    rows, columns = item_rows(result.log).columns, result.columns
    place, said = _places(data, columns), _said(data, columns)
    listed = []
    for k, (item, hangs) in enumerate(zip(rows["item"], rows["vote_hangs"], strict=True)):
        if hangs not in _KINDS or str(item) not in place:
            continue
        row = place[str(item)]
        summary = f"{rows['wrong'][k]} of {rows['answered'][k]} models wrong"
        one = Found(row=row, kind=_KINDS[hangs], summary=summary, votes=said(row))
        listed.append((list(_KINDS).index(hangs), rows["check_order"][k] or 0, one))
    listed.sort(key=lambda one: one[:2])
    found = [one for _, _, one in listed]
    every = sum(one.kind == _KINDS["all wrong"] for one in found)
    line = (
        f"Every model gets {every:,} items wrong: they are hard or mislabelled. On"
        f" {len(found) - every:,} more the next models could turn the vote."
    )
    return gather(data, found, title="Items", line=line, texts=texts)


def _said(data: Data, columns: Columns) -> Callable[[int], tuple[tuple[str, str], ...]]:
    """Return what says who answered what in a row; nothing for long logs."""
    if not columns.models:
        return lambda row: ()
    cells = data.cells(*columns.models, *([columns.truth] if columns.truth else []))

    def votes(row: int) -> tuple[tuple[str, str], ...]:
        shown = [
            (name, str(cells[name][row])) for name in columns.models if cells[name][row] is not None
        ]
        true = [("true", str(cells[columns.truth][row]))] if columns.truth else []
        return (*true, *shown)

    return votes


def _places(data: Data, columns: Columns) -> dict[str, int]:
    """Return the first row of each item; rows are items where no column names them."""
    if columns.item is None:
        return {str(row + 1): row for row in range(data.n_rows)}
    found: dict[str, int] = {}
    for row, name in enumerate(data.cells(columns.item)[columns.item]):
        found.setdefault(str(name).strip(), row)
    return found


def item_rows(log: RoundLog) -> ItemTable:
    """Say of each item who errs on it, what its vote says, and when to have its label checked.

    Items are ordered by how many models err; among equals by how many of those give one and the
    same answer (if the label is wrong, models that are right agree on another one), and last by
    their place in the log. Nothing is drawn, so the order is the same each time.

    The columns: *item*; *round* (not on a path, where each item is tried in every round); *truth*,
    if the log has it; *answered* and *wrong*, numbers of models; *vote*, what most models answer
    (without answers, right or wrong), tied ones with bars between them; *tie*; *vote_error*, 1 if
    more than half of the models are wrong and 1/2 if half of them are; *vote_hangs*: all wrong,
    could be repaired, could break, tied, or settled; *check_order*, 1 for the item to check first.
    """
    items, on_path = len(log.items), log.kind == "path"
    wrong, tried = log.errors.sum(axis=0), log.answered.sum(axis=0)
    vote, tie, alike = _votes(log, wrong, tried)
    margin = 2 * wrong - tried
    hangs = np.full(items, "settled", dtype="<U17")
    for value, word in ((1, "could be repaired"), (-1, "could break"), (0, "tied")):
        hangs[margin == value] = word
    hangs[(wrong == tried) & (tried > 0)] = "all wrong"
    order = np.lexsort((-alike, -wrong))
    ranks = np.empty(items, dtype=np.int64)
    ranks[order] = np.arange(1, items + 1)
    error = np.where(margin > 0, 1.0, np.where(margin == 0, 0.5, 0.0))
    columns: dict[str, list[Any]] = {
        "item": list(log.items),
        "round": [None] * items if on_path else [log.round_names[code] for code in log.rounds],
        **({} if log.labels is None else {"truth": log.labels.tolist()}),
        "answered": tried.tolist(),
        "wrong": wrong.tolist(),
        "vote": vote,
        "tie": tie.tolist(),
        "vote_error": [v if many else None for v, many in zip(error.tolist(), tried, strict=True)],
        "vote_hangs": hangs.tolist(),
        "check_order": ranks.tolist(),
    }
    note = "round is blank: on a path every item is tried in every round"
    return ItemTable(columns, (note,) if on_path else ())


def _votes(log: RoundLog, wrong: Array, answered: Array) -> tuple[list[str], Array, Array]:
    """Return what the vote says of each item, whether it is tied, and the votes of its most common
    wrong answer.
    """
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
    alike = counts.copy()
    alike[np.arange(own.size), own] = 0
    return said, top.sum(axis=1) > 1, alike.max(axis=1)


def item_columns(result: Any, data: Data) -> ItemTable:
    """Return what ``--items-out`` writes."""
    del data
    if not isinstance(result, LogResult) or result.log is None:
        raise InputError("--items-out is for items and models: a log of attempts has no vote")
    return item_rows(result.log)


ANALYSE = Capability(
    verb="dynamic analyse",
    summary="How does the latest model do, round by round, and would a vote or another round help?",
    question=AnalyseQuestion,
    answer=answer,
    reads=(
        "item",
        "round",
        "models",
        "correct",
        "prediction",
        "truth",
        "held_out",
        "annotator",
        "fooled",
        "validated",
        "cost",
        "time",
        "by",
    ),
    door=DOOR,
    applies=applies,
    columns=_found,
    demo=demo,
    items=item_columns,
    cases=cases_of,
)
