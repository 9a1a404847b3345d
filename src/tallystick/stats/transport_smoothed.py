"""Any cost on a long list of atoms: the smoothed dual, reported through the hard maximum."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import ConvergenceError, InputError
from tallystick.stats.transport import (
    Certified,
    End,
    FloatArray,
    Side,
    as_delta,
    as_laws,
    as_same_shape,
    as_side,
    as_weights,
    normalised,
)

__all__ = [
    "Atoms",
    "Smoothed",
    "Solver",
    "Stage",
    "anneal",
    "breakdown",
    "budget_breakdown",
    "budget_end",
    "entropy_width",
    "lbfgs",
    "newton",
    "resolvable",
    "robust_end",
    "shifted_labels",
    "smoothed",
    "soft_maximum",
]

Solver: TypeAlias = Literal["newton", "lbfgs"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Smoothed(Certified):
    r"""A certified end, with the smoothed values that led to it.

    Parameters
    ----------
    epsilon
        The final smoothness ε.
    soft
        The smoothed dual without the term ε log|Y|: further out than *value*, hence safe.
    printed
        The smoothed dual as printed, [MP23]_, (2.4): *inside* the sharp interval by up to ε log|Y|,
        hence not safe. For comparison only.
    """

    epsilon: float
    soft: FloatArray
    printed: FloatArray


def smoothed(
    p: ArrayLike,
    cost: ArrayLike,
    *,
    side: Side,
    pattern: ArrayLike | None = None,
    weight: ArrayLike | None = None,
    tolerance: float = 1e-7,
    solver: Solver = "newton",
) -> Smoothed:
    r"""Bound E[g(X, Y) | z] for any cost, where each z has a long list of weighted atoms x.

    .. math::
        U_\varepsilon = \min_a \sum_i q_i\, \varepsilon \log \sum_y \exp \frac{g_{iy} + a_y}{\varepsilon}
        - \sum_y p_y a_y   \tag{T3}

    [MP23]_, (2.3)-(2.6), on weighted atoms, with three deviations. The term -ε log|Y| is left out,
    since with it the value lies inside the sharp interval. The value reported is (T1), the hard
    maximum at the same potentials, which is an outer bound for any ε and any state of the solver.
    And the solver is Newton's method while ε is lowered in steps, for all patterns at once, in
    place of L-BFGS at a fixed ε (which is ``solver="lbfgs"``, and takes over where Newton does not
    arrive). ε falls until its loss is half the tolerance; tolerance / (2 log|Y|) is always enough.
    The softmax, moved onto the marginals, is a coupling and so a value from inside.

    Parameters
    ----------
    p
        P(Y | z), shape (patterns, labels).
    cost
        g(x, y), one row an atom, shape (atoms, labels).
    side
        Which end.
    pattern
        The pattern of each atom; may be left out if there is only one.
    weight
        Weight or count of each atom; None means equal weights.
    tolerance
        Largest gap between the value from outside and the one from inside, in the units of g.
    solver
        ``newton`` or ``lbfgs``.

    Raises
    ------
    ConvergenceError
        If the gap of a pattern stays above *tolerance*.

    Examples
    --------
    >>> g = np.linspace(0, 1, 101)[:, None] * [0.0, 1.0, 0.5]
    >>> end = smoothed([[0.25, 0.5, 0.25]], g, side="upper")
    >>> end.value.round(6), bool(end.gap[0] < 1e-7)
    (array([0.422958]), True)
    """
    p = as_laws(p, name="p")
    if not tolerance > 0:
        raise InputError(f"tolerance must be positive, got {tolerance!r}")
    if solver not in ("newton", "lbfgs"):
        raise InputError(f"solver must be 'newton' or 'lbfgs', got {solver!r}")
    sign = 1.0 if as_side(side) == "upper" else -1.0
    atoms, order = _gathered(normalised(p), cost, pattern, weight, sign)
    main = resolvable(atoms, tolerance=tolerance)
    a, epsilon = anneal(main, newton if solver == "newton" else lbfgs, tolerance=tolerance)
    end = _enclosed(atoms, main, a, epsilon)
    late = end.gap > tolerance
    if late.any() and solver == "newton":
        a[:, late] = lbfgs(main.of(late), a[:, late], epsilon, np.zeros((len(a), int(late.sum()))))
        end = _enclosed(atoms, main, a, epsilon)
        late = end.gap > tolerance
    if late.any():
        worst = int(end.gap.argmax())
        raise ConvergenceError(
            f"pattern {worst}: the bounds from outside and from inside are {end.gap[worst]:.2g}"
            f" apart, more than tolerance = {tolerance:g}: raise the tolerance, or solve a"
            " programme"
        )
    coupling = np.empty_like(end.coupling)
    coupling[order] = end.coupling
    return Smoothed(
        side=side,
        value=sign * end.value,
        primal=sign * end.primal,
        potentials=sign * end.potentials,
        coupling=coupling,
        epsilon=epsilon,
        soft=sign * end.soft,
        printed=sign * end.printed,
    )


def _gathered(
    p: FloatArray, cost: ArrayLike, pattern: ArrayLike | None, weight: ArrayLike | None, sign: float
) -> tuple[Atoms, NDArray[np.intp]]:
    """Sort the atoms by pattern and make their weights laws; return them and the order they were
    put in.
    """
    g = np.asarray(cost, dtype=np.float64)
    if g.ndim != 2 or g.shape[1] != p.shape[1] or not np.isfinite(g).all():
        raise InputError(
            f"cost must be finite and of shape (atoms, {p.shape[1]}), got shape {g.shape}"
        )
    if pattern is None and len(p) > 1:
        raise InputError(f"pattern must name one of the {len(p)} patterns for each atom, got None")
    z = np.zeros(len(g), dtype=np.intp) if pattern is None else np.asarray(pattern)
    if z.shape != (len(g),) or z.dtype.kind not in "iu" or not ((z >= 0) & (z < len(p))).all():
        raise InputError(
            f"pattern must hold an index in [0, {len(p)}) for each of the {len(g)} atoms"
        )
    mass = as_weights(weight, len(g))
    total = np.bincount(z, weights=mass, minlength=len(p))
    if not total.all():
        raise InputError(f"pattern {int(total.argmin())} has no atom of positive weight: drop it")
    order = np.argsort(z, kind="stable")
    z = z[order].astype(np.intp)
    return Atoms(np.ascontiguousarray(sign * g[order].T), mass[order] / total[z], z, p.T), order


def _enclosed(atoms: Atoms, main: Atoms, a: FloatArray, epsilon: float) -> Smoothed:
    """Return what the potentials prove and what the softmax over the *main* labels attains, for the
    upper end.
    """
    height, share = soft_maximum(main, a, epsilon)
    joint = _onto_marginals(atoms, atoms.weight * share)
    constant = (atoms.p * a).sum(axis=0)
    soft = atoms.total(atoms.weight * height) - constant
    return Smoothed(
        side="upper",
        value=atoms.total(atoms.weight * (atoms.g + a[:, atoms.owner]).max(axis=0)) - constant,
        primal=atoms.total((joint * atoms.g).sum(axis=0)),
        potentials=a.T,
        coupling=joint.T,
        epsilon=epsilon,
        soft=soft,
        printed=soft - epsilon * math.log(len(a)),
    )


def _onto_marginals(atoms: Atoms, joint: FloatArray) -> FloatArray:
    """Move a near-coupling onto its marginals, by little if little is wrong.

    Overfull labels are scaled down, then what each atom lacks is shared over the labels in
    proportion to their lack.
    """
    filled = atoms.total(joint)
    kept = joint * np.minimum(1, atoms.p / np.where(filled > 0, filled, 1))[:, atoms.owner]
    atom_lacks = np.maximum(atoms.weight - kept.sum(axis=0), 0)
    label_lacks = np.maximum(atoms.p - atoms.total(kept), 0)
    total = label_lacks.sum(axis=0)
    return np.asarray(
        kept + atom_lacks * (label_lacks / np.where(total > 0, total, 1))[:, atoms.owner]
    )


# Minimise the smoothed dual at one ε, for many patterns at once, by Newton's method.
#
# The potentials of a pattern have K labels and one free constant, so a Newton step is a small
# linear
# system whatever the number of atoms.


_STEPS = 40
"""Newton steps at one ε; two to five are usual."""
_HALVINGS = 60
_RIDGE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Atoms:
    """Weighted atoms sorted by pattern: those of pattern z are the columns from ``starts[z]`` on,
    of total weight one.

    Labels come first, ``g`` is (labels, atoms) and ``p`` (labels, patterns), because the sums run
    over atoms.
    """

    g: FloatArray
    weight: FloatArray
    owner: NDArray[np.intp]
    p: FloatArray

    @property
    def starts(self) -> NDArray[np.intp]:
        """Return where the atoms of each pattern begin."""
        return np.searchsorted(self.owner, np.arange(self.p.shape[1]))

    @property
    def spread(self) -> FloatArray:
        """Return max g - min g in each pattern: optimal potentials differ by no more."""
        high = np.maximum.reduceat(self.g.max(axis=0), self.starts)
        return np.asarray(high - np.minimum.reduceat(self.g.min(axis=0), self.starts))

    def total(self, values: FloatArray) -> FloatArray:
        """Sum *values* over the atoms of each pattern."""
        return np.asarray(np.add.reduceat(values, self.starts, axis=-1))

    def of(self, which: NDArray[np.bool_]) -> Atoms:
        """Return the atoms of some patterns."""
        mine = which[self.owner]
        owner = (which.cumsum() - 1)[self.owner[mine]]
        return Atoms(self.g[:, mine], self.weight[mine], owner, self.p[:, which])


def soft_maximum(atoms: Atoms, a: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return the smoothed maximum of g + a over the labels, atom by atom, and the softmax (labels,
    atoms).

    Labels of probability zero take no part: their best potential is minus infinity.
    """
    u = (atoms.g + np.where(atoms.p > 0, a, -np.inf)[:, atoms.owner]) / epsilon
    top = u.max(axis=0)
    share = np.exp(u - top)
    norm = share.sum(axis=0)
    share /= norm
    return epsilon * (top + np.log(norm)), share


