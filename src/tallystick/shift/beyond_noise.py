r"""Flips that are more than noise: how many, and whether there are any.

With a repeats of flips confirmed, b back to the old answer and m in all (weighted),

.. math:: κ = (a - b)/m, \qquad \text{flips beyond noise} = F κ   \tag{N4}

equals E[½‖P - Q‖²] if both APIs are equally noisy (P and Q are an item's old and new distributions
of answers), so its lower end bounds the share of items whose distribution changed. With U the
chance that two answers of one API to an item differ, and c repeats that gave a third answer,

.. math:: E[½‖P - Q‖²] = F - ½ U_{new} - ½ U_{old}, \qquad U_{new} = F (2 b + c)/m   \tag{N10}

whatever the noise. Several old draws measure U_old; U_old = U_new gives (N4). (N4) is too small if
the new API is noisier, so without old draws the upper end takes U_old for 0. Where the repeats show
that the new API is noisier (b > a, or U_new > U_old) the upper end is that of all flips: an API
that became less stable changed, however close to the old answers its distribution stays.

"Nothing changed but chance" is tested by confirmed against reverted repeats, one-sided. Under it
the old answer and the two new ones are draws of one distribution, so over items drawn with equal
probability a decided repeat confirms or reverts with probability ½. That does not hold within a
stratum: an old answer that was a slip stands alone in its stratum, and its flip is confirmed. So
where strata were drawn at unequal rates (small ones get a least number of questions) the counts are
weighted; unweighted ones said "more than chance" in .06-.07 of runs on an unchanged API, weighted
ones in at most .04. At any time, with equal probabilities, by

.. math:: E = 2^{a+b+1}\, B(a + 1, b + 1)\, (1 - I_{½}(a + 1, b + 1)) \ge 1/α   \tag{N5}

the likelihood ratio of "confirmed more often than not, uniformly" against a fair coin.
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
    """The share of flips beyond noise with its interval; arrays of any shape.

    Parameters
    ----------
    value, low, high
        A share, so none is below 0.
    less_stable
        Whether the new API is noisier than the old one: then *high* is that of all flips.
    """

    value: Floats
    low: Floats
    high: Floats
    less_stable: npt.NDArray[np.bool_]


def beyond_noise(
    flips: SumBounds,
    repeats: Confirmed,
    *,
    old: tuple[float, int] | None = None,
    alpha: float = 0.05,
) -> BeyondNoise:
    r"""Bound the flips beyond noise: (N4), or (N10) where old draws show the old noise.

    The interval of (a + c/2)/m = (κ + 1)/2 is Wilson's at m²/Σw², and the reaches of F, κ and U_old
    are combined as the root of the sum of their squares. Without a repeat nothing is known but that
    the share is at most that of all flips.

    Parameters
    ----------
    flips
        The flip rate, moved to the blind estimate:
        :func:`~tallystick.shift.noisy_change.noisy_flips`.
    repeats
        Over all flips, :meth:`~tallystick.shift.noise_share.Repeats.flips`.
    old
        U_old and the number of items that show it. Without it the estimate and the lower end take
        it for U_new, the upper end for 0.
    alpha
        One minus the level.

    Examples
    --------
    >>> one = np.asarray
    >>> rate = SumBounds(one(0.13), one(0.0878), one(0.1590), one(0.0), one(0.0))
    >>> def shown(confirmed, reverted, old=None):
    ...     repeats = Confirmed(one(39.0), one(confirmed), one(reverted), one(39.0))
    ...     found = beyond_noise(rate, repeats, old=old)
    ...     return f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}] {found.less_stable}"
    >>> shown(19.0, 16.0), shown(19.0, 16.0, old=(0.12, 500))
    ('0.0100 [0.0000, 0.0946] False', '0.0100 [0.0000, 0.0377] False')
    >>> shown(4.0, 35.0), shown(4.0, 35.0, old=(0.0, 500))
    ('0.0000 [0.0000, 0.1590] True', '0.0133 [0.0034, 0.1590] True')
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    m, rate = repeats.repeats, flips.value
    some = m > 0
    kappa = np.where(some, (repeats.confirmed - repeats.reverted) / np.where(some, m, 1.0), 0.0)
    kept = (kappa + 1) / 2
    z = np.asarray(-float(ndtri(alpha / 2)))
    low, high = score_ends(kept, repeats.size, z)

    if old is None:
        before, fewer = 0.0, 0.0
        value = rate * kappa  # (N4)
        down = _root(kappa * _reach(flips, kappa), 2 * rate * (kept - low))
        # Equal noise makes confirmed repeats at least as likely as reverted ones.
        less_stable = chance_p_value(*reversed(repeats.decided)) <= alpha / 2
    else:
        before = old[0]
        fewest, most = score_ends(np.asarray(before), np.asarray(float(old[1])), z)
        fewer, more = before - float(fewest), float(most) - before
        value = rate * kept - before / 2  # (N10)
        down = _root(kept * (rate - flips.low), rate * (kept - low), more / 2)
        unsure = _root(2 * (1 - kept) * (rate - flips.low), 2 * rate * (high - kept), more)
        less_stable = 2 * rate * (1 - kept) - before > unsure

    # An API that is not shown to be less stable confirms at least half of its flips.
    held = np.maximum(kept, 0.5) if old is None else kept
    up = _root(held * (flips.high - rate), rate * (high - kept), fewer / 2)
    most_beyond = np.maximum(rate * held - before / 2, 0.0) + up
    return BeyondNoise(
        value=np.maximum(value, 0.0),
        low=np.where(some, np.maximum(value - down, 0.0), 0.0),
        high=np.where(some & ~less_stable, np.minimum(most_beyond, flips.high), flips.high),
        less_stable=np.asarray(some & less_stable),
    )


def _root(*reaches: npt.ArrayLike) -> Floats:
    """Return the root of the sum of squares."""
    return np.asarray(np.sqrt(sum(np.square(one) for one in reaches)))


def _reach(flips: SumBounds, kappa: Floats) -> Floats:
    """Return how far F reaches in the direction that moves Fκ down: it turns with κ."""
    return np.where(kappa >= 0, flips.value - flips.low, flips.high - flips.value)


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
