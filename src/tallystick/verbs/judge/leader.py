"""Who leads, and who may be as good: a judge with few votes is not crowned by luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import Rng
from tallystick.stats.exact_tails import binomial_up_to
from tallystick.stats.few_labels import FewLabels
from tallystick.stats.intervals import clopper_pearson
from tallystick.table.panel import Floats, Panel

_ENOUGH = 0.5
"""Labelled votes of a judge that may be named first, as a share of the most that one has."""

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

    A judge that another one beats is out, all pairs tested at once on the same items. Of those that
    remain, the one with the highest lower end is named first, among judges with about as many
    labelled votes: few votes can all be right by luck.

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
    if len(names) > _MOST_PAIRED:
        wide = found.means(alpha=alpha / len(names)).interval
        beaten = wide.high < wide.low.max()
    else:
        beaten = np.zeros(len(names), dtype=np.bool_)
        if len(names) > 1:
            pairs = found.pairs(rng=rng, alpha=alpha)
            settled = pairs.adjusted_p <= alpha
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


def by_labels(panel: Panel, right: Floats, graded: Floats, *, alpha: float) -> Leader | None:
    """Return who leads by labelled votes: by exact intervals, and by an exact sign test where two
    share their items.

    The test sees what intervals cannot: that of two judges on the same items one is right where the
    other is wrong, hardly ever the other way round (McNemar's test). Each of the two has half of
    alpha. With k judges the intervals divide it by k, and so does a test that excludes all rivals:
    to name a wrong judge, one of k - 1 must beat one given best judge, or that one another which is
    as good. Single rivals are excluded at level alpha / 2 / (k (k - 1)), for all ordered pairs. So
    a leader without rivals is truly the best, and no best judge is excluded, with probability
    1 - alpha each.

    Parameters
    ----------
    panel
        Votes with the truth where it is known.
    right, graded
        Labelled votes of each judge that are right; all of them.
    alpha
        One minus the level.
    """
    judges = len(panel.names)
    ends = clopper_pearson(right, graded, alpha=alpha / 2 / judges)
    found = leader(panel.names, *np.where(graded > 0, (ends.low, ends.high), np.nan))
    if found is None or not found.rivals:
        return found
    wins, losses, alike = against(panel, found.place)
    p_value = np.where(alike, binomial_up_to(losses, wins + losses, 0.5), 1.0)
    if p_value[np.isin(panel.names, found.rivals)].max() <= alpha / 2 / judges:
        return replace(found, rivals=())
    outdone = p_value <= alpha / 2 / (judges * (judges - 1))
    beaten = {name for name, worse in zip(panel.names, outdone.tolist(), strict=True) if worse}
    return replace(found, rivals=tuple(name for name in found.rivals if name not in beaten))


def against(panel: Panel, place: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return labelled items on which a judge is right and each other is not, the reverse, and who
    voted on the same items.
    """
    known = panel.truth >= 0
    codes, counts = panel.codes[known], panel.counts[known]
    voted, good = codes >= 0, codes == panel.truth[known][:, None]
    mine = good[:, [place]]
    alike = (voted == voted[:, [place]]).all(axis=0)
    return counts @ (mine & ~good), counts @ (good & ~mine), alike
