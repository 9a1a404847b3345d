r"""The worst that a path benchmark can do, by linear programming with a certificate on either side.

What a path does to a population is known from the mass :math:`p_S` of each *error pattern* S, the
set of models that err. With the round risks :math:`r_t = \sum_{S \ni t} p_S` and the joint errors
:math:`q_{st} = \sum_{S \ni s,t} p_S`, Eq (19) of [SAH23]_ reads

.. math:: w_{t,0}\,r_t + \sum_{s<t} w_{t,s}\, c_{st} \le \epsilon, \qquad q_{st} \le c_{st}\, r_s

and the majority risk is linear in p. Only the products are not: in a box of round risks they are
replaced by their McCormick envelope, which makes a linear program whose value is an *upper* bound;
the same program at the risks of its solution is feasible, hence a *lower* bound. Branching on the
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
from itertools import combinations

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.dynamic.certificates import Certificate
from tallystick.dynamic.design import mixture_table, path
from tallystick.dynamic.learners import checked_epsilon
from tallystick.dynamic.population import Array, Population
from tallystick.errors import ConvergenceError, InputError

__all__ = ["WorstCase", "worst_case"]

_MAX_ROUNDS = 9


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
    nodes: int = 5000,
    search: bool = True,
    starts: int = 8,
    rng: Rng = 0,
) -> WorstCase:
    r"""Bound the worst majority risk of a path of :math:`\epsilon`-approximate models from both
    sides.

    Three rounds with uniform weights give :math:`6\epsilon^2/(1+2\epsilon)`, not the
    :math:`11\epsilon^2` of Theorem 3.4; five rounds are *worse* (:math:`5.56\epsilon^2` at
    :math:`\epsilon = .1`). Ties of an even number of rounds count one half. :math:`\mathcal D_0 =
    \mathcal D`.

    Parameters
    ----------
    epsilon
        In (0, 1/2].
    rounds
        Up to 9 (511 patterns); the gap that can be closed in reasonable time grows with it.
    mixture
        As in :func:`tallystick.dynamic.path`.
    gap
        Stop when the bounds are this close, relative to the lower one.
    nodes
        Stop after so many boxes in any case; both bounds are valid then, too.
    search
        Whether to search for bad error sets. Without it the upper bound comes three times as fast
        and the lower one is poor: 0 if none was found.
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
            f"rounds must be from 1 to {_MAX_ROUNDS}, got {rounds!r}: use path_bound for longer"
            " paths"
        )
    if not gap > 0 or nodes < 1 or starts < 0:
        raise InputError(
            f"gap must be positive, nodes at least 1 and starts not negative, got {gap!r},"
            f" {nodes!r} and {starts!r}"
        )
    program = _Program(epsilon, mixture_table(rounds, mixture))
    low, high = np.zeros(rounds), program.highest.copy()
    best, solution = 0.0, np.zeros(len(program.patterns))
    heap: list[tuple[float, int, Array, Array, Array, Array]] = []
    looked = missed = 0

    def try_at(risks: Array) -> _Solved | None:
        """Solve exactly at given round risks, and remember the best; None where they are
        impossible.
        """
        nonlocal best, solution
        # An empty error set would be left out of the mixtures and change their weights; a tiny one
        # does not.
        risks = np.clip(risks, 1e-3 * program.highest, program.highest)
        exact = program.solve(risks, risks)
        if exact is not None and exact.value > best:
            best, solution = exact.value, exact.masses
        return exact

    def climb(here: _Solved | None) -> None:
        """Go up from a feasible point, along the tangent of its products, in steps that shrink when
        they fail.
        """
        radius = 0.3
        while here is not None and radius > 0.002:
            reach = radius * program.highest
            near = program.solve(
                np.maximum(here.risks - reach, 0),
                np.minimum(here.risks + reach, program.highest),
                touching=here,
            )
            there = None if near is None else try_at(near.risks)
            if there is not None and there.value > here.value * (1 + 1e-7):
                here, radius = there, min(0.5, 1.5 * radius)
            else:
                radius /= 3

    def look(low: Array, high: Array) -> None:
        """Bound one box from above, and try what its solution suggests from below."""
        nonlocal looked, missed
        looked += 1
        relaxed = program.solve(low, high)
        if relaxed is None or relaxed.bound <= best * (1 + gap / 2):
            return
        heapq.heappush(heap, (-relaxed.bound, looked, low, high, relaxed.risks, relaxed.violation))
        if best and (not search or (missed > 60 and looked % 10)):
            return  # the search from below has stopped paying: look in again now and then
        before = best
        exact = try_at(relaxed.risks)
        if search and exact is not None and exact.value > before * (1 + 1e-5):
            climb(exact)
        missed = 0 if best > before * (1 + 1e-9) else missed + 1

    if search and rounds > 2:
        generator = as_rng(rng)
        for _ in range(starts):
            # in the worst cases some rounds hardly err at all
            few = generator.random(rounds) < 0.85
            climb(try_at(few * generator.uniform(0, 3 * epsilon, rounds)))
    look(low, high)
    while heap and looked < nodes and -heap[0][0] > best * (1 + gap):
        _, _, low, high, risks, violation = heapq.heappop(heap)
        side = int(np.argmax(violation * (high - low)))
        span = high[side] - low[side]
        inside = low[side] + 0.1 * span < risks[side] < high[side] - 0.1 * span
        cut = float(risks[side] if inside else low[side] + 0.5 * span)
        for a, b in ((low[side], cut), (cut, high[side])):
            lower, upper = low.copy(), high.copy()
            lower[side], upper[side] = a, b
            look(lower, upper)
    if search and not best > 0:
        raise ConvergenceError(
            f"no feasible error pattern was found in {looked} boxes: raise nodes"
        )
    # Boxes that were dropped had bounds of at most best * (1 + gap/2) at the time.
    ceiling = max(-heap[0][0] if heap else 0.0, best * (1 + gap / 2))
    masses = zip(program.patterns, solution, strict=True)
    return WorstCase(
        epsilon=epsilon,
        rounds=rounds,
        lower=best,
        upper=min(1.0, ceiling),
        nodes=looked,
        patterns=tuple(
            (tuple(t + 1 for t in pattern), float(mass)) for pattern, mass in masses if mass > 1e-15
        ),
        mixture=mixture,
    )


