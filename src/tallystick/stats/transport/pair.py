"""How much better one predictor can be than another, if only their joint law and that of the label
are known.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.stats.transport.ends import Bounds, End, in_order, mirrored
from tallystick.stats.transport.marginals import FloatArray, as_laws

__all__ = ["pair_cost", "pair_difference"]


def pair_cost(labels: int) -> FloatArray:
    """Return g((i, j), y) = 1[i = y] - 1[j = y], shape (labels², labels): what is bounded by
    :func:`pair_difference`.

    >>> pair_cost(2)
    array([[ 0.,  0.],
           [ 1., -1.],
           [-1.,  1.],
           [ 0.,  0.]])
    """
    if labels < 2:
        raise InputError(f"labels must be at least 2, got {labels!r}")
    same = np.eye(labels)
    return (same[:, None, :] - same[None, :, :]).reshape(labels * labels, labels)


def pair_difference(w: ArrayLike, p: ArrayLike) -> Bounds:
    r"""Bound P(h₁ = Y | z) - P(h₂ = Y | z), sharply and in closed form.

    With :math:`w_{ij} = P(h_1 = i, h_2 = j \mid z)`, :math:`r_i = \sum_{j \ne i} w_{ij}` and D the
    probability that the two disagree, the upper end is the least of three levels,

    .. math::
        C_0 = D, \qquad C_1 = 1 - \sum_y (p_y - r_y)_+, \qquad
        C_2 = \min_k \Bigl[ 1 + r_k - p_k - \sum_{i \ne k} (w_{ik} - p_i)_+ \Bigr],   \tag{T2}

    and if P(Y | z) may be wrong by total variation δ it is :math:`\min(C_0, C_1 + \delta, C_2 +
    2\delta)`. The lower end follows by exchanging the two. Potentials in {0, 1, 2} suffice, because
    the costs are -1, 0 and 1; (T2) is the minimum over all :math:`3^K` of them, at the price of
    :math:`K^2` (``docs/theory/transport.md#pair``). For couplings that attain the ends, solve
    :func:`programme` with :func:`pair_cost`.

    Parameters
    ----------
    w
        Joint law of the two predictions given z, shape (patterns, labels, labels).
    p
        P(Y | z), shape (patterns, labels).

    Examples
    --------
    They disagree on 40 % of the items, always the same way, and the label is 1 on 70 %:

    >>> bounds = pair_difference([[[0.2, 0.4], [0.0, 0.4]]], [[0.3, 0.7]])
    >>> bounds.lower.value.round(12), bounds.upper.value.round(12)
    (array([-0.4]), array([0.2]))
    """
    w, p = as_laws(w, name="w", dimensions=3), as_laws(p, name="p")
    if w.shape != (*p.shape, p.shape[1]):
        raise InputError(f"w must have shape {(*p.shape, p.shape[1])} to go with p, got {w.shape}")
    return in_order(mirrored(_upper(w.transpose(0, 2, 1), p)), _upper(w, p))


def _upper(w: FloatArray, p: FloatArray) -> End:
    patterns, labels = p.shape
    diagonal = np.arange(labels)
    w = w.copy()
    w[:, diagonal, diagonal] = 0
    r = w.sum(axis=2)
    over = np.maximum(w - p[:, :, None], 0)  # (w_ik - p_i)_+; zero on the diagonal
    peaks = 1 + r - p - over.sum(axis=1)
    rows, k = np.arange(patterns), peaks.argmin(axis=1)
    levels = np.column_stack([r.sum(axis=1), 1 - np.maximum(p - r, 0).sum(axis=1), peaks[rows, k]])
    tightest = np.minimum.accumulate(levels, axis=1)
    c0, c1, c2 = tightest.T

    two = (p >= w[rows, :, k]).astype(np.float64)  # label k at level 2, the others at 1 or 0
    two[rows, k] = 2
    choices = np.stack([np.zeros_like(p), (p > r).astype(np.float64), two])
    # ties go to the flatter potentials, which are the more robust
    potentials = choices[levels.argmin(axis=1), rows]
    lengths = np.column_stack([c1 - c2, np.maximum((c0 - c1) - (c1 - c2), 0)])
    return End("upper", c2, potentials, np.broadcast_to([2.0, 1.0], (patterns, 2)), lengths)
