r"""Populations in exact arithmetic, to hold the sharpened bounds against: sharp ones, random ones.

:func:`sharp_construction` builds populations that nearly reach the sharpened Theorem 4.1, so that
84, 108, 52.5 and 75 cannot be lowered.

Model by model, a random adversary spends its promise: on a fresh part of the population, on parts
of the sets that were collected before, or on both. Its risk on the data it is trained on is linear
in what it takes, so it can be scaled to what is allowed. With a shifted initial distribution, some
of the population has no initial mass at all, and erring there costs nothing but overlap.

:func:`disturbed_hierarchy` starts from a sharp construction instead and disturbs every mass, which
comes nearer to the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import isqrt, lcm

import numpy as np

from tallystick._rng import as_rng
from tallystick.papers.dynamic_benchmarks import (
    any_rounds_bound,
    hierarchical_bound,
    widest_disagreement,
)
from tallystick.papers.dynamic_benchmarks.designs import (
    Array,
    Mixing,
    hierarchical,
    path,
    training_risks,
)

__all__ = [
    "ExactCells",
    "disturbed_hierarchy",
    "nearest_hierarchies",
    "nearest_path",
    "random_hierarchy",
    "random_path",
    "sharp_construction",
]

_WHOLE = 10**45
_GRAIN = 10**9

_Key = tuple[int, bool]
_Cells = dict[_Key, tuple[int, int]]
"""From (models that err, as bits; whether the initial distribution has no mass there) to masses."""

_Part = tuple[Fraction, tuple[int, ...]]
"""A mass, or a share in epsilon, and the models that err there."""

_HIERARCHY = {mixing: hierarchical(mixing=mixing) for mixing in ("flat", "nested")}


@dataclass(frozen=True, eq=False)
class ExactCells:
    """A population cut into cells on which every model is right or wrong, masses in whole numbers.

    >>> half = ExactCells(np.array([1, 1], object), np.array([1, 1], object), np.eye(1, 2, dtype=bool))
    >>> half.budgets(path(1)), half.risk(path(1))
    ([Fraction(1, 2)], Fraction(1, 2))
    """

    mass: Array
    initial: Array
    errors: Array

    def budgets(self, design):
        """Return the risks of all models on their own data, the left side of Eq (19)."""
        return training_risks(design, self.mass, self.initial, self.errors)[0]

    def risk(self, design):
        """Return the risk of what the design delivers."""
        halves = training_risks(design, self.mass, self.initial, self.errors)[1]
        return Fraction((self.mass * halves).sum(), 2 * self.mass.sum())

    @cached_property
    def distance(self):
        """The HΔH distance of these models and the true one."""
        classes = np.vstack([self.errors, np.zeros(self.mass.size, dtype=bool)])
        return Fraction(
            int(widest_disagreement(classes, self.initial - self.mass)), self.mass.sum()
        )


def nearest_hierarchies(number, *, seed):
    """Draw adversaries of a hierarchy, half with another initial distribution, half near a sharp
    construction; return the highest ratio of risk to bound under each mixing.

    >>> all(0 < ratio <= 1 for ratio in nearest_hierarchies(16, seed=0).values())
    True
    """
    nearest = {"flat": Fraction(0), "nested": Fraction(0)}
    for mixing, cells in _hierarchies(number, as_rng(seed)):
        epsilon = max(cells.budgets(_HIERARCHY[mixing]))
        bound = hierarchical_bound(epsilon, cells.distance, mixing=mixing)
        nearest[mixing] = max(nearest[mixing], cells.risk(_HIERARCHY[mixing]) / bound)
    return nearest


def _hierarchies(number, rng):
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


def nearest_path(number, *, seed):
    """Draw paths of three to eight rounds; return the highest ratio of risk to the bound for any
    rounds, and of three rounds to their own lemma.

    >>> all(0 < ratio <= 1 for ratio in nearest_path(12, seed=0))
    True
    """
    rng, nearest, three = as_rng(seed), Fraction(0), Fraction(0)
    for k in range(number):
        rounds = 3 + k % 6
        cells = random_path(rounds, rng=rng, shifted=k // 6 % 2 == 1)
        epsilon, risk = max(cells.budgets(path(rounds))), cells.risk(path(rounds))
        ratio = risk / any_rounds_bound(epsilon, rounds, cells.distance)
        nearest, three = max(nearest, ratio), max(three, ratio if rounds == 3 else Fraction(0))
    return nearest, three


def random_hierarchy(*, mixing, rng, shifted):
    """Draw nine error sets of a hierarchy; with *shifted* the initial distribution differs.

    >>> cells = random_hierarchy(mixing="flat", rng=0, shifted=False)
    >>> cells.distance, max(cells.budgets(hierarchical(mixing="flat"))) < 0.2
    (Fraction(0, 1), True)
    """
    return _draw(_HIERARCHY[mixing], as_rng(rng), shifted, width=3)


def random_path(rounds, *, rng, shifted):
    """Draw the error sets of a path; with *shifted* the initial distribution differs.

    >>> cells = random_path(4, rng=0, shifted=True)
    >>> cells.distance > 0, max(cells.budgets(path(4))) < 0.2
    (True, True)
    """
    return _draw(path(rounds), as_rng(rng), shifted, width=rounds)


def disturbed_hierarchy(found, *, rng):
    """Multiply the mass of every cell of a sharp construction by a random factor.

    >>> found = sharp_construction(Fraction(1, 10**4), mixing="flat")
    >>> disturbed_hierarchy(found, rng=0).risk(hierarchical(mixing="flat")) != found.risk
    True
    """
    generator, cells = as_rng(rng), found.cells
    spread = 10 ** generator.uniform(-2, -0.2)
    mass, initial = [], []
    for m, i, who in zip(cells.mass, cells.initial, cells.errors.T, strict=True):
        # No more than eightfold, or the cells would not fit into the population.
        lift = min(8.0, 10 ** (spread * generator.standard_normal()))
        factor = _fraction(lift) if who.any() else Fraction(0)
        mass.append(int(m * factor))
        initial.append(int(i * factor) if m else 0)
    # Nobody errs on the rest, which is the last cell of a construction.
    whole = cells.mass.sum()
    mass[-1], initial[-1] = whole - sum(mass), whole - sum(initial)
    return ExactCells(np.array(mass, object), np.array(initial, object), cells.errors)


def _draw(design, rng, shifted, *, width):
    epsilon = _fraction(10 ** rng.uniform(-4, -0.8))
    blind = int(_WHOLE * 10 ** rng.uniform(-4, -0.5)) if shifted else 0
    cells: _Cells = {(0, False): (_WHOLE - blind, _WHOLE)}
    if blind:
        cells[0, True] = blind, 0

    focused = bool(rng.random() < 0.7)
    for model in range(design.rounds):
        wish = _wish(cells, model, width, rng, float(epsilon), focused)
        taken = _exact(_taken(cells, wish, model, Fraction(1)), design.rounds)
        spent = taken.budgets(design)[model]
        # Linear in what is taken, so this scale keeps the promise; most spend all of it.
        limit = epsilon if rng.random() < 0.85 else epsilon * _fraction(rng.random())
        scale = min(Fraction(1), limit / spent) if spent else Fraction(1)
        cells = _taken(cells, wish, model, Fraction(int(scale * _GRAIN), _GRAIN))
    return _exact(cells, design.rounds)


def _wish(cells, model, width, rng, epsilon, focused):
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


def _voted(pattern, width, start):
    """Return whether the vote of an earlier path errs on such a cell."""
    masks = (((1 << width) - 1) << first for first in range(0, start, width))
    return any(2 * (pattern & mask).bit_count() > width for mask in masks)


def _taken(cells, wish, model, scale):
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


def _exact(cells, models):
    rows = [(mass, initial, key[0]) for key, (mass, initial) in cells.items() if mass]
    mass, initial = (np.array([row[k] for row in rows], object) for k in (0, 1))
    errors = np.array([[who >> model & 1 for *_, who in rows] for model in range(models)], bool)
    return ExactCells(mass, initial, errors)


def _fraction(value):
    return Fraction(max(1, int(value * 10**6)), 10**6)


# Populations that nearly reach the sharpened Theorem 4.1: 84, 108, 52.5 and 75 cannot be lowered.
#
# Each is a one-parameter family in epsilon, checked in exact fractions. Two tricks make them. A
# model that errs a little on a part of its own dilutes every overlap with it, so that the later
# models can spend their budgets elsewhere. And the last path errs inside the error set of one
# earlier vote only, on parts that any two of its models share.

_LAST: dict[Mixing, list[_Part]] = {
    "flat": [(Fraction(1), (6, 7)), (Fraction(2), (6, 8)), (Fraction(3), (7, 8))],
    "nested": [(Fraction(3), (6, 8)), (Fraction(6), (7, 8))],
}
"""Pairs of the last path and the shares, in epsilon, of the set in which they err."""

_MIDDLE: dict[Mixing, list[_Part]] = {
    "flat": [(Fraction(1, 2), (3, 4)), (Fraction(3, 2), (3, 5)), (Fraction(5, 2), (4, 5))],
    "nested": [(Fraction(2), (3, 5)), (Fraction(4), (4, 5))],
}
"""The same for the middle path, where the distance is what counts."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SharpConstruction:
    """A consistent population and what its hierarchy gets wrong.

    *constant* is the risk over epsilon³ for distance 0, else over epsilon² times the distance.
    Nobody errs on the last cell.
    """

    epsilon: Fraction
    mixing: Mixing
    cells: ExactCells
    risk: Fraction
    constant: Fraction


