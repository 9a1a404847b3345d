"""Who leads, and who may be as good: a judge with few votes is not crowned by luck."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from tallystick.judge.ballots import Ballots, Floats
from tallystick.results import Needed
from tallystick.stats.binomial import binomial_up_to
from tallystick.stats.intervals import clopper_pearson, wilson

__all__ = ["Leader", "by_labels", "by_votes", "labels_to_tell", "leader"]

_NAMED = 2
_POWER = 0.8


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
            return (
                f"{self.name} {'would lead' if would else 'leads'} with {share}, and {self.others}"
                " may be as good"
            )
        return f"{self.name} {'would be' if would else 'is'} right most often, on {share}"


def leader(names: Sequence[str], low: Floats, high: Floats) -> Leader | None:
    """Return the judge with the highest lower end, and those whose upper end reaches it; None if no
    end is known.

    With ends that hold for all judges at once, a leader without rivals is truly the best of them. A
    judge with few votes has a low lower end, however well it did; NaN is a judge of which nothing
    is known.

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


def by_labels(ballots: Ballots, right: Floats, graded: Floats, *, alpha: float) -> Leader | None:
    """Return who leads by labelled votes: by exact intervals, and by an exact sign test where two
    share their items.

    Each of the two has half of alpha, divided among all judges and all pairs, so that a leader
    without rivals is truly the best with probability 1 - alpha. The test sees what intervals
    cannot: that of two judges on the same items one is right where the other is wrong, hardly ever
    the other way round (McNemar's test).

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
    wins, losses, alike = _against(ballots, found.place)
    p_value = binomial_up_to(losses, wins + losses, 0.5)
    outdone = alike & (p_value <= alpha / 2 / (judges * (judges - 1)))
    beaten = {name for name, worse in zip(ballots.names, outdone.tolist(), strict=True) if worse}
    return replace(found, rivals=tuple(name for name in found.rivals if name not in beaten))


def labels_to_tell(
    ballots: Ballots, best: Leader | None, right: Floats, graded: Floats, *, alpha: float
) -> Needed | None:
    r"""Return about how many more labels would tell *best* from all its rivals, as `by_labels`
    does; None without any.

    With wins b and losses c against a rival among k labels, its sign test at one-sided level a
    needs about :math:`k (z_a + z_{.8})^2 (b + c)/(b - c)^2` labels in all (power .8); a rival with
    votes on other items needs intervals that do not meet. How many is unknown against a rival that
    is not behind on the labels so far.

    >>> from tallystick.tally import Tally
    >>> votes = {"x": [0] * 40, "y": [1] * 4 + [0] * 36, "gold": [0] * 40 + [None] * 960}
    >>> votes = Tally.of({name: (column * 25)[:1000] for name, column in votes.items()})
    >>> ballots, right, graded = Ballots.of(votes, truth="gold"), np.array([40.0, 36.0]), np.array([40.0, 40.0])
    >>> print(labels_to_tell(ballots, by_labels(ballots, right, graded, alpha=0.05), right, graded, alpha=0.05))
    about 55 more labels on items drawn at random
    """
    drawn = "labels on items drawn at random"
    if best is None:
        return Needed(None, "labels on items that have votes")
    if not best.rivals:
        return None
    labels, judges = float(ballots.counts[ballots.truth >= 0].sum()), len(ballots.names)
    wins, losses, alike = _against(ballots, best.place)
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2 / (judges * (judges - 1))) + normal.inv_cdf(_POWER)
    wide = normal.inv_cdf(1 - alpha / 4 / judges)
    # judges without labelled votes, or level with the leader: no number
    with np.errstate(all="ignore"):
        paired = np.where(
            wins > losses, labels * (wins + losses) * (z / (wins - losses)) ** 2, np.nan
        )
        share = right / graded
        spread = np.sqrt(share * (1 - share) / graded)
        ahead = share[best.place] - share
        apart = np.where(
            ahead > 0, labels * (wide * (spread + spread[best.place]) / ahead) ** 2, np.nan
        )
    rivals = np.isin(ballots.names, best.rivals)
    most = float(np.max(np.where(alike, paired, apart)[rivals]))
    if not np.isfinite(most):
        return Needed(None, drawn)
    count = max(1, round(most - labels))
    return Needed(count, drawn if labels + count <= ballots.n else "labelled items like these")


def _against(ballots: Ballots, place: int) -> tuple[Floats, Floats, NDArray[np.bool_]]:
    """Return labelled items on which a judge is right and each other not, the reverse, and who has
    the same items.
    """
    known = ballots.truth >= 0
    codes, counts = ballots.codes[known], ballots.counts[known]
    voted, good = codes >= 0, codes == ballots.truth[known][:, None]
    mine = good[:, [place]]
    alike = (voted == voted[:, [place]]).all(axis=0)
    return counts @ (mine & ~good), counts @ (good & ~mine), alike


def by_votes(accuracy: Floats, votes: Floats, *, alpha: float) -> tuple[Floats, Floats]:
    """Return Wilson's ends for estimated accuracies as if they were shares of so many votes, for
    all judges at once.

    No interval to be shown: it only keeps judges with few votes from leading where a method has no
    range of its own.
    """
    known = np.isfinite(accuracy) & (votes > 0)
    low, high = np.full((2, len(accuracy)), np.nan)
    if known.any():
        ends = wilson(accuracy[known] * votes[known], votes[known], alpha=alpha / len(accuracy))
        low[known], high[known] = ends.low, ends.high
    return low, high
