r"""Intervals for sums that were sampled adaptively, without replacement, from strata.

A *sum* is θ = Σ p_k f_k over the strata where an event is possible, of mass m: the share of items
that flipped, the gains of a mean, what moved into a cell of the matrix. With X the sum of n answers
of a stratum (each in [0, 1]), X₂ that of their squares, w = p/n, φ = n/N_k,

.. math::

   est = \sum w X, \quad \bar f = est/m, \quad \tilde f = \frac{X + \bar f}{n + 1}, \quad
   v = \sum p^2 (1 - \varphi) \frac{1}{n}\Bigl(\frac{X_2 + \bar q}{n + 1} - \tilde f^2\Bigr), \quad
   w^+ = d \max_k w_k \frac{\varphi}{-\ln(1 - \varphi)}   \tag{I1}

with q̄ the pooled second moment and d the largest value seen (1 if none). For events, X₂ = X and
the bracket is f̃(1 - f̃). w⁺ is what one more event, not yet seen, would add: 0 where a stratum is
exhausted. All divided by m,

.. math::

   upper &= B^{-1}(1 - \tfrac\alpha2;\; e' n', (1 - e') n'), \quad e' = est + w^+,\; v' = v + (w^+)^2,\;
            n' = e'(1 - e')/v' \\
   lower &= B^{-1}(\tfrac\alpha2;\; est\, n^*, n^* (1 - est) + 1), \quad n^* = est (1 - est)/v   \tag{I2}

with B⁻¹ the beta quantile, lower = 0 without an event, and the complement where est > 1/2.

With every item asked, a deterministic API leaves no doubt; a noisy one would answer differently
tomorrow. So the intervals get a noise term, with λ the noise share (`noise`), M the items, D₂ the
mean of d² and F the pooled flip rate:

.. math::

   \text{change of a mean:} \quad & z^2 λ (D_2 + 1/M)/M \text{ under both roots of (I3)} \\
   \text{flip rate:} \quad & v + F \min(λ, 1 - F)/M, \quad w^+ \ge λ/M   \tag{N2}

and both are moved towards the blind estimate by δ = Σ p_k (blind mean - pooled mean) over strata
that are not exhausted. A cell c of the matrix, and with it the accuracy, is estimated by (I3) plus

.. math:: (1 - β) \Bigl(\sum_k p_k \bar o_{kc} - C_c - a_c (t - T)\Bigr), \quad
          β = \mathrm{clip}\Bigl(\frac{A + .1 B}{1.1 B}, 0, 1\Bigr)   \tag{I4}

with ō the old answers to the items asked and C those to all items, t and T the shares of the items
with the true label of c among both, a what such items answer now, and A, B the sums over strata and
cells of :math:`p_k^2 (1 - φ_k)/(n_k - 1)` times the covariance of new and old answers and the
variance of old ones.
docs/theory/shift.md, *Intervals*. Element by element over leading axes;
strata are the last one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

# Parts of δ, the gap to the blind estimate, by which a flip rate moves, and by which the interval
# of a mean is stretched. With .5 for both the flip rate covered .904 on real version changes.
FLIP_HULL, MEAN_HULL = 1.0, 0.5


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


@dataclass(frozen=True, eq=False)
class SumBounds:
    """A sum with its interval and variance, and the shrunk rate f̃ of each stratum."""

    value: FloatArray
    low: FloatArray
    high: FloatArray
    variance: FloatArray
    rate: FloatArray


@dataclass(frozen=True, eq=False, kw_only=True)
class Moves:
    """What a mean gained and lost, by stratum: sums over the answers, and sums of squares.

    Parameters
    ----------
    gain, loss, gain_square, loss_square
        Sums of max(d, 0) and max(-d, 0), and of their squares.
    can_gain, can_lose
        Strata in which that is possible: with old values below 1, and above 0.
    largest
        The largest size of a d that was seen; 1 if nothing moved.
    """

    gain: FloatArray
    loss: FloatArray
    gain_square: FloatArray
    loss_square: FloatArray
    can_gain: BoolArray
    can_lose: BoolArray
    largest: float = 1.0

    @property
    def net(self) -> FloatArray:
        """Gains minus losses."""
        return self.gain - self.loss


def sum_bounds(
    total: FloatArray,
    sample: StratumSample,
    *,
    alpha: float,
    possible: BoolArray | None = None,
    square: FloatArray | None = None,
    largest: float = 1.0,
    noise: ArrayLike = 0.0,
    floor: ArrayLike = 0.0,
) -> SumBounds:
    """Bound one sum, (I1) and (I2).

    Parameters
    ----------
    total, square
        X and X₂ of each stratum; without squares X counts events.
    sample
        What was answered.
    alpha
        One minus the level.
    possible
        Strata in which the event can happen; None for all.
    largest
        The largest value that was seen.
    noise, floor
        What fresh answers add to v, and below what w⁺ may not fall.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.7, 0.3]), np.array([70.0, 30.0]), np.array([0.1, 0.1]))
    >>> bounds = sum_bounds(np.array([0.0, 3.0]), sample, alpha=0.05)
    >>> print(f"{bounds.value:.3f} [{bounds.low:.4f}, {bounds.high:.4f}]")
    0.030 [0.0075, 0.0818]
    """
    where = np.ones(total.shape[-1], bool) if possible is None else possible
    p = np.where(where, sample.shares, 0.0)
    mass = p.sum(axis=-1)
    safe = np.where(mass > 0, mass, 1.0)
    n, phi = sample.answered, sample.fraction
    squares = total if square is None else square
    value = (p * total / n).sum(axis=-1)
    est, second = value / safe, (p * squares / n).sum(axis=-1) / safe

    rate = np.where(where, (total + est[..., None]) / (n + 1), 0.0)  # f̃
    spread = np.maximum((squares + second[..., None]) / (n + 1) - rate**2, 0.0)
    v = np.where(where, p**2 * (1 - phi) / n * spread, 0.0).sum(axis=-1) + noise  # (I1)
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen = np.where(phi >= 1, 0.0, np.where(phi > 0, phi / -np.log1p(-phi), 1.0))
    more = np.maximum((p / n * unseen).max(axis=-1) * largest, floor)  # w⁺

    above = est > 0.5
    low, high = _ends(np.where(above, 1 - est, est), v / safe**2, more / safe, alpha)
    low, high = np.where(above, 1 - high, low), np.where(above, 1 - low, high)
    some = mass > 0
    return SumBounds(value * some, low * safe * some, high * safe * some, v * some, rate)


def _ends(
    est: FloatArray, v: FloatArray, more: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return (I2) for est <= 1/2, all already divided by the mass."""
    from scipy.special import betaincinv

    e, spread = est + more, v + more**2
    fits = (e < 1) & (spread > 0) & (spread < e * (1 - e))
    n = np.where(fits, e * (1 - e) / np.where(fits, spread, 1.0), 1.0)
    inner = np.where(fits, e, 0.5)
    upper = betaincinv(inner * n, (1 - inner) * n, 1 - alpha / 2)
    high = np.where(fits, upper, np.where(spread > 0, 1.0, est))

    seen = (est > 0) & (v > 0)
    m = np.where(seen, est * (1 - est) / np.where(seen, v, 1.0), 1.0)
    share = np.where(seen, est, 0.5)
    lower = betaincinv(share * m, m * (1 - share) + 1, alpha / 2)
    low = np.where(seen, lower, np.where(v > 0, 0.0, est))
    return np.minimum(low, est), np.maximum(high, est)