def newton(atoms: Atoms, a: FloatArray, epsilon: float, residual: FloatArray) -> FloatArray:
    """Step from *a* until each label's marginal is off by at most its *residual*, or nothing moves
    any more.
    """
    share = soft_maximum(atoms, a, epsilon)[1]
    spread = atoms.spread
    moving = np.ones(a.shape[1], dtype=bool)
    for _ in range(_STEPS):
        filled = atoms.total(atoms.weight * share)
        gradient = filled - atoms.p
        moving &= (np.abs(gradient) > residual).any(axis=0)
        if not moving.any():
            break
        if 2 * moving.sum() < len(moving):  # the few that are late do not hold up the many
            a = a.copy()
            a[:, moving] = newton(atoms.of(moving), a[:, moving], epsilon, residual[:, moving])
            break
        step = _newton_step(atoms, share, filled, gradient, epsilon)
        longest = np.maximum(np.abs(step).max(axis=0), np.finfo(float).tiny)
        step *= np.where(moving, np.minimum(1, spread / longest), 0)
        a, share, arrived = _along(atoms, a, step, gradient, epsilon)
        moving &= arrived
    return a


def _newton_step(
    atoms: Atoms, share: FloatArray, filled: FloatArray, gradient: FloatArray, epsilon: float
) -> FloatArray:
    labels, patterns = atoms.p.shape
    hessian = np.empty((labels, labels, patterns))
    for k in range(labels):
        hessian[k, k:] = hessian[k:, k] = -atoms.total(atoms.weight * share[k] * share[k:])
    # Along the free constant, and for labels of probability zero, the Hessian is zero and so is the
    # gradient.
    hessian += 1 / labels
    diagonal = np.arange(labels)
    hessian[diagonal, diagonal] += filled + np.where(atoms.p > 0, _RIDGE, 1.0)
    step = np.linalg.solve(hessian.transpose(2, 0, 1), -epsilon * gradient.T[:, :, None])
    return np.asarray(step[:, :, 0].T)


