r"""The worst that a path benchmark can do, by linear programming with a certificate on either side.

What a path does to a population is known from the mass :math:`p_S` of each *error pattern* S, the
set of models that err. With the round risks :math:`r_t = \sum_{S \ni t} p_S` and the joint errors
:math:`q_{st} = \sum_{S \ni s,t} p_S`, Eq (19) of [SAH23]_ reads

.. math:: w_{t,0}\,r_t + \sum_{s<t} w_{t,s}\, c_{st} \le \epsilon, \qquad q_{st} \le c_{st}\, r_s

and the majority risk is linear in p. Only the products are not. In a box of round risks they are
replaced by their McCormick envelope, which makes a linear program whose value is an *upper* bound.
The same program at the risks of its solution is feasible, hence a *lower* bound. Branching on the
boxes closes the gap. Upper bounds are read off the dual and hold whatever the solver's own
tolerance.

Lower bounds climb: at a feasible point the product is replaced by its tangent, the program is
solved within a trust region around it, and the risks of that solution are tried exactly. From a few
random starts this finds the best patterns known for five and seven rounds at once.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.box_program import BoxProgram, BoxSolution
from tallystick.dynamic.design import mixture_table, path
from tallystick.dynamic.learners import checked_epsilon
from tallystick.dynamic.population import Array, Population
from tallystick.errors import ConvergenceError, InputError

if TYPE_CHECKING:
    from tallystick.dynamic.papers.certificates import Certificate

__all__ = ["WorstCase", "worst_case"]

_MAX_ROUNDS = 9
_SEARCHED_ROUNDS = 8
_BOXES = {6: 2500, 7: 2500, 8: 800, 9: 300}
"""How many boxes to look at by default: 7 to 20 seconds of one core. Up to five rounds, 5000."""


@dataclass(frozen=True, eq=False)
class WorstCase:
    r"""The worst majority risk lies between *lower* and *upper*.

    Parameters
    ----------
    lower
        Reached by the error patterns of :meth:`certificate`.
    upper
        No path of these rounds and weights exceeds it: a dual bound.
    nodes
        How many boxes were looked at.
    patterns
        Which models err together (counted from 1) and the mass of the items where they do.
    """

    epsilon: float
    rounds: int
    lower: float
    upper: float
    nodes: int
    patterns: tuple[tuple[tuple[int, ...], float], ...]
    mixture: Sequence[Sequence[float]] | float | None = field(default=None, repr=False)

    @property
    def gap(self) -> float:
        """How far apart the two bounds are, relative to the lower one."""
        return (self.upper - self.lower) / self.lower if self.lower else np.inf

    def certificate(self) -> Certificate:
        """Return the population and the error sets that reach *lower*, to be checked by Eq (19)."""
        from tallystick.dynamic.papers.certificates import Certificate

        kept = [(pattern, mass) for pattern, mass in self.patterns if mass > 0]
        rest = max(0.0, 1 - sum(mass for _, mass in kept))  # rounding may leave it just below zero
        weights = np.array([*(mass for _, mass in kept), rest])
        errors = np.zeros((self.rounds, weights.size), dtype=bool)
        for item, (pattern, _) in enumerate(kept):
            errors[[t - 1 for t in pattern], item] = True
        return Certificate(
            theorem=f"worst case of {self.rounds} rounds",
            population=Population(weights / weights.sum()),
            design=path(self.rounds, mixture=self.mixture),
            errors=errors,
            epsilon=self.epsilon,
            bound=self.lower,
        )


def worst_case(
    epsilon: float,
    rounds: int = 3,
    *,
    mixture: Sequence[Sequence[float]] | float | None = None,
    gap: float = 1e-6,
    nodes: int | None = None,
    search: bool | None = None,
    starts: int = 8,
    rng: Rng = 0,
) -> WorstCase:
    r"""Bound the worst majority risk of a path of :math:`\epsilon`-approximate models.

    Three rounds with uniform weights give :math:`6\epsilon^2/(1+2\epsilon)`, not the
    :math:`11\epsilon^2` of Theorem 3.4. More rounds are *worse*: at :math:`\epsilon = .1` the worst
    case in :math:`\epsilon^2` is 5.56 for five rounds, 4.906 for six, between 6.573 and 6.925 for
    seven, between 5.463 and 6.152 for eight, and below 9.522 for nine. Ties of an even number of
    rounds count one half. :math:`\mathcal D_0 = \mathcal D`.

    Parameters
    ----------
    epsilon
        In (0, 1/2].
    rounds
        Up to 9 (511 patterns). Beyond that, use
        :func:`tallystick.dynamic.papers.any_rounds_bound`, which is proved but not sharp.
    mixture
        As in :func:`tallystick.dynamic.path`.
    gap
        Stop when the bounds are this close, relative to the lower one.
    nodes
        Stop after so many boxes in any case; both bounds are valid then, too. By default 5000 up
        to five rounds, 2500 for six and seven, 800 for eight and 300 for nine.
    search
        Whether to search for bad error sets; by default up to eight rounds. Without it the upper
        bound comes three times as fast and the lower one is poor: 0 if none was found.
    starts, rng
        How many random points the search climbs from, before it goes through the boxes, and what
        draws them. Seven rounds need about thirty to find their best patterns.

    Examples
    --------
    >>> worst = worst_case(0.1, gap=1e-3)
    >>> worst.lower <= 6 * 0.1**2 / (1 + 2 * 0.1) <= worst.upper
    True
    >>> worst.certificate().check().consistent
    True
    """
    checked_epsilon(epsilon)
    if not 1 <= rounds <= _MAX_ROUNDS:
        raise InputError(
            f"rounds must be from 1 to {_MAX_ROUNDS}, got {rounds!r}: for longer paths use "
            "any_rounds_bound, which is proved but not sharp"
        )
    most = _BOXES.get(rounds, 5000) if nodes is None else nodes
    if not gap > 0 or most < 1 or starts < 0:
        raise InputError(
            "gap must be positive, nodes at least 1 and starts not negative, "
            f"got {gap!r}, {most!r} and {starts!r}"
        )
    searching = rounds <= _SEARCHED_ROUNDS if search is None else search

    tree = _Tree(BoxProgram(epsilon, mixture_table(rounds, mixture)), gap, searching)
    if searching and rounds > 2:
        tree.start(starts, rng)
    tree.grow(most)
    if searching and not tree.best > 0:
        raise ConvergenceError(
            f"no feasible error pattern was found in {tree.looked} boxes: raise nodes"
        )

    masses = zip(tree.program.patterns, tree.solution, strict=True)
    return WorstCase(
        epsilon=epsilon,
        rounds=rounds,
        lower=tree.best,
        upper=min(1.0, tree.ceiling),
        nodes=tree.looked,
        patterns=tuple(
            (tuple(t + 1 for t in pattern), float(mass)) for pattern, mass in masses if mass > 1e-15
        ),
        mixture=mixture,
    )


class _Tree:
    """Branch and bound: boxes of round risks that may still hold a worse case than the best one."""

    def __init__(self, program: BoxProgram, gap: float, search: bool) -> None:
        self.program, self.gap, self.search = program, gap, search
        self.best, self.solution = 0.0, np.zeros(len(program.patterns))
        self.heap: list[tuple[float, int, Array, Array, Array, Array]] = []
        self.looked = self.missed = 0

    @property
    def ceiling(self) -> float:
        """No path exceeds this: the best open box, or what the closed ones were held against."""
        # Boxes that were dropped had bounds of at most best * (1 + gap/2) at the time.
        return max(-self.heap[0][0] if self.heap else 0.0, self.best * (1 + self.gap / 2))

    def start(self, starts: int, rng: Rng) -> None:
        """Climb from random points, in which some rounds hardly err, as in the worst cases."""
        generator, rounds = as_rng(rng), self.program.highest.size
        for _ in range(starts):
            few = generator.random(rounds) < 0.85
            risks = few * generator.uniform(0, 3 * self.program.epsilon, rounds)
            self.climb(self.attempt(risks))

    def grow(self, most: int) -> None:
        """Split the most promising box until the gap is closed or *most* boxes were looked at."""
        self.look(np.zeros(self.program.highest.size), self.program.highest.copy())
        while self.heap and self.looked < most and -self.heap[0][0] > self.best * (1 + self.gap):
            _, _, low, high, risks, violation = heapq.heappop(self.heap)

            # Cut where the relaxed products are furthest off, at the solution unless it is at the
            # edge of the box.
            side = int(np.argmax(violation * (high - low)))
            span = high[side] - low[side]
            inside = low[side] + 0.1 * span < risks[side] < high[side] - 0.1 * span
            cut = float(risks[side] if inside else low[side] + 0.5 * span)
            for a, b in ((low[side], cut), (cut, high[side])):
                lower, upper = low.copy(), high.copy()
                lower[side], upper[side] = a, b
                self.look(lower, upper)

    def look(self, low: Array, high: Array) -> None:
        """Bound one box from above, and try what its solution suggests from below."""
        self.looked += 1
        relaxed = self.program.solve(low, high)
        if relaxed is None or relaxed.bound <= self.best * (1 + self.gap / 2):
            return
        entry = (-relaxed.bound, self.looked, low, high, relaxed.risks, relaxed.violation)
        heapq.heappush(self.heap, entry)

        # Once the search from below has stopped paying, look in only now and then.
        if self.best and (not self.search or (self.missed > 60 and self.looked % 10)):
            return
        before = self.best
        exact = self.attempt(relaxed.risks)
        if self.search and exact is not None and exact.value > before * (1 + 1e-5):
            self.climb(exact)
        self.missed = 0 if self.best > before * (1 + 1e-9) else self.missed + 1

    def attempt(self, risks: Array) -> BoxSolution | None:
        """Solve exactly at these round risks and keep the best; None if they are impossible."""
        # An empty error set would be left out of the mixtures and change their weights; a tiny one
        # does not.
        highest = self.program.highest
        risks = np.clip(risks, 1e-3 * highest, highest)
        exact = self.program.solve(risks, risks)
        if exact is not None and exact.value > self.best:
            self.best, self.solution = exact.value, exact.masses
        return exact

    def climb(self, here: BoxSolution | None) -> None:
        """Go up along the tangent of the products, in steps that shrink when they fail."""
        radius, highest = 0.3, self.program.highest
        while here is not None and radius > 0.002:
            reach = radius * highest
            low, high = np.maximum(here.risks - reach, 0), np.minimum(here.risks + reach, highest)
            near = self.program.solve(low, high, touching=here)
            there = None if near is None else self.attempt(near.risks)
            if there is not None and there.value > here.value * (1 + 1e-7):
                here, radius = there, min(0.5, 1.5 * radius)
            else:
                radius /= 3
