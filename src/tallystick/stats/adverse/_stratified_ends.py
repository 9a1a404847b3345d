"""The lower end of one mean of the stratified adverse empirical likelihood.

Only the lower end is written, for distances d >= 0 from the least value that a label could have.
The upper end takes distances from the greatest value.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tallystick.stats.crossing import crossing
from tallystick.stats.intervals.array import Floats

__all__ = ["least_stratified_mean"]

LOWEST, HIGHEST = -12.0, 30.0
"""Where ln μ is looked for."""
STEPS, CLOSE = 100, 1e-14
"""The most steps of Newton for ν, and the relative step at which it has arrived."""


def least_stratified_mean(
    distance: Floats,
    start: NDArray[np.int64],
    share: Floats,
    each: Floats,
    pseudo: float,
    bar: float,
) -> float:
    r"""Return the least mean distance that the labels of the strata leave open (AL19).

    The statistic D is a rising function of :math:`t = \ln \mu`. With :math:`τ_h = μ W_h`, the mean
    distance :math:`m_h = \sum_i p_{hi} d_{hi}` and sums of :math:`p_{hi}^2 / w_h`,

    .. math:: \frac{dD}{dt} = 2 \sum_h τ_h \Bigl(m_h - \frac{\sum_i d_{hi} p_{hi}^2/w_h}
              {a_h/ν_h^2 + \sum_i p_{hi}^2/w_h}\Bigr).

    Parameters
    ----------
    distance, start
        The labels stratum by stratum, those of stratum h between *start* h and h + 1.
    share, each
        W, and the weight of a label, per stratum.
    pseudo
        The fraction a of (AL19).
    bar
        The z² that the statistic has to reach.
    """
    # Without labels the whole stratum may lie at the least value: it adds nothing.
    used = np.flatnonzero((np.diff(start) > 0) & (share > 0.0))
    if not used.size:
        return 0.0

    # Equal labels are one entry with their number: most grades and differences take few values.
    values = [np.unique(distance[start[h] : start[h + 1]], return_counts=True) for h in used]
    d = np.concatenate([value for value, _ in values])
    lengths = np.array([value.size for value, _ in values])
    weight = np.concatenate([count for _, count in values]) * np.repeat(each[used], lengths)
    at = np.concatenate(([0], np.cumsum(lengths)[:-1]))

    def total(part: Floats) -> Floats:
        """Add up the labels of each stratum."""
        return np.add.reduceat(part, at)

    share, added = share[used], pseudo * np.sqrt(share[used])
    size = added + total(weight)
    middle = total(weight * d) / size

    def bottom(tilt: Floats) -> tuple[Floats, Floats]:
        """Return ν of every stratum, and ν + τ d of every label.

        The mass falls in ν and is convex, so Newton's steps from a point on its left approach ν
        from there and never pass it.
        """
        nu = np.maximum(added, size - tilt * middle)
        lifted = np.repeat(tilt, lengths) * d
        for _ in range(STEPS):
            under = np.repeat(nu, lengths) + lifted
            part = weight / under
            step = (added / nu + total(part) - 1.0) / (added / nu**2 + total(part / under))
            nu = nu + step
            if (np.abs(step) <= CLOSE * nu).all():
                break
        return nu, np.repeat(nu, lengths) + lifted

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        tilt = np.exp(t) * share
        nu, under = bottom(tilt)
        part = weight / under
        lost = added * np.log(nu / size) + total(weight * np.log(under / np.repeat(size, lengths)))
        drop = 2.0 * lost.sum()
        part_d = part * d / under
        slope = tilt * (total(part * d) - total(part_d) / (added / nu**2 + total(part / under)))
        return np.array([np.log(drop) - np.log(bar)]), np.array([2.0 * slope.sum() / drop])

    # For small μ the statistic is μ² times the variance of the mean of labels.
    spread = np.maximum(total(weight * d**2) / size - middle**2, 0.0)
    with np.errstate(divide="ignore"):
        guess = 0.5 * (np.log(bar) - np.log((share**2 * spread / size).sum()))
    found = crossing(statistic, np.array([np.nan_to_num(guess)]), LOWEST, HIGHEST)
    _, under = bottom(np.exp(found) * share)
    return float((share * total(weight * d / under)).sum())
