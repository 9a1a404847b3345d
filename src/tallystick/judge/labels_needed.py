"""How many more labels: for every judge to ± 5 points, and to tell the leader from its rivals.

Every forecast stays within the table: a table of 200 items never asks for 2,977.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from tallystick.judge.ballots import Ballots, Floats
from tallystick.judge.leader import Leader, against
from tallystick.judge.parts import JudgeScore, LabelsNeeded
from tallystick.results import Interval

__all__ = ["HALF_WIDTH", "labels_needed", "labels_needed_first", "labels_to_tell"]

HALF_WIDTH = 0.05
"""The half-width that is forecast, as a share: ± 5 points."""

_POWER = 0.8


def labels_needed(
    ballots: Ballots,
    best: Leader | None,
    scores: Sequence[JudgeScore],
    right: Floats,
    graded: Floats,
    *,
    alpha: float,
) -> LabelsNeeded:
    r"""Forecast labels from those that are there.

    A half-width h from k of N labels shrinks with :math:`\sqrt{1/k - 1/N}`, so m labels in all give
    ± 5 points where

    .. math:: \frac1m = \frac1N + \left(\frac{.05}{h}\right)^2
              \left(\frac1k - \frac1N\right)   \tag{J11}

    which never exceeds N. The leader is forecast by `labels_to_tell`.

    Parameters
    ----------
    ballots
        Votes with the truth where it is known.
    best
        Who leads.
    scores
        The judges with their intervals.
    right, graded
        Labelled votes of each judge that are right, and all of them.
    alpha
        One minus the level.

    Examples
    --------
    >>> from tallystick.judge import few_labels
    >>> from tallystick.tally import Tally
    >>> votes = {"x": [0, 1] * 100, "y": [0, 1, 0, 0] * 50}
    >>> gold = [0, 1, 0, 1] * 10 + [None] * 160
    >>> few_labels(Tally.of({**votes, "gold": gold}), truth="gold").labels_needed.left
    160
    """
    whole, labels = float(ballots.n), float(ballots.counts[ballots.truth >= 0].sum())
    left = round(whole - labels)
    most = labels
    for score in scores:
        if isinstance(score.interval, Interval) and left and labels:
            half = max(score.interval.width / 2, 1e-9)
            shrink = (HALF_WIDTH / half) ** 2 * (1 / labels - 1 / whole)
            most = max(most, 1 / (1 / whole + shrink))  # (J11)
        elif left:
            most = whole
    precision = min(left, max(0, int(np.ceil(most - labels))))

    if best is None or not best.rivals:
        leader: int | None = None if best is None else 0
        return LabelsNeeded(precision=precision, leader=leader, left=left, enough=best is not None)
    total = labels_to_tell(ballots, best, right, graded, alpha=alpha)
    if total is None:
        return LabelsNeeded(precision=precision, leader=None, left=left, enough=False)
    more = max(1, round(total - labels))
    return LabelsNeeded(precision=precision, leader=min(more, left), left=left, enough=more <= left)


def labels_needed_first(rates: Sequence[float], n: float, *, alpha: float) -> LabelsNeeded:
    """Forecast labels where there are none: for ± 5 points for every judge.

    Parameters
    ----------
    rates
        Label-free accuracies; where they are not known, NaN counts as a half.
    n
        Items.
    alpha
        One minus the level.

    Examples
    --------
    >>> labels_needed_first([0.9, 0.8], 200, alpha=0.05).precision
    111
    """
    held = [0.5 if not np.isfinite(rate) else min(max(rate, 0.5), 0.95) for rate in rates]
    variance = max(rate * (1 - rate) for rate in held)
    free = variance * (NormalDist().inv_cdf(1 - alpha / 2) / HALF_WIDTH) ** 2
    whole = round(n)
    precision = max(1, min(whole, round(free * n / (free + n - 1))))
    return LabelsNeeded(precision=precision, leader=None, left=whole, enough=False)


def labels_to_tell(
    ballots: Ballots, best: Leader, right: Floats, graded: Floats, *, alpha: float
) -> float | None:
    r"""Return about how many labels in all would tell *best* from every rival; None if unknown.

    With wins b and losses c against a rival among k labels, its sign test at one-sided level a
    needs about :math:`k (z_a + z_{.8})^2 (b + c)/(b - c)^2` labels in all (power .8). A rival with
    votes on other items needs intervals that do not meet. Nothing can be forecast against a rival
    that is not behind on the labels so far.

    >>> from tallystick.judge.leader import by_labels
    >>> from tallystick.tally import Tally
    >>> votes = {"x": [0] * 40, "y": [1] * 4 + [0] * 36, "gold": [0] * 40 + [None] * 960}
    >>> votes = Tally.of({name: (column * 25)[:1000] for name, column in votes.items()})
    >>> ballots, right = Ballots.of(votes, truth="gold"), np.array([40.0, 36.0])
    >>> graded = np.array([40.0, 40.0])
    >>> best = by_labels(ballots, right, graded, alpha=0.05)
    >>> round(labels_to_tell(ballots, best, right, graded, alpha=0.05))
    95
    """
    labels, judges = float(ballots.counts[ballots.truth >= 0].sum()), len(ballots.names)
    wins, losses, alike = against(ballots, best.place)
    normal = NormalDist()
    z = normal.inv_cdf(1 - alpha / 2 / judges) + normal.inv_cdf(_POWER)
    wide = normal.inv_cdf(1 - alpha / 4 / judges)

    # Judges without labelled votes, or level with the leader, give no number.
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
    return most if np.isfinite(most) else None
