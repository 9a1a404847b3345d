"""Any cost on a long list of atoms: the smoothed dual, reported through the hard maximum."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import ConvergenceError, InputError
from tallystick.stats.transport.annealing import anneal, lbfgs, resolvable
from tallystick.stats.transport.certificate import Certified
from tallystick.stats.transport.ends import Side, as_side
from tallystick.stats.transport.marginals import FloatArray, as_laws, as_weights, normalised
from tallystick.stats.transport.newton import Atoms, newton, soft_maximum

__all__ = ["Smoothed", "Solver", "smoothed"]

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
