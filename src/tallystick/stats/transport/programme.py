"""Any cost, any number of labels: the linear programme itself, with proof from both sides."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import ConvergenceError, InputError
from tallystick.stats.transport.certificate import Certified
from tallystick.stats.transport.duality import coupling_value, outer_bound
from tallystick.stats.transport.ends import Side, as_side
from tallystick.stats.transport.marginals import FloatArray, as_cost, as_delta, as_laws, normalised

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["programme"]

_VARIABLES = 4_000
"""Patterns are solved together in blocks of about so many variables: one call costs a millisecond,
however small."""


def programme(
    q: ArrayLike, p: ArrayLike, cost: ArrayLike, *, side: Side, delta: ArrayLike = 0.0
) -> Certified:
    r"""Bound E[g(X, Y) | z] for any cost, by linear programming (HiGHS).

    .. math::
        \max_{\pi \ge 0} \sum_{iy} g_{iy} \pi_{iy}
        \quad\text{with}\quad \sum_y \pi_{iy} = q_i, \quad \sum_i \pi_{iy} = p'_y, \quad TV(p', p) \le \delta

    and min for the lower end: [MP23]_, (1.1), pattern by pattern (A.1 there). The patterns are
    blocks of one sparse programme. What is reported as ``value`` is not the solver's word but the
    bound (T1) that its potentials prove.

    Parameters
    ----------
    q
        Law of the atoms (predictions, pairs of predictions, binned scores …) given z, shape
        (patterns, atoms).
    p
        P(Y | z), shape (patterns, labels).
    cost
        g, shape (atoms, labels) or (patterns, atoms, labels).
    side
        Which end.
    delta
        Total-variation error allowed in P(Y | z), one number or one for each pattern.

    Examples
    --------
    >>> end = programme([[0.5, 0.5]], [[0.25, 0.25, 0.5]], [[0, 1, 4], [1, 0, 1]], side="lower")
    >>> end.value.round(9), end.primal.round(9)
    (array([0.75]), array([0.75]))
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    if len(q) != len(p):
        raise InputError(f"q and p must have one row per pattern, got {len(q)} and {len(p)} rows")
    g = as_cost(cost, patterns=len(p), atoms=q.shape[1], labels=p.shape[1])
    radius = as_delta(delta, len(p))
    # Sums that differ in the ninth digit would make the equations contradict one another.
    laws, labels = normalised(q), normalised(p)
    sign = -1.0 if as_side(side) == "upper" else 1.0
    block = max(1, _VARIABLES // g[0].size)
    parts = [
        _solve(
            laws[z : z + block],
            labels[z : z + block],
            sign * g[z : z + block],
            radius[z : z + block],
        )
        for z in range(0, len(labels), block)
    ]
    potentials = sign * np.concatenate([part[0] for part in parts])
    coupling = np.concatenate([part[1] for part in parts])
    value = outer_bound(laws, labels, g, potentials, side=side, delta=radius)
    primal = coupling_value(coupling, g)
    return Certified(
        side=side, value=value, primal=primal, potentials=potentials, coupling=coupling
    )


def _solve(
    q: FloatArray, p: FloatArray, g: FloatArray, radius: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Minimise; return the potentials (patterns, labels) and the couplings (patterns, atoms,
    labels).
    """
    from scipy import optimize
    from scipy.sparse import eye_array, kron

    linprog: Any = optimize.linprog  # its published types know dense matrices only
    patterns, atoms, labels = g.shape
    cells = atoms * labels
    equations, limit = _one_pattern(atoms, labels)
    each = eye_array(patterns)
    answer = linprog(
        np.hstack([g.reshape(patterns, cells), np.zeros((patterns, 2 * labels))]).ravel(),
        A_eq=kron(each, equations, format="csr"),
        b_eq=np.hstack([p, q[:, :-1], np.zeros((patterns, 1))]).ravel(),
        A_ub=kron(each, limit, format="csr"),
        b_ub=radius,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if answer.x is None or answer.status != 0:
        raise ConvergenceError(
            f"HiGHS found no optimum for {patterns} pattern(s) of {atoms} x {labels}:"
            f" {answer.message}"
        )
    # The solver's marginals are the derivatives by the right-hand side; (T1) has the opposite sign.
    potentials = -np.asarray(answer.eqlin.marginals).reshape(patterns, -1)[:, :labels]
    coupling = (
        np.asarray(answer.x).reshape(patterns, -1)[:, :cells].reshape(patterns, atoms, labels)
    )
    return potentials, coupling


def _one_pattern(atoms: int, labels: int) -> tuple[csr_array, csr_array]:
    """Return the equations of one pattern and its one inequality.

    The variables are the cells of the coupling, then how much each label receives, then how much it
    gives away. The equations are those of the labels, those of the atoms but the last, and that as
    much is received as is given; the last atom's equation follows. Written down beside the others,
    it would contradict them in the sixteenth digit.
    """
    from scipy.sparse import csr_array

    cell, y = np.arange(atoms * labels), np.arange(labels)
    received, given = len(cell) + y, len(cell) + labels + y
    last = np.full(labels, labels + atoms - 1)
    rows = np.concatenate([cell % labels, y, y, labels + cell[:-labels] // labels, last, last])
    columns = np.concatenate([cell, received, given, cell[:-labels], received, given])
    signs = np.concatenate(
        [
            np.ones(len(cell)),
            -np.ones(labels),
            np.ones(len(cell)),
            np.ones(labels),
            -np.ones(labels),
        ]
    )
    equations = csr_array((signs, (rows, columns)), shape=(atoms + labels, len(cell) + 2 * labels))
    limit = csr_array(
        (np.ones(labels), (np.zeros(labels, dtype=int), given)), shape=(1, len(cell) + 2 * labels)
    )
    return equations, limit
