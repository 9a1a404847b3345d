r"""When did it change? The best split of a series of block values, and the splits as good as it.

With :math:`SS_s` the sum of squares within both sides of a split after block s,

.. math::
    \hat s = \arg\min_s SS_s, \qquad
    \text{range} = \{s : (SS_s - SS_{\hat s}) / (2 \hat\sigma^2) \le 5\}   \tag{S4}

:math:`\hat\sigma^2` is the largest of :math:`SS_{\hat s}/(t-2)` and the variances before and after
the split (these two only with at least 3 blocks): one side may be much noisier than the other. In
items the range is one block wider on each side, since a change seldom falls on a border.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError

__all__ = ["ChangePoint", "change_point"]

_CUT = 5.0  # the textbook value 3.68 covered .87-.95 on fresh series


@dataclass(frozen=True, kw_only=True)
class ChangePoint:
    """Where a series changed.

    Parameters
    ----------
    split
        The change is after this many blocks of the series.
    low, high
        The range of splits, or None with fewer than three blocks.
    before, after
        Mean value on both sides.
    """

    split: int
    low: int | None
    high: int | None
    before: float
    after: float

    def items(self, block: int) -> tuple[int, int] | None:
        """Return the range in items for blocks of this size, one block wider on each side.

        >>> change_point([0.9, 0.92, 0.91, 0.6, 0.62, 0.61]).items(25)
        (50, 100)
        """
        if self.low is None or self.high is None:
            return None
        return block * (self.low - 1), block * (self.high + 1)


def change_point(values: npt.ArrayLike) -> ChangePoint:
    """Return where the values of consecutive blocks changed (S4).

    Parameters
    ----------
    values
        One share per block, oldest first, none missing.

    Examples
    --------
    >>> found = change_point([.84, .80, .88, .84, .80, .92, .84, .88, .72, .76, .68, .80, .72, .76])
    >>> found.split, found.low, found.high
    (8, 7, 9)
    """
    z = np.asarray(values, dtype=np.float64)
    if z.ndim != 1 or z.size < 2 or not np.isfinite(z).all():
        raise InputError(f"values must be at least two numbers, none missing, got {values!r}")
    t = z.size
    s = np.arange(1, t)

    # Centred first: sums of squares of shares near 1 would lose digits otherwise.
    c = z - z.mean()
    first, squares = c.cumsum(), (c**2).cumsum()
    before = squares[:-1] - first[:-1] ** 2 / s
    after = (squares[-1] - squares[:-1]) - (first[-1] - first[:-1]) ** 2 / (t - s)
    before, after = np.maximum(before, 0.0), np.maximum(after, 0.0)
    within = before + after
    best = int(within.argmin())
    split = best + 1

    low: int | None = None
    high: int | None = None
    if t >= 3:
        # A series without noise on either side: the split is certain, the border block is not.
        low = high = split
        if within[best] > 1e-12:
            scale = within[best] / (t - 2)
            if split >= 3:
                scale = max(scale, before[best] / (split - 1))
            if t - split >= 3:
                scale = max(scale, after[best] / (t - split - 1))
            near = np.flatnonzero((within - within[best]) / (2 * scale) <= _CUT)  # (S4)
            low, high = int(near[0]) + 1, int(near[-1]) + 1
    return ChangePoint(
        split=split,
        low=low,
        high=high,
        before=float(z[:split].mean()),
        after=float(z[split:].mean()),
    )
