"""How often a prediction and the label can agree, if only their laws given z are known."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tallystick.stats.transport.ends import Bounds, End, Side, as_side, in_order, one_segment
from tallystick.stats.transport.marginals import FloatArray, as_laws, as_same_shape

__all__ = ["agreement", "agreement_coupling"]


def agreement(q: ArrayLike, p: ArrayLike) -> Bounds:
    r"""Bound the accuracy P(h = Y | z), sharply and in closed form.

    .. math::
        \max\bigl(0, \max_y (q_y + p_y - 1)\bigr) \;\le\; P(h = Y \mid z) \;\le\; \sum_y \min(q_y, p_y)

    The linear programme of [MP23]_, (1.1) with g = 1[h = y], solved by hand: the upper potentials
    are :math:`a_y = -1[q_y > p_y]`, the lower ones :math:`a_y = 1[y \ne k]` where :math:`k =
    \arg\max (q + p)` has :math:`q_k + p_k > 1`, and 0 otherwise.

    Parameters
    ----------
    q, p
        P(h | z) and P(Y | z), shape (patterns, labels), rows of sum one.

    Examples
    --------
    >>> bounds = agreement([[0.9, 0.1], [0.5, 0.5]], [[0.8, 0.2], [0.5, 0.5]])
    >>> bounds.lower.value.round(12), bounds.upper.value.round(12)
    (array([0.7, 0. ]), array([0.9, 1. ]))
    >>> bounds.upper.mean([30, 10])
    0.925
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_shape(q, p)
    return in_order(_lower(q, p), _upper(q, p))


def _upper(q: FloatArray, p: FloatArray) -> End:
    value = np.minimum(q, p).sum(axis=1)
    return one_segment("upper", value, -(q > p).astype(np.float64), np.maximum(1 - value, 0))


def _lower(q: FloatArray, p: FloatArray) -> End:
    excess = q + p - 1
    value = np.maximum(excess.max(axis=1), 0)
    potentials = np.where((value > 0)[:, None], 1.0, 0.0) * np.ones_like(p)
    potentials[np.arange(len(p)), excess.argmax(axis=1)] = 0
    return one_segment("lower", value, potentials, value)


def agreement_coupling(q: ArrayLike, p: ArrayLike, *, side: Side) -> FloatArray:
    r"""Show a joint law of (h, Y) given z that attains an end of :func:`agreement`.

    Upper: the mass :math:`\min(q_y, p_y)` stays on the diagonal, the rest is spread independently.
    Lower: lay q and p as arcs around the same circle in the same order and turn p by :math:`s =
    \max_y (A_y - B_{y-1})`, with A and B the cumulated laws; then no label's two arcs overlap,
    unless :math:`q_k + p_k > 1`, where they overlap by the excess
    (``docs/theory/transport.md#agreement``).

    Returns
    -------
    FloatArray
        Shape (patterns, labels of h, labels of Y).

    Examples
    --------
    >>> agreement_coupling([[0.5, 0.5]], [[0.5, 0.5]], side="lower")[0]
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_shape(q, p)
    return _stay(q, p) if as_side(side) == "upper" else _turn(q, p)


def _stay(q: FloatArray, p: FloatArray) -> FloatArray:
    surplus, need = np.maximum(q - p, 0), np.maximum(p - q, 0)
    moved = need.sum(axis=1)
    coupling = surplus[:, :, None] * (need / np.where(moved > 0, moved, 1)[:, None])[:, None, :]
    diagonal = np.arange(q.shape[1])
    coupling[:, diagonal, diagonal] = np.minimum(q, p)
    return coupling


def _turn(q: FloatArray, p: FloatArray) -> FloatArray:
    a_end, b_end = q.cumsum(axis=1), p.cumsum(axis=1)
    a_start, b_start = a_end - q, b_end - p
    turn = (a_end - b_start).max(axis=1)[:, None]
    coupling = np.zeros((*q.shape, p.shape[1]))
    for lap in (0.0, 1.0):  # the turned arcs of p lie in [0, 2): what passes 1 comes round again
        end = np.minimum(a_end[:, :, None], (b_end + turn - lap)[:, None, :])
        start = np.maximum(a_start[:, :, None], (b_start + turn - lap)[:, None, :])
        coupling += np.maximum(end - start, 0)
    return coupling
