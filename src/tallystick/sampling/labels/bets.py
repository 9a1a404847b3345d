r"""Capital that bets against a mean: how large a bet is, and when it has refuted a value.

A gambler who holds that the mean is above m starts with 1 and multiplies
:math:`1 + \lambda_t (Z_t - m)`. If m is the mean, the capital is a fair game whatever bets are made
from the past, so it ever reaches :math:`2/\alpha` with probability at most :math:`\alpha/2`
(Ville). No bet risks more than three quarters of the capital:
:math:`\lambda_t \le .75/(m - low_t)`. The gambler on smaller means plays the same game on the
mirrored values.

Mean and variance of the values before each draw, as in (I11) with
:math:`\hat\mu_i = (\mu_0 + \sum_{j \le i} Z_j)/(i + 1)`,

.. math:: \hat\sigma^2_i = \frac{\tfrac14 + \sum_{j \le i} (Z_j - \hat\mu_j)^2}{i + 1},   \tag{W4}

and the bet on draw i uses what was known after draw i - 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.sampling.labels.consensus import Floats
from tallystick.sampling.labels.rectified import Steps
from tallystick.stats.wealth import Wagers

__all__ = [
    "CUT",
    "SLACK",
    "Mirrored",
    "capital",
    "expected_growth",
    "last_refuted",
    "mirrored",
    "moments_before",
    "sign_bets",
]

CUT = 0.75
"""The largest part of the capital that one draw can lose."""
HALVINGS = 40
"""Steps of bisection: an end is good to 1e-12 of the range, and errs outwards."""
SLACK = 1e-9
"""A mean this far below the least possible value is not refuted: it may be there by rounding."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Mirrored:
    """Values, their least possible value before each draw, and the bets before they are cut."""

    z: Floats
    low: Floats
    bets: Floats


def moments_before(z: Floats, *, start: float = 0.5) -> tuple[Floats, Floats]:
    """Return the mean and variance (W4) that were known before each draw, one entry more than z.

    >>> mean, variance = moments_before(np.array([1.0]), start=0.5)
    >>> mean.tolist(), variance.tolist()
    ([0.5, 0.75], [0.25, 0.15625])
    """
    count = np.arange(1, z.size + 2)
    mean = (start + np.concatenate(([0.0], np.cumsum(z)))) / count
    scatter = np.concatenate(([0.25], 0.25 + np.cumsum((z - mean[1:]) ** 2)))
    return mean, scatter / count


def sign_bets(
    z: Floats, m: float, *, start: float, least: float, timid: float
) -> tuple[Floats, Floats]:
    r"""Return the bets of the gamblers above and below m, before they are cut.

    .. math:: \lambda = e/(\hat\sigma^2 + e^2), \qquad e = \max(|\hat\mu - m|, e_{min})   \tag{W5}

    is the bet that grows fastest if the mean is as far from m as it looks; the gambler against the
    current estimate stakes only the share *timid* of it.

    >>> up, down = sign_bets(np.array([1.0]), 0.5, start=0.5, least=0.05, timid=0.25)
    >>> up.round(3).tolist(), down.round(3).tolist()
    ([0.198], [0.198])
    """
    mean, variance = moments_before(z, start=start)
    mean, variance = mean[:-1], variance[:-1]  # the last entry bets on a draw that is not there
    e = np.maximum(np.abs(mean - m), least)
    bets = e / (variance + e**2)  # (W5)
    return bets * np.where(mean >= m, 1.0, timid), bets * np.where(mean <= m, 1.0, timid)


def expected_growth(z: Floats, m: float, *, start: float) -> float:
    r"""Return what the next draw is expected to add to the log capital of a bet (W5) against m.

    About :math:`\tfrac12 e^2/(\hat\sigma^2 + e^2)`, e being the distance of the current estimate.

    >>> round(expected_growth(np.full(9, 0.9), 0.5, start=0.5), 3)
    0.397
    """
    mean, variance = (part[-1] for part in moments_before(z, start=start))
    e2 = float(mean - m) ** 2
    return 0.5 * e2 / (float(variance) + e2)


def mirrored(steps: Steps, bets: Floats) -> Mirrored:
    """Return the steps of the gambler on smaller means: one minus everything.

    >>> one = np.array([0.2])
    >>> steps = Steps(z=one, low=one - 1, high=one + 1, values=np.zeros(1), items=9)
    >>> mirrored(steps, one).low.round(1).tolist()
    [-0.2]
    """
    return Mirrored(z=1 - steps.z, low=1 - steps.high, bets=bets)


def capital(z: Floats, low: Floats, bets: Floats, m: float) -> Floats:
    """Return the capital against the mean m after each draw; infinite once m is impossible.

    Examples
    --------
    >>> z, low, bets = np.array([0.9, 0.8]), np.array([-0.1, 0.0]), np.array([0.5, 9.0])
    >>> capital(z, low, bets, 0.5).round(4).tolist()
    [1.2, 1.74]
    """
    risk = m - low
    cut = np.divide(CUT, risk, out=np.full_like(risk, np.inf), where=risk > 0)
    # In logarithms, and no larger than e^700: evidence goes on growing after it has settled things.
    growth = np.exp(np.minimum(np.cumsum(np.log1p(np.minimum(bets, cut) * (z - m))), 700.0))
    # The mean lies above the least value that Z could have, so a smaller m is refuted at once.
    return np.where(np.logical_or.accumulate(risk < -SLACK), np.inf, growth)


def last_refuted(
    z: Floats, low: Floats, bets: Floats, threshold: float, left: float, right: float
) -> float:
    """Return the largest refuted m in [left, right]; *left* if none is, infinite if all are.

    Examples
    --------
    >>> z, low, bets = np.full(20, 0.9), np.zeros(20), np.ones(20)
    >>> round(last_refuted(z, low, bets, 40.0, 0.0, 1.0), 3)
    0.697
    """
    if not z.size:  # nothing was labelled yet
        return left
    rows = z[None], low[None], bets[None]
    one, nothing = np.ones_like(rows[0]), np.zeros_like(rows[0])
    wagers = Wagers(
        x=rows[0],
        stakes=rows[2],
        slope=one,
        offset=nothing,
        reach=-rows[1],
        floor=rows[1] - SLACK,
        cut=CUT,
    )
    bar, least, most = (np.array([end], dtype=np.float64) for end in (threshold, left, right))
    return float(wagers.last_refuted(bar, least, most, HALVINGS)[0])