def _along(
    atoms: Atoms, a: FloatArray, step: FloatArray, gradient: FloatArray, epsilon: float
) -> tuple[FloatArray, FloatArray, NDArray[np.bool_]]:
    """Go along *step*, halved until the slope there is no longer steeply uphill.

    The dual is convex, so a slope that is still downhill, or less than half as steep uphill, means
    progress. Slopes are compared because differences of values drown in rounding long before the
    slopes do.
    """
    downhill = -(gradient * step).sum(axis=0)
    length = np.ones(len(downhill))
    for _ in range(_HALVINGS):
        there = a + length * step
        share = soft_maximum(atoms, there, epsilon)[1]
        slope = ((atoms.total(atoms.weight * share) - atoms.p) * step).sum(axis=0)
        too_far = slope > downhill / 2
        if not too_far.any():
            break
        length[too_far] /= 2
    return there, share, ~too_far


# Minimise the dual along a falling ε.
#
# As ε falls the optimum moves along a nearly straight line, :math:`a(\varepsilon) \approx a^* +
# c\,\varepsilon`, which is followed: each stage starts where the line through the last two optima
# points to.


Stage: TypeAlias = Callable[[Atoms, FloatArray, float, FloatArray], FloatArray]
"""(atoms, potentials, ε, residual) to better potentials: ``newton`` or ``lbfgs``."""

