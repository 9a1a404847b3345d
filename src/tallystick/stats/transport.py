"""Any cost, any number of labels: the linear programme itself, with proof from both sides."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import ConvergenceError, InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = [
    "Bounds",
    "Certified",
    "End",
    "FloatArray",
    "Side",
    "agreement",
    "agreement_coupling",
    "as_cost",
    "as_delta",
    "as_laws",
    "as_probabilities",
    "as_same_shape",
    "as_side",
    "as_weights",
    "class_joint",
    "coupling_value",
    "in_order",
    "joint_event",
    "mirrored",
    "normalised",
    "one_segment",
    "outer_bound",
    "pair_cost",
    "pair_difference",
    "programme",
    "row_values",
    "two_label_coupling",
    "two_labels",
]

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


# Any potentials prove an outer bound: the one inequality under every number of this package.
#
# For every coupling of atoms i (of law q) and labels y (of law p) and every table of potentials
# a,
#
# .. math::
#     \sum_i q_i \min_y (g_{iy} + a_y) - \sum_y p_y a_y
#     \;\le\; E[g] \;\le\;
#     \sum_i q_i \max_y (g_{iy} + a_y) - \sum_y p_y a_y ,  \tag{T1}
#
# with equality for the best a: [MP23]_, Theorem 2.1. If p itself may be wrong by total variation
# δ,
# add (or subtract) :math:`\delta\,(\max_y a_y - \min_y a_y)`, again with equality for the best a
# (``docs/theory/transport.md#robust``).


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


# How much better one predictor can be than another, if only their joint law and that of the label
# are known.


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


# The marginals of a coupling: what may be passed in, and how a bad row is named.
#
# A pattern is one value z of what is observed of every item. Its marginals are a law of the
# prediction (or of any atoms) and a law of the label, both given z; a weight says how much of the
# population shows z.


FloatArray: TypeAlias = NDArray[np.float64]

_SUM_TOLERANCE = 1e-9


def as_laws(values: ArrayLike, *, name: str, dimensions: int = 2) -> FloatArray:
    """Return *values* as floats, each ``values[z]`` a probability law, or name the row that is
    none.

    >>> as_laws([[0.25, 0.75]], name="p")
    array([[0.25, 0.75]])
    >>> as_laws([[0.5, 0.5], [0.5, 0.4]], name="p")
    Traceback (most recent call last):
    tallystick.errors.InputError: p[1] sums to 0.9, not to 1: divide the row by its sum, or drop the pattern
    """
    laws = as_probabilities(values, name=name, dimensions=dimensions)
    if laws.shape[-1] < 2:
        raise InputError(f"{name} must have at least two labels, got shape {laws.shape}")
    totals = laws.sum(axis=tuple(range(1, dimensions)))
    wrong = np.abs(totals - 1) > _SUM_TOLERANCE
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"{name}[{row}] sums to {float(totals[row])!r}, not to 1: divide the row by its sum, or"
            " drop the pattern"
        )
    return laws


def normalised(laws: FloatArray) -> FloatArray:
    """Take away the rounding that :func:`as_laws` lets pass, where equations have to agree to the
    last digit.
    """
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def as_probabilities(values: ArrayLike, *, name: str, dimensions: int = 1) -> FloatArray:
    """Return *values* as floats in [0, 1] with one row a pattern, or name the first row that holds
    anything else.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != dimensions or array.size == 0:
        raise InputError(
            f"{name} must be a non-empty array of {dimensions} dimension(s), got shape"
            f" {array.shape}"
        )
    # A NaN fails both comparisons, so it is caught here as well.
    wrong = ~((array >= 0) & (array <= 1 + _SUM_TOLERANCE))
    if wrong.any():
        place = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise InputError(
            f"{name}[{place[0]}] holds {float(array[place])!r}, which is not a probability"
        )
    return array


def as_same_shape(q: FloatArray, p: FloatArray) -> None:
    """Refuse marginals of different shapes."""
    if q.shape != p.shape:
        raise InputError(
            f"q and p must have one shape (patterns, labels), got {q.shape} and {p.shape}"
        )


