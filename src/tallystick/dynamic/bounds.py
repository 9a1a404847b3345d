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
from tallystick.dynamic.population import Array, checked_weights
from tallystick.errors import InputError

__all__ = [
    "exponential_bound",
    "hdh_distance",
    "hierarchical_bound",
    "hierarchical_floor",
    "path_bound",
    "path_floor",
    "perfect_bad_models",
    "perfect_majority_risk",
    "random_pick_rounds",
    "three_round_bound",
]


def perfect_bad_models(alpha: float) -> int:
    r"""How many models of a perfect learner can have risk above *alpha*: :math:`1/\alpha`
    ([SAH23]_, Lemma 3.1).

    >>> perfect_bad_models(0.15)
    6
    """
    if not 0 < alpha <= 1:
        raise InputError(f"alpha must be in (0, 1], got {alpha!r}")
    return math.floor(1 / alpha + 1e-9)


def perfect_majority_risk(rounds: int) -> float | None:
    """Say what the majority of a perfect learner's path can get wrong: nothing from three rounds
    on.

    [SAH23]_, Proposition 3.2. Before that the proposition is silent, and the answer is None.
    """
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    return 0.0 if rounds >= 3 else None


def random_pick_rounds(alpha: float, delta: float) -> int:
    r"""After how many perfect rounds is a model picked at random :math:`\alpha`-accurate, with
    chance :math:`1-\delta`.

    [SAH23]_, Corollary C.1.

    >>> random_pick_rounds(0.1, 0.05)
    200
    """
    for name, value in (("alpha", alpha), ("delta", delta)):
        if not 0 < value <= 1:
            raise InputError(f"{name} must be in (0, 1], got {value!r}")
    return math.ceil(1 / (alpha * delta) - 1e-9)


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

    Printed: :math:`11\epsilon^2 + 8\epsilon\Delta_0` ([SAH23]_, Theorem 3.4, Eq 12). Sharper, by
    spending each round's budget once: :math:`\Pr(E_0 \cap E_1) \le 2\epsilon(\epsilon+\Delta_0)`
    and :math:`\Pr(E_2 \cap E_0) + \Pr(E_2 \cap E_1) \le 3\epsilon(2\epsilon+\Delta_0)`, so
    :math:`8\epsilon^2 + 5\epsilon\Delta_0`. For :math:`\Delta_0 = 0` and :math:`\epsilon \le 1/4`
    the worst case is exactly :math:`6\epsilon^2/(1+2\epsilon)` (ERRATA;
    :func:`tallystick.dynamic.worst_case` finds it by linear programming).

    >>> round(three_round_bound(0.1), 6), round(three_round_bound(0.1, printed=True), 6)
    (0.05, 0.11)
    """
    _check(epsilon, distance)
    if printed:
        return 11 * epsilon**2 + 8 * epsilon * distance
    if distance == 0 and epsilon <= 0.25:
        return 6 * epsilon**2 / (1 + 2 * epsilon)
    return min(1.0, 8 * epsilon**2 + 5 * epsilon * distance)


def path_bound(epsilon: float, rounds: int, distance: float = 0.0) -> float:
    r"""How wrong can the majority of a path of any length with uniform weights be: proved, not
    sharp.

    The majority errs where at least m of T models do (half of that where they are exactly half of
    an even T), so its risk is at most the mean number of erring pairs over :math:`\binom m2`, and
    the mean number of erring models over m. Round t (from 0) obeys :math:`\mathcal D_0(E_t) +
    \sum_s \Pr(E_t|E_s) \le (t+1)\epsilon`, whence :math:`\Pr(E_t) \le (t+1)\epsilon + \Delta_0` and
    :math:`\sum_s \Pr(E_t \cap E_s) \le (t+1)\epsilon\,(t\epsilon + \Delta_0)`. This grows with T:
    no guarantee of the paper or of ours says that more than three rounds help.

    >>> path_bound(0.1, 1), round(path_bound(0.1, 3), 4), round(path_bound(0.1, 5), 4)
    (0.1, 0.05, 0.1333)
    """
    _check(epsilon, distance)
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    risks = [min(1.0, (t + 1) * epsilon + distance) for t in range(rounds)]
    pairs = sum((t + 1) * epsilon * risks[t - 1] for t in range(1, rounds))
    bounds = [1.0]
    # A tie counts 1/2, so a share of the tie's indicator has to be bounded too: max over k of (loss
    # at k)/(count at k).
    half = rounds / 2
    losses = {k: 1.0 if k > half else 0.5 for k in range(math.ceil(half), rounds + 1)}
    bounds.append(sum(risks) * max(loss / k for k, loss in losses.items()))
    if all(k >= 2 for k in losses):
        bounds.append(pairs * max(loss / math.comb(k, 2) for k, loss in losses.items()))
    if rounds == 3:
        bounds.append(three_round_bound(epsilon, distance))
    return min(bounds)


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

    Printed, for flat mixing: :math:`543\epsilon^3 + 300\epsilon^2\Delta_0` (Eq 48). A vote of three
    errs only where two of them do, so :math:`\Pr(E_g|\cdot) \le \tfrac12\sum\Pr(E_h|\cdot)`, which
    halves it: :math:`271.5\epsilon^3 + 150\epsilon^2\Delta_0`. The proof mixes flat and the
    recursive definition nested, where the same steps give :math:`363\epsilon^3 +
    192\epsilon^2\Delta_0` (ERRATA).

    >>> round(hierarchical_bound(0.01, mixing="flat") / 0.01**3, 6), round(hierarchical_bound(0.01) / 0.01**3, 6)
    (271.5, 363.0)
    """
    _check(epsilon, distance)
    if mixing not in ("flat", "nested"):
        raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
    if printed and mixing == "nested":
        raise InputError("printed=True is for mixing='flat': the paper's proof covers no other")
    cube, square = (
        (543.0, 300.0) if printed else (271.5, 150.0) if mixing == "flat" else (363.0, 192.0)
    )
    bound = cube * epsilon**3 + square * epsilon**2 * distance
    return bound if printed else min(1.0, bound)


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