def mean_change(
    moves: Moves,
    sample: StratumSample,
    *,
    alpha: float,
    items: int,
    share: ArrayLike = 0.0,
    noise: float | None = None,
) -> SumBounds:
    """Bound gains minus losses on these items, over fresh noise: (I3) with (N2).

    Accuracy, a mean grade, a cell of the matrix, and each of them against several old draws are
    changes of a mean: they differ by what d is.

    Parameters
    ----------
    moves, sample
        What was seen, over broadcastable strata.
    alpha
        One minus the level.
    items
        M, all items, asked or not.
    share
        λ; 1 needs no assumption about the old API, 0 is for a deterministic one.
    noise
        The variance that fresh answers add, where it is known better than by λ.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([400.0, 100.0]), np.array([0.5, 0.5]))
    >>> right, gain, loss = np.array([True, False]), np.array([0.0, 22.0]), np.array([30.0, 0.0])
    >>> moves = Moves(gain=gain, loss=loss, gain_square=gain, loss_square=loss, can_gain=~right,
    ...               can_lose=right)
    >>> found = mean_change(moves, sample, share=0.6957, items=1000, alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    -0.0160 [-0.0424, 0.0097]
    """
    gain, loss = (
        sum_bounds(total, sample, alpha=alpha, possible=where, square=square, largest=moves.largest)
        for total, square, where in (
            (moves.gain, moves.gain_square, moves.can_gain),
            (moves.loss, moves.loss_square, moves.can_lose),
        )
    )
    bounds = _minus(gain, loss, sample)
    if noise is None:
        moved = (moves.gain_square + moves.loss_square) / sample.answered
        second = (sample.shares * moved).sum(axis=-1)  # D₂
        added = np.asarray(share) * (second + 1 / items) / items  # (N2)
    else:
        added = np.asarray(noise)
    return widened(bounds, added, alpha=alpha)


