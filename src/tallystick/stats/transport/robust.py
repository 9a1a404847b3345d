r"""What if the label model is wrong? The ends as functions of its error, and the error at which a
claim breaks down.

Two notions of "wrong by δ": total variation at most δ in *every* pattern, or at most δ *on average*
over patterns. An end moves outward along a concave polygon in δ, which its closed form hands over
as slopes and lengths; so everything here is exact. (``docs/theory/transport.md#robust``)
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.stats.transport.ends import End, Side, as_side
from tallystick.stats.transport.marginals import (
    FloatArray,
    as_delta,
    as_laws,
    as_same_shape,
    as_weights,
)

__all__ = ["breakdown", "budget_breakdown", "budget_end", "robust_end", "shifted_labels"]

_ROUNDING = 1e-12
"""A target that lies this little beyond the last reachable value is that value: sums of shares
round."""


def robust_end(end: End, delta: ArrayLike) -> FloatArray:
    r"""Move the end, pattern by pattern, to where it is if P(Y | z) may be wrong by total variation
    *delta*.

    Accuracy: :math:`\max(0, L_z - \delta)` and :math:`\min(1, U_z + \delta)`. [MP23]_, Theorem A.3
    says :math:`O(\delta)`; this is the sharp constant.

    Parameters
    ----------
    end
        An end of any closed form.
    delta
        In [0, 1]; one number, or one for each pattern.

    Examples
    --------
    >>> from tallystick.stats.transport import agreement
    >>> bounds = agreement([[0.75, 0.25], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]])
    >>> robust_end(bounds.lower, 0.125), robust_end(bounds.upper, 0.125)
    (array([0.125, 0.125]), array([0.875, 0.875]))
    """
    radius = as_delta(delta, len(end.value))[:, None]
    starts = end.lengths.cumsum(axis=1) - end.lengths
    moved = (end.slopes * np.clip(radius - starts, 0, end.lengths)).sum(axis=1)
    return np.asarray(end.value + _outward(end) * moved)


def budget_end(end: End, delta: float, weights: ArrayLike | None = None) -> float:
    r"""Return the end for the population if P(Y | Z) may be wrong by total variation *delta* on
    average.

    The worst error is spent first where it moves the end fastest. For accuracy this is exactly
    :math:`L - \delta` and :math:`U + \delta`, within [0, 1].

    >>> from tallystick.stats.transport import agreement
    >>> bounds = agreement([[0.75, 0.25], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]])
    >>> bounds.lower.mean(), budget_end(bounds.lower, 0.125)
    (0.25, 0.125)
    """
    mass, gain = _by_slope(end, as_weights(weights, len(end.value)))
    spent = np.clip(as_delta(delta, 1)[0] - (mass.cumsum() - mass), 0, mass)
    return end.mean(weights) + _outward(end) * float(spent @ gain)


def breakdown(end: End, target: float, weights: ArrayLike | None = None) -> float:
    r"""Return how wrong the label model may be in every pattern before the end reaches *target*.

    The least δ that solves, for a lower end, :math:`\sum_z P(z)\, L_z(\delta) = c`: 0 if the end is
    there already, and infinity if not even δ = 1 takes it there. A claim on a ratio, N/D ≥ c with D
    > 0, is the claim that E[N - cD] ≥ 0: for precision, recall and F1 of two classes take the lower
    end of :func:`two_labels` with that cost, and target 0.

    >>> from tallystick.stats.transport import agreement
    >>> bounds = agreement([[0.9, 0.1], [0.6, 0.4]], [[0.9, 0.1], [0.6, 0.4]])
    >>> round(bounds.lower.mean(), 12), round(breakdown(bounds.lower, 0.25), 12)
    (0.5, 0.3)
    """
    needed = _needed(end, target, weights)
    if needed <= 0:
        return 0.0
    share = as_weights(weights, len(end.value))[:, None]
    ends = end.lengths.cumsum(axis=1)
    starts = ends - end.lengths
    # The total moves at a rate that rises where a segment starts and falls where it ends.
    at = np.concatenate([starts.ravel(), ends.ravel()])
    change = (share * end.slopes).ravel()
    order = np.argsort(at, kind="stable")
    at, rate = at[order], np.concatenate([change, -change])[order].cumsum()
    return _reach(needed, np.diff(at, append=at[-1]), rate)


def budget_breakdown(end: End, target: float, weights: ArrayLike | None = None) -> float:
    """Return how wrong the label model may be on average before the end reaches *target*: for
    accuracy, their distance.

    >>> from tallystick.stats.transport import agreement
    >>> bounds = agreement([[0.9, 0.1], [0.6, 0.4]], [[0.9, 0.1], [0.6, 0.4]])
    >>> round(budget_breakdown(bounds.lower, 0.25), 12)
    0.25
    """
    needed = _needed(end, target, weights)
    if needed <= 0:
        return 0.0
    return _reach(needed, *_by_slope(end, as_weights(weights, len(end.value))))


def shifted_labels(q: ArrayLike, p: ArrayLike, delta: ArrayLike, *, side: Side) -> FloatArray:
    r"""Return the label law within total variation *delta* of p that is the worst for accuracy.

    Upper: p moves towards q. Lower: the label with :math:`q_k + p_k > 1` gives its excess away. For
    two labels these are :math:`\mathrm{clip}(q, p \pm \delta)` and :math:`\mathrm{clip}(1 - q, p
    \pm \delta)`, and then they are the worst for precision, recall and F1 as well: put them in for
    p in the numerator and in the denominator.

    Parameters
    ----------
    q, p
        P(h | z) and P(Y | z), shape (patterns, labels).
    delta
        In [0, 1]; one number, or one for each pattern.
    side
        Which end of accuracy.

    Examples
    --------
    >>> shifted_labels([[0.25, 0.75]], [[0.5, 0.5]], 0.125, side="upper")
    array([[0.375, 0.625]])
    >>> shifted_labels([[0.25, 0.75]], [[0.5, 0.5]], 0.125, side="lower")
    array([[0.625, 0.375]])
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_shape(q, p)
    radius = as_delta(delta, len(p))[:, None]
    if as_side(side) == "upper":
        distance = np.abs(q - p).sum(axis=1, keepdims=True) / 2
        part = radius / np.where(distance > 0, distance, 1)
        return np.asarray(np.where(radius >= distance, q, p + part * (q - p)))
    excess = q + p - 1
    k = excess.argmax(axis=1)[:, None]
    given = np.clip(np.take_along_axis(excess, k, axis=1), 0, radius)
    # Shared in proportion to the room 1 - q_y - p_y of the others, which is never less than what is
    # given.
    room = np.maximum(-excess, 0)
    np.put_along_axis(room, k, 0.0, axis=1)
    shifted = p + given * room / np.maximum(room.sum(axis=1, keepdims=True), np.finfo(float).tiny)
    np.put_along_axis(shifted, k, np.maximum(np.take_along_axis(p, k, axis=1) - given, 0), axis=1)
    return np.asarray(shifted)


def _outward(end: End) -> float:
    return 1.0 if end.side == "upper" else -1.0


def _needed(end: End, target: float, weights: ArrayLike | None) -> float:
    if not math.isfinite(target):
        raise InputError(f"target must be a finite number, got {target!r}")
    return (target - end.mean(weights)) * _outward(end)


def _by_slope(end: End, share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """All segments, the steepest first: how much average error each absorbs, and its slope."""
    mass, slope = (share[:, None] * end.lengths).ravel(), end.slopes.ravel()
    order = np.argsort(-slope, kind="stable")
    return mass[order], slope[order]


def _reach(needed: float, steps: FloatArray, rates: FloatArray) -> float:
    """Return how far to go along *steps* at *rates* until *needed* is gained, or infinity."""
    gained = np.maximum.accumulate((steps * rates).cumsum())
    if needed > gained[-1] + _ROUNDING:
        return math.inf
    i = int(np.searchsorted(gained, min(needed, gained[-1])))
    before = gained[i] - steps[i] * rates[i]
    return float(steps[:i].sum() + min(steps[i], (needed - before) / rates[i]))