@dataclass(frozen=True, eq=False)
class _Solved:
    value: float
    bound: float
    risks: Array
    masses: Array
    shares: Array
    violation: Array


class _Program:
    """The linear program of one box. Risks are in units of epsilon, masses of joint errors in units
    of its square.
    """

    def __init__(self, epsilon: float, table: list[Array]) -> None:
        self.epsilon, rounds = epsilon, len(table)
        self.patterns = [s for k in range(1, rounds + 1) for s in combinations(range(rounds), k)]
        self.unit = np.array([epsilon if len(s) == 1 else epsilon**2 for s in self.patterns])
        member = np.array([[t in s for s in self.patterns] for t in range(rounds)])
        size = np.array([len(s) for s in self.patterns])
        loss = np.where(2 * size > rounds, 1.0, np.where(2 * size == rounds, 0.5, 0.0))
        self.pairs = [(s, t) for t in range(rounds) for s in range(t) if table[t][1 + s] > 0]
        first, second = (np.array([pair[k] for pair in self.pairs], dtype=int) for k in (0, 1))
        self.first = first
        share = np.array([table[t][1 + s] for s, t in self.pairs])
        self.cap = np.minimum(1.0, epsilon / share) if self.pairs else np.zeros(0)
        self.risk = member * self.unit  # r_t from the scaled masses
        self.joint = (member[first] & member[second]) * self.unit
        self.share = share
        self.highest = np.array(
            [min(1.0, epsilon / row[0]) if row[0] > 0 else 1.0 for row in table]
        )
        many, links = len(self.patterns), len(self.pairs)
        budget = np.hstack(
            [
                np.array([row[0] for row in table])[:, None] * self.risk / epsilon,
                np.zeros((rounds, links)),
            ]
        )
        for k, t in enumerate(second):
            budget[t, many + k] = share[k]
        total = np.concatenate([self.unit, np.zeros(links)])
        self.fixed = np.vstack([budget, total])
        self.limit = np.ones(rounds + 1)
        self.goal = np.concatenate([-loss * self.unit / epsilon**2, np.zeros(links)])
        self.top = np.concatenate([1 / self.unit, self.cap / epsilon])
        self.boxes = np.hstack([self.risk / epsilon, np.zeros((rounds, links))])

    def solve(self, low: Array, high: Array, *, touching: _Solved | None = None) -> _Solved | None:
        """Maximise the majority risk with every round risk between *low* and *high*; None if that
        is impossible.

        Products are relaxed to their envelope in that box or, near a point, to the tangent plane
        *touching* them there.
        """
        from scipy.optimize import linprog

        e, many = self.epsilon, len(self.patterns)
        lo, hi = low[self.first], high[self.first]
        # q <= hi c, and q <= C r + lo c - lo C: the two faces of the envelope that bound c from
        # below. A tangent at (r', c') is one face, q <= c' r + r' c - r' c'.
        if touching is None:
            faces = [self._face(np.zeros(lo.size), hi), self._face(self.cap, lo)]
        else:
            faces = [self._face(touching.shares, touching.risks[self.first])]
        rows = np.vstack([self.fixed, *(face for face, _ in faces), self.boxes, -self.boxes])
        limits = np.concatenate([self.limit, *(limit for _, limit in faces), high / e, -low / e])
        found = linprog(
            self.goal,
            A_ub=rows,
            b_ub=limits,
            bounds=[(0.0, float(top)) for top in self.top],
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if found.status != 0 or found.x is None or found.fun is None:
            return None
        # any non-negative prices prove an upper bound
        price = np.maximum(-found.ineqlin.marginals, 0)
        reduced = np.minimum(self.goal + rows.T @ price, 0)
        bound = float(price @ limits - reduced @ self.top) * e**2
        masses = found.x[:many]
        risks = self.risk @ masses
        missing = (
            np.maximum(self.joint @ masses - found.x[many:] * e * risks[self.first], 0) * self.share
        )
        return _Solved(
            value=-float(found.fun) * e**2,
            bound=bound,
            risks=np.clip(risks, low, high),
            masses=masses * self.unit,
            shares=found.x[many:] * e,
            violation=np.bincount(self.first, weights=missing, minlength=low.size) + 1e-15,
        )

    def _face(self, share: Array, risk: Array) -> tuple[Array, Array]:
        """Return the rows and limits of q <= share r + risk c - share risk, a plane on the product
        c r.
        """
        e = self.epsilon
        rows = np.hstack(
            [(self.joint - share[:, None] * self.risk[self.first]) / e**2, -np.diag(risk / e)]
        )
        return rows, -share * risk / e**2