def sharp_construction(epsilon, *, mixing, distance=None):
    """Build the population that nearly reaches the bound of Theorem 4.1, in exact fractions.

    Without *distance*, D_0 = D, and risk/ε³ tends to 84 (flat) and 108 (nested) as ε → 0. With one,
    risk/(ε²Δ) tends to 52.5 and 75 as ε/Δ → 0. The free share q of the construction is the largest
    for which all nine models keep their promise, to 60 binary digits.

    >>> round(float(sharp_construction(Fraction(1, 10**6), mixing="flat").constant), 1)
    82.8
    """

    def build(share):
        if distance is not None:
            return _in_cells(*_shifted(epsilon, distance, share, mixing))
        return _in_cells(_unshifted(epsilon, share, mixing))

    low, high = Fraction(0), Fraction(1)
    for _ in range(60):
        middle = (low + high) / 2
        kept = max(build(middle).budgets(_HIERARCHY[mixing])) <= epsilon
        low, high = (middle, high) if kept else (low, middle)
    cells = build(low)
    risk = cells.risk(_HIERARCHY[mixing])
    unit = epsilon**3 if distance is None else epsilon**2 * cells.distance
    return SharpConstruction(
        epsilon=epsilon, mixing=mixing, cells=cells, risk=risk, constant=risk / unit
    )


