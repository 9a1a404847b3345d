"""What a log says of each of its items, and which of them to have checked first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from tallystick.data import Data, ItemTable
from tallystick.dynamic.log import RoundLog
from tallystick.dynamic.population import Array
from tallystick.dynamic.probit import ProbitFit
from tallystick.dynamic.reading import log_of
from tallystick.dynamic.result import LogResult
from tallystick.dynamic.validators import agreements, random_labels
from tallystick.results import Unknown

__all__ = ["item_columns", "item_rows"]

_TIED = " | "


def item_rows(log: RoundLog, result: LogResult) -> ItemTable:
    """Say of each item who errs on it, what its vote says, how hard it is, and when to have its
    label checked.

    An item that all models get wrong is hard or mislabelled, and only a look at it can tell. So
    items are ordered by how many models err; among equals by how many of those give one and the
    same answer (if the label is wrong, models that are right agree on another one), by the share of
    validators who disagree with the label, by difficulty, by weight, and last by their place in the
    log. Nothing is drawn, so the order is the same each time.

    The columns, None where there is nothing to say: *item*; *round* (not on a path, where each item
    is tried in every round); *weight* and *truth*, if the log has them; *answered* and *wrong*,
    numbers of models; *vote*, what the plurality answers (without answers, whether the majority is
    right or wrong), tied ones with bars between them; *tie*; *vote_error*, 1 if the vote errs and
    for a tie the share of it that does, so that its mean over a round is the round's risk; with
    validators *validators*, *validators_disagree* (numbers of them) and *random_label*, the
    probability that the label is a coin toss; *difficulty*, the posterior mean of the difficulty
    that the models share (0 is the average of the round, 1 a standard deviation harder);
    *check_order*, 1 for the item to have checked first. Notes say why there are blanks.

    Parameters
    ----------
    log
        The log itself, with its weights.
    result
        What `analyse` said of it. The models of a *chain* are left out here as they are there.

    Examples
    --------
    >>> from tallystick.dynamic import analyse, read_log
    >>> table = {"round": [1, 1, 2, 2], "gold": ["a"] * 4, "m": list("abab"), "n": list("abba"), "o": list("acaa")}
    >>> log = read_log(table, truth="gold", models=["m", "n", "o"])
    >>> found = item_rows(log, analyse(log, rng=0))
    >>> found.columns["wrong"], found.columns["vote"], found.columns["check_order"]
    ([0, 3, 1, 1], ['a', 'b', 'a', 'a'], [4, 1, 2, 3])
    >>> print(found.notes[0])
    difficulty is blank in rounds 1 and 2: errors need the shape (models, items) with 2 models and 10 items or more, ...
    """
    panel = log if log.kind == "path" else log.select(result.models)
    items, on_path = len(panel.items), panel.kind == "path"
    weight = np.ones(items, dtype=np.int64) if panel.weight is None else panel.weight
    wrong = panel.errors.sum(axis=0)
    vote, tie, alike = _votes(panel)
    difficulty, random_label = _learnt(panel, weight, result)
    columns: dict[str, list[Any]] = {
        "item": list(panel.items),
        "round": [None] * items if on_path else panel.rounds.tolist(),
    }
    if panel.weight is not None:
        columns["weight"] = weight.tolist()
    if panel.labels is not None:
        columns["truth"] = panel.labels.tolist()
    columns |= {
        "answered": [len(panel.models)] * items,
        "wrong": wrong.tolist(),
        "vote": vote,
        "tie": tie.tolist(),
        "vote_error": panel.vote().tolist(),
    }
    dissent = np.zeros(items)
    if panel.validators is not None and panel.labels is not None:
        agree, count = agreements(panel.validators, panel.labels.tolist())
        dissent = 1 - agree / np.maximum(count, 1)
        dissent[count == 0] = 0.0
        columns |= {"validators": count.tolist(), "validators_disagree": (count - agree).tolist()}
        columns["random_label"] = _blank(random_label)
    columns["difficulty"] = _blank(difficulty)
    order = np.lexsort((-weight, -np.nan_to_num(difficulty), -dissent, -alike, -wrong, weight == 0))
    ranks = np.empty(items, dtype=np.int64)
    ranks[order] = np.arange(1, items + 1)
    columns["check_order"] = [
        int(rank) if heavy else None for rank, heavy in zip(ranks, weight > 0, strict=True)
    ]
    return ItemTable(columns, tuple(_notes(panel, weight, result)))


def item_columns(result: LogResult, data: Data) -> ItemTable:
    """Return what ``--items-out`` writes: the rows of `item_rows` for the log that *data* holds."""
    return item_rows(log_of(data)[0], result)


def _votes(log: RoundLog) -> tuple[list[str], Array, Array]:
    """Return what the vote says of each item, whether it is tied, and the votes of its most common
    wrong answer.
    """
    if log.predictions is None or log.labels is None:
        wrong = log.errors.sum(axis=0)
        words = np.array(["right", "wrong"])
        counts, own = (
            np.stack([len(log.models) - wrong, wrong], axis=1),
            np.zeros(wrong.size, dtype=np.int64),
        )
    else:
        words = np.unique(np.concatenate([log.predictions.reshape(-1), log.labels]))
        counts = np.stack([(log.predictions == word).sum(axis=0) for word in words], axis=1)
        own = np.searchsorted(words, log.labels)
    top = counts == counts.max(axis=1, keepdims=True)
    said = [_TIED.join(words[row].tolist()) for row in top]
    alike = counts.copy()
    alike[np.arange(own.size), own] = 0
    return said, top.sum(axis=1) > 1, alike.max(axis=1)


def _learnt(log: RoundLog, weight: Array, result: LogResult) -> tuple[Array, Array]:
    """Return difficulty and probability of a random label; NaN where there is none, as for items of
    weight 0.
    """
    seen = log.repeated()
    difficulty, random_label = np.full((2, len(seen.items)), np.nan)
    checked = None
    if seen.validators is not None and seen.labels is not None:
        checked = agreements(seen.validators, seen.labels.tolist())
    for (where, _), fit, noise in zip(seen.parts(), result.fits, result.noise, strict=True):
        if isinstance(fit, ProbitFit):
            difficulty[where] = fit.mean_difficulty(
                seen.errors[:, where], on_path=seen.kind == "path"
            )
        if checked is not None:
            random_label[where] = random_labels(checked[0][where], checked[1][where], noise)
    first = (np.cumsum(weight) - weight).clip(max=len(seen.items) - 1)  # of the copies of each item
    return np.where(weight > 0, difficulty[first], np.nan), np.where(
        weight > 0, random_label[first], np.nan
    )


def _notes(log: RoundLog, weight: Array, result: LogResult) -> Iterable[str]:
    numbers = [joint.round for joint in result.overlap]
    if log.kind == "path":
        yield "round is blank: on a path every item is tried in every round"
    yield from _reasons("difficulty", numbers, result.fits, on_path=log.kind == "path")
    for number, fit in zip(numbers, result.fits, strict=True):
        if isinstance(fit, ProbitFit) and not fit.fits:
            yield (
                f"difficulty in round {number} rests on a fit that the log refutes (p ="
                f" {fit.fit_p:.2g}): take it as a rank at most"
            )
    if log.validators is not None and log.labels is None:
        yield "validators are left out: the log has no true label to hold theirs against (--truth)"
    elif log.validators is not None:
        yield from _reasons(
            "random_label",
            numbers,
            [noise.share for noise in result.noise],
            on_path=log.kind == "path",
        )
    out = int((weight == 0).sum())
    if out:
        yield (
            f"items of weight 0 ({out} of {weight.size}) were not analysed: no difficulty, no place"
            " in check_order"
        )


def _reasons(
    column: str, numbers: Sequence[int], values: Sequence[object], *, on_path: bool
) -> Iterable[str]:
    """Say why a column is blank, each reason once with its rounds."""
    rounds: dict[str, list[str]] = {}
    for number, value in zip(numbers, values, strict=True):
        if isinstance(value, Unknown):
            rounds.setdefault(value.reason, []).append(str(number))
    for reason, found in rounds.items():
        listed = found[0] if len(found) == 1 else f"{', '.join(found[:-1])} and {found[-1]}"
        where = "" if on_path else f" in round{'s' * (len(found) > 1)} {listed}"
        yield f"{column} is blank{where}: {reason}"


def _blank(values: Array) -> list[float | None]:
    return [None if np.isnan(value) else float(value) for value in values]
