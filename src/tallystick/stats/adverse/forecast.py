r"""How many labels would be enough: width at M labels, labels for a width, labels to settle a pair.

Forecasts are rough. When the method was designed, forecasts from 20-50 labels were .77 to 1.36 of
the actual width in 80 % of cases. So every answer is a range of two digits, and never more than
there are items.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.adverse.binary import PSEUDO
from tallystick.stats.adverse.numbers import PSEUDO as PSEUDO_OF_MEANS
from tallystick.stats.adverse.numbers import SCORES
from tallystick.stats.adverse.population import Population, check_population
from tallystick.stats.adverse.stratum import fill_unlabelled
from tallystick.stats.intervals.array import Floats, Vector, as_counts
from tallystick.stats.intervals.bounds import Bounds
from tallystick.stats.ranges import open_unit, positive, whole

__all__ = ["LabelRange", "Outlook", "labels_to_settle", "mean_outlook", "share_outlook"]

HALVINGS = 60
PSEUDO_TEST = 1.5
"""Added to the squares of the test of pairs (AL10): exact ties at 90 % passes then stay below the
level.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRange:
    """About how many labels in all are needed, as a range of two digits.

    Parameters
    ----------
    low, high
        The range; at most *items*. *high* is None if no number of labels is sure to be enough.
    items
        How many items there are to label.
    """

    low: int
    high: int | None
    items: int

    def __str__(self) -> str:
        if self.high is None:
            return f"at least {self.low:,} of {self.items:,}"
        return f"{self.low:,} to {self.high:,} of {self.items:,}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    r"""What is needed in order to forecast the width of an interval.

    .. math:: \text{width}(M) \approx 2 z \sqrt{V \Bigl(\frac1M - \frac1N\Bigr)} + \frac AM
              \tag{AL13}

    For new items :math:`V/M + B/N` stands under the root.

    Parameters
    ----------
    variance
        V of one label.
    pull
        A: what the adverse fraction of a label adds.
    items
        N.
    fraction
        Share of all labels that fall among these N items; below 1 for a subgroup.
    between
        B, for new items; None for these items.
    spread
        Least and greatest ratio of forecast to actual width that were usual when measured.
    """

    variance: float
    pull: float
    items: int
    fraction: float = 1.0
    between: float | None = None
    spread: tuple[float, float] = (0.77, 1.36)

    @property
    def most(self) -> int:
        """The most labels that can be bought: one per item, in the subgroup and outside it."""
        return math.ceil(self.items / self.fraction - 1e-9)

    def width(self, labels: float, *, alpha: float = 0.05) -> float:
        """Forecast the width of the interval from *labels* labels in all (AL13)."""
        from scipy.special import ndtri

        positive(labels=labels)
        open_unit(alpha=alpha)
        inside = labels * self.fraction
        if self.between is None:
            doubt = self.variance * max(0.0, 1 / inside - 1 / self.items)
        else:
            doubt = self.variance / inside + self.between / self.items
        return float(2 * ndtri(1 - alpha / 2) * math.sqrt(doubt) + self.pull / inside)

    def labels_for(self, width: float, *, alpha: float = 0.05) -> float | None:
        """Solve (AL13) for the number of labels; None means "not with these items"."""
        positive(width=width)
        if self.width(self.most, alpha=alpha) > width:
            return None
        low, high = 0.0, float(self.most)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if self.width(middle, alpha=alpha) > width:
                low = middle
            else:
                high = middle
        return high

    def settles(self, difference: float, *, alpha: float = 0.05, power: float = 0.8) -> float:
        r"""Return how many labels make the test of pairs (AL10) see a difference with this power.

        .. math:: M |\Delta| = z_{1-\alpha/2} \sqrt{\varphi M (V + \Delta^2) + M^2 B/N + 1.5}
                  + z_{power} \sqrt{\varphi M V + M^2 B/N}   \tag{AL20}

        with :math:`\varphi = 1 - M/N` for these items, and 1 for new ones. All N items where no
        smaller number does it: they settle a question about these items, and not always one about
        new ones.

        >>> outlook = Outlook(variance=0.3, pull=0.0, items=1000)
        >>> round(outlook.settles(0.1), 1), outlook.settles(0.0)
        (197.5, 1000.0)
        """
        from scipy.special import ndtri

        open_unit(alpha=alpha, power=power)
        level, sure, gap = float(ndtri(1 - alpha / 2)), float(ndtri(power)), abs(difference)

        def seen(labels: float) -> bool:
            left = 1 - labels / self.items if self.between is None else 1.0
            doubt = left * labels * self.variance + labels**2 * (self.between or 0.0) / self.items
            tested = doubt + left * labels * gap**2 + PSEUDO_TEST
            return labels * gap >= level * math.sqrt(tested) + sure * math.sqrt(doubt)  # (AL20)

        low, high = 0.0, float(self.items)
        if not seen(high):
            return high
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if seen(middle) else (middle, high)
        return high

    def needed(self, width: float, *, alpha: float = 0.05) -> LabelRange:
        """Return the usual range of labels for a width.

        The forecast width may be wrong by the factors in *spread*; the range is the labels for the
        width at either of them. Labelling every item always answers a question about these items.

        Examples
        --------
        >>> print(share_outlook([400, 600], [12, 18], [2, 17]).needed(0.10))
        81 to 220 of 1,000
        """
        ends = [self.labels_for(width * factor, alpha=alpha) for factor in self.spread[::-1]]
        at_most = float(self.most) if self.between is None else None
        low = ends[0] if ends[0] is not None else self.most
        high = ends[1] if ends[1] is not None else at_most
        return label_range(low, high, self.most)


def share_outlook(
    sizes: Vector, labelled: Vector, passes: Vector, *, population: Population = "these"
) -> Outlook:
    r"""Sum up a pilot with pass/fail labels, for forecasts of :func:`adverse_share`.

    :math:`V = \sum_h W_h \tilde p_h (1 - \tilde p_h)`, :math:`\tilde p = (x + ¼)/(k + ½)`, and
    :math:`A = .35 \sum_h \sqrt{W_h}`.

    Parameters
    ----------
    sizes, labelled, passes
        :math:`N_h, k_h, x_h` per stratum.
    population
        ``these`` items, or ``new`` items like them.

    Examples
    --------
    >>> outlook = share_outlook([28, 80], [10, 20], [3, 19])
    >>> round(outlook.width(60), 4), round(outlook.labels_for(0.10), 1)
    (0.1135, 66.7)
    """
    check_population(population)
    x, k = as_counts(passes, labelled, names=("passes", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.ndim != 1 or x.shape != n.shape or n.sum() < 1:
        raise InputError(f"sizes must be one row of strata with at least 1 item, got {n.tolist()}")
    weights, rate = n / n.sum(), pilot_rate(x, k)
    between = None
    if population == "new":
        share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
        filled = fill_unlabelled(n[None], share[None], k[None])[0]
        between = float(np.nansum(weights * (filled - np.nansum(weights * filled)) ** 2))
    return Outlook(
        variance=float((weights * rate * (1 - rate)).sum()),
        pull=float(PSEUDO * np.sqrt(weights).sum()),
        items=int(n.sum()),
        between=between,
    )


def mean_outlook(
    adjusted: Vector, items: int, *, bounds: Bounds = SCORES, between: float | None = None
) -> Outlook:
    r"""Sum up a pilot of adjusted labels, for forecasts of means and differences.

    :math:`V = (\sum (u - \bar u)^2 + ¼)/(m - 1)`, and A is the adverse fraction times the range.

    Parameters
    ----------
    adjusted
        u, from :func:`adjust`; at least two.
    items
        N.
    bounds
        Of the labels: (0, 1) for scores, (-1, 1) for differences.
    between
        :math:`b^2 v` for new items. None: these items.

    Examples
    --------
    >>> outlook = mean_outlook([1.0, 0.7, 0.5, 0.9, 0.3, 0.7, 1.0, 0.5], 400)
    >>> round(outlook.variance, 4), round(outlook.width(60), 2)
    (0.1014, 0.15)
    """
    whole(1, items=items)
    u = np.asarray(adjusted, dtype=np.float64)
    if u.ndim != 1 or u.size < 2:
        raise InputError(f"adjusted must hold at least 2 labels, got shape {u.shape}")
    if bounds not in PSEUDO_OF_MEANS:
        raise InputError(f"bounds must be (0, 1) or (-1, 1), got {bounds!r}")
    return Outlook(
        variance=float((((u - u.mean()) ** 2).sum() + 0.25) / (u.size - 1)),
        pull=PSEUDO_OF_MEANS[bounds] * (bounds[1] - bounds[0]),
        items=items,
        between=between,
    )


def labels_to_settle(
    difference: float,
    interval: Interval | tuple[float, float],
    outlook: Outlook,
    *,
    alpha: float = 0.05,
    power: float = 0.8,
) -> LabelRange:
    r"""Say how many labels in all would probably settle which of two systems is better (AL20).

    The range runs from the end of the interval that is farther from 0 to the nearer one. If the
    interval holds 0, the systems may be equal, and no number of labels is sure to settle it.

    Parameters
    ----------
    difference, interval
        The estimated difference and its interval.
    outlook
        Of one pair of labels, from :func:`mean_outlook`.
    alpha, power
        Level and power of the test.

    Examples
    --------
    >>> pair = Outlook(variance=0.3, pull=0.0, items=1000)
    >>> print(labels_to_settle(0.1, (0.05, 0.15), pair))
    100 to 490 of 1,000
    >>> print(labels_to_settle(0.1, (-0.05, 0.15), pair))
    at least 100 of 1,000
    """
    low, high = interval
    if not low <= difference <= high:
        raise InputError(f"difference must lie in its interval, got {difference} and {interval}")
    far, near = max(abs(low), abs(high)), min(abs(low), abs(high))
    best = outlook.settles(far, alpha=alpha, power=power)
    holds_zero = low <= 0 <= high
    worst = None if holds_zero else outlook.settles(near, alpha=alpha, power=power)
    return label_range(best, worst, outlook.items)


def settle_at(
    difference: float, variance: float, items: int, *, alpha: float = 0.05, power: float = 0.8
) -> float:
    r"""Return how many labels tell a value from a claim that lies Δ away; all N for Δ = 0.

    .. math:: M(\Delta) = \frac{q V}{\Delta^2 + q V/N}, \qquad
              q = (z_{1-\alpha/2} + z_{power})^2.   \tag{AL14}

    >>> round(settle_at(0.1, 0.3, 1000), 1)
    190.6
    """
    from scipy.special import ndtri

    open_unit(alpha=alpha, power=power)
    positive(variance=variance)
    whole(1, items=items)
    q = float(ndtri(1 - alpha / 2) + ndtri(power)) ** 2
    return q * variance / (difference**2 + q * variance / items)


def pilot_rate(x: Floats, k: Floats) -> Floats:
    """Return p̃ = (x + ¼)/(k + ½), a pass rate that is never 0 or 1."""
    return (x + 0.25) / (k + 0.5)


def label_range(low: float, high: float | None, items: int) -> LabelRange:
    """Round a range outwards to two digits and keep it within the items.

    >>> print(label_range(78.4, 216.2, 1000), "|", label_range(3.2, None, 50))
    78 to 220 of 1,000 | at least 3 of 50
    """
    top = None if high is None else min(items, _two_digits(high, up=True))
    return LabelRange(low=min(items, max(1, _two_digits(low, up=False))), high=top, items=items)


def _two_digits(value: float, *, up: bool) -> int:
    step = 10 ** max(0, math.floor(math.log10(max(value, 1.0))) - 1)
    rounded = math.ceil(value / step - 1e-9) if up else math.floor(value / step + 1e-9)
    return int(rounded * step)
