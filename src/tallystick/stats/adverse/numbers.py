r"""The mean of numbers, sharpened by judges: the regression-adjusted adverse empirical likelihood.

Labels y lie on a known range, the consensus c of the judges is known for all N items, and m of
them were labelled. The same formula serves scores on [0, 1] and differences of two systems on
[-1, 1].
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.stats.adverse._empirical_ends import least_means
from tallystick.stats.adverse.adjust import Adjusted, adjust
from tallystick.stats.adverse.estimate import AdverseEstimate, AdverseEstimates
from tallystick.stats.adverse.inclusion import label_weights
from tallystick.stats.adverse.population import (
    Ends,
    Population,
    check_population,
    normal_bar,
    widen_for_new,
)
from tallystick.stats.adverse.spread import Spread
from tallystick.stats.intervals.array import Floats, Vector
from tallystick.stats.intervals.bounds import Bounds
from tallystick.stats.ranges import open_unit

__all__ = ["adverse_difference", "adverse_mean", "adverse_means", "raw_mean_ends"]

SCORES: Bounds = (0.0, 1.0)
DIFFERENCES: Bounds = (-1.0, 1.0)
PSEUDO = {SCORES: 0.35, DIFFERENCES: 0.25}
"""The fraction of one more label, at the worst value, that each end sees."""
METHOD = "adverse empirical likelihood"


def adverse_mean(
    labels: Vector,
    consensus: Vector,
    every: Spread | Vector,
    *,
    population: Population = "these",
    inclusion: Vector | None = None,
    alpha: float = 0.05,
) -> AdverseEstimate:
    r"""Estimate a mean score on [0, 1] from few labels and the judges' consensus on every item.

    The labels are adjusted for the consensus, u of (AL5). Each of m labels has weight

    .. math:: w = \frac{N - 1}{N - m} \Big/ \Bigl(1 + \frac{m (\bar c - \bar c_m)^2}{S_{cc} + 32 v}
              \Bigr), \qquad a = .35, \quad n = mw + a,

    and the lower end sees the fraction a of one more label at :math:`u_{lo}`. With
    :math:`d_i = u_i - u_{lo}`,

    .. math:: q_i = \frac{1}{1 + \gamma d_i}, \quad s = w \sum_i q_i + a, \quad
              2 \Bigl(n \ln \frac sn - w \sum_i \ln q_i\Bigr) = z_{1-\alpha/2}^2, \quad
              L = u_{lo} + \frac ws \sum_i q_i d_i.   \tag{AL6}

    The upper end is mirrored. For *these* items both ends are then widened by

    .. math:: \min\Bigl(1, \frac{m}{N - m}\Bigr) \frac{\text{range}}{N},   \tag{AL7}

    because one gross item among the last unlabelled ones is farther away than (AL6) reaches, and
    clipped to what logic allows. For *new* items w = 1, nothing is widened by (AL7), (AL3) is added
    with :math:`B = b^2 v`, and the ends are clipped to the range. The estimate is the mean of u.
    Approximate, whatever the judges' errors, if the labelled items were drawn at random.

    Parameters
    ----------
    labels, consensus
        y and c on the labelled items, y in [0, 1].
    every
        The consensus on all N items, labelled or not, or its :class:`Spread`.
    population
        ``these`` items, or ``new`` items like them.
    inclusion
        Known probabilities with which the labelled items were chosen, one per label. Labels are
        then weighted by (AL4). None: all alike.
    alpha
        One minus the level.

    Examples
    --------
    >>> every = np.arange(40) / 39
    >>> chosen = [35, 30, 16, 37, 12, 24, 33, 21]
    >>> found = adverse_mean([1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5], every[chosen], every)
    >>> print(found)
    0.6953 [0.450, 0.853] (95 %, approximate)
    """
    return _one(labels, consensus, every, SCORES, population, inclusion, alpha)


def adverse_difference(
    labels: Vector,
    consensus: Vector,
    every: Spread | Vector,
    *,
    population: Population = "these",
    inclusion: Vector | None = None,
    alpha: float = 0.05,
) -> AdverseEstimate:
    r"""Estimate how much better system A is than B, from items on which people labelled both.

    As :func:`adverse_mean`, with differences :math:`D = y_A - y_B` on [-1, 1] as labels,
    :math:`d = c_A - c_B` as consensus, and a = 1/4.

    Parameters
    ----------
    labels, consensus
        D and d on the labelled items.
    every, population, inclusion, alpha
        As in :func:`adverse_mean`, *every* holding d.

    Examples
    --------
    Twenty labelled pairs without a single difference, of 200 on which the judges see none either:

    >>> print(adverse_difference(np.zeros(20), np.zeros(20), np.zeros(200)))
    0.0000 [-0.118, 0.118] (95 %, approximate)
    """
    return _one(labels, consensus, every, DIFFERENCES, population, inclusion, alpha)


def adverse_means(
    labels: Vector,
    consensus: Vector,
    every: Spread | Vector,
    *,
    bounds: Bounds = SCORES,
    population: Population = "these",
    weights: Vector | None = None,
    alpha: float = 0.05,
) -> AdverseEstimates:
    """Estimate many means at once: one draw of labels per row, from items with one consensus.

    Parameters
    ----------
    labels, consensus
        Rows of y and c.
    every
        The consensus on all items, the same for every row.
    bounds
        (0, 1) for scores as in :func:`adverse_mean`, (-1, 1) for :func:`adverse_difference`.
    population, alpha
        As in :func:`adverse_mean`.
    weights
        Rows of weights, each adding up to its effective number of labels (:func:`label_weights`).

    Examples
    --------
    >>> rows = adverse_means([[1, 1, 0.5], [0, 0.5, 0.5]], np.zeros((2, 3)), Spread.constant(30))
    >>> rows.interval.low.round(3).tolist()
    [0.322, 0.071]
    """
    open_unit(alpha=alpha)
    check_population(population)
    spread = every if isinstance(every, Spread) else Spread.of(every)
    y, c = _rows(labels, consensus, spread.n)
    w = np.ones_like(y) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.shape != y.shape or not (w > 0).all():
        raise InputError(f"weights must be positive, one per label {y.shape}, got shape {w.shape}")
    if bounds not in PSEUDO:
        raise InputError(f"bounds must be (0, 1) or (-1, 1), got {bounds!r}: rescale the labels")

    # The labels alone are the same formula with a consensus that says nothing.
    sides = [
        mean_ends(
            y, w, adjust(y, c, part, bounds=bounds, weights=w), part, bounds, population, alpha
        )
        for part in (spread, Spread.constant(spread.n))
    ]
    (estimate, ends), (_, alone) = sides
    labels_per_row = np.full(len(y), y.shape[1], dtype=np.int64)
    return AdverseEstimates.of(
        estimate, ends, alone, n_labels=labels_per_row, alpha=alpha, method=METHOD
    )


def raw_mean_ends(
    adjusted: Adjusted, weights: Floats, *, pseudo: float = 0.35, alpha: float | Floats = 0.05
) -> Ends:
    """Return both ends (AL6) as they come, neither widened nor clipped: the kernel for simulation.

    Parameters
    ----------
    adjusted
        Adjusted labels, from :func:`adjust`.
    weights
        Rows x labels: the weight w of each label.
    pseudo
        The fraction a.
    alpha
        One minus the level, one for all rows or one per row.
    """
    bar = normal_bar(alpha, len(weights))
    below, above = adjusted.values - adjusted.low[:, None], adjusted.high[:, None] - adjusted.values
    low = adjusted.low + least_means(below, weights, pseudo, bar)
    return low, adjusted.high - least_means(above, weights, pseudo, bar)


def mean_ends(
    y: Floats,
    weights: Floats,
    adjusted: Adjusted,
    every: Spread,
    bounds: Bounds,
    population: Population,
    alpha: float | Floats,
) -> tuple[Floats, Ends]:
    """Return the estimate and the finished ends of every row, each at its own level if need be."""
    n, m, effective = every.n, y.shape[1], weights.sum(axis=1)
    estimate = (weights * adjusted.values).sum(axis=1) / effective
    total, width = y.sum(axis=1), bounds[1] - bounds[0]
    if population == "these" and m == n:  # every item is labelled: the answer is the mean
        return total / n, (total / n, total / n)

    if population == "new":
        raw = raw_mean_ends(adjusted, weights, pseudo=PSEUDO[bounds], alpha=alpha)
        chance = adjusted.slope**2 * every.variance / n
        ends = widen_for_new(estimate, raw, chance, alpha=alpha, bounds=bounds)
        return np.clip(estimate, *bounds), ends

    scale = (n - 1) / (n - effective) * adjusted.leverage
    low, high = raw_mean_ends(
        adjusted, weights * scale[:, None], pseudo=PSEUDO[bounds], alpha=alpha
    )
    gross = min(1.0, m / (n - m)) * width / n  # (AL7)
    least, most = ((total + (n - m) * bound) / n for bound in bounds)
    return np.clip(estimate, least, most), (
        np.clip(low - gross, least, most),
        np.clip(high + gross, least, most),
    )


def one_row(
    labels: Vector, consensus: Vector, every: Spread | Vector, inclusion: Vector | None
) -> tuple[Floats, Floats, Adjusted, Spread]:
    """Return labels and weights of one mean score as a row, adjusted, and the spread they need."""
    y, c, w = _single(labels, consensus, inclusion)
    spread = every if isinstance(every, Spread) else Spread.of(every)
    y, c = _rows(y, c, spread.n)
    w = np.ones_like(y) if w is None else w
    return y, w, adjust(y, c, spread, bounds=SCORES, weights=w), spread


def _one(
    labels: Vector,
    consensus: Vector,
    every: Spread | Vector,
    bounds: Bounds,
    population: Population,
    inclusion: Vector | None,
    alpha: float,
) -> AdverseEstimate:
    y, c, weights = _single(labels, consensus, inclusion)
    return adverse_means(
        y, c, every, bounds=bounds, population=population, weights=weights, alpha=alpha
    )[0]


def _single(
    labels: Vector, consensus: Vector, inclusion: Vector | None
) -> tuple[Floats, Floats, Floats | None]:
    """Return labels, consensus and weights of one problem, each as one row."""
    y, c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus))
    if y.ndim != 1 or y.shape != c.shape or not y.size:
        raise InputError(
            "labels and consensus must be two sequences of one length, with at least one label, "
            f"got shapes {y.shape} and {c.shape}"
        )
    if inclusion is None:
        return y[None], c[None], None
    weights = label_weights(inclusion)[0]
    if weights.shape != y.shape:
        raise InputError(f"inclusion must have one entry per label, got {weights.size} of {y.size}")
    return y[None], c[None], weights[None]


def _rows(labels: Vector, consensus: Vector, n: int) -> tuple[Floats, Floats]:
    y, c = (np.asarray(part, dtype=np.float64) for part in (labels, consensus))
    if y.ndim != 2 or y.shape != c.shape or not y.size:
        raise InputError(
            "labels and consensus must be rows of one shape, with at least one label each, "
            f"got shapes {y.shape} and {c.shape}"
        )
    if y.shape[1] > n:
        raise InputError(f"labels: {y.shape[1]} labels cannot come from {n} items")
    finite: NDArray[np.bool_] = np.isfinite(c)
    if not finite.all():
        raise InputError(f"consensus must be finite, got {c[~finite].flat[0]}")
    return y, c
