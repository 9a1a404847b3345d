"""Accuracy, precision, recall and F1 of a classifier, from few labels and weak votes.

The classifier's prediction h and the votes' consensus are known on every row, the truth on few.
For the class c the rows fall into four cells: (h = c?) x (consensus = c?), in the order yes-yes,
yes-no, no-yes, no-no. In cell s there are :math:`N_s` rows, :math:`k_s` labels and :math:`x_s` of
class c.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import PSEUDO as BINARY_PSEUDO
from tallystick.stats.adverse_binary import (
    AdverseEstimate,
    Population,
    adverse_share,
    check_population,
    effective_labels,
)
from tallystick.stats.adverse_ends import ratio_end
from tallystick.stats.adverse_forecast import (
    CertifiedRows,
    LabelRange,
    Outlook,
    certified_share,
    label_range,
    pilot_rate,
    share_outlook,
)
from tallystick.stats.adverse_numbers import Cells, four_cells
from tallystick.stats.anytime import betting
from tallystick.stats.exact_tails import open_unit, positive, whole
from tallystick.stats.intervals import Floats, Vector

METHOD = "four-cell adverse likelihood"


def adverse_precision(
    sizes: Vector, labelled: Vector, hits: Vector, *, alpha: float = 0.05
) -> AdverseEstimate:
    """Estimate a classifier's precision for class c on these rows, from few labels.

    :func:`adverse_share` among the rows with h = c, in two strata: consensus = c, or not.

    Parameters
    ----------
    sizes, labelled, hits
        Rows, labels and labels of class c in the two cells with h = c; or in all four cells, of
        which the first two are used.
    alpha
        One minus the level.

    Examples
    --------
    >>> print(adverse_precision([200, 100], [20, 10], [18, 5]))
    0.7667 [0.610, 0.883] (95 %, approximate)
    """
    n, k, x = (np.asarray(part, dtype=np.float64)[:2] for part in (sizes, labelled, hits))
    if n.sum() == 0:
        nothing = Interval(0.0, 1.0, 1 - alpha, "approximate", None, METHOD)
        reason = Unknown("no row is predicted to be of this class")
        return AdverseEstimate(
            estimate=reason, interval=nothing, labels_only=nothing, n_labels=0, worth=0.0
        )
    return adverse_share(n, k, x, alpha=alpha)


def adverse_recall(
    sizes: Vector, labelled: Vector, hits: Vector, *, alpha: float = 0.05
) -> AdverseEstimate:
    r"""Estimate a classifier's recall for class c on these rows, from few labels.

    Recall and F1 are ratios :math:`\theta = \sum_s W_s A_s p_s / (\sum_s W_s p_s + C)`, :math:`p_s`
    being the share of class c in cell s; for recall A = 1 where h = c, otherwise 0, and C = 0. For
    the lower end cells with h = c get :math:`a_s = .35 \sqrt{W_s}` labels "not c" and the others
    :math:`a_s` labels "c"; for the upper end the reverse. With :math:`k^*_s` and :math:`\ell` of
    (AL1), a value θ is tested by

    .. math:: \omega_s = W_s (A_s - \theta), \qquad \sum_s \omega_s p_s(\mu) = \theta C, \qquad
              \mu \omega_s p_s^2 - (n_s + \mu \omega_s) p_s + s_s = 0,   \tag{AL15}

    :math:`\mu > 0` for the lower end and :math:`\mu < 0` for the upper; the end is where
    :math:`2(\ell(\tilde p) - \ell(p(\mu))) = z^2`. If more than half of the rows are labelled, both
    ends are widened by

    .. math:: \tfrac12 \max_s |A_s - \hat\theta| / (N D), \qquad
              D = \sum_s W_s \hat p_s + C.   \tag{AL16}

    They are always clipped to what logic allows. Approximate.

    Parameters
    ----------
    sizes, labelled, hits
        :math:`N_s, k_s, x_s` in the four cells: (h = c and consensus = c), (h = c only),
        (consensus = c only), neither.
    alpha
        One minus the level.

    Returns
    -------
    AdverseEstimate
        Without an estimate, and with [0, 1], if no label is of class c. ``labels_only`` forgets the
        consensus but still knows h on every row.

    Examples
    --------
    >>> print(adverse_recall([200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]))
    0.8214 [0.698, 0.917] (95 %, approximate)
    """
    return _ratio(four_cells(sizes, labelled, hits, "recall"), alpha)


def adverse_f1(
    sizes: Vector, labelled: Vector, hits: Vector, *, alpha: float = 0.05
) -> AdverseEstimate:
    """Estimate a classifier's F1 for class c on these rows, from few labels.

    As :func:`adverse_recall`, with A = 2 where h = c and C the share of rows with h = c.

    Parameters
    ----------
    sizes, labelled, hits, alpha
        As in :func:`adverse_recall`.

    Examples
    --------
    >>> print(adverse_f1([200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]))
    0.7931 [0.679, 0.877] (95 %, approximate)
    """
    return _ratio(four_cells(sizes, labelled, hits, "f1"), alpha)


def _ratio(cells: Cells, alpha: float) -> AdverseEstimate:
    open_unit(alpha=alpha)
    m = int(cells.labelled.sum())
    estimate, low, high = _finished(cells, alpha)
    _, low_alone, high_alone = _finished(cells.merged(), alpha)
    interval, labels_only = (
        Interval(*ends, 1 - alpha, "approximate", None, METHOD)
        for ends in ((low, high), (low_alone, high_alone))
    )
    ratio = labels_only.width / interval.width if interval.width > 0 else 1.0
    return AdverseEstimate(
        estimate=Unknown("no label is of this class") if estimate is None else estimate,
        interval=interval,
        labels_only=labels_only,
        n_labels=m,
        worth=m * ratio**2,
    )


def _finished(cells: Cells, alpha: float) -> tuple[float | None, float, float]:
    """Return the estimate, if there is one, and both ends, widened and clipped."""
    n, k, on = cells.sizes, cells.labelled, cells.predicted
    if n[on].sum() == 0:  # nothing is predicted to be of the class, so nothing is found
        return 0.0, 0.0, 0.0
    if n[~on].sum() == 0 and cells.constant == 0:  # everything is: recall is 1
        return 1.0, 1.0, 1.0
    estimate, scale = cells.estimate()
    if estimate is None:
        return None, 0.0, 1.0

    least, most = _logic(cells)
    if k.sum() == n.sum():  # every row is labelled: the number itself
        return estimate, estimate, estimate
    low, high = _raw_ends(cells, alpha)
    if 2 * k.sum() > n.sum():
        gross = 0.5 * np.abs(cells.factor[n > 0] - estimate).max() / (n.sum() * scale)  # (AL16)
        low, high = low - gross, high + gross
    low, high, estimate = (float(np.clip(part, least, most)) for part in (low, high, estimate))
    return estimate, min(low, estimate), max(high, estimate)


def _raw_ends(cells: Cells, alpha: float) -> tuple[float, float]:
    """Return both ends (AL15) as they come."""
    from scipy.special import ndtri

    used = cells.sizes > 0
    n, k, x = cells.sizes[used], cells.labelled[used], cells.hits[used]
    weights, factor, on = cells.weights[used], cells.factor[used], cells.predicted[used]
    star = effective_labels(n, k, k == n, "these")
    seen = star * np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    adverse = BINARY_PSEUDO * np.sqrt(weights)
    bar = float(ndtri(1 - alpha / 2)) ** 2
    low, high = (
        # Labels "c" go where they hurt: outside h = c for the lower end, inside for the upper.
        ratio_end(weights, factor, seen + adverse * at, star + adverse, cells.constant, bar, upper)
        for at, upper in ((~on, False), (on, True))
    )
    return low, high


def _logic(cells: Cells) -> tuple[float, float]:
    """Return the least and the greatest ratio that the labels leave possible."""
    on = cells.predicted
    left = cells.sizes - cells.labelled
    found, missed = cells.hits[on].sum(), cells.hits[~on].sum()
    top, open_in, open_out = cells.factor.max(), left[on].sum(), left[~on].sum()
    rows = cells.sizes[on].sum() if cells.constant > 0 else 0.0
    below, above = rows + found + missed + open_out, rows + found + open_in + missed
    least = top * found / below if below > 0 else 0.0
    most = top * (found + open_in) / above if above > 0 else 1.0
    return float(least), float(most)


# How many labels precision, recall and F1 would need.


SPREAD = (0.72, 1.45)
"""Usual range of forecast over actual width for these measures."""


def precision_outlook(sizes: Vector, labelled: Vector, hits: Vector) -> Outlook:
    """Sum up a pilot for forecasts of :func:`adverse_precision`.

    Only labels with h = c count, so M labels in all bring M times the share of such rows.

    Parameters
    ----------
    sizes, labelled, hits
        All four cells, as in :func:`adverse_recall`.
    """
    cells = four_cells(sizes, labelled, hits, "recall")
    inside = share_outlook(*(part[:2] for part in (cells.sizes, cells.labelled, cells.hits)))
    fraction = float(cells.sizes[:2].sum() / cells.sizes.sum())
    return replace(inside, fraction=fraction, spread=SPREAD)


def recall_outlook(sizes: Vector, labelled: Vector, hits: Vector) -> Outlook:
    r"""Sum up a pilot for forecasts of :func:`adverse_recall`.

    With :math:`\tilde p = (x + ¼)/(k + ½)`, :math:`D = \sum_s W_s \tilde p_s + C`,

    .. math:: V = \sum_s W_s (A_s - \hat\theta)^2 \tilde p_s (1 - \tilde p_s)/D^2, \qquad
              A = .35 \sum_s \sqrt{W_s}\, |A_s - \hat\theta|/D.   \tag{AL17}

    Parameters
    ----------
    sizes, labelled, hits
        As in :func:`adverse_recall`; at least one label of class c.

    Examples
    --------
    >>> outlook = recall_outlook([200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2])
    >>> round(outlook.variance, 4), round(outlook.pull, 4), round(outlook.width(200), 4)
    (0.3318, 1.2417, 0.149)
    """
    return _outlook(four_cells(sizes, labelled, hits, "recall"))


def f1_outlook(sizes: Vector, labelled: Vector, hits: Vector) -> Outlook:
    """Sum up a pilot for forecasts of :func:`adverse_f1`, by (AL17).

    Parameters
    ----------
    sizes, labelled, hits
        As in :func:`adverse_recall`.
    """
    return _outlook(four_cells(sizes, labelled, hits, "f1"))


def _outlook(cells: Cells) -> Outlook:
    estimate, _ = cells.estimate()
    if estimate is None:
        raise InputError("hits: no label is of this class, so nothing can be forecast")
    rate, weights = pilot_rate(cells.hits, cells.labelled), cells.weights
    scale = float((weights * rate).sum() + cells.constant)
    off = np.abs(cells.factor - estimate)
    return Outlook(
        variance=float((weights * off**2 * rate * (1 - rate)).sum() / scale**2),  # (AL17)
        pull=float(BINARY_PSEUDO * (np.sqrt(weights) * off).sum() / scale),
        items=int(cells.sizes.sum()),
        spread=SPREAD,
    )


# The AUC of a score, from few labels: a test-based interval that cannot collapse.


PSEUDO = 0.2
"""Labels added to each class that pull the centre of an end away from it."""
HALVINGS = 52
AUC_METHOD = "adverse score interval"


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
        interval=Interval(low, high, 1 - alpha, "approximate", None, AUC_METHOD),
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


# One number at many levels: what a p-value that inverts an interval asks for, step after step.
#
# Everything that does not depend on the level is computed once, and many levels are one call.


LevelEnds: TypeAlias = tuple[Floats, Floats, Floats]
"""Estimate, lower and upper end, one entry per level."""
Levels: TypeAlias = Callable[[Floats], LevelEnds]
"""Given one α per entry, the estimate and the ends at each."""


def certified_share_levels(
    sizes: Vector, labelled: Vector, passes: Vector, *, population: Population = "these"
) -> Levels:
    """Return :func:`certified_share` as a function of α; the middle stands for an estimate.

    Parameters
    ----------
    sizes, labelled, passes, population
        As in :func:`certified_share`.

    Examples
    --------
    >>> _, low, high = certified_share_levels([28, 80], [10, 20], [3, 19])(np.array([0.05, 0.5]))
    >>> low.round(3).tolist(), high.round(3).tolist()
    ([0.639, 0.731], [0.87, 0.815])
    """

    def at(alpha: Floats) -> LevelEnds:
        found = [
            certified_share(sizes, labelled, passes, population=population, alpha=float(level))
            for level in alpha
        ]
        return _around(np.array([one.low for one in found]), np.array([one.high for one in found]))

    return at


def certified_mean_levels(
    labels: Vector,
    consensus: Vector,
    every: Vector,
    *,
    population: Population = "these",
) -> Levels:
    """Return :func:`certified_mean` as a function of α; the middle stands for an estimate.

    Parameters
    ----------
    labels, consensus, every, population
        As in :func:`certified_mean`.

    Examples
    --------
    >>> every = np.arange(40) / 39
    >>> at = certified_mean_levels([1, 0.75, 0.5, 1], every[[35, 30, 16, 37]], every)
    >>> at(np.array([0.05, 0.5]))[1].round(3).tolist()
    [0.271, 0.511]
    """
    check_population(population)
    y, c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus))
    if population == "new":

        def new(alpha: Floats) -> LevelEnds:
            found = [betting(y, alpha=float(level))[0] for level in alpha]
            ends = (np.array([getattr(one, end) for one in found]) for end in ("low", "high"))
            return _around(*ends)

        return new
    rows = CertifiedRows.of(y[None], c[None], [every])
    return lambda alpha: _around(*rows.take(np.zeros(alpha.size, np.intp)).ends(alpha))


def _around(low: Floats, high: Floats) -> LevelEnds:
    return (low + high) / 2, low, high
