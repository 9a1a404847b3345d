"""The mean of numbers from labels drawn by strata, and the cells behind recall and F1.

Labels lie on a known range: scores on [0, 1], differences of two systems on [-1, 1]. Sessions of
the second version, and those that ask which of two is better, draw by strata.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.results import Interval
from tallystick.stats.adverse_binary import (
    check_within,
    effective_labels,
    fill_unlabelled,
)
from tallystick.stats.adverse_ends import least_stratified_mean
from tallystick.stats.exact_tails import open_unit
from tallystick.stats.intervals import Bounds, Floats, Vector, as_counts

SCORES: Bounds = (0.0, 1.0)
DIFFERENCES: Bounds = (-1.0, 1.0)
PSEUDO = {SCORES: 0.35, DIFFERENCES: 0.25}
"""The fraction of one more label, at the worst value, that each end sees."""


# The mean of bounded numbers from labels drawn by strata: their own likelihood (AL19).
#
# The binary formula (AL1, AL2) asks how often a label is 1. Grades and differences of two systems
# take more values than two, and most differences are 0. Writing D as (D + 1)/2 and treating it as a
# share would let every 0 count as a coin toss: with 50 labelled items the interval of a difference
# was ± .32 where ± .13 is enough. Here the values themselves carry the likelihood.


STRATIFIED_METHOD = "stratified adverse empirical likelihood"


@dataclass(frozen=True, kw_only=True)
class StratifiedMean:
    """A mean over the items of all strata, and its interval."""

    estimate: float
    interval: Interval


def adverse_stratified_mean(
    labels: Vector,
    stratum: npt.ArrayLike,
    sizes: Vector,
    *,
    bounds: Bounds = (0.0, 1.0),
    alpha: float = 0.05,
) -> StratifiedMean:
    r"""Estimate the mean of these items from labels that were drawn at random inside each stratum.

    Stratum h holds :math:`N_h` items, :math:`W_h = N_h/N`, and :math:`k_h` labels :math:`y_{hi}` of
    weight :math:`w_h = (N_h - 1)/(N_h - k_h)`. The lower end sees the fraction
    :math:`a_h = a \sqrt{W_h}` of one more label at the least value :math:`y_{lo}` in each stratum
    (a = .35 for scores, 1/4 for differences). With :math:`d_{hi} = y_{hi} - y_{lo}` and
    :math:`n_h = k_h w_h + a_h`,

    .. math:: p_{hi} = \frac{w_h}{\nu_h + \mu W_h d_{hi}}, \qquad
              \frac{a_h}{\nu_h} + \sum_i p_{hi} = 1, \qquad
              2 \sum_h \Bigl(a_h \ln \frac{\nu_h}{n_h} +
              w_h \sum_i \ln \frac{\nu_h + \mu W_h d_{hi}}{n_h}\Bigr) = z_{1-\alpha/2}^2, \qquad
              L = y_{lo} + \sum_h W_h \sum_i p_{hi} d_{hi}.   \tag{AL19}

    For labels 0 and 1 this is (AL2), and for one stratum it is (AL6) without judges. The upper end
    is mirrored. Both are then widened by (AL7), with the largest :math:`k_h/(N_h - k_h)` of a
    stratum that is not fully labelled, and clipped to what logic allows. The estimate is
    :math:`\sum_h W_h \bar y_h`; a stratum without labels takes the mean of the others. Approximate:
    its coverage after adaptive draws is measured (``docs/benchmarks/score.md``).

    Parameters
    ----------
    labels, stratum
        The value of every label, and the position of its stratum in *sizes*.
    sizes
        :math:`N_h` per stratum; an empty stratum is skipped.
    bounds
        (0, 1) for scores, (-1, 1) for differences.
    alpha
        One minus the level.

    Examples
    --------
    Fifty items were labelled for two systems; the first was better on eight and worse on two.

    >>> gaps = [1] * 7 + [0] * 18 + [1] + [0] * 22 + [-1] * 2
    >>> found = adverse_stratified_mean(gaps, [0] * 25 + [1] * 25, [200, 300], bounds=(-1, 1))
    >>> print(round(found.estimate, 3), found.interval)
    0.088 [-0.030, 0.205] (95 %, approximate)
    """
    open_unit(alpha=alpha)
    limits = (float(bounds[0]), float(bounds[1]))
    if limits not in PSEUDO:
        raise InputError(f"bounds must be (0, 1) or (-1, 1), got {bounds!r}: rescale the labels")
    y, h, n = _checked(labels, stratum, sizes)
    check_within(y, limits)
    k = np.bincount(h, minlength=n.size).astype(np.float64)
    items, m, total = float(n.sum()), y.size, float(y.sum())

    mean = np.divide(
        np.bincount(h, weights=y, minlength=n.size), k, out=np.zeros(n.size), where=k > 0
    )
    filled = fill_unlabelled(n[None], mean[None], k[None])[0]
    least, most = ((total + (items - m) * bound) / items for bound in limits)
    estimate = float(np.clip((n * filled).sum() / items, least, most))

    star = effective_labels(n, k, k == n, "these")
    each = np.divide(star, k, out=np.zeros(n.size), where=k > 0)
    low, high = _raw_ends(y, h, n / items, each, limits, alpha)
    left = (k > 0) & (k < n)
    nearly = float(np.min([1.0, np.max(k[left] / (n - k)[left], initial=0.0)]))
    gross = nearly * (limits[1] - limits[0]) / items  # (AL7)
    low, high = (float(np.clip(end, least, most)) for end in (low - gross, high + gross))
    return StratifiedMean(
        estimate=min(max(estimate, low), high),
        interval=Interval(low, high, 1 - alpha, "approximate", None, STRATIFIED_METHOD),
    )


def _raw_ends(
    y: Floats,
    stratum: npt.NDArray[np.int64],
    share: Floats,
    each: Floats,
    bounds: Bounds,
    alpha: float,
) -> tuple[float, float]:
    """Return both ends (AL19) as they come, neither widened nor clipped."""
    from scipy.special import ndtri

    bar = float(ndtri(1 - alpha / 2)) ** 2
    order = np.argsort(stratum, kind="stable")
    start = np.concatenate(([0], np.cumsum(np.bincount(stratum, minlength=share.size))))
    pseudo = PSEUDO[bounds]
    below, above = y[order] - bounds[0], bounds[1] - y[order]
    low = least_stratified_mean(below, start.astype(np.int64), share, each, pseudo, bar)
    high = least_stratified_mean(above, start.astype(np.int64), share, each, pseudo, bar)
    return bounds[0] + low, bounds[1] - high


def _checked(
    labels: Vector, stratum: npt.ArrayLike, sizes: Vector
) -> tuple[Floats, npt.NDArray[np.int64], Floats]:
    y, n = (np.asarray(part, dtype=np.float64) for part in (labels, sizes))
    h = np.asarray(stratum, dtype=np.int64)
    if y.ndim != 1 or y.shape != h.shape or not y.size:
        raise InputError(
            "labels and stratum must be two sequences of one length, with at least one label, "
            f"got shapes {y.shape} and {h.shape}"
        )
    if n.ndim != 1 or h.min() < 0 or h.max() >= n.size:
        raise InputError(f"stratum must be positions in the {n.size} sizes, got {h.max()}")
    if (np.bincount(h, minlength=n.size) > n).any():
        raise InputError("sizes: a stratum has more labels than items")
    return y, h, n


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