_FALL = 0.25
"""ε falls to this share of itself from stage to stage."""
_ROUGH = 1e-4
"""How far off the label marginals may be while ε falls."""


def anneal(atoms: Atoms, stage: Stage, *, tolerance: float) -> tuple[FloatArray, float]:
    """Return potentials (labels, patterns) that are optimal within *tolerance*, and the ε at which
    they were found.

    The softmax at ε loses ε times its mean entropy against the sharp end. That is at most ε log K,
    but far less where few atoms are torn between labels, so ε falls only until this loss is half
    the tolerance; the other half is for the solver.
    """
    spread = atoms.spread
    fine = np.broadcast_to(_fine(atoms, tolerance), atoms.p.shape)
    rough = np.minimum(_ROUGH, 0.1 * atoms.p)
    a = np.zeros_like(atoms.p)
    floor = tolerance / (2 * math.log(len(a)))
    epsilon = max(floor, float(spread.max()) / 2)
    before: tuple[float, FloatArray] | None = None
    while True:
        a = stage(atoms, a, epsilon, rough)
        if epsilon <= floor or _loss(atoms, a, epsilon).max() <= tolerance / 2:
            return _lowered(atoms, stage(atoms, a, epsilon, fine)), epsilon
        following = max(_FALL * epsilon, floor)
        ahead = (
            a
            if before is None
            else a + (epsilon - following) / (before[0] - epsilon) * (a - before[1])
        )
        before = (epsilon, a)
        a = np.where(_dual(atoms, ahead, following) < _dual(atoms, a, following), ahead, a)
        epsilon = following


def resolvable(atoms: Atoms, *, tolerance: float) -> Atoms:
    """Leave out labels of so little probability that their whole mass, moved anywhere, is lost in
    the tolerance.

    Their potentials would have to be far below the others', where nothing pulls them back.
    """
    kept = np.where(atoms.p > _fine(atoms, tolerance), atoms.p, 0)
    return replace(atoms, p=kept / kept.sum(axis=0))


def lbfgs(atoms: Atoms, a: FloatArray, epsilon: float, residual: FloatArray) -> FloatArray:
    """Do what ``newton`` does by L-BFGS, one pattern after the other."""
    from scipy.optimize import minimize

    found = np.empty_like(a)
    for z in range(a.shape[1]):
        one = atoms.of(np.arange(a.shape[1]) == z)
        goal = float(residual[atoms.p[:, z] > 0, z].min())
        found[:, z] = minimize(
            _objective,
            a[:, z],
            args=(one, epsilon),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-16, "gtol": goal},
        ).x
    return found


