"""Lower ends of the adverse empirical likelihood, many rows at once.

Only the lower end is written, for distances d >= 0 from the least value that a label could have.
The upper end takes distances from the greatest value.
"""

from __future__ import annotations

import numpy as np

from tallystick.stats.crossing import crossing
from tallystick.stats.intervals.array import Floats

__all__ = ["least_means"]

LOWEST, HIGHEST = -14.0, 30.0
"""Where ln γ is looked for."""


def least_means(distances: Floats, weights: Floats, pseudo: float, bar: Floats) -> Floats:
    r"""Return the least mean distance that each row of labels leaves open (AL6).

    The statistic D is a rising function of :math:`\ln \gamma`. With
    :math:`q_i = 1/(1 + \gamma d_i)` its slope is

    .. math:: 2 \gamma \Bigl(\sum_i w_i d_i q_i - \frac ns \sum_i w_i d_i q_i^2\Bigr).

    Parameters
    ----------
    distances, weights
        d and w, rows x labels.
    pseudo
        The fraction a of one more label, at distance 0.
    bar
        Per row the z² that the statistic has to reach.
    """
    far = distances.max(axis=1) > 0.0
    if not far.all():  # labels at distance 0 only: so is the least mean
        ends = np.zeros(len(distances))
        if far.any():
            ends[far] = least_means(distances[far], weights[far], pseudo, bar[far])
        return ends

    size = pseudo + weights.sum(axis=1)
    log_bar = np.log(bar)

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        gamma = np.exp(t)
        tilt = 1.0 + gamma[:, None] * distances
        part = weights / tilt
        kept = pseudo + part.sum(axis=1)
        drop = 2.0 * (size * np.log(kept / size) + (weights * np.log(tilt)).sum(axis=1))
        part *= distances
        slope = part.sum(axis=1) - size / kept * (part / tilt).sum(axis=1)
        return np.log(drop) - log_bar, 2.0 * gamma * slope / drop

    # For small γ the statistic is γ² n times the variance of the distances.
    mean = (weights * distances).sum(axis=1) / size
    spread = (weights * distances**2).sum(axis=1) / size - mean**2
    with np.errstate(divide="ignore", invalid="ignore"):
        start = np.nan_to_num(0.5 * (log_bar - np.log(size * spread)))
    gamma = np.exp(crossing(statistic, start, LOWEST, HIGHEST))

    q = weights / (1.0 + gamma[:, None] * distances)
    return np.asarray((q * distances).sum(axis=1) / (pseudo + q.sum(axis=1)))
