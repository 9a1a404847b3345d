"""Who leads, and who may be as good: a judge with few votes is not crowned by luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick._rng import Rng
from tallystick.stats.few_labels import FewLabels
from tallystick.table.panel import Floats

_ENOUGH = 0.5
"""Labelled votes of a judge that may be named first, as a share of the most that one has."""

CLAIM = 0.5
"""Share of alpha for the claim that a judge is beaten. Two equal judges with 20 to 400 labels: one
of them was called the best on 1.7 to 2.2 % of 1,000 tables, on 3.5 to 3.7 % with all of alpha."""

_MOST_PAIRED = 60
"""Judges up to which every pair is tested; beyond, each has an interval that holds for all."""


@dataclass(frozen=True, kw_only=True)
class Leader:
    """The judge whose accuracy is surest to be high.

    Parameters
    ----------
    place
        Its place among the judges.
    name
        The same by name.
    rivals
        Judges whose range reaches into its own: nothing here says that they are worse.
    judges
        How many judges there are.
    """

    place: int
    name: str
    rivals: tuple[str, ...]
    judges: int


def leader_of(found: FewLabels, names: Sequence[str], *, alpha: float, rng: Rng) -> Leader | None:
    """Return who leads by labels, and who may be as good; None if no labelled item has a vote.

    A judge that another one beats is out, all pairs tested at once on the same items, with the
    error of one end of an interval: half of *alpha*. Of those that remain, the one with the highest
    lower end is named first, among judges with about as many labelled votes: few votes can all be
    right by luck.

    >>> from tallystick.stats.few_labels import accuracies
    >>> truth = np.arange(100) % 2
    >>> right = np.stack([np.arange(100) < 95, np.arange(100) < 60], axis=1)
    >>> votes = np.where(right, truth[:, None], 1 - truth[:, None])
    >>> leader_of(accuracies(votes, truth, population="new"), ("a", "b"), alpha=0.05, rng=0)
    Leader(place=0, name='a', rivals=(), judges=2)
    """
    if not found.labels.any():
        return None
    ends = found.means(alpha=alpha).interval
    error = CLAIM * alpha
    if len(names) > _MOST_PAIRED:
        wide = found.means(alpha=error / len(names)).interval
        beaten = wide.high < wide.low.max()
    else:
        beaten = np.zeros(len(names), dtype=np.bool_)
        if len(names) > 1:
            pairs = found.pairs(rng=rng, alpha=error)
            settled = pairs.adjusted_p <= error
            behind = np.where(pairs.difference > 0, pairs.second, pairs.first)
            beaten[behind[settled]] = True

    enough = found.labels >= _ENOUGH * found.labels.max()
    low = np.where(beaten | ~enough, -1.0, ends.low)
    best = int(np.argmax(low))
    order = np.argsort(-low, kind="stable").tolist()
    rivals = tuple(names[j] for j in order if j != best and not beaten[j])
    return Leader(place=best, name=names[best], rivals=rivals, judges=len(names))


def leader(names: Sequence[str], low: Floats, high: Floats) -> Leader | None:
    """Return the judge with the highest lower end, and those whose upper end does not stay below
    it; None if no end is known.

    With ends that hold for all judges at once, a leader without rivals is truly the best of them. A
    judge with few votes has a low lower end, however well it did. NaN is a judge of which nothing
    is known: it never leads, and nothing excludes it.

    >>> leader(("many votes", "one vote"), np.array([0.8, 0.02]), np.array([0.9, 1.0]))
    Leader(place=0, name='many votes', rivals=('one vote',), judges=2)
    """
    if not np.isfinite(low).any():
        return None
    best = int(np.nanargmax(low))
    reach = np.flatnonzero(~(high < low[best]))
    order = reach[np.argsort(-high[reach], kind="stable")]  # NaN comes last
    rivals = tuple(names[j] for j in order.tolist() if j != best)
    return Leader(place=best, name=names[best], rivals=rivals, judges=len(names))
