r"""Flips that are more than noise: how many, and whether there are any.

With a repeats of flips confirmed, b back to the old answer and m in all (weighted),

.. math:: κ = (a - b)/m, \qquad \text{flips beyond noise} = F κ   \tag{N4}

equals E[½‖P - Q‖²] if both APIs are equally noisy (P and Q are an item's old and new distributions
of answers), so its lower end bounds the share of items whose distribution changed. It is negative
if the new API is noisier.

"Nothing changed but chance" is tested by confirmed against reverted repeats, one-sided. Under it
the old answer and the two new ones are draws of one distribution, so over items drawn with equal
probability a decided repeat confirms or reverts with probability ½. That does not hold within a
stratum: an old answer that was a slip stands alone in its stratum, and its flip is confirmed. So
where strata were drawn at unequal rates (small ones get a least number of questions) the counts are
weighted; unweighted ones said "more than chance" in .06-.07 of runs on an unchanged API, weighted
ones in at most .04. At any time, with equal probabilities, by

.. math:: E = 2^{a+b+1}\, B(a + 1, b + 1)\, (1 - I_{½}(a + 1, b + 1)) \ge 1/α   \tag{N5}

the likelihood ratio of "confirmed more often than not, uniformly" against a fair coin.
methods/shift.md, *Flips beyond noise*, with item 6 of the corrections; item 8 of them, unweighted
counts, is corrected here.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.shift.intervals import SumBounds
from tallystick.shift.noise_share import Confirmed
from tallystick.stats.intervals import score_ends
from tallystick.stats.ranges import at_least, open_unit
from tallystick.stats.signs import sign_log_e

__all__ = ["BeyondNoise", "ChanceTest", "beyond_noise", "chance_log_e", "chance_p_value"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BeyondNoise:
    """The share of flips beyond noise with its interval; arrays of any shape."""

    value: Floats
    low: Floats
    high: Floats


def beyond_noise(flips: SumBounds, repeats: Confirmed, *, alpha: float = 0.05) -> BeyondNoise:
    r"""Bound the flips beyond noise, (N4).

    κ's interval is 2 Wilson((κ + 1)/2, m²/Σw²) - 1, and the reaches of F and κ are combined as
    :math:`\sqrt{(κ \cdot \text{reach of } F)^2 + (F \cdot \text{reach of } κ)^2}`. Without a repeat
    the share is 0 in [-u, u], u the upper end of F: nothing is known.

    Parameters
    ----------
    flips
        The flip rate, moved to the blind estimate:
        :func:`~tallystick.shift.noisy_change.noisy_flips`.
    repeats
        Over all flips, :meth:`~tallystick.shift.noise_share.Repeats.flips`.
    alpha
        One minus the level.

    Examples
    --------
    >>> one = np.asarray
    >>> rate = SumBounds(one(0.13), one(0.0878), one(0.1590), one(0.0), one(0.0))
    >>> found = beyond_noise(rate, Confirmed(one(39.0), one(19.0), one(16.0), one(39.0)))
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    0.0100 [-0.0299, 0.0480]
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    m = repeats.repeats
    some = m > 0
    kappa = np.where(some, (repeats.confirmed - repeats.reverted) / np.where(some, m, 1.0), 0.0)
    z = np.asarray(-float(ndtri(alpha / 2)))
    low, high = (2 * end - 1 for end in score_ends((kappa + 1) / 2, repeats.size, z))

    rate = flips.value
    down = np.hypot(kappa * _reach(flips, kappa, down=True), rate * (kappa - low))
    up = np.hypot(kappa * _reach(flips, kappa, down=False), rate * (high - kappa))
    value = rate * kappa  # (N4)
    return BeyondNoise(
        value=np.asarray(value),
        low=np.where(some, np.maximum(value - down, -1.0), -flips.high),
        high=np.where(some, np.minimum(value + up, 1.0), flips.high),
    )


def _reach(flips: SumBounds, kappa: Floats, *, down: bool) -> Floats:
    """Return how far F reaches in the direction that moves Fκ down (or up): it turns with κ."""
    below, above = flips.value - flips.low, flips.high - flips.value
    return np.where((kappa >= 0) == down, below, above)


def chance_p_value(confirmed: npt.ArrayLike, reverted: npt.ArrayLike) -> Floats:
    """Return the one-sided p-value of "nothing changed but chance": P(X >= a), X of (a + b, ½).

    Parameters
    ----------
    confirmed, reverted
        a and b, :attr:`~tallystick.shift.noise_share.Confirmed.decided`; repeats that gave a third
        answer do not count. The test is exact for whole counts of items drawn with equal
        probability.

    Examples
    --------
    >>> [round(float(chance_p_value(a, b)), 4) for a, b in ((7, 0), (6.5, 0.2), (0, 0))]
    [0.0078, 0.0159, 1.0]
    """
    from scipy.special import betainc

    at_least(0, confirmed=confirmed, reverted=reverted)
    a, b = np.asarray(confirmed, dtype=float), np.asarray(reverted, dtype=float)
    some = a > 0
    # The binomial tail as a beta integral, which weighted counts have as well.
    return np.asarray(np.where(some, betainc(np.where(some, a, 1.0), b + 1, 0.5), 1.0))


def chance_log_e(confirmed: npt.ArrayLike, reverted: npt.ArrayLike) -> Floats:
    """Return log E of (N5).

    Examples
    --------
    >>> np.exp(chance_log_e([6, 7, 12], [0, 0, 2])).round(4).tolist()
    [18.1429, 31.875, 23.9172]
    """
    from scipy.special import betainc

    a, b = np.asarray(confirmed, dtype=float), np.asarray(reverted, dtype=float)
    # 1 - I_½(a+1, b+1) = I_½(b+1, a+1), a tail of its own that loses no digits.
    tail = betainc(b + 1, a + 1, 0.5)
    with np.errstate(divide="ignore"):  # so one-sided that the tail underflows: E = 0
        return np.asarray(sign_log_e(a, b) + log(2) + np.log(tail))


@dataclass(frozen=True, kw_only=True)
class ChanceTest:
    """The test of "nothing changed but chance" as a stream, valid at any stopping time.

    Flips must be repeated in a uniformly random order of items that were drawn with equal
    probability.

    Parameters
    ----------
    confirmed, reverted
        a and b so far.
    peak
        The largest log E on the way.

    Examples
    --------
    >>> test = ChanceTest().update([1] * 6)
    >>> test.p_value < 0.05, test.update([1]).p_value < 0.05
    (False, True)
    """

    confirmed: int = 0
    reverted: int = 0
    peak: float = 0.0

    @property
    def p_value(self) -> float:
        """The anytime p-value, one over the largest E so far; at most 1."""
        return exp(-self.peak)

    def update(self, repeats: npt.ArrayLike) -> ChanceTest:
        """Return the test after more repeats, in order: 1 confirmed, -1 reverted, 0 neither."""
        steps = np.atleast_1d(np.asarray(repeats, dtype=float))
        if steps.ndim != 1 or not np.isin(steps, (-1.0, 0.0, 1.0)).all():
            raise InputError("repeats must be 1 (confirmed), -1 (reverted) or 0 (a third answer)")
        if not steps.size:
            return self
        a = self.confirmed + np.cumsum(steps > 0)
        b = self.reverted + np.cumsum(steps < 0)
        peak = max(self.peak, float(np.max(chance_log_e(a, b))))
        return ChanceTest(confirmed=int(a[-1]), reverted=int(b[-1]), peak=peak)
