r"""More items or more runs per item: what the next money should buy, for pass@1.

.. math::

   σ_w^2 = \text{mean of } \frac{c (n - c)}{n (n - 1)}, \qquad
   σ_b^2 = \max(0, \text{variance of item values} - \text{mean of } σ_w^2/n), \qquad
   V = (σ_b^2 + σ_w^2/r)/m   \tag{R3}

.. math:: r^* = \max\Bigl(1, \sqrt{\frac{\text{price of item}}{\text{price of run}} \cdot
          \frac{σ_w^2}{σ_b^2}}\Bigr)   \tag{R4}

docs/theory/compare.md, *Several runs per item*. If items are free, buy items: at equal runs r = 2
has 1.23-1.76 times the variance of r = 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.ranges import open_unit, positive, whole

__all__ = ["VarianceParts", "forecast_width", "runs_per_item", "variance_parts"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class VarianceParts:
    """How much a score varies within items (over runs) and between them.

    Parameters
    ----------
    within, between
        σ²_w and σ²_b of (R3); for a pair both models' σ²_w are added.
    items
        m.
    """

    within: float
    between: float
    items: int

    @property
    def floor(self) -> float:
        """The variance that no number of runs of these items can go below, σ²_b/m."""
        return self.between / self.items

    def variance(self, *, items: int, runs: float) -> float:
        """Return V of (R3) for *items* with *runs* each."""
        whole(1, items=items)
        positive(runs=runs)
        return (self.between + self.within / runs) / items


def variance_parts(
    correct: npt.ArrayLike,
    runs: npt.ArrayLike,
    *,
    against: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> VarianceParts:
    """Split the variance of pass@1 into runs and items; every item needs at least two runs.

    Parameters
    ----------
    correct, runs
        c and n of each item.
    against
        (correct, runs) of a second model on the same items: then the parts are those of the
        difference.

    Examples
    --------
    >>> parts = variance_parts([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)
    >>> round(parts.within, 4), round(parts.between, 4)
    (0.125, 0.1286)
    """
    values, within, share = _model(correct, runs)
    if against is not None:
        other, other_within, other_share = _model(*against)
        if other.size != values.size:
            raise InputError(f"against must hold the same {values.size} items, got {other.size}")
        values, within, share = values - other, within + other_within, share + other_share
    between = max(0.0, float(np.var(values, ddof=1)) - share)  # (R3)
    return VarianceParts(within=within, between=between, items=values.size)


def runs_per_item(parts: VarianceParts, *, item_price: float, run_price: float) -> float:
    """Return the runs per item r* that buy the most, (R4); infinite means "buy runs only".

    Parameters
    ----------
    parts
        From a pilot.
    item_price
        What a further item costs before it is run: writing it, labelling it.
    run_price
        What one run costs.

    Examples
    --------
    >>> parts = variance_parts([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)
    >>> round(runs_per_item(parts, item_price=4, run_price=1), 2)
    1.97
    """
    positive(item_price=item_price, run_price=run_price)
    if parts.between <= 0:
        return inf if parts.within > 0 else 1.0
    return max(1.0, sqrt(item_price / run_price * parts.within / parts.between))  # (R4)


def forecast_width(parts: VarianceParts, *, items: int, runs: float, alpha: float = 0.05) -> float:
    """Return about how wide the interval for new items would be with *items* and *runs* each.

    Forecast over actual width was .80-1.50 from two runs of 50 items, .87-1.13 from five runs of
    164 (10-90 %): print two digits.

    Examples
    --------
    >>> parts = variance_parts([0, 1, 3, 5, 4, 2, 5, 5], [5] * 8)
    >>> round(forecast_width(parts, items=100, runs=2), 2)
    0.17
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha)
    return -2 * float(ndtri(alpha / 2)) * sqrt(parts.variance(items=items, runs=runs))


def _model(correct: npt.ArrayLike, runs: npt.ArrayLike) -> tuple[Floats, float, float]:
    """Return the item values, σ²_w, and what runs add to the variance of item values."""
    whole(0, correct=correct)
    whole(1, runs=runs)
    c, n = (np.atleast_1d(np.asarray(part, dtype=float)) for part in (correct, runs))
    if c.ndim != 1 or c.shape != n.shape or c.size < 2 or np.any(c > n):
        raise InputError(
            "correct and runs must be one number per item, at least two items, correct at most "
            f"runs, got shapes {c.shape} and {n.shape}"
        )
    if np.any(n < 2):
        item = int(np.argmin(n))
        raise InputError(
            f"item {item} has one run: at least two runs of every item show how much runs vary"
        )
    own = c * (n - c) / (n * (n - 1))
    # Item by item, so that the split stays unbiased where hard items were run more often.
    return c / n, float(own.mean()), float(np.mean(own / n))
