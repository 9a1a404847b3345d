r"""Error sets that anyone can check: the bad sequences of the paper, and the worst case of a path.

[SAH23]_, Theorems 3.5, 4.2, C.2 and C.3. A certificate holds a population, a design and one error
set per model. ``check()`` confirms that an :math:`\epsilon`-approximate learner could have behaved
so; ``risk_by_round()`` shows what it costs.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from math import ceil

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import ConvergenceError, InputError
from tallystick.papers.dynamic_benchmarks import path_bound
from tallystick.papers.dynamic_benchmarks.designs import (
    Array,
    Consistency,
    Design,
    Mixing,
    Population,
    check,
    checked_epsilon,
    hierarchical,
    majority_share,
    mixture_table,
    path,
    training_risks,
)
from tallystick.papers.dynamic_benchmarks.rollouts import Scripted


@dataclass(frozen=True, eq=False)
class Certificate:
    """A population, a design and error sets that are consistent with it, and what they prove.

    Parameters
    ----------
    theorem
        Where it comes from.
    errors
        One row of booleans per trained model.
    bound
        The risk that the delivered vote cannot go below, whatever its weights.
    """

    theorem: str
    population: Population
    design: Design
    errors: Array
    epsilon: float
    bound: float

    def check(self) -> Consistency:
        """Check it by Eq (19)."""
        return check(self.design, self.errors, self.population, epsilon=self.epsilon)

    def learner(self) -> Scripted:
        """Return the learner that plays this certificate."""
        return Scripted(self.errors, self.epsilon)

    def risk_by_round(self) -> tuple[float, ...]:
        """Risk of the majority of all models so far."""
        ballots = self.design.ballots[:, None]
        wrong = majority_share(np.cumsum(ballots * self.errors, axis=0), np.cumsum(ballots, axis=0))
        return tuple(map(float, wrong @ self.population.weights))

    def output_risk(self) -> float:
        """Risk of the vote that the design delivers."""
        weights, start = self.population.weights, self.population.start
        return float(training_risks(self.design, weights, start, self.errors)[1] @ weights / 2)

    @property
    def intervals(self) -> int:
        """The most intervals of the line that an error set consists of, with the items in order."""
        padded = np.pad(self.errors.astype(np.int8), ((0, 0), (1, 0)))
        return int((np.diff(padded, axis=1) == 1).sum(axis=1).max())


# Benchmarks that stall: the constructions of Theorems 3.5, 4.2, C.2 and C.3 of [SAH23]_.


def path_certificate(
    epsilon: float,
    *,
    rounds: int,
    mixture: Sequence[Sequence[float]] | float | None = None,
    majority: Sequence[float] | None = None,
    initial: Array | None = None,
    slope: float = 0.0,
) -> Certificate:
    r"""Build the path benchmark that stalls at :math:`\epsilon^2/8`, whatever its weights.

    [SAH23]_, Theorem 3.5. On :math:`d = 8/\epsilon^2` items in ascending order of :math:`\mathcal
    D_0`, the first :math:`2/\epsilon` models err on one common item and on disjoint sets besides,
    Eqs (20) to (22); each later model repeats the one that weighs least in its mixture, Eqs (25)
    and (26). In the first line of Eq (29), :math:`\mathcal D(\mathcal K)` means :math:`\mathcal
    D(\mathcal K_{\phi(t)} \cap \mathcal K_\tau)` (ERRATA).

    Parameters
    ----------
    epsilon
        With :math:`1/\epsilon` whole and :math:`\epsilon \le 1/2`.
    rounds, mixture, majority
        As in :func:`tallystick.papers.dynamic_benchmarks.designs.path`.
    initial
        Any :math:`\mathcal D_0` on the :math:`8/\epsilon^2` items.
    slope
        Theorem C.2: the items lie on a line and :math:`\mathcal D(x)` rises along it by this share
        from its mean to its end, so that unions of two intervals are a rich enough class. The bound
        is then :math:`(1 - |slope|)\,\epsilon^2/8`, which tends to that of Theorem 3.5.
        :math:`\mathcal D_0` has to rise where :math:`\mathcal D` does.

    Examples
    --------
    >>> stall = path_certificate(1 / 4, rounds=60)
    >>> stall.check().consistent, stall.bound == (1 / 4) ** 2 / 8, stall.risk_by_round()[-1] == stall.bound
    (True, True, True)
    """
    n1 = _inverse(epsilon)
    size, each = 8 * n1 * n1, 2 * n1  # d and k' for k = 1
    population, rank = _line(size, initial, slope)
    distinct = np.zeros((2 * n1, size), dtype=bool)
    distinct[:, 0] = True
    for t in range(2 * n1):
        distinct[t, 1 + t * (each - 1) : 1 + (t + 1) * (each - 1)] = True
    table = mixture_table(rounds, mixture)
    played = list(range(min(rounds, 2 * n1)))
    for t in range(len(played), rounds):
        load = np.bincount(played, weights=table[t][1:], minlength=2 * n1)  # (25)
        played.append(int(np.argmin(load)))  # (26)
    return Certificate(
        theorem="Theorem 3.5" if not slope else "Theorem C.2",
        population=population,
        design=path(rounds, mixture=mixture, majority=majority),
        errors=distinct[np.array(played)][:, rank],
        epsilon=epsilon,
        bound=float(population.weights[rank == 0][0]),
    )


def hierarchical_certificate(
    epsilon: float,
    *,
    mixing: Mixing = "nested",
    design: Design | None = None,
    initial: Array | None = None,
    slope: float = 0.0,
) -> Certificate:
    r"""Build the hierarchy of depth 2 and width 3 that stalls at :math:`\epsilon^3/2`, whatever its
    weights.

    [SAH23]_, Theorem 4.2, on :math:`d = 2/\epsilon^3` items; with a *slope*, Theorem C.3 (unions of
    three intervals). For the condition on :math:`\epsilon` the text prints :math:`\epsilon \ge
    1/2`; it has to be :math:`\le`. In Eqs (53), (56) and (57) the numerators are intersections, and
    in (58) :math:`\mathcal K_8` has :math:`1/\epsilon^2` points (ERRATA).

    Parameters
    ----------
    epsilon, initial, slope
        As in :func:`path_certificate`.
    mixing
        Which built-in hierarchy.
    design
        Instead of a built-in one: any design that trains nine models in three votes of three, with
        weights of its own. The text allows any votes; its construction needs votes in which any two
        models outvote the third, because one with more than half of them would make its own error
        set that of the vote (ERRATA). ``check()`` rejects such a design.

    Examples
    --------
    >>> stall = hierarchical_certificate(1 / 5)
    >>> stall.check().consistent, stall.population.size, round(stall.output_risk() / (1 / 5) ** 3, 12)
    (True, 250, 0.5)
    """
    n1 = _inverse(epsilon)
    n2, size = n1 * n1, 2 * n1**3
    graph = hierarchical(depth=2, width=3, mixing=mixing) if design is None else design
    if graph.rounds != 9:
        raise InputError(
            f"Theorem 4.2 is about nine models, and design {graph.name!r} trains {graph.rounds}"
        )
    population, rank = _line(size, initial, slope)
    one, first, second, third = (0, 1), (0, n1), (n1, 2 * n1 - 1), (2 * n1 - 1, 3 * n1 - 2)
    sets = [
        [(0, n2)],
        [first, (n2, 2 * n2 - n1)],
        [first, (2 * n2 - n1, 3 * n2 - 2 * n1)],  # (49)
        [one, (n1, n2 + n1 - 1)],
        [one, second, (n2 + n1 - 1, 2 * n2 - 1)],
        [one, second, (2 * n2 - 1, 3 * n2 - n1 - 1)],  # (51)
        [one, (2 * n1 - 1, n2 + 2 * n1 - 2)],
        [one, third, (n2 + 2 * n1 - 2, 2 * n2 + n1 - 2)],
        [one, third, (2 * n2 + n1 - 2, 3 * n2 - 2)],  # (54)
    ]
    errors = np.zeros((9, size), dtype=bool)
    for t, spans in enumerate(sets):
        for low, high in spans:
            errors[t, low:high] = True
    return Certificate(
        theorem="Theorem 4.2" if not slope else "Theorem C.3",
        population=population,
        design=graph,
        errors=errors[:, rank],
        epsilon=epsilon,
        bound=float(population.weights[rank == 0][0]),
    )


def _inverse(epsilon: float) -> int:
    checked_epsilon(epsilon)
    if abs(1 / epsilon - round(1 / epsilon)) > 1e-9:
        raise InputError(
            f"1/epsilon must be whole, got epsilon {epsilon!r}: use {1 / ceil(1 / epsilon):.6g},"
            " which is a fortiori valid"
        )
    return round(1 / epsilon)


def _line(size: int, initial: Array | None, slope: float) -> tuple[Population, Array]:
    """Return the population and each item's place in ascending order of the initial
    distribution.
    """
    if not -1 < slope < 1:
        raise InputError(f"slope must be in (-1, 1), got {slope!r}")
    weights = np.full(size, 1 / size)
    if slope:
        weights = weights * (1 + slope * np.linspace(-1, 1, size))
        weights /= weights.sum()
    population = Population(weights, initial=initial)
    order = np.argsort(population.start, kind="stable")
    if slope and np.any(np.diff(population.weights[order]) < 0):
        raise InputError(
            "with a slope, initial has to rise wherever the population's weights do (Theorem C.2)"
        )
    return population, np.argsort(order)


# The worst that a path benchmark can do, by linear programming with a certificate on either side.
#
# What a path does to a population is known from the mass p_S of each *error pattern* S, the set of
# models that err. With the round risks r_t (p_S summed over the S with t) and the joint errors q_st
# (over the S with both), Eq (19) reads
#
#     w_t0 r_t + sum over s < t of w_ts c_st <= epsilon,        q_st <= c_st r_s,
#
# and the majority risk is linear in p. Only the products are not. In a box [l, u] of round risks
# they are replaced by the two faces of their McCormick envelope that bound c from below,
#
#     q <= u c,        q <= C r + l c - l C,        C = min(1, epsilon / w_ts),
#
# which makes a linear program whose value is an *upper* bound. The same program at the risks of its
# solution is feasible, hence a *lower* bound. Branching on the boxes closes the gap. Upper bounds
# are read off the dual and hold whatever the solver's own tolerance.
#
# Lower bounds climb: at a feasible point the product is replaced by its tangent, the program is
# solved within a trust region around it, and the risks of that solution are tried exactly. From a
# few random starts this finds the best patterns known for five and seven rounds at once.

_MAX_ROUNDS, _SEARCHED_ROUNDS = 9, 8

_BOXES = {6: 2500, 7: 2500, 8: 800, 9: 300}
"""How many boxes to look at by default: 7 to 20 seconds of one core. Up to five rounds, 5000."""

FEW_BOXES = 60
"""With so many, the bounds of all paths up to nine rounds take some three seconds together."""


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
        masses = [mass for _, mass in self.patterns]
        rest = max(0.0, 1 - sum(masses))  # rounding may leave it just below zero
        weights = np.array([*masses, rest])
        errors = [[t in who for who, _ in self.patterns] for t in range(1, self.rounds + 1)]
        return Certificate(
            theorem=f"worst case of {self.rounds} rounds",
            population=Population(weights / weights.sum()),
            design=path(self.rounds, mixture=self.mixture),
            errors=np.pad(np.array(errors, dtype=bool), ((0, 0), (0, 1))),
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
        Up to 9 (511 patterns). Beyond that, use ``any_rounds_bound``, which is proved but not
        sharp.
    mixture
        As in :func:`tallystick.papers.dynamic_benchmarks.designs.path`.
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
            f"no error pattern was found for epsilon {epsilon:g} and {rounds} rounds in"
            f" {tree.looked} boxes: take fewer rounds, or more nodes"
        )

    masses = zip(tree.program.patterns, tree.solution.tolist(), strict=True)
    found = ((tuple(t + 1 for t in who), mass) for who, mass in masses if mass > 1e-15)
    upper = min(1.0, tree.ceiling)
    return WorstCase(epsilon, rounds, tree.best, upper, tree.looked, tuple(found), mixture)


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


@dataclass(frozen=True, eq=False)
class BoxSolution:
    """The solution of one box.

    Parameters
    ----------
    value, bound
        The program's value, and the upper bound that its dual prices prove.
    risks, masses, shares
        Of the rounds, of the error patterns, and the conditional errors c of every pair.
    violation
        By round, how much the relaxed products exceed the true ones.
    """

    value: float
    bound: float
    risks: Array
    masses: Array
    shares: Array
    violation: Array


@lru_cache(maxsize=64)
def worst_by_round(epsilon: float, rounds: int) -> tuple[float, ...]:
    """Return a proved upper bound on the majority risk after each round of a uniform path, D_0 = D.

    Three rounds are exact up to epsilon = 1/4. Four to nine come from
    :func:`tallystick.papers.dynamic_benchmarks.worst_case` with a few boxes, in some
    three seconds, or from the closed form where it is smaller; longer paths from the closed form,
    which is proved but not sharp.

    >>> [round(worst, 4) for worst in worst_by_round(0.1, 3)]
    [0.1, 0.15, 0.05]
    """
    out = []
    for t in range(1, rounds + 1):
        bound = path_bound(epsilon, t)
        if 3 < t <= _MAX_ROUNDS or (t == 3 and epsilon > 0.25):
            program = worst_case(epsilon, t, gap=0.02, nodes=FEW_BOXES, search=False)
            bound = min(bound, program.upper)
        out.append(bound)
    return tuple(out)


class BoxProgram:
    """The linear program of one box: risks in units of epsilon, joint errors of its square."""

    def __init__(self, epsilon: float, table: list[Array]) -> None:
        self.epsilon, rounds = epsilon, len(table)
        self.patterns = [s for k in range(1, rounds + 1) for s in combinations(range(rounds), k)]
        self.unit = np.array([epsilon if len(s) == 1 else epsilon**2 for s in self.patterns])
        member = np.array([[t in s for s in self.patterns] for t in range(rounds)])
        loss = majority_share(member.sum(axis=0), rounds)

        # Which rounds were collected into which mixture, and with what weight.
        self.pairs = [(s, t) for t in range(rounds) for s in range(t) if table[t][1 + s] > 0]
        first, second = (np.array([pair[k] for pair in self.pairs], dtype=int) for k in (0, 1))
        self.first = first
        share = np.array([table[t][1 + s] for s, t in self.pairs])
        kept = np.array([row[0] for row in table])  # the weight of D_0
        self.cap = np.minimum(1.0, epsilon / share) if self.pairs else np.zeros(0)
        self.risk = member * self.unit  # r_t from the scaled masses
        self.joint = (member[first] & member[second]) * self.unit
        self.share = share
        self.highest = np.minimum(1.0, epsilon / np.maximum(kept, 1e-300))

        # Rows that are the same in every box: the promises of (19), and the total mass.
        many, links = len(self.patterns), len(self.pairs)
        budget = np.hstack([kept[:, None] * self.risk / epsilon, np.zeros((rounds, links))])
        for k, t in enumerate(second):
            budget[t, many + k] = share[k]
        total = np.concatenate([self.unit, np.zeros(links)])
        self.fixed = np.vstack([budget, total])
        self.limit = np.ones(rounds + 1)
        self.goal = np.concatenate([-loss * self.unit / epsilon**2, np.zeros(links)])
        self.top = np.concatenate([1 / self.unit, self.cap / epsilon])
        self.boxes = np.hstack([self.risk / epsilon, np.zeros((rounds, links))])

    def solve(
        self, low: Array, high: Array, *, touching: BoxSolution | None = None
    ) -> BoxSolution | None:
        """Maximise the majority risk with every round risk between *low* and *high*.

        Products are relaxed to their envelope in that box or, near a point, to the tangent plane
        *touching* them there. None if the box is impossible.
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

        # Any non-negative prices prove an upper bound.
        price = np.maximum(-found.ineqlin.marginals, 0)
        reduced = np.minimum(self.goal + rows.T @ price, 0)
        bound = float(price @ limits - reduced @ self.top) * e**2
        masses = found.x[:many]
        risks = self.risk @ masses
        beyond = self.joint @ masses - found.x[many:] * e * risks[self.first]
        missing = np.maximum(beyond, 0) * self.share
        return BoxSolution(
            value=-float(found.fun) * e**2,
            bound=bound,
            risks=np.clip(risks, low, high),
            masses=masses * self.unit,
            shares=found.x[many:] * e,
            violation=np.bincount(self.first, weights=missing, minlength=low.size) + 1e-15,
        )

    def _face(self, share: Array, risk: Array) -> tuple[Array, Array]:
        """Return rows and limits of q <= share r + risk c - share risk, a plane on the product."""
        e = self.epsilon
        rows = np.hstack(
            [(self.joint - share[:, None] * self.risk[self.first]) / e**2, -np.diag(risk / e)]
        )
        return rows, -share * risk / e**2
