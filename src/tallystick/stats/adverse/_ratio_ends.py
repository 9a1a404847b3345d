"""Ends of a ratio of two sums over cells: recall and F1."""

from __future__ import annotations

import numpy as np

from tallystick.stats.crossing import crossing
from tallystick.stats.intervals.array import Floats

__all__ = ["ratio_end"]

LOWEST, HIGHEST = -10.0, 25.0
"""Where ln |μ| is looked for."""


def rates(tilt: Floats, seen: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return the root p in [0, 1] of tilt p² - (n + tilt) p + s = 0, and the root of its
    discriminant; *tilt* is μω, of either sign.
    """
    slope = size + tilt
    # slope² - 4 tilt s, written so that it cannot turn negative when s is at most n.
    square = np.where(
        tilt >= 0.0, (tilt - size) ** 2 + 4.0 * tilt * (size - seen), slope**2 - 4.0 * tilt * seen
    )
    root = np.sqrt(square)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(slope >= 0.0, 2.0 * seen / (slope + root), (slope - root) / (2.0 * tilt))
    return np.nan_to_num(p), root


def ratio_end(
    weight: Floats,
    factor: Floats,
    seen: Floats,
    size: Floats,
    constant: float,
    bar: float,
    upper: bool,
) -> float:
    r"""Return the ratio θ, on one side of its estimate, at which the statistic (AL15) is the bar.

    The statistic D falls towards the estimate, with slope
    :math:`dD/dθ = -2 μ (\sum_s W_s p_s + C)`: the multiplier μ is what the constraint costs.
    """
    top = float((weight * factor * seen / size).sum())
    below = constant + float((weight * seen / size).sum())
    if below <= 0.0:  # no label of the class, not even an adverse one: nothing is refuted
        return 1.0 if upper else 0.0
    sign, missed, last = (-1.0 if upper else 1.0), size - seen, [0.0]

    def lost(theta: float) -> tuple[float, float]:
        """Return 2(ℓ(p̃) - ℓ(p(μ))) at the ratio θ, and how fast it changes."""
        omega = weight * (factor - theta)

        # μ solves Σ ω p(μ) = θ C. At μ = 0 the sum is on the far side of θ C.
        def excess(t: Floats) -> tuple[Floats, Floats]:
            tilt = sign * np.exp(t) * omega
            p, root = rates(tilt, seen, size)
            slope = (sign * omega * tilt * p * (1.0 - p) / root).sum()
            return np.array([sign * (theta * constant - (omega * p).sum())]), np.array([slope])

        last[0] = float(crossing(excess, np.array(last), LOWEST, HIGHEST)[0])
        mu = sign * np.exp(last[0])
        p, _ = rates(mu * omega, seen, size)
        # A rate of 0 or 1 with labels against it has likelihood 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(seen > 0.0, seen * np.log(seen / size / p), 0.0)
            parts += np.where(missed > 0.0, missed * np.log(missed / size / (1.0 - p)), 0.0)
        return 2.0 * float(parts.sum()), -2.0 * mu * (float((weight * p).sum()) + constant)

    # Far from the estimate the statistic is large; between there and the estimate it crosses.
    inside, outside = top / below, 1.0 if upper else 0.0

    def rising(at: Floats) -> tuple[Floats, Floats]:
        width = outside - inside
        statistic, slope = lost(inside + float(at[0]) * width)
        root = np.sqrt(max(statistic, 0.0))  # nearly a straight line
        return np.array([root - np.sqrt(bar)]), np.array([slope * width / (2.0 * root)])

    if inside == outside:
        return outside
    at = crossing(rising, np.array([0.5]), 0.0, 1.0)
    return inside + float(at[0]) * (outside - inside)
