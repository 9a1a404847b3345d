r"""Minimise the smoothed dual at one ε, for many patterns at once, by Newton's method.

The potentials of a pattern have K labels and one free constant, so a Newton step is a small linear
system whatever the number of atoms.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tallystick.stats.transport.marginals import FloatArray

__all__ = ["Atoms", "newton", "soft_maximum"]

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
