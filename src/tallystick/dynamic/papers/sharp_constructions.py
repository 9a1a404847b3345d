r"""Populations that nearly reach the sharpened Theorem 4.1: 84, 108, 52.5 and 75 cannot be lowered.

Each is a one-parameter family in :math:`\epsilon`, checked in exact fractions. Two tricks make
them. A model that errs a little on a part of its own dilutes every overlap with it, so that the
later models can spend their budgets elsewhere. And the last path errs inside the error set of one
earlier vote only, on parts that any two of its models share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from tallystick.dynamic.design import Mixing
from tallystick.dynamic.papers.exact_cells import ExactCells
from tallystick.errors import InputError

__all__ = ["SharpConstruction", "sharp_construction"]

_Cell = tuple[Fraction, Fraction, tuple[int, ...]]
_Shares = tuple[tuple[tuple[int, int], Fraction], ...]

_LAST: dict[Mixing, _Shares] = {
    "flat": (((6, 7), Fraction(1)), ((6, 8), Fraction(2)), ((7, 8), Fraction(3))),
    "nested": (((6, 8), Fraction(3)), ((7, 8), Fraction(6))),
}
"""Pairs of the last path and the shares, in epsilon, of the set in which they err."""

_MIDDLE: dict[Mixing, _Shares] = {
    "flat": (((3, 4), Fraction(1, 2)), ((3, 5), Fraction(3, 2)), ((4, 5), Fraction(5, 2))),
    "nested": (((3, 5), Fraction(2)), ((4, 5), Fraction(4))),
}
"""The same for the middle path, where the distance is what counts."""

_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class SharpConstruction:
    """A consistent population and what its hierarchy gets wrong.

    Parameters
    ----------
    epsilon, mixing
        The promise that all nine models keep, and how the hierarchy mixes.
    distance
        Between the initial distribution and the population.
    cells
        The population.
    risk
        Of the hierarchy.
    constant
        risk over epsilon³ for distance 0, else over epsilon² times the distance.
    """

    epsilon: Fraction
    mixing: Mixing
    distance: Fraction
    cells: ExactCells
    risk: Fraction
    constant: Fraction


def sharp_construction(
    epsilon: Fraction, *, mixing: Mixing, distance: Fraction | None = None
) -> SharpConstruction:
    r"""Build the population that nearly reaches the bound, and check it in exact fractions.

    Without *distance*, :math:`\mathcal D_0 = \mathcal D`, and risk/:math:`\epsilon^3` tends to 84
    (flat) and 108 (nested) as :math:`\epsilon \to 0`. With one, risk/:math:`(\epsilon^2\Delta)`
    tends to 52.5 and 75 as :math:`\epsilon/\Delta \to 0`. The free share q of the construction is
    the largest for which all nine models keep their promise, to 60 binary digits.

    Parameters
    ----------
    epsilon
        In (0, 1/20), a fraction.
    mixing
        ``flat`` or ``nested``.
    distance
        About :math:`\Delta`, a fraction; the exact distance is in the result.

    Examples
    --------
    >>> round(float(sharp_construction(Fraction(1, 10**6), mixing="flat").constant), 1)
    82.8
    """
    if mixing not in ("flat", "nested"):
        raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
    if not 0 < epsilon < Fraction(1, 20):
        raise InputError(f"epsilon must be in (0, 1/20), got {epsilon!r}")
    if distance is not None and not 0 < distance <= Fraction(1, 2):
        raise InputError(f"distance must be in (0, 1/2], got {distance!r}")

    def build(share: Fraction) -> ExactCells:
        if distance is not None:
            return _shifted(epsilon, distance, share, mixing)
        return _flat(epsilon, share) if mixing == "flat" else _nested(epsilon, share)

    cells = build(_largest(build, epsilon, mixing))
    if max(cells.hierarchy_budgets(mixing)) > epsilon:
        raise InputError(f"no share keeps every promise at epsilon {epsilon!r}: take a smaller one")
    risk = cells.hierarchy_risk()
    unit = epsilon**3 if distance is None else epsilon**2 * cells.distance
    return SharpConstruction(
        epsilon=epsilon,
        mixing=mixing,
        distance=cells.distance,
        cells=cells,
        risk=risk,
        constant=risk / unit,
    )


def _flat(epsilon: Fraction, share: Fraction) -> ExactCells:
    """D_0 = D, flat: models 4 and 5 spend their whole budgets inside the error set of model 3."""
    cells = _small_first_vote(epsilon)
    whole = 2 * epsilon
    parts = {4: 3 * epsilon / (1 + 2 * epsilon), 5: 4 * epsilon / (1 + 2 * epsilon)}
    cells.append(_same(whole * (1 - sum(parts.values())), 3))
    for model, part in parts.items():
        cells += _with_last_path(whole * part, (3, model), epsilon * share, "flat")
    return ExactCells.of([*cells, *_dilution(epsilon)])


def _nested(epsilon: Fraction, share: Fraction) -> ExactCells:
    """D_0 = D, nested: model 5 spends its whole budget inside the error set of model 4."""
    # Model 3 errs on a tiny set: with an empty one, model 4 could only have risk 2 epsilon.
    cells = [*_small_first_vote(epsilon), _same(epsilon**8, 3)]
    whole, part = 4 * epsilon, 6 * epsilon / (2 + 4 * epsilon)
    cells.append(_same(whole * (1 - part), 4))
    cells += _with_last_path(whole * part, (4, 5), epsilon * share, "nested")
    return ExactCells.of([*cells, *_dilution(epsilon)])


def _shifted(epsilon: Fraction, distance: Fraction, share: Fraction, mixing: Mixing) -> ExactCells:
    """D_0 differs from D: everything happens where D_0 has no mass, inside the first error set."""
    root = distance * _root(epsilon)
    whole, scale, none = epsilon + distance, epsilon * share, Fraction(0)
    inside = {1: 2 * scale, 2: 3 * scale}  # the shares of E_0 that make the first vote err
    cells: list[_Cell] = [
        (epsilon, epsilon, (0,)),
        (whole * (1 - sum(inside.values())) - epsilon, none, (0,)),
    ]
    pairs = _MIDDLE[mixing] + _LAST[mixing]
    spent = scale * sum(part for _, part in pairs)
    for model, part in inside.items():
        cells.append((whole * part * (1 - spent), none, (0, model)))
        for pair, of_it in pairs:
            cells.append((whole * part * of_it * scale, none, (0, model, *pair)))
    cells += [(root, none, (model,)) for model in (1, 2, 3, 4, 6, 7)]
    return ExactCells.of(cells)


def _small_first_vote(epsilon: Fraction) -> list[_Cell]:
    """Return a first path whose vote errs on a negligible set of positive mass."""
    return [_same(epsilon**8, 0, 1, 2), _same(epsilon / 2, 0), _same(epsilon / 2, 1)]


def _with_last_path(
    mass: Fraction, models: tuple[int, ...], scale: Fraction, mixing: Mixing
) -> list[_Cell]:
    """Return the cell where *models* err, cut into the parts where pairs of the last path do."""
    spent = sum(part for _, part in _LAST[mixing])
    cells = [_same(mass * (1 - scale * spent), *models)]
    return cells + [_same(mass * scale * part, *models, *pair) for pair, part in _LAST[mixing]]


def _dilution(epsilon: Fraction) -> list[_Cell]:
    """Let models 6 and 7 err on parts of their own, which makes overlaps with them cheap."""
    own = epsilon * _root(epsilon)
    return [_same(own, 6), _same(own, 7)]


def _same(mass: Fraction, *models: int) -> _Cell:
    return mass, mass, models


def _root(value: Fraction) -> Fraction:
    """Return a fraction near the square root; any would do."""
    scale = 10**40
    return Fraction(isqrt(int(value * scale**2)), scale)


def _largest(
    build: Callable[[Fraction], ExactCells], epsilon: Fraction, mixing: Mixing
) -> Fraction:
    """Return the largest share at which every model keeps its promise, by halving from below."""
    low, high = Fraction(0), Fraction(1)
    for _ in range(_STEPS):
        middle = (low + high) / 2
        if max(build(middle).hierarchy_budgets(mixing)) <= epsilon:
            low = middle
        else:
            high = middle
    return low
