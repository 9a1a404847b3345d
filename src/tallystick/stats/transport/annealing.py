r"""Minimise the dual along a falling ε.

As ε falls the optimum moves along a nearly straight line, :math:`a(\varepsilon) \approx a^* +
c\,\varepsilon`, which is followed: each stage starts where the line through the last two optima
points to.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from tallystick.stats.transport.marginals import FloatArray
from tallystick.stats.transport.newton import Atoms, soft_maximum

__all__ = ["Stage", "anneal", "lbfgs", "resolvable"]

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