def _unshifted(epsilon, share, mixing):
    """D_0 = D: the first vote errs on a negligible set, the second on all that its budgets allow."""
    cells: list[_Part] = [(epsilon**8, (0, 1, 2)), (epsilon / 2, (0,)), (epsilon / 2, (1,))]
    if mixing == "flat":  # models 4 and 5 spend their whole budgets inside the errors of model 3
        alone, whole = 3, 2 * epsilon
        parts = [(k * epsilon / (1 + 2 * epsilon), (3, k + 1)) for k in (3, 4)]
    else:  # model 5 does so inside the errors of model 4
        # Model 3 errs on a tiny set: with an empty one, model 4 could only have risk 2 epsilon.
        cells.append((epsilon**8, (3,)))
        alone, whole = 4, 4 * epsilon
        parts = [(6 * epsilon / (2 + 4 * epsilon), (4, 5))]
    cells.append((whole * (1 - sum(part for part, _ in parts)), (alone,)))
    for part, models in parts:
        cells += _cut(whole * part, models, epsilon * share, _LAST[mixing])
    # Models 6 and 7 err on parts of their own, which makes overlaps with them cheap.
    return [*cells, *((epsilon * _root(epsilon), (model,)) for model in (6, 7))]


def _shifted(epsilon, distance, share, mixing):
    """D_0 differs from D: all happens inside the first error set, mostly where D_0 has no mass."""
    whole, scale = epsilon + distance, epsilon * share
    cells: list[_Part] = [(whole * (1 - 5 * scale) - epsilon, (0,))]
    for model, part in ((1, 2 * scale), (2, 3 * scale)):  # these make the first vote err
        cells += _cut(whole * part, (0, model), scale, _MIDDLE[mixing] + _LAST[mixing])
    own = distance * _root(epsilon)
    return [(epsilon, (0,))], [*cells, *((own, (model,)) for model in (1, 2, 3, 4, 6, 7))]


def _cut(mass, models, scale, pairs):
    """Return the cell where *models* err, cut into the parts where further pairs do, and the rest."""
    parts = [(mass * scale * share, (*models, *pair)) for share, pair in pairs]
    return [(mass - sum(part for part, _ in parts), models), *parts]


def _root(value):
    """Return a fraction near the square root; any would do."""
    return Fraction(isqrt(int(value * 10**80)), 10**40)


def _in_cells(both, blind=()):
    """Return the cells in whole numbers, the rest last; D_0 has no mass on the *blind* ones."""
    cells = [*both, *blind]
    unit = lcm(*(part.denominator for part, _ in cells))
    mass = [int(part * unit) for part, _ in cells]
    initial = [*mass[: len(both)], *[0] * (len(cells) - len(both))]
    errors = [[model in who for _, who in cells] + [False] for model in range(9)]
    after, before = (np.array([*one, unit - sum(one)], dtype=object) for one in (mass, initial))
    return ExactCells(after, before, np.array(errors))
