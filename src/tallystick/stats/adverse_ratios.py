"""Recall, F1 and AUC of a classifier, from few labels and weak votes.

The classifier's prediction h and the votes' consensus are known on every row, the truth on few.
For the class c the rows fall into four cells: (h = c?) x (consensus = c?), in the order yes-yes,
yes-no, no-yes, no-no. In cell s there are :math:`N_s` rows, :math:`k_s` labels and :math:`x_s` of
class c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.adverse_binary import PSEUDO, effective_labels, fill_unlabelled
from tallystick.stats.bets import crossing
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import Floats, Vector, as_counts

METHOD = "four-cell adverse likelihood"


@dataclass(frozen=True, kw_only=True)
class RatioEstimate:
    """A ratio from labels and votes.

    Parameters
    ----------
    estimate
        The number, or why there is none.
    interval
        Its interval.
    worth
        How many labels alone would give an interval as narrow.
    """

    estimate: float | Unknown
    interval: Interval
    worth: float

    def __str__(self) -> str:
        number = self.estimate if isinstance(self.estimate, Unknown) else f"{self.estimate:.4f}"
        return f"{number} {self.interval}"


def adverse_recall(
    sizes: Vector, labelled: Vector, hits: Vector, *, alpha: float = 0.05
) -> RatioEstimate:
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
    RatioEstimate
        Without an estimate, and with [0, 1], if no label is of class c. Its worth compares with the
        same interval without the consensus, which still knows h on every row.

    Examples
    --------
    >>> print(adverse_recall([200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]))
    0.8214 [0.698, 0.917] (95%, approximate)
    """
    return _ratio(four_cells(sizes, labelled, hits, "recall"), alpha)


def adverse_f1(
    sizes: Vector, labelled: Vector, hits: Vector, *, alpha: float = 0.05
) -> RatioEstimate:
    """Estimate a classifier's F1 for class c on these rows, from few labels.

    As :func:`adverse_recall`, with A = 2 where h = c and C the share of rows with h = c.

    Parameters
    ----------
    sizes, labelled, hits, alpha
        As in :func:`adverse_recall`.

    Examples
    --------
    >>> print(adverse_f1([200, 100, 60, 640], [20, 10, 6, 64], [18, 5, 3, 2]))
    0.7931 [0.679, 0.877] (95%, approximate)
    """
    return _ratio(four_cells(sizes, labelled, hits, "f1"), alpha)


