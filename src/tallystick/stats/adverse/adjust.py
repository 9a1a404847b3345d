"""Labels adjusted for what the judges already say: the regression step of the numbers formula."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.stats.adverse.spread import Spread
from tallystick.stats.intervals.array import Floats
from tallystick.stats.intervals.bounds import Bounds

__all__ = ["Adjusted", "adjust"]

SHRINKAGE = 32.0
"""Labels' worth of shrinkage of the slope towards 0."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Adjusted:
    r"""Adjusted labels, one row per problem.

    Parameters
    ----------
    values
        :math:`u_i`, rows x labels.
    slope
        b per row.
    low, high
        The least and the most that a label could give, :math:`u_{lo}` and :math:`u_{hi}`, per row.
    leverage
        :math:`1/(1 + m (\bar c - \bar c_m)^2/(S_{cc} + 32 v))` per row: how much of their weight
        the labels keep when their mean consensus is off. 1 where the consensus says nothing.
    """

    values: Floats
    slope: Floats
    low: Floats
    high: Floats
    leverage: Floats


def adjust(
    labels: Floats, consensus: Floats, every: Spread, *, bounds: Bounds, weights: Floats
) -> Adjusted:
    r"""Move each label to where it would lie at the mean consensus.

    With sums S over the labelled items and the mean :math:`\bar c`, variance v and range of the
    consensus over all N,

    .. math:: b = \frac{S_{cy}}{S_{cc} + 32 v}, \qquad
              |b| \max(c_{max} - \bar c,\ \bar c - c_{min}) \le \text{range}, \qquad
              u_i = y_i - b (c_i - \bar c).   \tag{AL5}

    The cut keeps one outlying grade from widening the interval. The least a label could give is
    :math:`u_{lo} = y_{lo} - \max(b (c_{max} - \bar c), -b (\bar c - c_{min}))`, the most
    :math:`u_{hi} = y_{hi} + \max(b (\bar c - c_{min}), -b (c_{max} - \bar c))`, both widened to the
    u that were seen. Equal consensus everywhere gives b = 0.

    Parameters
    ----------
    labels, consensus
        y and c on the labelled items, rows x labels.
    every
        The consensus over all items.
    bounds
        Least and greatest value of a label.
    weights
        Rows x labels; they add up to the effective number of labels.

    Examples
    --------
    >>> every = Spread.of(np.arange(40) / 39)
    >>> c, y = np.array([[35, 30, 16, 12]]) / 39, np.array([[1.0, 0.75, 0.5, 0.25]])
    >>> found = adjust(y, c, every, bounds=(0, 1), weights=np.ones((1, 4)))
    >>> found.slope.round(4).tolist(), found.values.round(3).tolist()
    ([0.0875], [[0.965, 0.726, 0.508, 0.267]])
    """
    check_within(labels, bounds)
    m = weights.sum(axis=1)
    y_low, y_high = bounds
    centre = (weights * consensus).sum(axis=1) / m
    off = consensus - centre[:, None]
    scatter = (weights * off**2).sum(axis=1) + SHRINKAGE * every.variance
    slope = np.zeros(len(labels))
    leverage = np.ones(len(labels))
    if every.variance > 0:
        mean = ((weights * labels).sum(axis=1) / m)[:, None]
        slope = (weights * off * (labels - mean)).sum(axis=1) / scatter  # (AL5)
        cut = (y_high - y_low) / every.reach
        slope = np.clip(slope, -cut, cut)
        leverage = 1 / (1 + m * (every.mean - centre) ** 2 / scatter)

    up, down = every.high - every.mean, every.mean - every.low
    values = labels - slope[:, None] * (consensus - every.mean)
    low = y_low - np.maximum(slope * up, -slope * down)
    high = y_high + np.maximum(slope * down, -slope * up)
    return Adjusted(
        values=values,
        slope=slope,
        low=np.minimum(low, values.min(axis=1)),
        high=np.maximum(high, values.max(axis=1)),
        leverage=leverage,
    )


def check_within(labels: Floats, bounds: Bounds) -> None:
    """Raise ``InputError`` for a label outside its bounds."""
    outside = ~((labels >= bounds[0]) & (labels <= bounds[1]))  # also catches NaN
    if outside.any():
        raise InputError(
            f"labels must lie in {bounds!r}, got {labels[outside].flat[0]}: rescale them first"
        )
