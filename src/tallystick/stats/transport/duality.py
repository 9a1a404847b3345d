r"""Any potentials prove an outer bound: the one inequality under every number of this package.

For every coupling of atoms i (of law q) and labels y (of law p) and every table of potentials a,

.. math::
    \sum_i q_i \min_y (g_{iy} + a_y) - \sum_y p_y a_y
    \;\le\; E[g] \;\le\;
    \sum_i q_i \max_y (g_{iy} + a_y) - \sum_y p_y a_y ,  \tag{T1}

with equality for the best a: [MP23]_, Theorem 2.1. If p itself may be wrong by total variation δ,
add (or subtract) :math:`\delta\,(\max_y a_y - \min_y a_y)`, again with equality for the best a
(``docs/theory/transport.md#robust``).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.stats.transport.ends import Side, as_side
from tallystick.stats.transport.marginals import FloatArray, as_cost, as_delta, as_laws

__all__ = ["coupling_value", "outer_bound", "row_values"]


def row_values(
    p: ArrayLike, cost: ArrayLike, potentials: ArrayLike, *, side: Side, delta: ArrayLike = 0.0
) -> FloatArray:
    r"""Say what each row that shows pattern z and atom i contributes to the bound.

    .. math:: f_{zi} = \max_y (g_{iy} + a_{zy}) - \sum_y p_{zy} a_{zy}

    and min for the lower end: [MP23]_, (2.2). Their mean over rows is an outer bound whatever the
    potentials are, so potentials may be learnt, as long as not from the rows that they are applied
    to.

    Parameters
    ----------
    p
        P(Y | z), shape (patterns, labels).
    cost
        g, shape (atoms, labels) or (patterns, atoms, labels).
    potentials
        a, shape (patterns, labels).
    side
        Which end they prove.
    delta
        Total-variation error allowed in P(Y | z), one number or one for each pattern; not an
        average over patterns.

    Returns
    -------
    FloatArray
        Shape (patterns, atoms).

    Examples
    --------
    >>> row_values([[0.25, 0.75]], np.eye(2), [[0.0, -1.0]], side="upper")
    array([[1.75, 0.75]])
    """
    p = as_laws(p, name="p")
    patterns, labels = p.shape
    a = np.asarray(potentials, dtype=np.float64)
    if a.shape != p.shape or not np.isfinite(a).all():
        raise InputError(f"potentials must be finite and of shape {p.shape}, got shape {a.shape}")
    atoms = np.shape(cost)[-2] if np.ndim(cost) >= 2 else 0
    g = as_cost(cost, patterns=patterns, atoms=atoms, labels=labels)
    extreme, outward = (np.maximum, 1.0) if as_side(side) == "upper" else (np.minimum, -1.0)
    best = g[:, :, 0] + a[:, :1]
    for y in range(1, labels):  # label by label: no (patterns, atoms, labels) array is made
        best = extreme(best, g[:, :, y] + a[:, y : y + 1])
    offset = outward * as_delta(delta, patterns) * np.ptp(a, axis=1) - (p * a).sum(axis=1)
    return np.asarray(best + offset[:, None])


def outer_bound(
    q: ArrayLike,
    p: ArrayLike,
    cost: ArrayLike,
    potentials: ArrayLike,
    *,
    side: Side,
    delta: ArrayLike = 0.0,
) -> FloatArray:
    """Return the bound that these potentials prove for each pattern: (T1), with the arguments of
    :func:`row_values`.

    >>> outer_bound([[0.5, 0.5]], [[0.25, 0.75]], np.eye(2), [[0.0, 0.0]], side="upper")  # any potentials: valid
    array([1.])
    >>> outer_bound([[0.5, 0.5]], [[0.25, 0.75]], np.eye(2), [[-1.0, 0.0]], side="upper")  # the best: sharp
    array([0.75])
    """
    q = as_laws(q, name="q")
    values = row_values(p, cost, potentials, side=side, delta=delta)
    if values.shape != q.shape:
        raise InputError(
            f"q must have shape {values.shape} (patterns, atoms) to go with p and cost, got"
            f" {q.shape}"
        )
    return np.asarray((q * values).sum(axis=1))


def coupling_value(coupling: ArrayLike, cost: ArrayLike) -> FloatArray:
    """Return E[g | z] under each of the couplings (patterns, atoms, labels): a value that is
    attained.

    >>> coupling_value([[[0.25, 0.25], [0.0, 0.5]]], np.eye(2))
    array([0.75])
    """
    joint = np.asarray(coupling, dtype=np.float64)
    if joint.ndim != 3:
        raise InputError(f"coupling must have shape (patterns, atoms, labels), got {joint.shape}")
    g = as_cost(cost, patterns=joint.shape[0], atoms=joint.shape[1], labels=joint.shape[2])
    return np.asarray((joint * g).sum(axis=(1, 2)))