def _minus(gain: SumBounds, loss: SumBounds, sample: StratumSample) -> SumBounds:
    r"""Return the difference of two sums over the same answers, by MOVER.

    .. math:: low = g - q - \sqrt{(g - l_g)^2 + (u_q - q)^2 - 2 r (g - l_g)(u_q - q)}   \tag{I3}

    and likewise high, with r the correlation that :math:`cov = -\sum p^2 (1 - \varphi) f_g f_q / n`
    makes: no item can both gain and lose.
    """
    both = sample.shares**2 * (1 - sample.fraction) / sample.answered * gain.rate * loss.rate
    cov = -both.sum(axis=-1)
    scale = np.sqrt(gain.variance * loss.variance)
    r = np.clip(np.where(scale > 0, cov / np.where(scale > 0, scale, 1.0), 0.0), -1.0, 0.0)

    def length(a: FloatArray, b: FloatArray) -> FloatArray:
        return np.asarray(np.sqrt(a**2 + b**2 - 2 * r * a * b))

    value = gain.value - loss.value
    low = value - length(gain.value - gain.low, loss.high - loss.value)  # (I3)
    high = value + length(gain.high - gain.value, loss.value - loss.low)
    variance = gain.variance + loss.variance - 2 * cov
    return SumBounds(value, np.maximum(low, -1.0), np.minimum(high, 1.0), variance, gain.rate)


def widened(bounds: SumBounds, variance: ArrayLike, *, alpha: float) -> SumBounds:
    """Return a difference with z² times *variance* added under both roots of (I3)."""
    from scipy.special import ndtri

    more = float(ndtri(alpha / 2)) ** 2 * np.asarray(variance, dtype=np.float64)
    down = np.sqrt((bounds.value - bounds.low) ** 2 + more)
    up = np.sqrt((bounds.high - bounds.value) ** 2 + more)
    return replace(
        bounds,
        low=np.maximum(bounds.value - down, -1.0),
        high=np.minimum(bounds.value + up, 1.0),
        variance=bounds.variance + np.asarray(variance),
    )


def flip_bounds(
    flips: FloatArray, sample: StratumSample, *, share: float, items: int, alpha: float
) -> SumBounds:
    """Bound the share of flips on these items, over fresh noise: (N2).

    Parameters
    ----------
    flips
        Answers that differ from the old one, by stratum.
    sample, share, items, alpha
        As in :func:`mean_change`, with λ over all flips.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([800.0, 200.0]), np.array([1.0, 1.0]))
    >>> found = flip_bounds(np.array([272.0, 100.0]), sample, share=0.5504, items=1000, alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    0.3720 [0.3439, 0.4008]
    """
    rate = float((sample.shares * flips / sample.answered).sum())
    # f(1-f) <= v_old + v_new for each item (Efron-Stein), and F(1-F) bounds it whatever λ is.
    noise = rate * min(share, 1 - rate) / items
    return sum_bounds(flips, sample, alpha=alpha, noise=noise, floor=share / items)


def blind_gap(
    total: FloatArray, sample: StratumSample, blind_total: FloatArray, blind_answered: FloatArray
) -> float:
    """Return δ: how far the blind estimate lies from the pooled one.

    A stratum that is exhausted has no adaptive bias, and one without blind answers shows none.
    """
    some = (blind_answered > 0) & (sample.fraction < 1)
    blind = blind_total / np.maximum(blind_answered, 1)
    apart = np.where(some, blind - total / sample.answered, 0.0)
    return float((sample.shares * apart).sum())


def stretched(bounds: SumBounds, gap: float, *, part: float, move: bool = False) -> SumBounds:
    """Return the hull of an interval and of the same interval moved by *part* of the gap; *move*
    says whether the estimate moves, too.
    """
    by = part * gap
    return replace(
        bounds,
        value=bounds.value + by if move else bounds.value,
        low=bounds.low + min(by, 0.0),
        high=bounds.high + max(by, 0.0),
    )
