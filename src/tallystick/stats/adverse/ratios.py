r"""Accuracy, precision, recall and F1 of a classifier, from few labels and weak votes.

The classifier's prediction h and the votes' consensus are known on every row, the truth on few.
For the class c the rows fall into four cells: (h = c?) x (consensus = c?), in the order yes-yes,
yes-no, no-yes, no-no. In cell s there are :math:`N_s` rows, :math:`k_s` labels and :math:`x_s` of
class c.
"""

from __future__ import annotations

import numpy as np

from tallystick.results import Interval, Unknown
from tallystick.stats.adverse._ratio_ends import ratio_end
from tallystick.stats.adverse.binary import PSEUDO, adverse_share
from tallystick.stats.adverse.cells import Cells, four_cells
from tallystick.stats.adverse.estimate import AdverseEstimate
from tallystick.stats.adverse.stratum import effective_labels
from tallystick.stats.intervals.array import Vector
from tallystick.stats.ranges import open_unit

__all__ = ["adverse_accuracy", "adverse_f1", "adverse_precision", "adverse_recall"]

METHOD = "four-cell adverse likelihood"


def adverse_accuracy(
    sizes: Vector, labelled: Vector, right: Vector, *, alpha: float = 0.05
) -> AdverseEstimate:
    """Estimate a classifier's accuracy on these rows, from few labels.

    :func:`adverse_share` of "h is right", in two strata: the consensus agrees with h, or not.

    Parameters
    ----------
    sizes, labelled, right
        Rows, labels and right predictions per stratum.
    alpha
        One minus the level.

    Examples
    --------
    >>> print(adverse_accuracy([250, 750], [12, 38], [4, 35]))
    0.7741 [0.667, 0.863] (95 %, approximate)
    """
    return adverse_share(sizes, labelled, right, alpha=alpha)


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
