r"""The smoothed dual (2.3)-(2.6), for any bounded loss on a long list of atoms, and Theorem 2.4.

``p``, ``cost`` and ``side`` are those of :mod:`~tallystick.papers.frechet_bounds.dual`, but the
cost has one row an atom x, for instance one a row of data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import ConvergenceError, InputError
from tallystick.papers.frechet_bounds.dual import (
    Certified,
    FloatArray,
    Side,
    as_laws,
    as_side,
    as_weights,
    normalised,
)

BoolArray: TypeAlias = NDArray[np.bool_]
Solver: TypeAlias = Literal["newton", "lbfgs"]

_SHARP = 1e-7
"""How exactly the dual is solved, in the units of the cost."""


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
    tolerance: float = _SHARP,
    solver: Solver = "newton",
) -> Smoothed:
    r"""Bound E[g(X, Y) | z] for any cost, where each z has a long list of weighted atoms x.

    .. math::
        U_\varepsilon = \min_a \sum_i q_i\, \varepsilon \log \sum_y \exp \frac{g_{iy} + a_y}{\varepsilon}
        - \sum_y p_y a_y

    [MP23]_, (2.3)-(2.6), on weighted atoms, with three deviations. The term -ε log|Y| is left out,
    since with it the value lies inside the sharp interval. The value reported is (2.1), the hard
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
    main = _resolvable(atoms, tolerance=tolerance)
    stage = newton if solver == "newton" else lbfgs
    a, epsilon = _anneal(main, stage, tolerance=tolerance)
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


# (2.5)-(2.7) and Theorem 2.4: the estimate of the paper, at a fixed ε.


@dataclass(frozen=True, slots=True)
class SampleEnd:
    """An end of (2.5) and its standard error by Theorem 2.4."""

    side: Side
    value: float
    error: float

    def interval(self, gamma: float = 0.05) -> tuple[float, float]:
        """Return (2.7), which covers the *smoothed* end with probability near 1 - γ."""
        reach = NormalDist().inv_cdf(1 - gamma / 2) * self.error
        return self.value - reach, self.value + reach


def sample_end(
    p: ArrayLike, cost: ArrayLike, *, side: Side, epsilon: float, pattern: ArrayLike | None = None
) -> SampleEnd:
    r"""Estimate one end as the paper does, from one atom a row: as printed, at a fixed ε.

    .. math::
        \hat U_\varepsilon = \min_a \frac1n \sum_i \hat f_{u,\varepsilon}(X_i, Z_i, a), \qquad
        \hat f_{u,\varepsilon} = \varepsilon \log \Bigl[ \frac{1}{|Y|} \sum_y e^{(g + a_y)/\varepsilon} \Bigr]
        - \sum_y p_{zy} a_y   \tag{2.5, 2.6}

    with the standard deviation of :math:`\hat f` over :math:`\sqrt n` as its error (Theorem 2.4).
    It lies inside the sharp interval by up to ε log|Y|, takes P(Y | Z) for known (with 300 labels
    for P(Y | Z) the interval covered in 38% of the samples) and closes in on a wrong number where
    patterns are many. For comparison; the product uses potentials of earlier rows instead.

    >>> h = np.repeat([0, 1], [60, 40])
    >>> end = sample_end([[0.7, 0.3]], np.eye(2)[h], side="upper", epsilon=0.01 / np.log(2))
    >>> round(end.value, 3), [round(edge, 3) for edge in end.interval()]
    (0.893, [0.799, 0.987])
    """
    if not epsilon > 0:
        raise InputError(f"epsilon must be positive, got {epsilon!r}")
    sign = 1.0 if as_side(side) == "upper" else -1.0
    atoms, _ = _gathered(normalised(as_laws(p, name="p")), cost, pattern, None, sign)
    a, _ = _anneal(atoms, newton, tolerance=_SHARP, fixed=epsilon)
    height, _ = soft_maximum(atoms, a, epsilon)
    values = height - epsilon * math.log(len(a)) - (atoms.p * a).sum(axis=0)[atoms.owner]  # (2.6)
    return SampleEnd(
        side, sign * float(values.mean()), float(values.std() / math.sqrt(len(values)))
    )