def as_weights(weights: ArrayLike | None, patterns: int) -> FloatArray:
    """Return the shares of the patterns, of sum one; None means equal shares. Counts are
    welcome.
    """
    if weights is None:
        return np.full(patterns, 1 / patterns)
    array = np.asarray(weights, dtype=np.float64)
    if array.shape != (patterns,):
        raise InputError(
            f"weights must have one entry for each of the {patterns} patterns, got shape"
            f" {array.shape}"
        )
    wrong = ~(np.isfinite(array) & (array >= 0))
    if wrong.any():
        row = int(wrong.argmax())
        raise InputError(
            f"weights[{row}] is {float(array[row])!r}; a weight is finite and not negative"
        )
    total = float(array.sum())
    if total == 0:
        raise InputError("weights are all zero: no pattern occurs")
    return array / total


def as_delta(delta: ArrayLike, patterns: int) -> FloatArray:
    """Return a total-variation radius in [0, 1] for each pattern; one number serves all of them."""
    array = np.asarray(delta, dtype=np.float64)
    if array.shape not in {(), (patterns,)} or not ((array >= 0) & (array <= 1)).all():
        raise InputError(
            f"delta must be in [0, 1], one number or one for each of {patterns} pattern(s), got"
            f" {delta!r}"
        )
    return np.broadcast_to(array, (patterns,))


def as_cost(cost: ArrayLike, *, patterns: int, atoms: int, labels: int) -> FloatArray:
    """Return g(atom, label) for every pattern; a single (atoms, labels) table serves all of
    them.
    """
    array = np.asarray(cost, dtype=np.float64)
    if array.shape not in {(atoms, labels), (patterns, atoms, labels)}:
        raise InputError(
            f"cost must have shape {(atoms, labels)} or {(patterns, atoms, labels)} (patterns,"
            f" atoms, labels), got {array.shape}"
        )
    if not np.isfinite(array).all():
        raise InputError("cost must be finite: a bound on an unbounded cost does not exist")
    return np.broadcast_to(array, (patterns, atoms, labels))


# The two ends of a sharp interval, pattern by pattern, with the dual potentials that prove
# them.


Side: TypeAlias = Literal["lower", "upper"]


