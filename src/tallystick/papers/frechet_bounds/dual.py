r"""The Fréchet dual: the sharp bounds of E[g(X, Y, Z)] if X and Y are never seen together.

A pattern is one value z of what is seen of every item. Everywhere in this file

- ``q`` is the law of the atoms (predictions, pairs of predictions, binned scores …) given z, shape
  (patterns, atoms), and ``p`` that of the label, P(Y | z), shape (patterns, labels); rows sum to 1;
- ``cost`` is g, shape (atoms, labels) or (patterns, atoms, labels);
- ``side`` is ``lower`` or ``upper``;
- ``delta`` is the total variation by which P(Y | z) may be wrong, one number or one per pattern;
- ``weights`` are shares or counts of the patterns; None means equal ones.

Everything falls apart into one optimal transport problem per pattern ([MP23]_, section A.1). For g
that depends on x only through a prediction it is solved by hand, otherwise by a linear programme.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import ConvergenceError, InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray: TypeAlias = NDArray[np.float64]
Side: TypeAlias = Literal["lower", "upper"]

_SUM_TOLERANCE = 1e-9
_ROUNDING = 1e-12
"""A target that lies this little beyond the last reachable value is that value: sums of shares
round."""
_VARIABLES = 4_000
"""Patterns are solved together in blocks of about so many variables: one call costs a millisecond,
however small."""


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
        bound (:func:`outer_bound`); these prove this one.
    slopes, lengths
        How the end moves outward as P(Y | z) may be wrong by more and more total variation: at the
        rate ``slopes[z, 0]`` for the first ``lengths[z, 0]``, then at ``slopes[z, 1]``, …, then not
        at all. Where the lengths are positive the slopes of a pattern never increase.
    """

    side: Side
    value: FloatArray
    potentials: FloatArray
    slopes: FloatArray
    lengths: FloatArray

    def mean(self, weights: ArrayLike | None = None) -> float:
        """Return the end for the whole population."""
        return float(as_weights(weights, len(self.value)) @ self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The sharp interval of E[g(X, Y) | z], for every pattern z: no shorter one holds for all
    couplings.
    """

    lower: End
    upper: End

    def mean(self, weights: ArrayLike | None = None) -> tuple[float, float]:
        """Return (lower, upper) for the whole population."""
        return self.lower.mean(weights), self.upper.mean(weights)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Certified:
    """One end of E[g(X, Y) | z] for every pattern, enclosed by a dual and a primal value.

    Parameters
    ----------
    side
        ``lower`` or ``upper``.
    value
        What the potentials prove, by the hard maximum (minimum) of (2.2): an outer bound, whatever
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


# Theorem 2.1: any potentials prove an outer bound, the best ones the sharp bound.


def row_values(
    p: ArrayLike, cost: ArrayLike, potentials: ArrayLike, *, side: Side, delta: ArrayLike = 0.0
) -> FloatArray:
    r"""Say what each row that shows pattern z and atom i contributes to the bound.

    .. math:: f_u(i, z) = \max_y (g_{iy} + a_{zy}) - \sum_y p_{zy} a_{zy}   \tag{2.2}

    and min for :math:`f_l`: [MP23]_, Theorem 2.1. The mean over rows is an outer bound whatever the
    potentials are, so they may be learnt, as long as not from the rows that they are applied to.
    If p may be wrong by δ, :math:`\delta\,(\max_y a_{zy} - \min_y a_{zy})` is added (subtracted),
    again with equality for the best a.

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
        best = extreme(best, g[:, :, y] + a[:, y : y + 1])  # (2.2)

    # (A.11) has 2 max|a| in the place of the range of a, which is never larger.
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
    """Return the bound that these potentials prove for each pattern: E[f] of (2.1).

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


def centred(potentials: ArrayLike) -> FloatArray:
    """Return the same potentials in the set 𝒜, where they sum to zero in each pattern: (B.1).

    >>> centred([[0.0, -1.0]])
    array([[ 0.5, -0.5]])
    """
    a = np.asarray(potentials, dtype=np.float64)
    # (B.1) subtracts the sum over y, which does not lead into 𝒜; the mean does.
    return np.asarray(a - a.mean(axis=-1, keepdims=True))


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


# (1.1) for any bounded loss: the primal programme, with proof from both sides.


def programme(
    q: ArrayLike, p: ArrayLike, cost: ArrayLike, *, side: Side, delta: ArrayLike = 0.0
) -> Certified:
    r"""Bound E[g(X, Y) | z] for any cost, by linear programming (HiGHS).

    .. math::
        \max_{\pi \ge 0} \sum_{iy} g_{iy} \pi_{iy}
        \quad\text{with}\quad \sum_y \pi_{iy} = q_i, \quad \sum_i \pi_{iy} = p'_y, \quad TV(p', p) \le \delta

    and min for the lower end: [MP23]_, (1.1), pattern by pattern (A.1 there). The risk of a loss is
    ``cost[h, y]`` (section 3.1), the event B of statistical matching 1 inside B (section 5). The
    patterns are blocks of one sparse programme. What is reported as ``value`` is not the solver's
    word but the bound (2.1) that its potentials prove.

    Examples
    --------
    >>> end = programme([[0.5, 0.5]], [[0.25, 0.25, 0.5]], [[0, 1, 4], [1, 0, 1]], side="lower")
    >>> end.value.round(9), end.primal.round(9)
    (array([0.75]), array([0.75]))
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_patterns(q, p)
    g = as_cost(cost, patterns=len(p), atoms=q.shape[1], labels=p.shape[1])
    radius = as_delta(delta, len(p))
    # Sums that differ in the ninth digit would make the equations contradict one another.
    laws, labels = normalised(q), normalised(p)
    sign = -1.0 if as_side(side) == "upper" else 1.0

    block = max(1, _VARIABLES // g[0].size)
    parts = []
    for z in range(0, len(labels), block):
        now = slice(z, z + block)
        parts.append(_solve(laws[now], labels[now], sign * g[now], radius[now]))
    potentials = sign * np.concatenate([part[0] for part in parts])
    coupling = np.concatenate([part[1] for part in parts])
    return Certified(
        side=side,
        value=outer_bound(laws, labels, g, potentials, side=side, delta=radius),
        primal=coupling_value(coupling, g),
        potentials=potentials,
        coupling=coupling,
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
    # The solver's marginals are the derivatives by the right-hand side; (2.2) has the opposite
    # sign.
    potentials = -np.asarray(answer.eqlin.marginals).reshape(patterns, -1)[:, :labels]
    coupling = np.asarray(answer.x).reshape(patterns, -1)[:, :cells]
    return potentials, coupling.reshape(patterns, atoms, labels)


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
    last, one = np.full(labels, labels + atoms - 1), np.ones(labels)
    rows = np.concatenate([cell % labels, y, y, labels + cell[:-labels] // labels, last, last])
    columns = np.concatenate([cell, received, given, cell[:-labels], received, given])
    signs = np.concatenate([np.ones(len(cell)), -one, np.ones(len(cell)), one, -one])
    width = len(cell) + 2 * labels
    equations = csr_array((signs, (rows, columns)), shape=(atoms + labels, width))
    return equations, csr_array((one, (np.zeros(labels, dtype=int), given)), shape=(1, width))


# (1.1) by hand: g depends on x only through a prediction. (ERRATA: equal to the programme.)


def agreement(q: ArrayLike, p: ArrayLike) -> Bounds:
    r"""Bound the accuracy P(h = Y | z), sharply and in closed form.

    .. math::
        \max\bigl(0, \max_y (q_y + p_y - 1)\bigr) \;\le\; P(h = Y \mid z) \;\le\; \sum_y \min(q_y, p_y)

    [MP23]_, (1.1) with g = 1[h = y]: the upper potentials are :math:`a_y = -1[q_y > p_y]`, the
    lower ones :math:`a_y = 1[y \ne k]` where :math:`k = \arg\max (q + p)` has :math:`q_k + p_k >
    1`, and 0 otherwise.

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
    high = np.minimum(q, p).sum(axis=1)
    upper = _one_segment("upper", high, -(q > p).astype(np.float64), np.maximum(1 - high, 0))

    excess = q + p - 1
    low = np.maximum(excess.max(axis=1), 0)
    potentials = np.where((low > 0)[:, None], 1.0, 0.0) * np.ones_like(p)
    potentials[np.arange(len(p)), excess.argmax(axis=1)] = 0
    return _in_order(_one_segment("lower", low, potentials, low), upper)


def joint_event(q: ArrayLike, p: ArrayLike) -> Bounds:
    r"""Bound P(A and B | z) by P(A | z) and P(B | z), one number each a pattern.

    .. math:: \max(0, q + p - 1) \;\le\; P(A \cap B \mid z) \;\le\; \min(q, p)

    With A = {h = 1} and B = {Y = 1} the numerator of precision, recall and F1 in [MP23]_, (3.1).
    The labels of the potentials are (not B, B).

    >>> bounds = joint_event([0.75, 0.25], [0.5, 0.5])
    >>> bounds.lower.value, bounds.upper.value
    (array([0.25, 0.  ]), array([0.5 , 0.25]))
    """
    q, p = as_probabilities(q, name="q"), as_probabilities(p, name="p")
    as_same_shape(q, p)
    nothing = np.zeros_like(p)
    low, high = np.maximum(q + p - 1, 0), np.minimum(q, p)
    on, off = np.where(low > 0, 1.0, 0.0), np.where(q > p, 1.0, 0.0)
    return _in_order(
        _one_segment("lower", low, np.column_stack([on, nothing]), low),
        _one_segment("upper", high, np.column_stack([nothing, -off]), np.maximum(q - p, 0)),
    )


def class_joint(q: ArrayLike, p: ArrayLike) -> tuple[Bounds, ...]:
    """Bound P(h = c, Y = c | z) for every class c, from P(h | z) and P(Y | z).

    One coupling attains all the upper ends at once, and another one all the lower ends, so the ends
    of the classes add up to those of :func:`agreement`, and ratios of them are sharp.

    >>> [bounds.upper.mean() for bounds in class_joint([[0.5, 0.25, 0.25]], [[0.25, 0.25, 0.5]])]
    [0.25, 0.25, 0.25]
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_shape(q, p)
    return tuple(joint_event(q[:, c], p[:, c]) for c in range(p.shape[1]))


def two_labels(q: ArrayLike, p: ArrayLike, cost: ArrayLike) -> Bounds:
    r"""Bound E[g(X, Y) | z] for two labels and any cost, sharply and in closed form: a sort.

    An atom's gain from label 1 is :math:`d_i = g_{i1} - g_{i0}`. The upper end gives label 1 to the
    atoms of largest gain until :math:`p_1` is spent,

    .. math:: U_z = \sum_i q_i g_{i0} + \int_0^{p_1} d^{\downarrow}(t)\, dt , \qquad a = (0, -d^{\downarrow}(p_1)) ,

    with :math:`d^{\downarrow}` the decreasing rearrangement of d under q; the lower end gives it to
    the smallest. If P(Y | z) may be wrong, the worst :math:`p_1` is the one nearest to where the
    gains change their sign.

    Examples
    --------
    A miss costs 5, a false alarm 1; between 0.25 and 1.75 is lost for each item:

    >>> bounds = two_labels([[0.5, 0.5]], [[0.75, 0.25]], [[0, 5], [1, 0]])
    >>> bounds.lower.value, bounds.upper.value
    (array([0.25]), array([1.75]))
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    if p.shape[1] != 2 or len(q) != len(p):
        raise InputError(
            f"p must have shape ({len(q)}, 2) to go with q, got {p.shape}; for more labels solve a"
            " programme"
        )
    g = as_cost(cost, patterns=len(p), atoms=q.shape[1], labels=2)
    return _in_order(_mirrored(_two_labels_upper(q, p, -g)), _two_labels_upper(q, p, g))


def _two_labels_upper(q: FloatArray, p: FloatArray, g: FloatArray) -> End:
    gain = g[:, :, 1] - g[:, :, 0]
    order = np.argsort(-gain, axis=1, kind="stable")
    mass, gain = np.take_along_axis(q, order, axis=1), np.take_along_axis(gain, order, axis=1)
    p1 = p[:, 1:]
    ends = mass.cumsum(axis=1)
    ones = np.clip(p1 - (ends - mass), 0, mass)  # how much of each atom is given label 1
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


def pair_cost(labels: int) -> FloatArray:
    """Return g((i, j), y) = 1[i = y] - 1[j = y], shape (labels², labels): what is bounded by
    :func:`pair_difference`.

    >>> pair_cost(2).tolist()
    [[0.0, 0.0], [1.0, -1.0], [-1.0, 1.0], [0.0, 0.0]]
    """
    if labels < 2:
        raise InputError(f"labels must be at least 2, got {labels!r}")
    same = np.eye(labels)
    return (same[:, None, :] - same[None, :, :]).reshape(labels * labels, labels)


def pair_difference(w: ArrayLike, p: ArrayLike) -> Bounds:
    r"""Bound P(h₁ = Y | z) - P(h₂ = Y | z), sharply and in closed form.

    With :math:`w_{ij} = P(h_1 = i, h_2 = j \mid z)`, shape (patterns, labels, labels), :math:`r_i =
    \sum_{j \ne i} w_{ij}` and D the probability that the two disagree, the upper end is the least
    of three levels,

    .. math::
        C_0 = D, \qquad C_1 = 1 - \sum_y (p_y - r_y)_+, \qquad
        C_2 = \min_k \Bigl[ 1 + r_k - p_k - \sum_{i \ne k} (w_{ik} - p_i)_+ \Bigr],   \tag{T2}

    and if P(Y | z) may be wrong by δ it is :math:`\min(C_0, C_1 + \delta, C_2 + 2\delta)`. The
    lower end follows by exchanging the two. Potentials in {0, 1, 2} suffice, because the costs are
    -1, 0 and 1; (T2) is the minimum over all :math:`3^K` of them, at the price of :math:`K^2`. Not
    in the paper, which selects models by their separate bounds.

    Examples
    --------
    They disagree on 40% of the items, always the same way, and the label is 1 on 70%:

    >>> bounds = pair_difference([[[0.2, 0.4], [0.0, 0.4]]], [[0.3, 0.7]])
    >>> bounds.lower.value.round(12), bounds.upper.value.round(12)
    (array([-0.4]), array([0.2]))
    """
    w, p = as_laws(w, name="w", dimensions=3), as_laws(p, name="p")
    if w.shape != (*p.shape, p.shape[1]):
        raise InputError(f"w must have shape {(*p.shape, p.shape[1])} to go with p, got {w.shape}")
    return _in_order(_mirrored(_pair_upper(w.transpose(0, 2, 1), p)), _pair_upper(w, p))


def _pair_upper(w: FloatArray, p: FloatArray) -> End:
    patterns, labels = p.shape
    diagonal = np.arange(labels)
    w = w.copy()
    w[:, diagonal, diagonal] = 0
    r = w.sum(axis=2)
    over = np.maximum(w - p[:, :, None], 0)  # (w_ik - p_i)_+; zero on the diagonal
    peaks = 1 + r - p - over.sum(axis=1)
    rows, k = np.arange(patterns), peaks.argmin(axis=1)
    # (T2)
    levels = np.column_stack([r.sum(axis=1), 1 - np.maximum(p - r, 0).sum(axis=1), peaks[rows, k]])
    c0, c1, c2 = np.minimum.accumulate(levels, axis=1).T

    two = (p >= w[rows, :, k]).astype(np.float64)  # label k at level 2, the others at 1 or 0
    two[rows, k] = 2
    choices = np.stack([np.zeros_like(p), (p > r).astype(np.float64), two])
    # ties go to the flatter potentials, which are the more robust
    potentials = choices[levels.argmin(axis=1), rows]
    lengths = np.column_stack([c1 - c2, np.maximum((c0 - c1) - (c1 - c2), 0)])
    return End("upper", c2, potentials, np.broadcast_to([2.0, 1.0], (patterns, 2)), lengths)


def _in_order(lower: End, upper: End) -> Bounds:
    """Return both ends; where they meet, rounding does not make them cross."""
    return Bounds(
        replace(lower, value=np.minimum(lower.value, upper.value)),
        replace(upper, value=np.maximum(lower.value, upper.value)),
    )


def _one_segment(side: Side, value: FloatArray, potentials: FloatArray, room: FloatArray) -> End:
    """Return an end that moves outward at rate one until its *room* is spent."""
    return End(side, value, potentials, np.ones((len(value), 1)), room[:, None])


def _mirrored(upper: End) -> End:
    """Return the lower end of g from the upper end of -g."""
    return End("lower", -upper.value, -upper.potentials, upper.slopes, upper.lengths)


# Theorem A.1: how wide bounds can be, judging by what z leaves open.


def entropy_width(
    q: ArrayLike, p: ArrayLike, *, weights: ArrayLike | None = None, spread: float = 1.0
) -> float:
    r"""Bound U - L for every cost that varies by at most *spread*, from the marginals alone.

    .. math:: U - L \;\le\; s \sqrt{2 \min\bigl(H(X \mid Z), H(Y \mid Z)\bigr)}

    with conditional entropies in nats: [MP23]_, Theorem A.1, which has :math:`2\lVert g
    \rVert_\infty` in the place of the spread s = max g - min g. A constant added to g moves both
    ends alike, so the smaller s serves; and U - L never exceeds s. Where a closed form exists it
    gives the width itself: this explains it and holds for costs not yet chosen.

    Examples
    --------
    >>> round(entropy_width([[0.5, 0.5]], [[0.99, 0.01]]), 3)
    0.335
    >>> low, high = agreement([[0.5, 0.5]], [[0.99, 0.01]]).mean()
    >>> round(high - low, 3)
    0.02
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    as_same_patterns(q, p)
    if not 0 <= spread < math.inf:
        raise InputError(f"spread must be finite and not negative, got {spread!r}")
    share = as_weights(weights, len(p))
    entropies = [-(law * np.log(np.where(law > 0, law, 1))).sum(axis=1) for law in (q, p)]
    left_open = min(float(share @ entropy) for entropy in entropies)
    # Theorem A.1: s, where √8 ‖g‖ would be 2‖g‖ √2; and no more than s itself.
    return spread * min(1.0, math.sqrt(2 * left_open))


# Theorem A.3: what if the label model is wrong by δ? Two notions: total variation at most δ in
# *every* pattern, or at most δ *on average* over patterns. An end moves outward along a concave
# polygon in δ, which its closed form hands over as slopes and lengths; so everything is exact.


def robust_end(end: End, delta: ArrayLike) -> FloatArray:
    r"""Move the end, pattern by pattern, to where it is if P(Y | z) may be wrong by *delta*.

    Accuracy: :math:`\max(0, L_z - \delta)` and :math:`\min(1, U_z + \delta)`. [MP23]_, Theorem A.3
    says :math:`O(\delta)`, with a constant :math:`2 \lVert a \rVert_\infty` (A.14); this is sharp.

    >>> bounds = agreement([[0.75, 0.25], [0.5, 0.5]], [[0.5, 0.5], [0.25, 0.75]])
    >>> robust_end(bounds.lower, 0.125), robust_end(bounds.upper, 0.125)
    (array([0.125, 0.125]), array([0.875, 0.875]))
    """
    radius = as_delta(delta, len(end.value))[:, None]
    starts = end.lengths.cumsum(axis=1) - end.lengths
    moved = (end.slopes * np.clip(radius - starts, 0, end.lengths)).sum(axis=1)
    return np.asarray(end.value + _outward(end) * moved)


def budget_end(end: End, delta: float, weights: ArrayLike | None = None) -> float:
    r"""Return the end for the population if P(Y | Z) may be wrong by *delta* on average.

    The worst error is spent first where it moves the end fastest. For accuracy this is exactly
    :math:`L - \delta` and :math:`U + \delta`, within [0, 1].

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

    >>> bounds = agreement([[0.9, 0.1], [0.6, 0.4]], [[0.9, 0.1], [0.6, 0.4]])
    >>> round(bounds.lower.mean(), 12), round(breakdown(bounds.lower, 0.25), 12)
    (0.5, 0.3)
    """
    needed = _needed(end, target, weights)
    if needed <= 0:
        return 0.0
    share = as_weights(weights, len(end.value))[:, None]
    ends = end.lengths.cumsum(axis=1)
    # The total moves at a rate that rises where a segment starts and falls where it ends.
    at = np.concatenate([(ends - end.lengths).ravel(), ends.ravel()])
    change = (share * end.slopes).ravel()
    order = np.argsort(at, kind="stable")
    at, rate = at[order], np.concatenate([change, -change])[order].cumsum()
    return _reach(needed, np.diff(at, append=at[-1]), rate)


def budget_breakdown(end: End, target: float, weights: ArrayLike | None = None) -> float:
    """Return how wrong the label model may be on average before the end reaches *target*: for
    accuracy, their distance.

    >>> bounds = agreement([[0.9, 0.1], [0.6, 0.4]], [[0.9, 0.1], [0.6, 0.4]])
    >>> round(budget_breakdown(bounds.lower, 0.25), 12)
    0.25
    """
    needed = _needed(end, target, weights)
    if needed <= 0:
        return 0.0
    return _reach(needed, *_by_slope(end, as_weights(weights, len(end.value))))


def shifted_labels(q: ArrayLike, p: ArrayLike, delta: ArrayLike, *, side: Side) -> FloatArray:
    r"""Return the label law within *delta* of p that is the worst for accuracy.

    Upper: p moves towards q. Lower: the label with :math:`q_k + p_k > 1` gives its excess away. For
    two labels these are :math:`\mathrm{clip}(q, p \pm \delta)` and :math:`\mathrm{clip}(1 - q, p
    \pm \delta)`, and then they are the worst for precision, recall and F1 as well: put them in for
    p in the numerator and in the denominator.

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


# What may be passed in, and how a bad row is named.


def as_laws(values: ArrayLike, *, name: str, dimensions: int = 2) -> FloatArray:
    """Return *values* as floats, each ``values[z]`` a probability law, or name the row that is
    none.

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


def as_same_patterns(q: FloatArray, p: FloatArray) -> None:
    """Refuse marginals of different patterns."""
    if len(q) != len(p):
        raise InputError(f"q and p must have one row per pattern, got {len(q)} and {len(p)} rows")


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


def as_side(side: Side) -> Side:
    """Refuse a side that is neither ``lower`` nor ``upper``."""
    if side not in ("lower", "upper"):
        raise InputError(f"side must be 'lower' or 'upper', got {side!r}")
    return side