def _fine(atoms: Atoms, tolerance: float) -> FloatArray:
    """Return how far off each label's marginal may be in the end."""
    return 0.01 * tolerance / (len(atoms.p) * np.maximum(atoms.spread, tolerance))


def _objective(a: FloatArray, atoms: Atoms, epsilon: float) -> tuple[float, FloatArray]:
    height, share = soft_maximum(atoms, a[:, None], epsilon)
    return float(atoms.weight @ height - atoms.p[:, 0] @ a), share @ atoms.weight - atoms.p[:, 0]


def _dual(atoms: Atoms, a: FloatArray, epsilon: float) -> FloatArray:
    return np.asarray(
        atoms.total(atoms.weight * soft_maximum(atoms, a, epsilon)[0]) - (atoms.p * a).sum(axis=0)
    )


def _loss(atoms: Atoms, a: FloatArray, epsilon: float) -> FloatArray:
    share = soft_maximum(atoms, a, epsilon)[1]
    entropy = -(share * np.log(np.where(share > 0, share, 1))).sum(axis=0)
    return epsilon * atoms.total(atoms.weight * entropy)


def _lowered(atoms: Atoms, a: FloatArray) -> FloatArray:
    """Give labels of probability zero the highest potential that does not show in the hard
    maximum.
    """
    best = (atoms.g + np.where(atoms.p > 0, a, -np.inf)[:, atoms.owner]).max(axis=0)
    return np.where(atoms.p > 0, a, np.minimum.reduceat(best - atoms.g, atoms.starts, axis=1))


# What if the label model is wrong? The ends as functions of its error, and the error at which a
# claim breaks down.
#
# Two notions of "wrong by δ": total variation at most δ in *every* pattern, or at most δ *on
# average*
# over patterns. An end moves outward along a concave polygon in δ, which its closed form hands
# over
# as slopes and lengths; so everything here is exact. (``docs/theory/transport.md#robust``)


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


# How wide bounds can be, judging by what z leaves open.


def entropy_width(
    q: ArrayLike, p: ArrayLike, *, weights: ArrayLike | None = None, spread: float = 1.0
) -> float:
    r"""Bound U - L for every cost that varies by at most *spread*, from the marginals alone.

    .. math:: U - L \;\le\; s \sqrt{2 \min\bigl(H(X \mid Z), H(Y \mid Z)\bigr)}

    with conditional entropies in nats: [MP23]_, Theorem A.1, which has :math:`2\lVert g
    \rVert_\infty` in the place of the spread s = max g - min g. A constant added to g moves both
    ends alike, so the smaller s serves; and U - L never exceeds s. Where a closed form exists it
    gives the width itself: this explains it (knowing z well enough makes bounds short) and holds
    for costs not yet chosen.

    Parameters
    ----------
    q
        Law of the atoms given z, shape (patterns, atoms).
    p
        P(Y | z), shape (patterns, labels).
    weights
        Shares or counts of the patterns.
    spread
        max g - min g; 1 for accuracy.

    Examples
    --------
    >>> round(entropy_width([[0.5, 0.5]], [[0.99, 0.01]]), 3)
    0.335
    >>> from tallystick.stats.transport import agreement
    >>> low, high = agreement([[0.5, 0.5]], [[0.99, 0.01]]).mean()
    >>> round(high - low, 3)
    0.02
    """
    q, p = as_laws(q, name="q"), as_laws(p, name="p")
    if len(q) != len(p):
        raise InputError(f"q and p must have one row per pattern, got {len(q)} and {len(p)} rows")
    if not 0 <= spread < math.inf:
        raise InputError(f"spread must be finite and not negative, got {spread!r}")
    share = as_weights(weights, len(p))
    left_open = min(float(share @ _entropy(q)), float(share @ _entropy(p)))
    return spread * min(1.0, math.sqrt(2 * left_open))


def _entropy(laws: FloatArray) -> FloatArray:
    return np.asarray(-(laws * np.log(np.where(laws > 0, laws, 1))).sum(axis=1))
