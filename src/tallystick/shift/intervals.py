r"""Intervals for sums of flips that were sampled adaptively, without replacement, from strata.

A *sum* is θ = Σ p_k f_k over the strata where an event is possible, of mass m: the share of items
that flipped, that became right, that moved into a cell of the matrix. With X events among n answers
of a stratum, w = p/n, φ = n/N_k,

.. math::

   est = \sum w X, \quad \bar f = est/m, \quad \tilde f = \frac{X + \bar f}{n + 1}, \quad
   v = \sum p^2 (1 - \varphi) \frac{\tilde f (1 - \tilde f)}{n}, \quad
   w^+ = \max_k w_k \frac{\varphi}{-\ln(1 - \varphi)}   \tag{I1}

(w⁺ is what one more event, not yet seen, would add: 0 where a stratum is exhausted). All divided by
m,

.. math::

   upper &= B^{-1}(1 - \tfrac\alpha2;\; e' n', (1 - e') n'), \quad e' = est + w^+,\; v' = v + (w^+)^2,\;
            n' = e'(1 - e')/v' \\
   lower &= B^{-1}(\tfrac\alpha2;\; est\, n^*, n^* (1 - est) + 1), \quad n^* = est (1 - est)/v   \tag{I2}

with B⁻¹ the beta quantile, lower = 0 without an event, and the complement where est > 1/2.
docs/theory/shift.md, *Intervals*. Everything is element by element over leading axes; strata are
the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["StratumSample", "SumBounds", "minus", "sum_bounds"]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class StratumSample:
    """What was answered in every stratum, along the last axis.

    Parameters
    ----------
    shares
        p, the part of all items in the stratum.
    answered
        n, at least 1 in every stratum.
    fraction
        φ, the part of the stratum that was answered.
    """

    shares: FloatArray
    answered: FloatArray
    fraction: FloatArray

    @property
    def by_event(self) -> StratumSample:
        """The same with an axis before the strata, for several events of each run."""
        return StratumSample(self.shares, self.answered[..., None, :], self.fraction[..., None, :])


@dataclass(frozen=True, eq=False)
class SumBounds:
    """A sum with its interval, its variance v, and the smoothed rates of its strata."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    variance: FloatArray
    rate: FloatArray


def sum_bounds(
    events: FloatArray, sample: StratumSample, *, alpha: float, possible: BoolArray | None = None
) -> SumBounds:
    """Return θ and its interval (I2) from the *events* of every stratum.

    Parameters
    ----------
    events
        X, shape (…, S).
    sample
        n, p and φ, broadcast against *events*.
    alpha
        One minus the level.
    possible
        In which strata the event can happen at all; None means everywhere.

    Examples
    --------
    >>> import numpy as np
    >>> seen = StratumSample(np.array([0.7, 0.3]), np.array([70.0, 30.0]), np.array([0.1, 0.1]))
    >>> bounds = sum_bounds(np.array([0.0, 3.0]), seen, alpha=0.05)
    >>> print(f"{bounds.value:.3f} [{bounds.low:.4f}, {bounds.high:.4f}]")
    0.030 [0.0075, 0.0818]
    """
    where = np.ones(events.shape[-1], bool) if possible is None else possible
    p = np.where(where, sample.shares, 0.0)
    mass = p.sum(axis=-1)
    safe = np.where(mass > 0, mass, 1.0)
    n, phi = sample.answered, sample.fraction
    est = (p * events / n).sum(axis=-1) / safe
    rate = np.where(where, (events + est[..., None]) / (n + 1), 0.0)  # f̃
    spread = np.where(where, p**2 * (1 - phi) / n, 0.0) / safe[..., None] ** 2
    v = (spread * rate * (1 - rate)).sum(axis=-1)  # (I1); 0 <= rate <= 1
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen = np.where(phi >= 1, 0.0, np.where(phi > 0, phi / -np.log1p(-phi), 1.0))
    more = (p / n * unseen).max(axis=-1) / safe  # w⁺
    flip = est > 0.5
    share = np.where(flip, 1 - est, est)
    # X -> n - X gives the rate (n - X + 1 - f̄)/(n + 1) = 1 - f̃, so v is its own complement.
    low, high = _ends(share, v, more, alpha)
    ends = np.where(flip, 1 - high, low), np.where(flip, 1 - low, high)
    some = mass > 0
    return SumBounds(
        est * safe * some,
        ends[0] * safe * some,
        ends[1] * safe * some,
        v * safe**2 * some,
        rate * some[..., None],
    )


def _ends(
    est: FloatArray, v: FloatArray, more: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return (I2) for est <= 1/2, all already divided by the mass."""
    from scipy.special import betaincinv

    e = est + more
    spread = v + more**2
    fits = (e < 1) & (spread > 0) & (spread < e * (1 - e))
    n = np.where(fits, e * (1 - e) / np.where(fits, spread, 1.0), 1.0)
    inner = np.where(fits, e, 0.5)
    high = np.where(
        fits, betaincinv(inner * n, (1 - inner) * n, 1 - alpha / 2), np.where(spread > 0, 1.0, est)
    )
    seen = (est > 0) & (v > 0)
    m = np.where(seen, est * (1 - est) / np.where(seen, v, 1.0), 1.0)
    share = np.where(seen, est, 0.5)
    low = np.where(
        seen, betaincinv(share * m, m * (1 - share) + 1, alpha / 2), np.where(v > 0, 0.0, est)
    )
    return np.minimum(low, est), np.maximum(high, est)


def minus(gain: SumBounds, loss: SumBounds, sample: StratumSample) -> SumBounds:
    r"""Return the difference of two sums over the same answers, by MOVER.

    .. math:: low = g - q - \sqrt{(g - l_g)^2 + (u_q - q)^2 - 2 r (g - l_g)(u_q - q)}   \tag{I3}

    and likewise high, with r the correlation that :math:`cov = -\sum p^2 (1 - \varphi) f_g f_q / n`
    makes: no item can both gain and lose.
    """
    cov = -(sample.shares**2 * (1 - sample.fraction) / sample.answered * gain.rate * loss.rate).sum(
        axis=-1
    )
    scale = np.sqrt(gain.variance * loss.variance)
    r = np.clip(np.where(scale > 0, cov / np.where(scale > 0, scale, 1.0), 0.0), -1.0, 0.0)

    def length(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(a**2 + b**2 - 2 * r * a * b))

    value = gain.value - loss.value
    low = value - length(gain.value - gain.low, loss.high - loss.value)  # (I3)
    high = value + length(gain.high - gain.value, loss.value - loss.low)
    variance = gain.variance + loss.variance - 2 * cov
    return SumBounds(value, np.maximum(low, -1.0), np.minimum(high, 1.0), variance, gain.rate)
