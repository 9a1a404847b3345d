"""Who leads, and who may be as good: a judge with few votes is not crowned by luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tallystick.judge.ballots import Floats
from tallystick.stats.intervals import wilson

__all__ = ["Leader", "by_votes", "leader"]

_NAMED = 2


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

    @property
    def others(self) -> str:
        """The rivals in words: at most two of them by name."""
        named, rest = self.rivals[:_NAMED], len(self.rivals) - _NAMED
        if rest > 0:
            return f"{', '.join(named)} and {rest:,} other{'s' if rest > 1 else ''}"
        return " and ".join(named)

    def told(self, share: str, *, would: bool = False) -> str:
        """Return the claim in words; *would* puts it under an assumption that is known to fail.

        >>> leader(("x", "y"), np.array([0.8, 0.2]), np.array([0.9, 0.7])).told("85 %")
        'x is right most often, on 85 %'
        >>> leader(("x", "y"), np.array([0.8, 0.1]), np.array([0.9, 1.0])).told("85 %")
        'x leads with 85 %, and y may be as good'
        """
        if self.judges == 1:
            return f"{self.name} {'would be' if would else 'is'} right on {share}"
        if self.rivals:
            return f"{self.name} {'would lead' if would else 'leads'} with {share}, and {self.others} may be as good"
        return f"{self.name} {'would be' if would else 'is'} right most often, on {share}"


def leader(names: Sequence[str], low: Floats, high: Floats) -> Leader | None:
    """Return the judge with the highest lower end, and those whose upper end reaches it; None if no end is known.

    With ends that hold for all judges at once, a leader without rivals is truly the best of them. A judge with few
    votes has a low lower end, however well it did; NaN is a judge of which nothing is known.

    >>> leader(("many votes", "one vote"), np.array([0.8, 0.02]), np.array([0.9, 1.0]))
    Leader(place=0, name='many votes', rivals=('one vote',), judges=2)
    """
    if not np.isfinite(low).any():
        return None
    best = int(np.nanargmax(low))
    reach = np.flatnonzero(high >= low[best])
    order = reach[np.argsort(-high[reach], kind="stable")]
    rivals = tuple(names[j] for j in order.tolist() if j != best)
    return Leader(place=best, name=names[best], rivals=rivals, judges=len(names))


def by_votes(accuracy: Floats, votes: Floats, *, alpha: float) -> tuple[Floats, Floats]:
    """Return Wilson's ends for estimated accuracies as if they were shares of so many votes, for all judges at once.

    No interval to be shown: it only keeps judges with few votes from leading where a method has no range of its own.
    """
    known = np.isfinite(accuracy) & (votes > 0)
    low, high = np.full((2, len(accuracy)), np.nan)
    if known.any():
        ends = wilson(accuracy[known] * votes[known], votes[known], alpha=alpha / len(accuracy))
        low[known], high[known] = ends.low, ends.high
    return low, high