def _ratio(cells: Cells, alpha: float) -> RatioEstimate:
    open_unit(alpha=alpha)
    m = int(cells.labelled.sum())
    estimate, low, high = _finished(cells, alpha)
    _, low_alone, high_alone = _finished(cells.merged(), alpha)
    ratio = (high_alone - low_alone) / (high - low) if high > low else 1.0
    return RatioEstimate(
        estimate=Unknown("no label is of this class") if estimate is None else estimate,
        interval=Interval(low, high, 1 - alpha, "approximate", None, METHOD),
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
    star = effective_labels(n, k, k == n)
    seen = star * np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    adverse = PSEUDO * np.sqrt(weights)
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


# The four cells behind recall and F1: (h = c?) x (consensus = c?).


Measure: TypeAlias = Literal["recall", "f1"]

PREDICTED = np.array([True, True, False, False])
"""Which of the four cells have h = c."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Cells:
    r"""Counts per cell, and the ratio :math:`\sum W A p / (\sum W p + C)` that is asked for.

    Parameters
    ----------
    sizes, labelled, hits
        Rows, labels and labels of class c per cell.
    factor
        A: 1 (recall) or 2 (F1) where h = c, otherwise 0.
    constant
        C: 0 (recall), or the share of rows with h = c (F1).
    """

    sizes: Floats
    labelled: Floats
    hits: Floats
    factor: Floats
    constant: float

    @property
    def predicted(self) -> NDArray[np.bool_]:
        """Which cells have h = c."""
        return np.asarray(self.factor > 0)

    @property
    def weights(self) -> Floats:
        """Share of all rows per cell."""
        return np.asarray(self.sizes / self.sizes.sum())

    def merged(self) -> Cells:
        """Forget the consensus: one cell with h = c and one without."""
        on, off = self.predicted, ~self.predicted
        parts = (
            np.array([part[on].sum(), part[off].sum()])
            for part in (self.sizes, self.labelled, self.hits)
        )
        sizes, labelled, hits = parts
        factor = np.array([self.factor.max(initial=0.0), 0.0])
        return Cells(
            sizes=sizes, labelled=labelled, hits=hits, factor=factor, constant=self.constant
        )

    def estimate(self) -> tuple[float | None, float]:
        """Return θ̂ and its denominator D; None if no label is of the class and D is 0."""
        share = np.divide(
            self.hits, self.labelled, out=np.zeros_like(self.hits), where=self.labelled > 0
        )
        filled = fill_unlabelled(self.sizes[None], share[None], self.labelled[None])[0]
        scale = float(np.nansum(self.weights * filled) + self.constant)
        if self.labelled.sum() == 0 or scale <= 0:
            return None, scale
        return float((self.weights * self.factor * filled).sum() / scale), scale


def four_cells(sizes: Vector, labelled: Vector, hits: Vector, measure: Measure) -> Cells:
    """Check the counts of the four cells and say which ratio is meant."""
    x, k = as_counts(hits, labelled, names=("hits", "labelled"))
    k, n = as_counts(k, sizes, names=("labelled", "sizes"))
    if n.shape != (4,) or x.shape != (4,) or n.sum() < 1:
        raise InputError(f"sizes must hold four cells with at least 1 row, got {n.tolist()}")
    share = float(n[PREDICTED].sum() / n.sum())
    factor, constant = (2.0, share) if measure == "f1" else (1.0, 0.0)
    return Cells(
        sizes=n, labelled=k, hits=x, factor=np.where(PREDICTED, factor, 0.0), constant=constant
    )


# Ends of a ratio of two sums over cells: recall and F1.


RATIO_ENDS_LOWEST, RATIO_ENDS_HIGHEST = -10.0, 25.0
"""Where ln |μ| is looked for."""


def rates(tilt: Floats, seen: Floats, size: Floats) -> tuple[Floats, Floats]:
    """Return the root p in [0, 1] of tilt p² - (n + tilt) p + s = 0, and the root of its
    discriminant; *tilt* is μω, of either sign.
    """
    slope = size + tilt
    # slope² - 4 tilt s, written so that it cannot turn negative when s is at most n.
    square = np.where(
        tilt >= 0.0, (tilt - size) ** 2 + 4.0 * tilt * (size - seen), slope**2 - 4.0 * tilt * seen
    )
    root = np.sqrt(square)
    with np.errstate(divide="ignore", invalid="ignore"):
        p = np.where(slope >= 0.0, 2.0 * seen / (slope + root), (slope - root) / (2.0 * tilt))
    return np.nan_to_num(p), root


def ratio_end(
    weight: Floats,
    factor: Floats,
    seen: Floats,
    size: Floats,
    constant: float,
    bar: float,
    upper: bool,
) -> float:
    r"""Return the ratio θ, on one side of its estimate, at which the statistic (AL15) is the bar.

    The statistic D falls towards the estimate, with slope
    :math:`dD/dθ = -2 μ (\sum_s W_s p_s + C)`: the multiplier μ is what the constraint costs.
    """
    top = float((weight * factor * seen / size).sum())
    below = constant + float((weight * seen / size).sum())
    if below <= 0.0:  # no label of the class, not even an adverse one: nothing is refuted
        return 1.0 if upper else 0.0
    sign, missed, last = (-1.0 if upper else 1.0), size - seen, [0.0]

    def lost(theta: float) -> tuple[float, float]:
        """Return 2(ℓ(p̃) - ℓ(p(μ))) at the ratio θ, and how fast it changes."""
        omega = weight * (factor - theta)

        # μ solves Σ ω p(μ) = θ C. At μ = 0 the sum is on the far side of θ C.
        def excess(t: Floats) -> tuple[Floats, Floats]:
            tilt = sign * np.exp(t) * omega
            p, root = rates(tilt, seen, size)
            slope = (sign * omega * tilt * p * (1.0 - p) / root).sum()
            return np.array([sign * (theta * constant - (omega * p).sum())]), np.array([slope])

        last[0] = float(crossing(excess, np.array(last), RATIO_ENDS_LOWEST, RATIO_ENDS_HIGHEST)[0])
        mu = sign * np.exp(last[0])
        p, _ = rates(mu * omega, seen, size)
        # A rate of 0 or 1 with labels against it has likelihood 0.
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(seen > 0.0, seen * np.log(seen / size / p), 0.0)
            parts += np.where(missed > 0.0, missed * np.log(missed / size / (1.0 - p)), 0.0)
        return 2.0 * float(parts.sum()), -2.0 * mu * (float((weight * p).sum()) + constant)

    # Far from the estimate the statistic is large; between there and the estimate it crosses.
    inside, outside = top / below, 1.0 if upper else 0.0

    def rising(at: Floats) -> tuple[Floats, Floats]:
        width = outside - inside
        statistic, slope = lost(inside + float(at[0]) * width)
        root = np.sqrt(max(statistic, 0.0))  # nearly a straight line
        return np.array([root - np.sqrt(bar)]), np.array([slope * width / (2.0 * root)])

    if inside == outside:
        return outside
    at = crossing(rising, np.array([0.5]), 0.0, 1.0)
    return inside + float(at[0]) * (outside - inside)


# The AUC of a score, from few labels: a test-based interval that cannot collapse.


AUC_PSEUDO = 0.2
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

    def ends(self, *, alpha: float = 0.05) -> tuple[float, float]:
        """Return both ends of the interval (AL18)."""
        low = _end(self, upper=False, alpha=alpha)
        return low, _end(self, upper=True, alpha=alpha)


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
    0.8750 [0.342, 1.000] (95%, approximate)
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
    centre = theta * n1 * n0 / ((n1 + AUC_PSEUDO) * (n0 + AUC_PSEUDO))
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