def as_side(side: Side) -> Side:
    """Refuse a side that is neither ``lower`` nor ``upper``."""
    if side not in ("lower", "upper"):
        raise InputError(f"side must be 'lower' or 'upper', got {side!r}")
    return side


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """One end of the sharp interval of E[g(X, Y) | z], for every pattern z.

    Parameters
    ----------
    side
        ``lower`` or ``upper``.
    value
        The end itself, one number a pattern.
    potentials
        Optimal dual potentials :math:`a_{zy}`, (patterns, labels). Any potentials prove an outer
        bound (:func:`~tallystick.stats.transport.outer_bound`); these prove this one.
    slopes, lengths
        How the end moves outward as P(Y | z) may be wrong by more and more total variation: at the
        rate ``slopes[z, 0]`` for the first ``lengths[z, 0]``, then at ``slopes[z, 1]``, …, then not
        at all. Where the lengths are positive the slopes of a pattern never increase. For
        :mod:`~tallystick.stats.transport_smoothed`.
    """

    side: Side
    value: FloatArray
    potentials: FloatArray
    slopes: FloatArray
    lengths: FloatArray

    def mean(self, weights: ArrayLike | None = None) -> float:
        """Return the end for the whole population, with the patterns' *weights* (shares or
        counts).
        """
        return float(as_weights(weights, len(self.value)) @ self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The sharp interval of E[g(X, Y) | z], for every pattern z: no shorter one holds for all
    couplings.
    """

    lower: End
    upper: End

    def mean(self, weights: ArrayLike | None = None) -> tuple[float, float]:
        """Return (lower, upper) for the whole population, with the patterns' *weights* (shares or
        counts).
        """
        return self.lower.mean(weights), self.upper.mean(weights)


def in_order(lower: End, upper: End) -> Bounds:
    """Return both ends; where they meet, rounding does not make them cross."""
    return Bounds(
        replace(lower, value=np.minimum(lower.value, upper.value)),
        replace(upper, value=np.maximum(lower.value, upper.value)),
    )


def one_segment(side: Side, value: FloatArray, potentials: FloatArray, room: FloatArray) -> End:
    """Return an end that moves outward at rate one until its *room* is spent."""
    return End(side, value, potentials, np.ones((len(value), 1)), room[:, None])


def mirrored(upper: End) -> End:
    """Return the lower end of g from the upper end of -g."""
    return End("lower", -upper.value, -upper.potentials, upper.slopes, upper.lengths)


# Any cost with two labels, on any atoms: a sort.


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
    return in_order(mirrored(_two_labels_upper(q, p, -g)), _two_labels_upper(q, p, g))


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


def _two_labels_upper(q: FloatArray, p: FloatArray, g: FloatArray) -> End:
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


# How often a prediction and the label can agree, if only their laws given z are known.


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
    return in_order(_lower(q, p), _agreement_upper(q, p))


def _agreement_upper(q: FloatArray, p: FloatArray) -> End:
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


# How often two events can happen together, if only their probabilities given z are known.


def joint_event(q: ArrayLike, p: ArrayLike) -> Bounds:
    r"""Bound P(A and B | z) by the probabilities of A and of B.

    .. math:: \max(0, q + p - 1) \;\le\; P(A \cap B \mid z) \;\le\; \min(q, p)

    The bounds of Fréchet; with A = {h = 1} and B = {Y = 1} the numerator of precision, recall and
    F1 in [MP23]_, (3.1). The labels of the potentials are (not B, B).

    Parameters
    ----------
    q, p
        P(A | z) and P(B | z), one number a pattern.

    Examples
    --------
    >>> bounds = joint_event([0.75, 0.25], [0.5, 0.5])
    >>> bounds.lower.value, bounds.upper.value
    (array([0.25, 0.  ]), array([0.5 , 0.25]))
    """
    q, p = as_probabilities(q, name="q"), as_probabilities(p, name="p")
    as_same_shape(q, p)
    nothing = np.zeros_like(p)
    low, high = np.maximum(q + p - 1, 0), np.minimum(q, p)
    on = np.where(low > 0, 1.0, 0.0)
    return in_order(
        one_segment("lower", low, np.column_stack([on, nothing]), low),
        one_segment(
            "upper",
            high,
            np.column_stack([nothing, -np.where(q > p, 1.0, 0.0)]),
            np.maximum(q - p, 0),
        ),
    )


def class_joint(q: ArrayLike, p: ArrayLike) -> tuple[Bounds, ...]:
    """Bound P(h = c, Y = c | z) for every class c, from P(h | z) and P(Y | z) of shape (patterns,
    labels).

    One coupling attains all the upper ends at once, and another one all the lower ends, so the ends
    of the classes add up to those of :func:`~tallystick.stats.transport`.

    >>> [bounds.upper.mean() for bounds in class_joint([[0.5, 0.25, 0.25]], [[0.25, 0.25, 0.5]])]
    [0.25, 0.25, 0.25]
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_shape(q, p)
    return tuple(joint_event(q[:, c], p[:, c]) for c in range(p.shape[1]))


# A bound with its proof from both sides: potentials from outside, a coupling from inside.


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Certified:
    """One end of the interval of E[g(X, Y) | z] for every pattern, enclosed by a dual and a primal
    value.

    Parameters
    ----------
    side
        ``lower`` or ``upper``.
    value
        What the potentials prove, by the hard maximum (minimum) of (T1): an outer bound, whatever
        the solver did.
    primal
        What the coupling attains. The sharp end lies between *primal* and *value*.
    potentials
        Shape (patterns, labels).
    coupling
        Joint laws with the given marginals: (patterns, atoms, labels) from a programme on a table,
        (atoms, labels) from the smoothed dual on a list of atoms. With δ > 0 its label marginal is
        the worst one within δ of P(Y | z).
    """

    side: Side
    value: FloatArray
    primal: FloatArray
    potentials: FloatArray
    coupling: FloatArray

    @property
    def gap(self) -> FloatArray:
        """Return how far the end may be from *value*, pattern by pattern."""
        return np.abs(self.value - self.primal)
