"""Any cost with two labels, on any atoms: a sort."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.stats.transport.ends import Bounds, End, Side, as_side, in_order, mirrored
from tallystick.stats.transport.marginals import FloatArray, as_cost, as_laws

__all__ = ["two_label_coupling", "two_labels"]


def two_labels(q: ArrayLike, p: ArrayLike, cost: ArrayLike) -> Bounds:
    r"""Bound E[g(X, Y) | z] for two labels and any cost, sharply and in closed form.

    An atom's gain from label 1 is :math:`d_i = g_{i1} - g_{i0}`. The upper end gives label 1 to the
    atoms of largest gain until :math:`p_1` is spent,

    .. math:: U_z = \sum_i q_i g_{i0} + \int_0^{p_1} d^{\downarrow}(t)\, dt , \qquad a = (0, -d^{\downarrow}(p_1)) ,

    with :math:`d^{\downarrow}` the decreasing rearrangement of d under q; the lower end gives it to
    the smallest. A two-class cost matrix is the case of two atoms. If P(Y | z) may be wrong, the
    worst :math:`p_1` is the one nearest to where the gains change their sign.

    Parameters
    ----------
    q
        Law of the atoms, shape (patterns, atoms).
    p
        P(Y | z), shape (patterns, 2).
    cost
        g, shape (atoms, 2) or (patterns, atoms, 2).

    Examples
    --------
    A miss costs 5, a false alarm 1; between 0.25 and 1.75 is lost for each item:

    >>> bounds = two_labels([[0.5, 0.5]], [[0.75, 0.25]], [[0, 5], [1, 0]])
    >>> bounds.lower.value, bounds.upper.value
    (array([0.25]), array([1.75]))
    """
    q, p, g = _checked(q, p, cost)
    return in_order(mirrored(_upper(q, p, -g)), _upper(q, p, g))


def two_label_coupling(q: ArrayLike, p: ArrayLike, cost: ArrayLike, *, side: Side) -> FloatArray:
    """Show joint laws (patterns, atoms, 2) that attain an end of :func:`two_labels`.

    >>> two_label_coupling([[0.5, 0.5]], [[0.75, 0.25]], [[0, 5], [1, 0]], side="upper")[0]
    array([[0.25, 0.25],
           [0.5 , 0.  ]])
    """
    q, p, g = _checked(q, p, cost)
    order, mass, _ = _sorted_gains(q, g if as_side(side) == "upper" else -g)
    edges = mass.cumsum(axis=1)
    first = np.clip(p[:, 1:] - (edges - mass), 0, mass)
    coupling = np.empty((*q.shape, 2))
    np.put_along_axis(coupling[:, :, 1], order, first, axis=1)
    coupling[:, :, 0] = q - coupling[:, :, 1]
    return coupling


def _checked(
    q: ArrayLike, p: ArrayLike, cost: ArrayLike
) -> tuple[FloatArray, FloatArray, FloatArray]:
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    if p.shape[1] != 2 or len(q) != len(p):
        raise InputError(
            f"p must have shape ({len(q)}, 2) to go with q, got {p.shape}; for more labels solve a"
            " programme"
        )
    return q, p, as_cost(cost, patterns=len(p), atoms=q.shape[1], labels=2)


def _sorted_gains(q: FloatArray, g: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    gain = g[:, :, 1] - g[:, :, 0]
    order = np.argsort(-gain, axis=1, kind="stable")
    return order, np.take_along_axis(q, order, axis=1), np.take_along_axis(gain, order, axis=1)


def _upper(q: FloatArray, p: FloatArray, g: FloatArray) -> End:
    _, mass, gain = _sorted_gains(q, g)
    p1 = p[:, 1:]
    ends = mass.cumsum(axis=1)
    starts = ends - mass
    ones = np.clip(p1 - starts, 0, mass)  # how much of each atom is given label 1
    zeros = mass - ones
    value = (q * g[:, :, 0]).sum(axis=1) + (ones * gain).sum(axis=1)
    # Any gain between the last atom inside and the first outside is optimal; the inside one exists
    # unless p1 = 0.
    last = np.minimum((ends < p1).sum(axis=1), mass.shape[1] - 1)
    potentials = np.column_stack([np.zeros(len(p)), -gain[np.arange(len(p)), last]])
    # More label 1 pays while the next atom gains, less of it while the last one loses; one of the
    # two is empty.
    slopes = np.hstack([np.maximum(gain, 0), np.maximum(-gain[:, ::-1], 0)])
    lengths = np.where(slopes > 0, np.hstack([zeros, ones[:, ::-1]]), 0)
    return End("upper", value, potentials, slopes, lengths)
