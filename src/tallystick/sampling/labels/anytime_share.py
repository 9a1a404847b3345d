r"""The share of ones among these items, whenever you stop and whatever you saw on the way.

The draws of `draws` give values :math:`Z_t` whose expectation is the share (W3). Two gamblers bet
against every share m at once, one on larger and one on smaller shares, with

.. math:: \lambda = \min\Big(\frac{1.25\,w}{\hat\sigma^2}, \frac{.75}{m - low}\Big)   \tag{W6}

where w is the half-width that is wanted: the best bet against a share that far off. What either has
refuted at :math:`2/\alpha`, at any time so far, is outside the interval. Each factor falls as m
grows, also where the bet is cut, so the ends are found by bisection.

*w is fixed before the first draw and stands in the journal.* An interval whose old bets are
computed again with a new w is not valid.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import Literal

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.sampling.labels.bets import (
    capital,
    expected_growth,
    last_refuted,
    mirrored,
    moments_before,
    sign_bets,
)
from tallystick.sampling.labels.consensus import Floats
from tallystick.sampling.labels.rectified import Steps

__all__ = ["ShareVerdict", "anytime_path", "anytime_share", "share_verdict"]

SMALLEST_LEAD = 0.03
"""A verdict bets as if the share were at least this far from the limit."""


def anytime_share(steps: Steps, *, alpha: float = 0.05, skipped: Steps | None = None) -> Interval:
    """Bound the mean of all items at any stopping time, under any way of choosing when to stop.

    Parameters
    ----------
    steps
        What the draws gave, from `rectified_steps`, in draw order.
    alpha
        One minus the level.
    skipped
        If items were skipped: the same draws with each skip at the largest value. *steps* then has
        them at the smallest, and the two ends come from one each.

    Returns
    -------
    Interval
        The intersection over all times so far. It never grows.

    Examples
    --------
    >>> from tallystick.sampling.labels import DrawJournal, draw_batch
    >>> from tallystick.sampling.labels.rectified import rectified_steps
    >>> from tallystick.sampling.labels.strata import score_strata
    >>> strata = score_strata([0.2] * 100 + [0.9] * 400)
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=150, spread=[1, 1], rng=2)
    >>> values = (journal.item >= 100).astype(float)
    >>> print(anytime_share(rectified_steps(journal, values, strata.guess[:, 1])))
    [0.759, 0.817] (95 %, anytime)
    """
    upper = steps if skipped is None else skipped
    low, high = _ends(steps, upper, alpha)
    return Interval(
        low, high, level=1 - alpha, guarantee="anytime", method="betting on rectified draws"
    )


def anytime_path(steps: Steps, *, alpha: float = 0.05) -> tuple[Floats, Floats]:
    """Return both ends after each draw; the lower never falls and the upper never rises.

    >>> one = np.array([0.9])
    >>> steps = Steps(z=one, low=one - 1, high=one + 0.1, values=np.ones(1), items=100)
    >>> [end.tolist() for end in anytime_path(steps)]
    [[0.01], [1.0]]
    """
    _check(alpha)
    below, above = _bets(steps), mirrored(steps, _bets(steps))
    lows, highs = np.empty(steps.z.size), np.empty(steps.z.size)
    low, high = steps.floor, steps.ceiling
    for t in range(1, steps.z.size + 1):
        there = steps.z[:t], steps.low[:t], below[:t]
        mirror = above.z[:t], above.low[:t], above.bets[:t]
        low = min(last_refuted(*there, 2 / alpha, low, steps.ceiling), high)
        high = max(1 - last_refuted(*mirror, 2 / alpha, 1 - high, 1 - steps.floor), low)
        lows[t - 1], highs[t - 1] = low, high

    total, left = np.cumsum(steps.values), steps.items - np.arange(1, steps.z.size + 1)
    least, most = ((total + left * end) / steps.items for end in (steps.floor, steps.ceiling))
    return np.clip(lows, least, most), np.clip(highs, least, most)


@dataclass(frozen=True, kw_only=True)
class ShareVerdict:
    """Evidence that the share lies above or below one limit, valid at any stopping time.

    Parameters
    ----------
    verdict
        ``above``, ``below``, or None while neither is settled.
    above, below
        The e-values now: how many times the stake a fair game would have paid.
    peak_above, peak_below
        Their largest values so far, which the verdict rests on.
    growth
        What one more label is expected to add to the log of the larger e-value; `verdict_forecast`
        turns it into labels.
    """

    verdict: Literal["above", "below"] | None
    above: float
    below: float
    peak_above: float
    peak_below: float
    growth: float


def share_verdict(
    steps: Steps, limit: float, *, alpha: float = 0.05, skipped: Steps | None = None
) -> ShareVerdict:
    """Say whether the mean of all items lies above or below *limit*, at any stopping time.

    The bets of (W5) depend on the limit, so they test this limit and no other: they can not be
    turned into an interval. A wrong verdict has probability at most alpha/2, and at most alpha if
    the share equals the limit.

    Parameters
    ----------
    steps, alpha, skipped
        As in `anytime_share`.
    limit
        The value in question, fixed before the first draw. Outside the range of values the verdict
        is certain, as it can be for what items counted apart leave of a limit.

    Examples
    --------
    >>> z = np.full(60, 0.95)
    >>> steps = Steps(z=z, low=z - 1, high=z + 1, values=z, items=500)
    >>> share_verdict(steps, 0.8).verdict
    'above'
    """
    _check(alpha)
    if not isfinite(limit):
        raise InputError(f"limit must be a number, got {limit!r}")
    upper = steps if skipped is None else skipped
    options = {"start": (steps.floor + steps.ceiling) / 2, "least": SMALLEST_LEAD, "timid": 1.0}
    up, _ = sign_bets(steps.z, limit, **options)
    _, down = sign_bets(upper.z, limit, **options)
    mirror = mirrored(upper, down)
    rise = capital(steps.z, steps.low, up, limit)
    fall = capital(mirror.z, mirror.low, mirror.bets, 1 - limit)

    # What logic settles needs no bet: the values that are left can not reach the limit any more.
    above = np.inf if steps.logical[0] > limit else float(rise[-1]) if rise.size else 1.0
    below = np.inf if upper.logical[1] < limit else float(fall[-1]) if fall.size else 1.0
    peaks = max(above, float(rise.max(initial=1.0))), max(below, float(fall.max(initial=1.0)))
    verdict: Literal["above", "below"] | None = None
    if max(peaks) >= 2 / alpha:
        verdict = "above" if peaks[0] >= peaks[1] else "below"
    return ShareVerdict(
        verdict=verdict,
        above=above,
        below=below,
        peak_above=peaks[0],
        peak_below=peaks[1],
        growth=expected_growth(steps.z, limit, start=options["start"]),
    )


def _ends(lower: Steps, upper: Steps, alpha: float) -> tuple[float, float]:
    _check(alpha)
    least, most = lower.logical[0], upper.logical[1]
    start = lower.floor, lower.ceiling
    low = last_refuted(lower.z, lower.low, _bets(lower), 2 / alpha, *start)
    mirror = mirrored(upper, _bets(upper))
    high = 1 - last_refuted(
        mirror.z, mirror.low, mirror.bets, 2 / alpha, 1 - start[1], 1 - start[0]
    )
    low, high = max(low, least), min(high, most)

    # Both ends can pass each other, with probability at most alpha; then a point is left.
    if low > high:
        low = high = float(
            np.clip((low + high) / 2 if np.isfinite(low + high) else least, least, most)
        )
    return low, high


def _bets(steps: Steps) -> Floats:
    variance = moments_before(steps.z, start=(steps.floor + steps.ceiling) / 2)[1][:-1]
    return np.asarray(1.25 * steps.half_width / variance)  # (W6), cut where it is used


def _check(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise InputError(f"alpha must be in (0, 1), got {alpha!r}")
