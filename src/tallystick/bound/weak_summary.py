"""A table of the weak labels: how often each votes, overlaps, conflicts, and is right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.bound.weak_votes import WeakTable
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse import adverse_share
from tallystick.stats.latent.others import majority_of_others
from tallystick.stats.latent.votes import as_votes

__all__ = ["WeakLabel", "weak_summary"]


@dataclass(frozen=True, kw_only=True)
class WeakLabel:
    """One weak label (labelling function).

    Parameters
    ----------
    name
        The column.
    polarity
        The classes that it votes for.
    coverage
        Share of the rows on which it votes.
    overlap, conflict
        Share of the rows on which it and another weak label vote, and vote differently.
    estimated_accuracy
        Share of its votes that the majority of the other weak labels confirms. Weak labels that
        err together confirm one another.
    checked_accuracy, checked_interval
        Share of its votes that are right, from labelled rows alone.
    labels
        Labelled rows on which it votes.
    """

    name: str
    polarity: tuple[str, ...]
    coverage: float
    overlap: float
    conflict: float
    estimated_accuracy: float | Unknown
    checked_accuracy: float | Unknown
    checked_interval: Interval | Unknown
    labels: int


def weak_summary(table: WeakTable, *, alpha: float = 0.05) -> tuple[WeakLabel, ...]:
    """Describe every weak label of a table.

    Examples
    --------
    >>> from tallystick.tally import Tally
    >>> from tallystick.bound.weak_votes import weak_table
    >>> rows = {"a": [0, 1, None, 1], "b": [0, 0, 1, None], "c": [0, 0, 1, 1], "h": [0, 1, 1, 1]}
    >>> first = weak_summary(weak_table(Tally.of(rows), weak=["a", "b", "c"], prediction="h"))[0]
    >>> first.coverage, first.overlap, first.conflict, first.polarity
    (0.75, 0.75, 0.25, ('0', '1'))
    """
    votes, weight, size = table.votes, table.weight, len(table.classes)
    cast = votes >= 0
    confirmed = majority_of_others(as_votes(votes, weight, n_classes=size), size).accuracy
    by_class = np.stack([(votes == c).sum(axis=1) for c in range(size)], axis=1)
    gold = table.gold_labels
    found = []
    for j, name in enumerate(table.weak):
        mine = cast[:, j]
        others = cast.sum(axis=1) - mine
        same = by_class[np.arange(len(votes)), np.maximum(votes[:, j], 0)] - 1
        checked, interval, labels = _checked(table, j, gold, alpha)
        estimated = float(confirmed[j])
        found.append(
            WeakLabel(
                name=name,
                polarity=tuple(
                    str(label)
                    for c, label in enumerate(table.classes)
                    if weight[votes[:, j] == c].sum() > 0
                ),
                coverage=float(weight @ mine / table.n),
                overlap=float(weight @ (mine & (others > 0)) / table.n),
                conflict=float(weight @ (mine & (others > same)) / table.n),
                estimated_accuracy=(
                    Unknown("no other weak label votes on its rows")
                    if np.isnan(estimated)
                    else estimated
                ),
                checked_accuracy=checked,
                checked_interval=interval,
                labels=labels,
            )
        )
    return tuple(found)


def _checked(
    table: WeakTable, j: int, gold: np.ndarray | None, alpha: float
) -> tuple[float | Unknown, Interval | Unknown, int]:
    """Return how often weak label j is right on labelled rows, with its interval."""
    mine = np.flatnonzero(table.votes[:, j] >= 0)
    labelled = 0 if gold is None else int(gold[mine].sum())
    if gold is None or labelled == 0:
        reason = Unknown("no labels" if gold is None else "no labelled row has a vote of it")
        return reason, reason, 0
    right = int(gold[mine, table.votes[mine, j]].sum())
    rows = int(table.weight[mine].sum())
    found = adverse_share([rows], [labelled], [right], alpha=alpha)
    return found.estimate, found.interval, labelled
