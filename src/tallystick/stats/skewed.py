r"""Skewed unbounded scores (latency, cost, tokens) and counts: the hull of Student's t and Hall.

D are the n paired differences, m their mean, s their standard deviation (n - 1), r = √n, q the
quantile of :math:`t_{n-1}` and γ = mean((D - m)³)/s³. Hall's transformation corrects t for
skewness:

.. math::

   h(T) = \frac{3r}{γ} \Bigl( \bigl(1 + \tfrac{γ}{r} (T - \tfrac{γ}{6r})\bigr)^{1/3} - 1 \Bigr),
   \qquad \text{interval} = \text{hull of } m \mp q\, s/r
   \text{ and } [m - h(q)\, s/r,\; m - h(-q)\, s/r]   \tag{H1}

.. math::

   p = \text{the larger } t_{n-1} \text{ p-value of } t = rm/s
   \text{ and of } t + \tfrac{γ}{r} (\tfrac{t^2}{3} + \tfrac16) + \tfrac{γ^2 t^3}{27 n}   \tag{H2}

docs/theory/compare.md, *Skewed scores*. No random numbers. What did not occur in
the sample stays unseen: print "assumes that nothing rarer than 1 in n/3 calls moves the mean".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.ranges import open_unit

__all__ = [
    "Hull",
    "HullEnds",
    "hull",
    "hull_ends",
]

Floats = npt.NDArray[np.float64]

STRAIGHT = 1e-6
"""Below this |γ| Hall's interval is Student's."""


@dataclass(frozen=True, kw_only=True)
class Hull:
    """The mean of differences with its interval.

    Parameters
    ----------
    estimate
        m.
    low, high
        (H1).
    p_value
        (H2), two-sided.
    skewness
        γ of the differences.
    student, hall
        The two intervals of which this is the hull.
    """

    estimate: float
    low: float
    high: float
    p_value: float
    skewness: float
    student: tuple[float, float]
    hall: tuple[float, float]


def hull(differences: npt.ArrayLike, *, alpha: float = 0.05) -> Hull:
    """Bound the mean of skewed differences by the hull of t and Hall.

    Parameters
    ----------
    differences
        D, at least two finite numbers. For many pairs adjust the p-values by Holm.
    alpha
        One minus the level.

    Examples
    --------
    >>> found = hull([.2, .4, -.3, .1, 1.5, .6, -.1, .3, 4.2, .5, -.4, .8])
    >>> round(found.estimate, 4), round(found.low, 4), round(found.high, 4), round(found.p_value, 4)
    (0.65, -0.1312, 3.8206, 0.0943)
    """
    d = np.asarray(differences, dtype=float)
    if d.ndim != 1 or d.size < 2 or not np.isfinite(d).all():
        raise InputError(f"differences must be at least two finite numbers, got shape {d.shape}")
    ends = hull_ends(d, alpha=alpha)
    if np.isnan(ends.p_value):
        raise NotIdentifiable(
            f"all differences equal {d[0]:g}: nothing says how much they vary, so no interval"
        )
    return Hull(
        estimate=float(ends.mean),
        low=float(min(ends.student[0], ends.hall[0])),
        high=float(max(ends.student[1], ends.hall[1])),
        p_value=float(ends.p_value),
        skewness=float(ends.skewness),
        student=(float(ends.student[0]), float(ends.student[1])),
        hall=(float(ends.hall[0]), float(ends.hall[1])),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class HullEnds:
    """(H1) and (H2) of many samples at once; NaN where all differences of a sample are equal."""

    mean: Floats
    skewness: Floats
    student: tuple[Floats, Floats]
    hall: tuple[Floats, Floats]
    p_value: Floats

    @property
    def low(self) -> Floats:
        """The lower end of the hull."""
        return np.minimum(self.student[0], self.hall[0])

    @property
    def high(self) -> Floats:
        """The upper end of the hull."""
        return np.maximum(self.student[1], self.hall[1])


def hull_ends(differences: Floats, *, alpha: float = 0.05) -> HullEnds:
    """Return :func:`hull` of many samples at once: differences run along the last axis.

    Examples
    --------
    >>> found = hull_ends(np.array([[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]]))
    >>> found.low.round(3).tolist()
    [-1.461, nan]
    """
    from scipy.special import stdtr, stdtrit

    open_unit(alpha=alpha)
    n = differences.shape[-1]
    mean = np.asarray(differences.mean(axis=-1))
    centred = differences - mean[..., None]
    deviation = np.asarray(np.sqrt(np.sum(centred**2, axis=-1) / (n - 1)))
    # A sample that only varies by rounding does not vary.
    flat = deviation <= 1e-12 * np.max(np.abs(differences), axis=-1)
    deviation = np.where(flat, np.nan, deviation)
    skewness = np.mean(centred**3, axis=-1) / deviation**3

    root = float(np.sqrt(n))
    q = float(stdtrit(n - 1, 1 - alpha / 2))
    step = deviation / root
    student = (mean - q * step, mean + q * step)
    hall = (mean - _hall(q, skewness, root) * step, mean - _hall(-q, skewness, root) * step)  # (H1)

    t = mean / step
    g = skewness / root
    corrected = t + g * (t**2 / 3 + 1 / 6) + g**2 * t**3 / 27  # (H2)
    p_value = np.maximum(2 * stdtr(n - 1, -np.abs(t)), 2 * stdtr(n - 1, -np.abs(corrected)))
    return HullEnds(mean=mean, skewness=skewness, student=student, hall=hall, p_value=p_value)


def _hall(t: float, skewness: Floats, root: float) -> Floats:
    """Return h(T) of (H1), which is T itself where there is no skewness."""
    straight = ~(np.abs(skewness) >= STRAIGHT)
    g = np.where(straight, 1.0, skewness) / root
    curved = 3 / g * (np.cbrt(1 + g * (t - g / 6)) - 1)
    return np.where(straight, t, curved)
