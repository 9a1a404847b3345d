"""The AUC of a score, from few labels: a test-based interval that cannot collapse."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse.forecast import LabelRange, label_range
from tallystick.stats.intervals.array import Floats, Vector
from tallystick.stats.ranges import open_unit, positive, whole

__all__ = ["AucEstimate", "AucPilot", "adverse_auc", "auc_pilot"]

PSEUDO = 0.2
"""Labels added to each class that pull the centre of an end away from it."""
HALVINGS = 52
METHOD = "adverse score interval"
SPREAD = (0.72, 1.45)
"""Usual range of forecast over actual width."""


@dataclass(frozen=True, kw_only=True)
class AucEstimate:
    """An AUC and its interval; without an estimate if a class has no label."""

    estimate: float | Unknown
    interval: Interval
    positives: int
    negatives: int

    def __str__(self) -> str:
        number = self.estimate if isinstance(self.estimate, Unknown) else f"{self.estimate:.4f}"
        return f"{number} {self.interval}"


@dataclass(frozen=True, slots=True, kw_only=True)
class AucPilot:
    r"""Six numbers that determine the interval of an AUC.

    Parameters
    ----------
    estimate
        :math:`\hat\theta`, ties counted one half.
    positives, negatives
        :math:`n_1, n_0`.
    delong
        DeLong's variance; a class with one label adds nothing to it.
    scatter_positives, scatter_negatives
        :math:`S_1, S_0`: squared deviations of the placements from :math:`\hat\theta`.
    """

    estimate: float
    positives: float
    negatives: float
    delong: float
    scatter_positives: float
    scatter_negatives: float

    def at(self, factor: float) -> AucPilot:
        """Return what *factor* times as many labels of each class would probably show."""
        return AucPilot(
            estimate=self.estimate,
            positives=self.positives * factor,
            negatives=self.negatives * factor,
            delong=self.delong / factor,
            scatter_positives=self.scatter_positives * factor,
            scatter_negatives=self.scatter_negatives * factor,
        )

    def ends(self, *, alpha: float = 0.05) -> tuple[float, float]:
        """Return both ends of the interval (AL18)."""
        low = _end(self, upper=False, alpha=alpha)
        return low, _end(self, upper=True, alpha=alpha)

    def width(self, labels: float, *, alpha: float = 0.05) -> float:
        """Forecast the width of the interval from *labels* labels in all."""
        positive(labels=labels)
        low, high = self.at(labels / (self.positives + self.negatives)).ends(alpha=alpha)
        return high - low

    def needed(self, width: float, items: int, *, alpha: float = 0.05) -> LabelRange:
        """Return the usual range of labels for a width, at most the *items* there are.

        Examples
        --------
        >>> pilot = auc_pilot([0.9, 0.8, 0.7, 0.3], [0.6, 0.5, 0.4, 0.2, 0.1, 0.05])
        >>> print(pilot.needed(0.2, 500))
        49 to 170 of 500
        """
        positive(width=width)
        whole(1, items=items)
        low, high = (self._labels_for(width * factor, items, alpha) for factor in SPREAD[::-1])
        return label_range(items if low is None else low, high, items)

    def _labels_for(self, width: float, items: int, alpha: float) -> float | None:
        if self.width(items, alpha=alpha) > width:
            return None
        low, high = 0.0, float(items)
        for _ in range(HALVINGS):
            middle = 0.5 * (low + high)
            if self.width(middle, alpha=alpha) > width:
                low = middle
            else:
                high = middle
        return high


def adverse_auc(positives: Vector, negatives: Vector, *, alpha: float = 0.05) -> AucEstimate:
    r"""Estimate the AUC of a score from few labelled items.

    The centre of the lower end is :math:`\hat\theta f`, that of the upper end
    :math:`1 - (1 - \hat\theta) f`, :math:`f = n_1 n_0/((n_1 + .2)(n_0 + .2))`. The ends solve

    .. math:: |\text{centre} - t| = z \sqrt{\max\bigl(V_{HM}(t),\ V_{DeLong},\
              \min(V_A, t (1 - t)/\min(n_1, n_0))\bigr)},   \tag{AL18}

    .. math:: V_{HM}(t) = \frac{t (1 - t)}{n_1 n_0} \Bigl(1 + (n_1 - 1) \frac{1 - t}{2 - t}
              + (n_0 - 1) \frac{t}{1 + t}\Bigr), \qquad
              V_A = \frac{S_1 + e^2}{n_1^2} + \frac{S_0 + e^2}{n_0^2},

    S being the squared deviations of the placements in each class and
    :math:`e = \max(\hat\theta, 1 - \hat\theta)`. Where no t solves it, the end is 0 or 1. Votes are
    not used. Approximate.

    Parameters
    ----------
    positives, negatives
        Scores of the labelled items of either class.
    alpha
        One minus the level.

    Returns
    -------
    AucEstimate
        Without an estimate, and with [0, 1], if a class has no label.

    Examples
    --------
    >>> print(adverse_auc([0.9, 0.8, 0.7, 0.3], [0.6, 0.5, 0.4, 0.2, 0.1, 0.05]))
    0.8750 [0.342, 1.000] (95 %, approximate)
    """
    open_unit(alpha=alpha)
    n1, n0 = np.size(positives), np.size(negatives)
    low, high = 0.0, 1.0
    estimate: float | Unknown = Unknown("one of the two classes has no label")
    if n1 and n0:
        pilot = auc_pilot(positives, negatives)
        estimate = pilot.estimate
        low, high = pilot.ends(alpha=alpha)
    return AucEstimate(
        estimate=estimate,
        interval=Interval(low, high, 1 - alpha, "approximate", None, METHOD),
        positives=n1,
        negatives=n0,
    )


def auc_pilot(positives: Vector, negatives: Vector) -> AucPilot:
    """Sum up the scores of both classes; both need at least one label.

    Examples
    --------
    >>> pilot = auc_pilot([0.9, 0.8, 0.7, 0.3], [0.6, 0.5, 0.4, 0.2, 0.1, 0.05])
    >>> pilot.estimate, round(pilot.delong, 4)
    (0.875, 0.0187)
    """
    one, zero = (np.asarray(part, dtype=np.float64) for part in (positives, negatives))
    for name, part in (("positives", one), ("negatives", zero)):
        if part.ndim != 1 or not part.size or not np.isfinite(part).all():
            raise InputError(
                f"{name} must be one sequence of finite scores, got shape {part.shape}"
            )
    # A placement is the share of the other class that an item beats; for a negative, that beats it.
    above, below = _beaten(one, zero), 1 - _beaten(zero, one)
    estimate = float(above.mean())
    s1, s0 = (float(((part - estimate) ** 2).sum()) for part in (above, below))
    n1, n0 = one.size, zero.size
    delong = sum(s / (n * (n - 1)) for s, n in ((s1, n1), (s0, n0)) if n > 1)
    return AucPilot(
        estimate=estimate,
        positives=float(n1),
        negatives=float(n0),
        delong=float(delong),
        scatter_positives=s1,
        scatter_negatives=s0,
    )


def _beaten(mine: Floats, others: Floats) -> Floats:
    """Return which share of *others* each of *mine* exceeds, ties counted one half."""
    order = np.sort(others)
    left, right = (np.searchsorted(order, mine, side=side) for side in ("left", "right"))
    return (left + right) / (2 * others.size)


def _end(pilot: AucPilot, *, upper: bool, alpha: float) -> float:
    """Bisect between the centre and the end of the scale; the mirror image gives the upper end."""
    from scipy.special import ndtri

    theta = 1 - pilot.estimate if upper else pilot.estimate
    n1, n0 = pilot.positives, pilot.negatives
    centre = theta * n1 * n0 / ((n1 + PSEUDO) * (n0 + PSEUDO))
    z = float(ndtri(1 - alpha / 2))

    def excess(t: float) -> float:
        return centre - t - z * float(np.sqrt(_variance(pilot, 1 - t if upper else t)))

    if excess(0.0) <= 0:
        return 1.0 if upper else 0.0
    low, high = 0.0, centre
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        if excess(middle) > 0:
            low = middle
        else:
            high = middle
    return 1 - low if upper else low


def _variance(pilot: AucPilot, t: float) -> float:
    """Return the variance under the root of (AL18) at the AUC t."""
    n1, n0 = pilot.positives, pilot.negatives
    farthest = max(pilot.estimate, 1 - pilot.estimate) ** 2
    hanley = 1 + (n1 - 1) * (1 - t) / (2 - t) + (n0 - 1) * t / (1 + t)
    hanley *= t * (1 - t) / (n1 * n0)
    lumps = (pilot.scatter_positives + farthest) / n1**2
    lumps += (pilot.scatter_negatives + farthest) / n0**2
    return max(hanley, pilot.delong, min(lumps, t * (1 - t) / min(n1, n0)))
