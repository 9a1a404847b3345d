r"""Intervals for change when answers are random: the finite-population correction that survives.

With every item asked, a deterministic API leaves no doubt; a noisy one would answer differently
tomorrow. The intervals of :mod:`tallystick.shift.intervals` get a noise term, with λ the noise
share (:mod:`~tallystick.shift.noise_share`), M the items, G and L the estimated gains and losses, F
the pooled flip rate:

.. math::

   \text{change of a mean:} \quad & z^2 λ (G + L + 1/M)/M \text{ under both roots of (I3)} \\
   \text{flip rate:} \quad & v + F \min(λ, 1 - F)/M, \quad w^+ \ge λ/M   \tag{N2}

and both are moved towards the blind estimate by δ = Σ p_k (blind mean - pooled mean) over strata
that are not exhausted. For *new items* there is no correction (φ = 0), and

.. math:: z^2 \sum_k p_k (d_k - \bar d)^2 / M \text{ under both roots}   \tag{N3}

λ = 0 gives the intervals for a deterministic API. docs/theory/shift.md, *Intervals*.
Element by element over leading axes; strata are the last one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.shift.intervals import StratumSample, SumBounds, _ends, minus, sum_bounds

__all__ = [
    "Moves",
    "blind_gap",
    "change_bounds",
    "flip_rate_bounds",
    "new_item_bounds",
    "one_more",
    "stretched",
    "sum_ends",
    "widened",
]

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]


@dataclass(frozen=True, eq=False, kw_only=True)
class Moves:
    """Items that came in and items that went out, by stratum, along the last axis.

    Parameters
    ----------
    gain, loss
        Answers that became right (or entered the cell), and that ceased to be.
    can_gain, can_lose
        Strata in which that is possible: for accuracy, those with a wrong old answer and those with
        a right one.
    """

    gain: FloatArray
    loss: FloatArray
    can_gain: BoolArray
    can_lose: BoolArray

    @property
    def net(self) -> FloatArray:
        """Gains minus losses."""
        return self.gain - self.loss


def change_bounds(
    moves: Moves, sample: StratumSample, *, share: ArrayLike, items: int, alpha: float
) -> SumBounds:
    """Bound gains minus losses on these items, over fresh noise.

    Parameters
    ----------
    moves, sample
        What was seen, over broadcastable strata.
    share
        λ of the moves; 1 needs no assumption about the old API, 0 is for a deterministic one.
    items
        M, all items, asked or not.
    alpha
        One minus the level.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([400.0, 100.0]), np.array([0.5, 0.5]))
    >>> right = np.array([True, False])
    >>> moves = Moves(gain=np.array([0.0, 22.0]), loss=np.array([30.0, 0.0]), can_gain=~right,
    ...               can_lose=right)
    >>> found = change_bounds(moves, sample, share=0.6957, items=1000, alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    -0.0160 [-0.0424, 0.0097]
    """
    gain = sum_bounds(moves.gain, sample, alpha=alpha, possible=moves.can_gain)
    loss = sum_bounds(moves.loss, sample, alpha=alpha, possible=moves.can_lose)
    noise = np.asarray(share) * (gain.value + loss.value + 1 / items) / items  # (N2)
    return widened(minus(gain, loss, sample), noise, alpha=alpha)


def new_item_bounds(moves: Moves, sample: StratumSample, *, items: int, alpha: float) -> SumBounds:
    """Bound gains minus losses on *new* items; needs no repeats and no assumption about noise.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([400.0, 100.0]), np.array([0.5, 0.5]))
    >>> right = np.array([True, False])
    >>> moves = Moves(gain=np.array([0.0, 22.0]), loss=np.array([30.0, 0.0]), can_gain=~right,
    ...               can_lose=right)
    >>> found = new_item_bounds(moves, sample, items=1000, alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    -0.0160 [-0.0459, 0.0123]
    """
    endless = replace(sample, fraction=np.zeros_like(sample.fraction))
    gain = sum_bounds(moves.gain, endless, alpha=alpha, possible=moves.can_gain)
    loss = sum_bounds(moves.loss, endless, alpha=alpha, possible=moves.can_lose)
    change = moves.net / sample.answered
    mean = (sample.shares * change).sum(axis=-1, keepdims=True)
    between = (sample.shares * (change - mean) ** 2).sum(axis=-1) / items  # (N3)
    return widened(minus(gain, loss, endless), between, alpha=alpha)


def flip_rate_bounds(
    flips: FloatArray, sample: StratumSample, *, share: ArrayLike, items: int, alpha: float
) -> SumBounds:
    """Bound the share of flips on these items, over fresh noise, before it moves to the blind one.

    Parameters
    ----------
    flips
        Answers that differ from the old one, by stratum.
    sample, share, items, alpha
        As in :func:`change_bounds`, with λ over all flips.

    Examples
    --------
    >>> sample = StratumSample(np.array([0.8, 0.2]), np.array([800.0, 200.0]), np.array([1.0, 1.0]))
    >>> found = flip_rate_bounds(np.array([272.0, 100.0]), sample, share=0.5504, items=1000,
    ...                          alpha=0.05)
    >>> print(f"{found.value:.4f} [{found.low:.4f}, {found.high:.4f}]")
    0.3720 [0.3439, 0.4008]
    """
    plain = sum_bounds(flips, sample, alpha=alpha)
    rate, noise = plain.value, np.asarray(share, dtype=np.float64)
    # f(1-f) <= v_old + v_new for each item (Efron-Stein), and F(1-F) bounds it whatever λ is.
    variance = plain.variance + rate * np.minimum(noise, 1 - rate) / items  # (N2)
    more = np.maximum(one_more(sample), noise / items)
    low, high = sum_ends(rate, variance, more, mass=np.ones_like(rate), alpha=alpha)
    return replace(plain, low=low, high=high, variance=variance)


def blind_gap(
    events: FloatArray, sample: StratumSample, blind_events: FloatArray, blind_answered: FloatArray
) -> FloatArray:
    """Return δ: how far the blind estimate lies from the pooled one.

    A stratum that is exhausted has no adaptive bias, and one without blind answers shows none.

    Parameters
    ----------
    events, sample
        Of all answers.
    blind_events, blind_answered
        Of the questions that were chosen without regard to answers.
    """
    some = (blind_answered > 0) & (sample.fraction < 1)
    blind = blind_events / np.maximum(blind_answered, 1)
    apart = np.where(some, blind - events / sample.answered, 0.0)
    return np.asarray((sample.shares * apart).sum(axis=-1))


def stretched(bounds: SumBounds, gap: ArrayLike, *, part: float, move: bool = False) -> SumBounds:
    """Return the hull of an interval and of the same interval moved by *part* of the gap.

    Parameters
    ----------
    bounds
        The pooled estimate with its interval.
    gap
        δ.
    part
        How much of it.
    move
        Whether the estimate moves, too.
    """
    by = part * np.asarray(gap, dtype=np.float64)
    return replace(
        bounds,
        value=bounds.value + by if move else bounds.value,
        low=bounds.low + np.minimum(by, 0),
        high=bounds.high + np.maximum(by, 0),
    )


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


def one_more(sample: StratumSample, possible: BoolArray | None = None) -> FloatArray:
    """Return w⁺ of (I1): what one more event, not yet seen, would add to the sum."""
    phi = sample.fraction
    with np.errstate(divide="ignore", invalid="ignore"):
        unseen = np.where(phi >= 1, 0.0, np.where(phi > 0, phi / -np.log1p(-phi), 1.0))
    each = sample.shares / sample.answered * unseen
    return np.asarray((each if possible is None else np.where(possible, each, 0.0)).max(axis=-1))


def sum_ends(
    value: FloatArray, variance: FloatArray, more: FloatArray, *, mass: FloatArray, alpha: float
) -> tuple[FloatArray, FloatArray]:
    """Return the ends (I2) of a sum from its own variance and w⁺, on the complement above half.

    Parameters
    ----------
    value, variance, more
        The sum, its variance v and w⁺, not divided by the mass.
    mass
        The share of items in strata where the event is possible; 0 gives [0, 0].
    alpha
        One minus the level.
    """
    some = np.asarray(mass) > 0
    safe = np.where(some, mass, 1.0)
    est = value / safe
    above = est > 0.5
    low, high = _ends(np.where(above, 1 - est, est), variance / safe**2, more / safe, alpha)
    low, high = np.where(above, 1 - high, low), np.where(above, 1 - low, high)
    return np.asarray(low * safe * some), np.asarray(high * safe * some)
