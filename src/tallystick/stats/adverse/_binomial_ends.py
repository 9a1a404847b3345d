"""Lower ends of the stratified adverse likelihood, many rows at once.

Only the lower end is written. The upper end is one minus the lower end of the fails.
"""

from __future__ import annotations

import numpy as np

from tallystick.stats.crossing import crossing
from tallystick.stats.intervals.array import Floats

__all__ = ["lower_ends"]

LOWEST, HIGHEST = -10.0, 25.0
"""Where ln μ is looked for."""


def lower_ends(
    weights: Floats, sizes: Floats, shares: Floats, pseudo: Floats, bar: Floats
) -> Floats:
    r"""Return L of (AL2) for every row of strata.

    The statistic D is a rising function of :math:`t = \ln \mu`. Since :math:`s_h - n_h p_h =
    \mu W_h p_h (1 - p_h)`, its slope is

    .. math:: \frac{dD}{dt} = 2 \mu^2 \sum_h \frac{W_h^2 p_h (1 - p_h)}
              {\sqrt{(\mu W_h + n_h)^2 - 4 \mu W_h s_h}}.

    Parameters
    ----------
    weights, sizes, shares
        W, the effective labels k* and the pass rates p̂, rows x strata.
    pseudo, bar
        Per row the factor a of (AL1), and the z² that the statistic has to reach.
    """
    # Where nothing passed, p̃ = p(μ) = 0 and nothing is lost.
    seen = np.where(weights > 0.0, sizes * shares, 0.0)
    size = sizes + pseudo[:, None] * np.sqrt(weights)  # (AL1): a_h more fails
    size = np.where(seen > 0.0, size, 1.0)
    missed = size - seen
    passed, failed = np.where(seen > 0.0, seen / size, 1.0), missed / size
    log_bar = np.log(bar)

    def rates(t: Floats) -> tuple[Floats, Floats, Floats]:
        tilt = np.exp(t)[:, None] * weights
        # (tilt + n)² - 4 tilt s, written as a sum of squares so that it cannot turn negative.
        root = np.sqrt((tilt - size) ** 2 + 4.0 * tilt * missed)
        return 2.0 * seen / (tilt + size + root), tilt, root

    def statistic(t: Floats) -> tuple[Floats, Floats]:
        p, tilt, root = rates(t)
        lost = seen * np.log(passed / np.where(seen > 0.0, p, 1.0))
        lost += missed * np.log(failed / (1.0 - p))
        drop = 2.0 * lost.sum(axis=1)
        slope = 2.0 * (tilt**2 * p * (1.0 - p) / root).sum(axis=1)
        return np.log(drop) - log_bar, slope / drop

    # For small μ the statistic is μ² Σ W² p̃ (1 - p̃)/n.
    first = (weights**2 * seen * missed / size**3).sum(axis=1)
    with np.errstate(divide="ignore"):
        start = 0.5 * (log_bar - np.log(first))
    p, _, _ = rates(crossing(statistic, start, LOWEST, HIGHEST))
    return np.asarray((weights * p).sum(axis=1))
