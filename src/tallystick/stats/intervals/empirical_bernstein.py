"""The empirical Bernstein interval: Hoeffding's certainty, sharpened by the variance that was
seen.
"""

from __future__ import annotations

from typing import overload

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.intervals.array import Floats, Intervals, Numbers, Vector, pack
from tallystick.stats.intervals.bounds import Bounds, as_unit, check_bounds, from_unit
from tallystick.stats.intervals.side import Side, split_alpha

__all__ = ["as_moments", "empirical_bernstein"]


@overload
def empirical_bernstein(
    mean: float,
    variance: float,
    n: float,
    *,
    alpha: float = ...,
    side: Side = ...,
    bounds: Bounds = ...,
) -> Interval: ...
@overload
def empirical_bernstein(
    mean: Vector,
    variance: Numbers,
    n: Numbers,
    *,
    alpha: float = ...,
    side: Side = ...,
    bounds: Bounds = ...,
) -> Intervals: ...
def empirical_bernstein(
    mean: Numbers,
    variance: Numbers,
    n: Numbers,
    *,
    alpha: float = 0.05,
    side: Side = "two",
    bounds: Bounds = (0.0, 1.0),
) -> Interval | Intervals:
    r"""Bound the mean of bounded values for certain, given the variance that was seen.

    For values in [0, 1] with sample variance V (divisor n - 1), each with probability at most
    :math:`\delta`,

    .. math:: \pm(\mu - \bar x) > \sqrt{2 \sigma^2 L/n} + L/(3n), \qquad
              \sigma > \sqrt V + \sqrt{2 L/(n - 1)}, \qquad L = \ln(1/\delta).

    One end needs two of these three events not to happen, both ends need all three, so

    .. math:: \bar x \mp \Bigl(\sqrt{2 V L/n} + \frac{7 L}{3 (n - 1)}\Bigr), \qquad
              L = \ln(2/\alpha) \text{ one-sided}, \ \ln(3/\alpha) \text{ two-sided}.   \tag{I6}

    The one-sided form is due to A. Maurer and M. Pontil, *Empirical Bernstein bounds and sample
    variance penalization* (arXiv 0907.3740); using it twice would cost ln(4/alpha), since the
    variance would be bounded twice. Exact for independent values. Worth it over :func:`hoeffding`
    once n is in the hundreds and the variance is small; :func:`betting`, which needs the values
    themselves, beats both.

    Parameters
    ----------
    mean, variance, n
        Sample mean, sample variance with divisor n - 1, and count, n at least 2.
    alpha, side, bounds
        As in :func:`hoeffding`.

    Examples
    --------
    >>> print(empirical_bernstein(0.02, 0.0196, 2000))
    [0.006, 0.034] (95 %, exact)
    >>> from tallystick.stats.intervals import hoeffding
    >>> print(hoeffding(0.02, 2000))
    [0.000, 0.050] (95 %, exact)
    """
    centre, spread, size = as_moments(mean, variance, n, bounds)
    at_low, at_high = split_alpha(alpha, side)
    log = np.log((3 if side == "two" else 2) / alpha)
    half = np.sqrt(2 * spread * log / size) + 7 * log / (3 * (size - 1))  # (I6)
    low = centre - half if at_low else np.zeros_like(centre)
    high = centre + half if at_high else np.ones_like(centre)
    low, high = (from_unit(np.clip(end, 0.0, 1.0), bounds) for end in (low, high))
    return pack(low, high, alpha=alpha, guarantee="exact", method="empirical-bernstein")


def as_moments(
    mean: Numbers, variance: Numbers, n: Numbers, bounds: Bounds
) -> tuple[Floats, Floats, Floats]:
    """Bring mean and variance to the scale from 0 to 1, and refuse what no n values in *bounds* can
    have.

    >>> as_moments(0.5, 0.6, 2, (0, 1))
    Traceback (most recent call last):
    tallystick.errors.InputError: 2 values of mean 0.5 in (0, 1) have a variance of at most 0.5, got 0.6
    """
    low, high = check_bounds(bounds)
    centre, spread, size = np.broadcast_arrays(
        as_unit(mean, bounds, name="mean"),
        np.asarray(variance, dtype=np.float64) / (high - low) ** 2,
        np.asarray(n, dtype=np.float64),
    )
    if not (size >= 2).all():
        raise InputError(f"n must be at least 2 for a variance, got {size.min()}")
    most = centre * (1 - centre) * size / (size - 1)
    # also catches NaN; 1e-9 is room for rounding
    outside = ~((spread >= 0) & (spread <= most + 1e-9))
    if outside.any():
        at = tuple(int(i) for i in np.argwhere(outside)[0])
        scale = (high - low) ** 2
        raise InputError(
            f"{size[at]:g} values of mean {low + (high - low) * centre[at]:g} in {bounds!r} have a"
            f" variance of at most {scale * most[at]:g}, got {scale * spread[at]:g}"
        )
    return centre, spread, size
