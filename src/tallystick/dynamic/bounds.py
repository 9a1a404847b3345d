r"""The statements of [SAH23]_ as functions, with the constants corrected and sharpened.

``printed=True`` gives a constant as it follows from the paper's own proof; the default is the
sharpest that we can prove. Where D_0 differs from D, *distance* is :math:`\Delta_0 = d_{\mathcal H
\Delta \mathcal H}(\mathcal D_0, \mathcal D)` (:func:`hdh_distance`).
"""

from __future__ import annotations

import math

import numpy as np

from tallystick.dynamic.design import Mixing
from tallystick.dynamic.learners import checked_epsilon
from tallystick.dynamic.papers.sharp_bounds import (
    any_rounds_bound,
    sharp_hierarchical_bound,
    three_round_lemma,
)
from tallystick.dynamic.population import Array, checked_weights
from tallystick.errors import InputError

__all__ = [
    "exponential_bound",
    "hdh_distance",
    "hierarchical_bound",
    "hierarchical_floor",
    "path_bound",
    "path_floor",
    "three_round_bound",
]


def hdh_distance(predictions: Array, first: Array, second: Array) -> float:
    r"""How differently can two distributions see the disagreement of two classifiers of a finite
    class.

    .. math:: d_{\mathcal H\Delta\mathcal H}(\mathcal P_1, \mathcal P_2) = \sup_{h, h'} \left|
              \Pr_{\mathcal P_1}(h \ne h') - \Pr_{\mathcal P_2}(h \ne h') \right|

    [SAH23]_, Definition 3.3 (Eq 1). At most the total variation distance, and zero if the
    distributions agree.

    Parameters
    ----------
    predictions
        One row a classifier, one column an item; any labels.
    first, second
        The two distributions over the items.

    Examples
    --------
    >>> hdh_distance(np.array([[0, 0, 0], [0, 1, 0]]), np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.5, 0.25]))
    0.25
    """
    labels = np.asarray(predictions)
    gap = checked_weights(first, "first") - checked_weights(second, "second")
    if labels.ndim != 2 or labels.shape[1] != gap.size:
        raise InputError(
            f"predictions need the shape (classifiers, {gap.size}), got {labels.shape}"
        )
    agree = np.zeros((len(labels), len(labels)))
    for label in np.unique(labels):
        mask = (labels == label).astype(float)
        agree += (mask * gap) @ mask.T
    return float(np.abs(gap.sum() - agree).max())


def three_round_bound(epsilon: float, distance: float = 0.0, *, printed: bool = False) -> float:
    r"""How wrong can the majority of a three-round path with uniform weights be.

    Printed: :math:`11\epsilon^2 + 8\epsilon\Delta_0` ([SAH23]_, Theorem 3.4, Eq 12). Ours is
    :math:`\max(6\epsilon^2 + 3\epsilon\Delta_0, 5\epsilon^2 + 5\epsilon\Delta_0)`
    (:func:`tallystick.dynamic.papers.three_round_lemma`). For :math:`\Delta_0 = 0` and
    :math:`\epsilon \le 1/4` the worst case is exactly :math:`6\epsilon^2/(1+2\epsilon)`.

    >>> round(three_round_bound(0.1), 6), round(three_round_bound(0.1, printed=True), 6)
    (0.05, 0.11)
    >>> round(three_round_bound(0.05, 0.01), 6)
    0.0165
    """
    _check(epsilon, distance)
    if printed:
        return 11 * epsilon**2 + 8 * epsilon * distance
    if distance == 0 and epsilon <= 0.25:
        return 6 * epsilon**2 / (1 + 2 * epsilon)
    return min(1.0, three_round_lemma(epsilon, distance))


def path_bound(epsilon: float, rounds: int, distance: float = 0.0) -> float:
    r"""How wrong can the majority of a path of any length with uniform weights be: proved, not
    sharp.

    The closed form of :func:`tallystick.dynamic.papers.any_rounds_bound`, and for three rounds
    :func:`three_round_bound`. It grows with the number of rounds: no guarantee of the paper or of
    ours says that more than three rounds help.

    >>> path_bound(0.1, 1), round(path_bound(0.1, 3), 4), round(path_bound(0.1, 5), 4)
    (0.1, 0.05, 0.0967)
    """
    _check(epsilon, distance)
    if rounds == 3:
        return three_round_bound(epsilon, distance)
    return min(1.0, any_rounds_bound(epsilon, rounds, distance))


def path_floor(epsilon: float) -> float:
    r"""Return what no path can promise to go below: :math:`\epsilon^2/8`, for three rounds or more
    and any weights.

    [SAH23]_, Theorem 3.5.
    The theorem needs :math:`1/\epsilon` whole; otherwise it is applied to the next smaller such
    :math:`\epsilon`.

    >>> round(path_floor(0.1), 12), path_floor(0.11) == path_floor(0.1)
    (0.00125, True)
    """
    return _whole(epsilon) ** 2 / 8


def hierarchical_bound(
    epsilon: float, distance: float = 0.0, *, mixing: Mixing = "nested", printed: bool = False
) -> float:
    r"""How wrong can the hierarchy of depth 2 and width 3 with uniform weights be ([SAH23]_,
    Theorem 4.1).

    Printed, for flat mixing: :math:`543\epsilon^3 + 300\epsilon^2\Delta_0` (Eq 48). Ours is
    :math:`\max(84\epsilon^3 + 42\epsilon^2\Delta_0, 52.5\epsilon^2(\epsilon+\Delta_0))` flat
    and :math:`\max(108\epsilon^3 + 45\epsilon^2\Delta_0, 75\epsilon^2(\epsilon+\Delta_0))`
    nested (:func:`tallystick.dynamic.papers.sharp_hierarchical_bound`).

    >>> round(hierarchical_bound(0.01, mixing="flat") / 0.01**3, 6), round(hierarchical_bound(0.01) / 0.01**3, 6)
    (84.0, 108.0)
    """
    _check(epsilon, distance)
    if not printed:
        return min(1.0, sharp_hierarchical_bound(epsilon, distance, mixing=mixing))
    if mixing != "flat":
        raise InputError("printed=True is for mixing='flat': the paper's proof covers no other")
    return 543 * epsilon**3 + 300 * epsilon**2 * distance


def hierarchical_floor(epsilon: float) -> float:
    r"""Return what no hierarchy of depth 2 and width 3 can promise to go below:
    :math:`\epsilon^3/2`.

    [SAH23]_, Theorem 4.2.

    >>> round(hierarchical_floor(0.1), 12)
    0.0005
    """
    return _whole(epsilon) ** 3 / 2


def exponential_bound(epsilon: float, updates: int) -> float:
    r"""How wrong can the exponential-loss model be after so many updates:
    :math:`\exp(-(1-2\epsilon)^2 t/2)`.

    [SAH23]_, section A.2.

    >>> round(exponential_bound(0.1, 24), 6)
    0.000462
    """
    checked_epsilon(epsilon)
    if updates < 0:
        raise InputError(f"updates must not be negative, got {updates!r}")
    return math.exp(-((1 - 2 * epsilon) ** 2) * updates / 2)


def _check(epsilon: float, distance: float) -> None:
    checked_epsilon(epsilon)
    if not 0 <= distance <= 1:
        raise InputError(f"distance must be in [0, 1], got {distance!r}")


def _whole(epsilon: float) -> float:
    checked_epsilon(epsilon)
    return 1 / math.ceil(1 / epsilon - 1e-9)
