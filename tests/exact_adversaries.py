r"""Random adversaries in exact arithmetic, to try the bounds on populations nobody designed.

Model by model, a random adversary spends its promise: on a fresh part of the population, on parts
of the sets that were collected before, or on both. Its risk on the data it is trained on is linear
in what it takes, so it can be scaled to what is allowed. With a shifted initial distribution, some
of the population has no initial mass at all, and erring there costs nothing but overlap.

:func:`disturbed_hierarchy` starts from a sharp construction instead and disturbs every mass, which
comes nearer to the bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.verbs.dynamic.design import Mixing
from tallystick.verbs.dynamic.sharp import (
    ExactCells,
    SharpConstruction,
    any_rounds_bound,
    sharp_construction,
    sharp_hierarchical_bound,
    three_round_lemma,
)

__all__ = [
    "disturbed_hierarchy",
    "nearest_hierarchies",
    "nearest_path",
    "random_hierarchy",
    "random_path",
]

_WHOLE = 10**45
_GRAIN = 10**9

_Key = tuple[int, bool]
_Cells = dict[_Key, tuple[int, int]]
"""From (models that err, as bits; whether the initial distribution has no mass there) to masses."""


def nearest_hierarchies(number: int, *, seed: int) -> dict[str, Fraction]:
    """Draw adversaries of a hierarchy, half with another initial distribution, half near a sharp
    construction; return the highest ratio of risk to bound under each mixing.

    >>> all(0 < ratio <= 1 for ratio in nearest_hierarchies(16, seed=0).values())
    True
    """
    nearest = {"flat": Fraction(0), "nested": Fraction(0)}
    for mixing, cells in _hierarchies(number, as_rng(seed)):
        epsilon = max(cells.hierarchy_budgets(mixing))
        bound = sharp_hierarchical_bound(epsilon, cells.distance, mixing=mixing)
        nearest[mixing] = max(nearest[mixing], cells.hierarchy_risk() / bound)
    return nearest


def _hierarchies(number: int, rng: np.random.Generator) -> Iterator[tuple[Mixing, ExactCells]]:
    kinds: tuple[Mixing, Mixing] = ("flat", "nested")
    sharp = {
        (mixing, shifted): [
            sharp_construction(
                Fraction(1, 10**k), mixing=mixing, distance=Fraction(1, 20) if shifted else None
            )
            for k in (3, 4, 6)
        ]
        for mixing in kinds
        for shifted in (False, True)
    }
    for k in range(number):
        mixing, shifted = kinds[k // 2 % 2], k % 2 == 1
        if k // 4 % 2:
            found = sharp[mixing, shifted]
            yield mixing, disturbed_hierarchy(found[k // 8 % len(found)], rng=rng)
        else:
            yield mixing, random_hierarchy(mixing=mixing, rng=rng, shifted=shifted)


def nearest_path(number: int, *, seed: int) -> tuple[Fraction, Fraction]:
    """Draw paths of three to eight rounds; return the highest ratio of risk to the bound for any
    rounds, and of three rounds to their own lemma.

    >>> all(0 < ratio <= 1 for ratio in nearest_path(12, seed=0))
    True
    """
    rng, nearest, three = as_rng(seed), Fraction(0), Fraction(0)
    for k in range(number):
        rounds = 3 + k % 6
        cells = random_path(rounds, rng=rng, shifted=k // 6 % 2 == 1)
        epsilon, risk = max(cells.path_budgets(rounds)), cells.path_risk(rounds)
        nearest = max(nearest, risk / any_rounds_bound(epsilon, rounds, cells.distance))
        if rounds == 3:
            three = max(three, risk / three_round_lemma(epsilon, cells.distance))
    return nearest, three


def random_hierarchy(*, mixing: Mixing, rng: Rng, shifted: bool) -> ExactCells:
    """Draw nine error sets of a hierarchy; with *shifted* the initial distribution differs.

    >>> cells = random_hierarchy(mixing="flat", rng=0, shifted=False)
    >>> cells.distance, max(cells.hierarchy_budgets("flat")) < 0.2
    (Fraction(0, 1), True)
    """

    def budget(cells: ExactCells, model: int) -> Fraction:
        return cells.hierarchy_budget(model, mixing)

    return _draw(9, as_rng(rng), shifted, budget, width=3)


def random_path(rounds: int, *, rng: Rng, shifted: bool) -> ExactCells:
    """Draw the error sets of a path; with *shifted* the initial distribution differs.

    >>> cells = random_path(4, rng=0, shifted=True)
    >>> cells.distance > 0, max(cells.path_budgets(4)) < 0.2
    (True, True)
    """
    return _draw(rounds, as_rng(rng), shifted, ExactCells.path_budget, width=rounds)


def disturbed_hierarchy(found: SharpConstruction, *, rng: Rng) -> ExactCells:
    """Multiply the mass of every cell of a sharp construction by a random factor.

    >>> from tallystick.verbs.dynamic.sharp import sharp_construction
    >>> found = sharp_construction(Fraction(1, 10**4), mixing="flat")
    >>> disturbed_hierarchy(found, rng=0).hierarchy_risk() != found.risk
    True
    """
    generator = as_rng(rng)
    spread, cells = 10 ** generator.uniform(-2, -0.2), found.cells
    mass, initial = [], []
    for m, i, who in zip(cells.mass, cells.initial, cells.errors, strict=True):
        # No more than eightfold, or the cells would not fit into the population.
        lift = min(8.0, 10 ** (spread * generator.standard_normal()))
        factor = _fraction(lift) if who else Fraction(0)
        mass.append(int(m * factor))
        initial.append(int(i * factor) if m else 0)
    # Nobody errs on the rest, which is the last cell of a construction.
    mass[-1], initial[-1] = cells.whole - sum(mass), cells.whole - sum(initial)
    return ExactCells(tuple(mass), tuple(initial), cells.errors, cells.whole)


def _draw(
    models: int,
    rng: np.random.Generator,
    shifted: bool,
    budget: Callable[[ExactCells, int], Fraction],
    *,
    width: int,
) -> ExactCells:
    epsilon = _fraction(10 ** rng.uniform(-4, -0.8))
    blind = int(_WHOLE * 10 ** rng.uniform(-4, -0.5)) if shifted else 0
    cells: _Cells = {(0, False): (_WHOLE - blind, _WHOLE)}
    if blind:
        cells[0, True] = blind, 0

    focused = bool(rng.random() < 0.7)
    for model in range(models):
        wish = _wish(cells, model, width, rng, float(epsilon), focused)
        spent = budget(_exact(_taken(cells, wish, model, Fraction(1))), model)
        # Linear in what is taken, so this scale keeps the promise; most spend all of it.
        limit = epsilon if rng.random() < 0.85 else epsilon * _fraction(rng.random())
        scale = min(Fraction(1), limit / spent) if spent else Fraction(1)
        cells = _taken(cells, wish, model, Fraction(int(scale * _GRAIN), _GRAIN))
    return _exact(cells)


def _wish(
    cells: _Cells,
    model: int,
    width: int,
    rng: np.random.Generator,
    epsilon: float,
    focused: bool,
) -> dict[_Key, Fraction]:
    """Return the share of each cell that the model would like to get wrong."""
    start = model - model % width
    path = sum(1 << j for j in range(start, model))
    seen = [key for key in cells if key[0]]
    most = max(((key[0] & path).bit_count() for key in seen), default=0)
    groups = {
        "fresh": [key for key in cells if not key[0]],
        "voted": [key for key in seen if _voted(key[0], width, start)],
        "partner": [key for key in seen if key[0] & path],
        "deepest": [key for key in seen if most and (key[0] & path).bit_count() == most],
    }

    # The focused do one thing and a trace of a second; the others do several at once.
    names = [name for name, group in groups.items() if group]
    chosen = rng.permutation(names)[: int(rng.integers(1, 3)) if focused else len(names)]
    wish: dict[_Key, Fraction] = {}
    for place, name in enumerate(chosen.tolist()):
        group = groups[name]
        scale = epsilon * (10 ** rng.uniform(-3, 0) if focused and place else 1)
        count = min(len(group), int(rng.integers(1, 5)))
        for key in rng.choice(len(group), count, replace=False).tolist():
            wish[group[key]] = _fraction(min(1.0, scale * 10 ** rng.uniform(0, 1.5)))
    return wish


def _voted(pattern: int, width: int, start: int) -> bool:
    """Return whether the vote of an earlier path errs on such a cell."""
    masks = (((1 << width) - 1) << first for first in range(0, start, width))
    return any(2 * (pattern & mask).bit_count() > width for mask in masks)


def _taken(cells: _Cells, wish: dict[_Key, Fraction], model: int, scale: Fraction) -> _Cells:
    """Split every cell into the part that the model gets wrong and the rest."""
    out = dict(cells)
    for key, share in wish.items():
        mass, initial = out[key]
        part = share * scale
        wrong = mass * part.numerator // part.denominator
        start = min(initial * part.numerator // part.denominator, wrong and initial)
        out[key] = mass - wrong, initial - start
        both = key[0] | 1 << model, key[1]
        before = out.get(both, (0, 0))
        out[both] = before[0] + wrong, before[1] + start
    return {key: pair for key, pair in out.items() if pair[0] or not key[0]}


def _exact(cells: _Cells) -> ExactCells:
    rows = [(mass, initial, key[0]) for key, (mass, initial) in cells.items() if mass]
    mass, initial, errors = (tuple(column) for column in zip(*rows, strict=True))
    return ExactCells(mass, initial, errors, _WHOLE)


def _fraction(value: float) -> Fraction:
    return Fraction(max(1, int(value * 10**6)), 10**6)
