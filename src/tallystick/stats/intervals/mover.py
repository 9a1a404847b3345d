"""MOVER: the interval of a sum or a ratio, recovered from the intervals of its independent
parts.
"""

from __future__ import annotations

import numpy as np

from tallystick.stats.intervals.array import Floats

__all__ = ["mover_ratio", "mover_sum"]


def mover_sum(
    estimates: Floats,
    low: Floats,
    high: Floats,
    *,
    weights: Floats,
    covariance: Floats | float = 0.0,
) -> tuple[Floats, Floats, Floats]:
    r"""Bound :math:`\theta = \sum_h w_h \theta_h`, given an interval for each independent part.

    How far a part reaches to one side stands for its standard error on that side,

    .. math:: \theta_{lo} = \hat\theta - \sqrt{\textstyle\sum_h w_h^2 d_h^2 + c}, \qquad d_h =
              \begin{cases}\hat\theta_h - l_h & w_h > 0\\ u_h - \hat\theta_h & w_h < 0\end{cases}   \tag{I8}

    and the upper end likewise. A difference is a sum with weights 1 and -1.

    Parameters
    ----------
    estimates, low, high
        The parts and their intervals, parts along the last axis.
    weights
        One a part, of either sign.
    covariance
        The term c: twice the sum of the covariances of the weighted parts, times the squared
        quantile; 0 for independent parts.

    Returns
    -------
    estimate, low, high
        Without the last axis. Nothing is clipped.

    Examples
    --------
    >>> parts, low, high = np.array([0.5, 0.9]), np.array([0.4, 0.8]), np.array([0.6, 0.95])
    >>> [float(end.round(3)) for end in mover_sum(parts, low, high, weights=np.array([0.5, 0.5]))]
    [0.7, 0.629, 0.756]
    """
    estimate = (weights * estimates).sum(axis=-1)
    below = weights * np.where(weights > 0, estimates - low, estimates - high)
    above = weights * np.where(weights > 0, high - estimates, low - estimates)
    # (I8); a covariance estimated apart from the ends can outweigh them, and then nothing is left
    # to vary
    down, up = (
        np.sqrt(np.maximum((reach**2).sum(axis=-1) + covariance, 0.0)) for reach in (below, above)
    )
    return estimate, estimate - down, estimate + up


def mover_ratio(
    top: Floats,
    bottom: Floats,
    *,
    top_reach: tuple[Floats, Floats],
    bottom_reach: tuple[Floats, Floats],
) -> tuple[Floats, Floats]:
    r"""Bound the ratio of two independent non-negative numbers, given how far each reaches.

    With A, C the two estimates and :math:`l_A, u_A, l_C, u_C` their *squared* reaches down and up,

    .. math:: r_{lo} = \frac{A^2 - l_A}{AC + \sqrt{A^2C^2 - (A^2 - l_A)(C^2 - u_C)}}, \qquad
              r_{hi} = \frac{AC + \sqrt{A^2C^2 - (A^2 - u_A)(C^2 - l_C)}}{C^2 - l_C}.   \tag{I9}

    These are the r at which an end of (I8) for :math:`A - rC` is 0; the lower one is written so
    that it subtracts no near-equal numbers.

    Parameters
    ----------
    top, bottom
        The estimates A and C, not negative.
    top_reach, bottom_reach
        The squared reaches (down, up) of each.

    Returns
    -------
    low, high
        Of the ratio; high is infinite where *bottom* may be 0.

    Examples
    --------
    >>> reach = np.array(4.0), np.array(4.0)
    >>> low, high = mover_ratio(np.array(20.0), np.array(10.0), top_reach=reach, bottom_reach=reach)
    >>> float(low.round(4)), float(high.round(4))
    (1.6194, 2.5473)
    """
    a2, c2, ac = top**2, bottom**2, top * bottom
    la, ua = top_reach
    lc, uc = bottom_reach
    below = ac + np.sqrt(np.maximum(ac**2 - (a2 - la) * (c2 - uc), 0.0))
    above = ac + np.sqrt(np.maximum(ac**2 - (a2 - ua) * (c2 - lc), 0.0))
    # (I9)
    low = np.divide(np.maximum(a2 - la, 0.0), below, out=np.zeros_like(below), where=below > 0)
    surely_positive = c2 - lc > 1e-12 * c2  # equal but for rounding: the bottom may be 0
    high = np.divide(above, c2 - lc, out=np.full_like(above, np.inf), where=surely_positive)
    return low, high
