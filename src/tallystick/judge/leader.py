"""Who leads, and who may be as good: a judge with few votes is not crowned by luck."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from tallystick.judge.ballots import Ballots, Floats
from tallystick.stats.binomial import binomial_up_to
from tallystick.stats.intervals import clopper_pearson

__all__ = ["Leader", "against", "as_shown", "by_labels", "leader", "with_duels"]


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
    duels
        For each rival that voted on the same items: the labelled ones on which the leader is right
        and the rival is not, and the reverse.
    """

    place: int
    name: str
    rivals: tuple[str, ...]
    judges: int
    duels: Mapping[str, tuple[int, int]] = field(default_factory=dict, repr=False)


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


_ENOUGH = 0.5
"""Labelled votes of a judge that may be named first, as a share of the leader's."""


def as_shown(
    best: Leader | None, names: Sequence[str], low: Floats, graded: Floats
) -> Leader | None:
    """Return the leader that a reader of the table expects, where nothing is settled.

    Whoever has rivals is not the best for sure, so which of them is named first proves nothing.
    Then it is the one with the highest lower end (*low*) of the intervals that are shown, among
    judges with about as many labelled votes (*graded*): few votes can all be right by luck.

    >>> best = Leader(place=0, name="a", rivals=("b",), judges=2)
    >>> as_shown(best, ("a", "b"), np.array([0.8, 0.9]), np.array([100.0, 90.0]))
    Leader(place=1, name='b', rivals=('a',), judges=2)
    """
    if best is None or not best.rivals:
        return best
    among = (best.name, *best.rivals)
    enough = graded >= _ENOUGH * graded[best.place]
    known = {
        name: end
        for name, end, ok in zip(names, low.tolist(), enough.tolist(), strict=True)
        if name in among and ok and np.isfinite(end)
    }
    name = max(known, key=lambda one: known[one], default=best.name)
    # The others follow as their intervals do; those with few votes or none come last.
    rivals = sorted((one for one in among if one != name), key=lambda one: -known.get(one, -1.0))
    return replace(best, place=list(names).index(name), name=name, rivals=tuple(rivals))


def by_labels(ballots: Ballots, right: Floats, graded: Floats, *, alpha: float) -> Leader | None:
    """Return who leads by labelled votes: by exact intervals, and by an exact sign test where two
    share their items.

    The test sees what intervals cannot: that of two judges on the same items one is right where the
    other is wrong, hardly ever the other way round (McNemar's test). Each of the two has half of
    alpha. With k judges the intervals divide it by k, and so does a test that excludes all rivals:
    to name a wrong judge, one of k - 1 must beat one given best judge, or that one another which is
    as good. Single rivals are excluded at level alpha / 2 / (k (k - 1)), for all ordered pairs. So
    a
    leader without rivals is truly the best, and no best judge is excluded, with probability
    1 - alpha each.

    Parameters
    ----------
    ballots
        Votes with the truth where it is known.
    right, graded
        Labelled votes of each judge that are right; all of them.
    alpha
        One minus the level.
    """
    judges = len(ballots.names)
    ends = clopper_pearson(right, graded, alpha=alpha / 2 / judges)
    found = leader(ballots.names, *np.where(graded > 0, (ends.low, ends.high), np.nan))
    if found is None or not found.rivals:
        return found
    wins, losses, alike = against(ballots, found.place)
    p_value = np.where(alike, binomial_up_to(losses, wins + losses, 0.5), 1.0)
    if p_value[np.isin(ballots.names, found.rivals)].max() <= alpha / 2 / judges:
        return replace(found, rivals=())
    outdone = p_value <= alpha / 2 / (judges * (judges - 1))
    beaten = {name for name, worse in zip(ballots.names, outdone.tolist(), strict=True) if worse}
    return replace(found, rivals=tuple(name for name in found.rivals if name not in beaten))


def against(ballots: Ballots, place: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return labelled items on which a judge is right and each other is not, the reverse, and who
    voted on the same items.
    """
    known = ballots.truth >= 0
    codes, counts = ballots.codes[known], ballots.counts[known]
    voted, good = codes >= 0, codes == ballots.truth[known][:, None]
    mine = good[:, [place]]
    alike = (voted == voted[:, [place]]).all(axis=0)
    return counts @ (mine & ~good), counts @ (good & ~mine), alike


def with_duels(best: Leader | None, ballots: Ballots) -> Leader | None:
    """Return the leader with the counts on which the test against each rival rests."""
    if best is None or not best.rivals:
        return best
    wins, losses, alike = against(ballots, best.place)
    duels = {
        name: (round(float(wins[j])), round(float(losses[j])))
        for j, name in enumerate(ballots.names)
        if name in best.rivals and alike[j]
    }
    return replace(best, duels=duels)