# How the smoothed dual is solved: Newton's method for many patterns at once, along a falling ε.


_STEPS = 40
"""Newton steps at one ε; two to five are usual."""
_HALVINGS = 60
_RIDGE = 1e-12
_FALL = 0.25
"""ε falls to this share of itself from stage to stage."""
_ROUGH = 1e-4
"""How far off the label marginals may be while ε falls."""


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

    def of(self, which: BoolArray) -> Atoms:
        """Return the atoms of some patterns."""
        mine = which[self.owner]
        owner = (which.cumsum() - 1)[self.owner[mine]]
        return Atoms(self.g[:, mine], self.weight[mine], owner, self.p[:, which])


Stage: TypeAlias = Callable[[Atoms, FloatArray, float, FloatArray], FloatArray]
"""(atoms, potentials, ε, residual) to better potentials: ``newton`` or ``lbfgs``."""


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
        soft=soft,  # (2.4) without - ε log|Y|, which would put it inside the sharp interval
        printed=soft - epsilon * math.log(len(a)),  # (2.4)
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


def soft_maximum(atoms: Atoms, a: FloatArray, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Return the smoothed maximum of g + a over the labels, atom by atom, and the softmax (labels,
    atoms): the derivatives of Lemma C.2.

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
        gradient = filled - atoms.p  # (C.6)
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
    """Return the step by the Hessian (C.4), in which the penalty of Lemma C.1 fixes the
    constant.
    """
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
) -> tuple[FloatArray, FloatArray, BoolArray]:
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


def _anneal(
    atoms: Atoms, stage: Stage, *, tolerance: float, fixed: float | None = None
) -> tuple[FloatArray, float]:
    r"""Return potentials (labels, patterns) that are optimal within *tolerance*, and the ε at which
    they were found; at the *fixed* ε, if there is one.

    The softmax at ε loses ε times its mean entropy against the sharp end. That is at most ε log K,
    but far less where few atoms are torn between labels, so ε falls only until this loss is half
    the tolerance; the other half is for the solver. As ε falls the optimum moves along a nearly
    straight line, :math:`a(\varepsilon) \approx a^* + c\,\varepsilon`, which is followed: each
    stage starts where the line through the last two optima points to.
    """
    fine = np.broadcast_to(_fine(atoms, tolerance), atoms.p.shape)
    rough = np.minimum(_ROUGH, 0.1 * atoms.p)
    a = np.zeros_like(atoms.p)
    floor = tolerance / (2 * math.log(len(a))) if fixed is None else fixed
    epsilon = max(floor, float(atoms.spread.max()) / 2)
    before: tuple[float, FloatArray] | None = None
    while True:
        a = stage(atoms, a, epsilon, rough)
        enough = fixed is None and _loss(atoms, a, epsilon).max() <= tolerance / 2
        if enough or epsilon <= floor:
            return _lowered(atoms, stage(atoms, a, epsilon, fine)), epsilon
        following = max(_FALL * epsilon, floor)
        ahead = a
        if before is not None:
            ahead = a + (epsilon - following) / (before[0] - epsilon) * (a - before[1])
        before = (epsilon, a)
        a = np.where(_dual(atoms, ahead, following) < _dual(atoms, a, following), ahead, a)
        epsilon = following


def _resolvable(atoms: Atoms, *, tolerance: float) -> Atoms:
    """Leave out labels of so little probability that their whole mass, moved anywhere, is lost in
    the tolerance.

    Their potentials would have to be far below the others', where nothing pulls them back.
    """
    kept = np.where(atoms.p > _fine(atoms, tolerance), atoms.p, 0)
    return replace(atoms, p=kept / kept.sum(axis=0))


def lbfgs(atoms: Atoms, a: FloatArray, epsilon: float, residual: FloatArray) -> FloatArray:
    """Do what ``newton`` does by L-BFGS, the paper's solver, one pattern after the other."""
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
    height, _ = soft_maximum(atoms, a, epsilon)
    return np.asarray(atoms.total(atoms.weight * height) - (atoms.p * a).sum(axis=0))


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
