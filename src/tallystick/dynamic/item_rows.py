"""What a log says of each of its items, and which of them to have checked first."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from tallystick.data import Data, ItemTable
from tallystick.dynamic.attempt_columns import is_attempt_table
from tallystick.dynamic.log import RoundLog
from tallystick.dynamic.log_result import LogResult
from tallystick.dynamic.population import Array
from tallystick.dynamic.reading import log_of
from tallystick.dynamic.validators import agreements, random_labels
from tallystick.errors import InputError
from tallystick.results import Unknown

__all__ = ["item_columns", "item_rows"]

_TIED = " | "


def item_rows(log: RoundLog, result: LogResult) -> ItemTable:
    """Say of each item who errs on it, what its vote says, and when to have its label checked.

    An item that all models get wrong is hard or mislabelled, and only a look at it can tell. So
    items are ordered by how many models err; among equals by how many of those give one and the
    same answer (if the label is wrong, models that are right agree on another one), by the share of
    validators who disagree with the label, by weight, and last by their place in the log. Nothing
    is drawn, so the order is the same each time.

    The columns, None where there is nothing to say: *item*; *round* (not on a path, where each item
    is tried in every round); *weight* and *truth*, if the log has them; *answered* and *wrong*,
    numbers of models; *vote*, what most models answer (without answers, whether the majority is
    right or wrong), tied ones with bars between them; *tie*; *vote_error*, 1 if more than half of
    the models are wrong and 1/2 if half of them are, so that its mean over a round is the round's
    risk; *vote_hangs*: all wrong, could be repaired, could break, tied, or settled; with validators
    *validators*, *validators_disagree* (numbers of them) and *random_label*, the probability that
    the label is a coin toss; *check_order*, 1 for the item to have checked first.

    Parameters
    ----------
    log
        The log itself, with its weights.
    result
        What `analyse` said of it.

    Examples
    --------
    >>> from tallystick.dynamic.analyse import analyse
    >>> from tallystick.dynamic.reading import read_log
    >>> table = {"round": [1, 1, 2, 2], "gold": ["a"] * 4, "m": list("abab"), "n": list("abba"), "o": list("acaa")}
    >>> log = read_log(table, truth="gold", models=["m", "n", "o"])
    >>> found = item_rows(log, analyse(log)).columns
    >>> found["wrong"], found["vote"], found["check_order"]
    ([0, 3, 1, 1], ['a', 'b', 'a', 'a'], [4, 1, 2, 3])
    >>> found["vote_hangs"]
    ['settled', 'all wrong', 'could break', 'could break']
    """
    items, on_path = len(log.items), log.kind == "path"
    weight = np.ones(items, dtype=np.int64) if log.weight is None else log.weight
    wrong = log.errors.sum(axis=0)
    answered = np.full(items, len(log.models)) if log.answered is None else log.answered.sum(axis=0)
    vote, tie, alike = _votes(log, wrong, answered)
    columns: dict[str, list[Any]] = {
        "item": list(log.items),
        "round": [None] * items if on_path else [log.round_names[code] for code in log.rounds],
    }
    if log.weight is not None:
        columns["weight"] = weight.tolist()
    if log.labels is not None:
        columns["truth"] = log.labels.tolist()
    columns |= {
        "answered": answered.tolist(),
        "wrong": wrong.tolist(),
        "vote": vote,
        "tie": tie.tolist(),
        "vote_error": [
            float(value) if many else None for value, many in zip(log.vote(), answered, strict=True)
        ],
        "vote_hangs": _hangs(wrong, answered),
    }
    dissent = np.zeros(items)
    if log.validators is not None and log.labels is not None:
        agree, count = agreements(log.validators, log.labels.tolist())
        dissent = 1 - agree / np.maximum(count, 1)
        dissent[count == 0] = 0.0
        columns |= {"validators": count.tolist(), "validators_disagree": (count - agree).tolist()}
        columns["random_label"] = _random(log, result, agree, count)
    order = np.lexsort((-weight, -dissent, -alike, -wrong, weight == 0))
    ranks = np.empty(items, dtype=np.int64)
    ranks[order] = np.arange(1, items + 1)
    columns["check_order"] = [
        int(rank) if heavy else None for rank, heavy in zip(ranks, weight > 0, strict=True)
    ]
    return ItemTable(columns, tuple(_notes(log, weight, result)))


def item_columns(result: Any, data: Data) -> ItemTable:
    """Return what ``--items-out`` writes: the rows of `item_rows` for the log that *data* holds."""
    if is_attempt_table(data.table, data.roles):
        raise InputError("--items-out is for panels and paths: a log of attempts has no vote")
    return item_rows(log_of(data)[0], result)


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


def _hangs(wrong: Array, answered: Array) -> list[str]:
    """Say which items the next one or two models could move."""
    margin = 2 * wrong - answered
    words = np.full(wrong.size, "settled", dtype="<U17")
    words[margin == 1] = "could be repaired"
    words[margin == -1] = "could break"
    words[margin == 0] = "tied"
    words[(wrong == answered) & (answered > 0)] = "all wrong"
    return [str(word) for word in words.tolist()]


def _random(log: RoundLog, result: LogResult, agree: Array, count: Array) -> list[float | None]:
    """Return the probability that each label is a coin toss; None where there is none."""
    found = np.full(len(log.items), np.nan)
    seen = [part for part in log.parts() if len(part.models) > 1 and part.where.any()]
    for part, noise in zip(seen, result.noise, strict=True):
        found[part.where] = random_labels(agree[part.where], count[part.where], noise)
    if log.weight is not None:
        found[log.weight == 0] = np.nan
    return [None if np.isnan(value) else float(value) for value in found]


def _notes(log: RoundLog, weight: Array, result: LogResult) -> Iterable[str]:
    if log.kind == "path":
        yield "round is blank: on a path every item is tried in every round"
    if log.validators is not None and log.labels is None:
        yield "validators are left out: the log has no true label to hold theirs against (--truth)"
    elif log.validators is not None:
        reasons = {each.share.reason for each in result.noise if isinstance(each.share, Unknown)}
        yield from (f"random_label is blank: {reason}" for reason in sorted(reasons))
    out = int((weight == 0).sum())
    if out:
        yield (
            f"items of weight 0 ({out} of {weight.size}) were not analysed: no place in check_order"
        )
