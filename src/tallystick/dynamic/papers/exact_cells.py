r"""Populations in exact arithmetic: what a set of error sets costs, without rounding.

A population is cut into cells on which every model is either right or wrong. A cell is known by its
mass in :math:`\mathcal D`, its mass in :math:`\mathcal D_0` and the models that err on it. Masses
are whole numbers of some small unit, so every quantity of the theorems is an exact fraction.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import lcm

from tallystick.dynamic.design import Mixing
from tallystick.errors import InputError

__all__ = ["ExactCells"]

_VOTES = (0b111, 0b111000, 0b111000000)


@dataclass(frozen=True)
class ExactCells:
    r"""Cells of a population with the models that err on each, in whole numbers.

    Parameters
    ----------
    mass, initial
        Of each cell in :math:`\mathcal D` and in :math:`\mathcal D_0`; each sums to *whole*.
    errors
        The models that err on it, as the bits of a number: model j errs if bit j is set.
    whole
        The mass of everything.

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> cells = ExactCells.of([(half, half, {0})])
    >>> cells.path_budgets(1), cells.path_risk(1), cells.whole
    ((Fraction(1, 2),), Fraction(1, 2), 2)
    """

    mass: tuple[int, ...]
    initial: tuple[int, ...]
    errors: tuple[int, ...]
    whole: int

    def __post_init__(self) -> None:
        if min(min(self.mass), min(self.initial)) < 0:
            raise InputError("the masses of the cells must not be negative, nor sum to more than 1")
        if sum(self.mass) != self.whole or sum(self.initial) != self.whole:
            raise InputError("the masses of the cells must sum to the whole, in both distributions")
        if any(i and not m for m, i in zip(self.mass, self.initial, strict=True)):
            raise InputError("initial mass needs mass: the support of D_0 lies in that of D")

    @classmethod
    def of(cls, cells: Iterable[tuple[Fraction, Fraction, Iterable[int]]]) -> ExactCells:
        """Build from (mass, initial mass, models that err), adding the cell where nobody errs."""
        rows = [(m, i, sum(1 << j for j in set(who))) for m, i, who in cells]
        whole = lcm(*(part.denominator for m, i, _ in rows for part in (m, i)))
        mass, initial = ([int(row[k] * whole) for row in rows] for k in (0, 1))
        return cls(
            (*mass, whole - sum(mass)),
            (*initial, whole - sum(initial)),
            (*(who for _, _, who in rows), 0),
            whole,
        )

    def path_budget(self, model: int) -> Fraction:
        r"""Return a model's risk on the distribution it was trained on, along a path.

        Uniform mixing, Eq (19) of [SAH23]_. An empty error set adds nothing to the mixture.
        """
        own, earlier = self._flags(model), [self._flags(j) for j in range(model)]
        return _mean([self._initial(own), *self._given(own, earlier)])

    def path_budgets(self, rounds: int) -> tuple[Fraction, ...]:
        """Return the risks of all models on their own distributions, along a path."""
        return tuple(self.path_budget(t) for t in range(rounds))

    def path_risk(self, rounds: int) -> Fraction:
        """Return the majority risk of the first *rounds* models; a tie counts one half."""
        mask, doubled = (1 << rounds) - 1, 0
        for mass, who in zip(self.mass, self.errors, strict=True):
            wrong = 2 * (who & mask).bit_count()
            doubled += (2 if wrong > rounds else wrong == rounds) * mass
        return Fraction(doubled, 2 * self.whole)

    def hierarchy_budget(self, model: int, mixing: Mixing) -> Fraction:
        """Return the same for one of nine models of the hierarchy of depth 2 and width 3.

        Flat mixing as in Eqs (39) to (46). Nested mixing follows the recursive definition: the
        mixture of the upper layer is the first component of the lower one.
        """
        if mixing not in ("flat", "nested"):
            raise InputError(f"mixing must be 'flat' or 'nested', got {mixing!r}")
        own, start = self._flags(model), model - model % 3
        upper = [self._initial(own), *self._given(own, self._votes[: model // 3])]
        lower = self._given(own, [self._flags(j) for j in range(start, model)])
        return _mean([*upper, *lower] if mixing == "flat" else [_mean(upper), *lower])

    def hierarchy_budgets(self, mixing: Mixing) -> tuple[Fraction, ...]:
        """Return the risks of all nine models on their own distributions."""
        return tuple(self.hierarchy_budget(j, mixing) for j in range(9))

    def hierarchy_risk(self) -> Fraction:
        """Return the risk of the vote of the three votes."""
        hits = (sum(flags) >= 2 for flags in zip(*self._votes, strict=True))
        return Fraction(sum(m for m, hit in zip(self.mass, hits, strict=True) if hit), self.whole)

    @cached_property
    def distance(self) -> Fraction:
        r"""The :math:`\mathcal H\Delta\mathcal H` distance of these models and the true one."""
        gap = [i - m for m, i in zip(self.mass, self.initial, strict=True)]
        if not any(gap):
            return Fraction(0)
        # No pattern has this bit, so it stands for the true classifier.
        true = max(self.errors).bit_length()
        worst = max(
            abs(
                sum(g for g, who in zip(gap, self.errors, strict=True) if (who >> a ^ who >> b) & 1)
            )
            for a, b in combinations(range(true + 1), 2)
        )
        return Fraction(worst, self.whole)

    @cached_property
    def _votes(self) -> list[list[int]]:
        """Where each of the three votes errs: one flag per cell."""
        return [[int((who & mask).bit_count() >= 2) for who in self.errors] for mask in _VOTES]

    def _flags(self, model: int) -> list[int]:
        """Return, for every cell, whether the model errs there."""
        return [who >> model & 1 for who in self.errors]

    def _initial(self, own: list[int]) -> Fraction:
        rows = zip(self.initial, own, strict=True)
        return Fraction(sum(initial for initial, mine in rows if mine), self.whole)

    def _given(self, own: list[int], sets: Iterable[list[int]]) -> list[Fraction]:
        """Return P(own | set) for every set that is not empty."""
        out = []
        for flags in sets:
            inside = [
                (m, mine) for m, flag, mine in zip(self.mass, flags, own, strict=True) if flag
            ]
            whole = sum(m for m, _ in inside)
            if whole:
                out.append(Fraction(sum(m for m, mine in inside if mine), whole))
        return out


def _mean(parts: list[Fraction]) -> Fraction:
    return sum(parts, Fraction(0)) / len(parts)
