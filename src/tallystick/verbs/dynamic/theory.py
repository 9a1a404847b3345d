"""What is proved of a benchmark before anything is run, as a result."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import ConvergenceError, InputError
from tallystick.results import Unknown
from tallystick.verbs.dynamic.design import Mixing, mixture_table, path
from tallystick.verbs.dynamic.population import Array, Population, checked_weights
from tallystick.verbs.dynamic.result import (
    NO_ADVICE_WITHOUT_LOG,
    THEORY_ASSUMPTIONS,
    Round,
    TheoryResult,
    noisy_verdict,
    theory_statements,
    theory_verdict,
)
from tallystick.verbs.dynamic.rollouts import checked_epsilon, noise_bound
from tallystick.verbs.dynamic.sharp import (
    any_rounds_bound,
    sharp_hierarchical_bound,
    three_round_lemma,
)

if TYPE_CHECKING:
    from tallystick.verbs.dynamic.papers import Certificate


def theory(
    epsilon: float,
    *,
    rounds: int = 3,
    distance: float = 0.0,
    noise: float = 0.0,
    mixing: Mixing = "nested",
) -> TheoryResult:
    r"""Say what is proved of a path and of a hierarchy of such models before anything is run.

    Parameters
    ----------
    epsilon
        Excess risk that the learner guarantees, in (0, 1/2].
    rounds
        Length of the path.
    distance
        :math:`d_{\mathcal H\Delta\mathcal H}(\mathcal D_0, \mathcal D)`.
    noise
        Share of random labels.

    Examples
    --------
    >>> known = theory(0.1, rounds=3)
    >>> round(known.rounds[2].worst_case, 6), round(known.rounds[2].lower_bound, 6)
    (0.05, 0.00125)
    """
    checked_epsilon(epsilon)
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InputError(
            f"rounds must be from 1 to {MOST_ROUNDS}, got {rounds!r}: bounds of longer paths say "
            "nothing"
        )
    if not 0 <= noise < 1:
        raise InputError(f"noise must be in [0, 1), got {noise!r}")
    worst = (
        worst_by_round(epsilon, rounds)
        if not distance
        else tuple(path_bound(epsilon, t, distance) for t in range(1, rounds + 1))
    )
    shares = noise_bound(epsilon, noise, rounds) if noise else (0.0,) * rounds
    realisable = Unknown("labels are random in part: the bounds are for realisable problems")
    unknown = Unknown("theory bounds it, it does not predict it")
    table = tuple(
        Round(
            round=t + 1,
            risk=unknown,
            interval=unknown,
            epsilon=epsilon,
            worst_case=realisable if noise else worst[t],
            lower_bound=realisable if noise else (epsilon, 0.0, path_floor(epsilon))[min(t, 2)],
            z=unknown,
            noise_share=shares[t],
        )
        for t in range(rounds)
    )
    three = three_round_bound(epsilon, distance)
    if not distance:
        three = min(three, worst_by_round(epsilon, 3)[2])
    bounds = {
        "three": three,
        "three_printed": three_round_bound(epsilon, distance, printed=True),
        "longest": worst[-1],
        "floor": path_floor(epsilon),
        "deep": hierarchical_bound(epsilon, distance, mixing=mixing),
        "deep_printed": hierarchical_bound(epsilon, distance, mixing="flat", printed=True),
        "deep_floor": hierarchical_floor(epsilon),
        "updates": exponential_bound(epsilon, rounds),
    }
    return TheoryResult(
        verdict=(
            noisy_verdict(noise, rounds, shares[-1])
            if noise
            else theory_verdict(epsilon, three, path_floor(epsilon))
        ),
        n_items=0,
        assumptions=THEORY_ASSUMPTIONS,
        action="theory",
        design=path(rounds).name,
        rounds=table,
        advice=Unknown(NO_ADVICE_WITHOUT_LOG),
        epsilon=epsilon,
        statements=theory_statements(
            bounds, mixing=mixing, rounds=rounds, noise=noise, share=shares[-1]
        ),
    )


# The worst that a path benchmark can do, by linear programming with a certificate on either side.
#
# What a path does to a population is known from the mass :math:`p_S` of each *error pattern* S,
# the
# set of models that err. With the round risks :math:`r_t = \sum_{S \ni t} p_S` and the joint
# errors
# :math:`q_{st} = \sum_{S \ni s,t} p_S`, Eq (19) of [SAH23]_ reads
#
# .. math:: w_{t,0}\,r_t + \sum_{s<t} w_{t,s}\, c_{st} \le \epsilon, \qquad q_{st} \le c_{st}\,
# r_s
#
# and the majority risk is linear in p. Only the products are not. In a box of round risks they
# are
# replaced by their McCormick envelope, which makes a linear program whose value is an *upper*
# bound.
# The same program at the risks of its solution is feasible, hence a *lower* bound. Branching on
# the
# boxes closes the gap. Upper bounds are read off the dual and hold whatever the solver's own
# tolerance.
#
# Lower bounds climb: at a feasible point the product is replaced by its tangent, the program is
# solved within a trust region around it, and the risks of that solution are tried exactly. From a
# few
# random starts this finds the best patterns known for five and seven rounds at once.


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
        from tallystick.verbs.dynamic.papers import Certificate

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
        :func:`tallystick.verbs.dynamic.papers.any_rounds_bound`, which is proved but not sharp.
    mixture
        As in :func:`tallystick.verbs.dynamic.path`.
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


# What no path of such models can exceed, round by round: programs where they are sharp.


MOST_ROUNDS = 200
"""Longer paths are refused: nobody runs them, and their bounds exceed 1 anyway."""

_BY_PROGRAM = 9
"""Up to so many rounds a branch and bound of a few boxes is sharper than the closed form."""

_WORST_BY_ROUND_BOXES = 60


@lru_cache(maxsize=64)
def worst_by_round(epsilon: float, rounds: int) -> tuple[float, ...]:
    """Return a proved upper bound on the majority risk after each round of a uniform path, D_0 = D.

    Three rounds are exact up to epsilon = 1/4. Four to nine come from
    :func:`tallystick.verbs.dynamic.theory` with a few boxes, in some three seconds, or from the
    closed form where it is smaller; longer paths from the closed form
    (:func:`tallystick.verbs.dynamic.papers.any_rounds_bound`), which is proved but not sharp.

    >>> [round(worst, 4) for worst in worst_by_round(0.1, 3)]
    [0.1, 0.15, 0.05]
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InputError(f"rounds must be from 1 to {MOST_ROUNDS}, got {rounds!r}")
    out = []
    for t in range(1, rounds + 1):
        bound = path_bound(epsilon, t)
        if 3 < t <= _BY_PROGRAM or (t == 3 and epsilon > 0.25):
            program = worst_case(epsilon, t, gap=0.02, nodes=_WORST_BY_ROUND_BOXES, search=False)
            bound = min(bound, program.upper)
        out.append(bound)
    return tuple(out)


# One box of the worst case: a linear program over error patterns, with its dual bound.
#
# Used by :mod:`tallystick.verbs.dynamic.theory`, which says what it is for. With the round risks
# r in a
# box [l, u], and C the largest conditional error that a promise allows, the product q = c r is
# relaxed to the two faces of its McCormick envelope that bound c from below,
#
# .. math:: q \le u\,c, \qquad q \le C r + l\,c - l\,C, \qquad C = \min(1, \epsilon/w_{t,s}).


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


class BoxProgram:
    """The linear program of one box: risks in units of epsilon, joint errors of its square."""

    def __init__(self, epsilon: float, table: list[Array]) -> None:
        self.epsilon, rounds = epsilon, len(table)
        self.patterns = [s for k in range(1, rounds + 1) for s in combinations(range(rounds), k)]
        self.unit = np.array([epsilon if len(s) == 1 else epsilon**2 for s in self.patterns])
        member = np.array([[t in s for s in self.patterns] for t in range(rounds)])
        size = np.array([len(s) for s in self.patterns])
        loss = np.where(2 * size > rounds, 1.0, np.where(2 * size == rounds, 0.5, 0.0))

        # Which rounds were collected into which mixture, and with what weight.
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

        # Rows that are the same in every box: the promises of (19), and the total mass.
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
        missing = (
            np.maximum(self.joint @ masses - found.x[many:] * e * risks[self.first], 0) * self.share
        )
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


# The statements of [SAH23]_ as functions, with the constants corrected and sharpened.
#
# ``printed=True`` gives a constant as it follows from the paper's own proof; the default is the
# sharpest that we can prove. Where D_0 differs from D, *distance* is :math:`\Delta_0 =
# d_{\mathcal H
# \Delta \mathcal H}(\mathcal D_0, \mathcal D)` (:func:`hdh_distance`).


def hdh_distance(predictions: Array, first: Array, second: Array) -> float:
    r"""How differently can two distributions see the disagreement of two classifiers of a finite
    class.

    .. math:: d_{\mathcal H\Delta\mathcal H}(\mathcal P_1, \mathcal P_2) = \sup_{h, h'} \left|
              \Pr_{\mathcal P_1}(h \ne h') - \Pr_{\mathcal P_2}(h \ne h') \right|

    [SAH23]_, Definition 3.3 (Eq 1). At most the total variation distance, and zero if the
    distributions agree.

    Parameters
    ----------
    predictions
        One row a classifier, one column an item; any labels.
    first, second
        The two distributions over the items.

    Examples
    --------
    >>> hdh_distance(np.array([[0, 0, 0], [0, 1, 0]]), np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.5, 0.25]))
    0.25
    """
    labels = np.asarray(predictions)
    gap = checked_weights(first, "first") - checked_weights(second, "second")
    if labels.ndim != 2 or labels.shape[1] != gap.size:
        raise InputError(
            f"predictions need the shape (classifiers, {gap.size}), got {labels.shape}"
        )
    agree = np.zeros((len(labels), len(labels)))
    for label in np.unique(labels):
        mask = (labels == label).astype(float)
        agree += (mask * gap) @ mask.T
    return float(np.abs(gap.sum() - agree).max())


def three_round_bound(epsilon: float, distance: float = 0.0, *, printed: bool = False) -> float:
    r"""How wrong can the majority of a three-round path with uniform weights be.

    Printed: :math:`11\epsilon^2 + 8\epsilon\Delta_0` ([SAH23]_, Theorem 3.4, Eq 12). Ours is
    :math:`\max(6\epsilon^2 + 3\epsilon\Delta_0, 5\epsilon^2 + 5\epsilon\Delta_0)`
    (:func:`tallystick.verbs.dynamic.papers.three_round_lemma`). For :math:`\Delta_0 = 0` and
    :math:`\epsilon \le 1/4` the worst case is exactly :math:`6\epsilon^2/(1+2\epsilon)`.

    >>> round(three_round_bound(0.1), 6), round(three_round_bound(0.1, printed=True), 6)
    (0.05, 0.11)
    >>> round(three_round_bound(0.05, 0.01), 6)
    0.0165
    """
    _check(epsilon, distance)
    if printed:
        return 11 * epsilon**2 + 8 * epsilon * distance
    if distance == 0 and epsilon <= 0.25:
        return 6 * epsilon**2 / (1 + 2 * epsilon)
    return min(1.0, three_round_lemma(epsilon, distance))


def path_bound(epsilon: float, rounds: int, distance: float = 0.0) -> float:
    r"""How wrong can the majority of a path of any length with uniform weights be: proved, not
    sharp.

    The closed form of :func:`tallystick.verbs.dynamic.papers.any_rounds_bound`, and for three
    rounds
    :func:`three_round_bound`. It grows with the number of rounds: no guarantee of the paper or of
    ours says that more than three rounds help.

    >>> path_bound(0.1, 1), round(path_bound(0.1, 3), 4), round(path_bound(0.1, 5), 4)
    (0.1, 0.05, 0.0967)
    """
    _check(epsilon, distance)
    if rounds == 3:
        return three_round_bound(epsilon, distance)
    return min(1.0, any_rounds_bound(epsilon, rounds, distance))


def path_floor(epsilon: float) -> float:
    r"""Return what no path can promise to go below: :math:`\epsilon^2/8`, for three rounds or more
    and any weights.

    [SAH23]_, Theorem 3.5.
    The theorem needs :math:`1/\epsilon` whole; otherwise it is applied to the next smaller such
    :math:`\epsilon`.

    >>> round(path_floor(0.1), 12), path_floor(0.11) == path_floor(0.1)
    (0.00125, True)
    """
    return _whole(epsilon) ** 2 / 8


def hierarchical_bound(
    epsilon: float, distance: float = 0.0, *, mixing: Mixing = "nested", printed: bool = False
) -> float:
    r"""How wrong can the hierarchy of depth 2 and width 3 with uniform weights be ([SAH23]_,
    Theorem 4.1).

    Printed, for flat mixing: :math:`543\epsilon^3 + 300\epsilon^2\Delta_0` (Eq 48). Ours is
    :math:`\max(84\epsilon^3 + 42\epsilon^2\Delta_0, 52.5\epsilon^2(\epsilon+\Delta_0))` flat
    and :math:`\max(108\epsilon^3 + 45\epsilon^2\Delta_0, 75\epsilon^2(\epsilon+\Delta_0))`
    nested (:func:`tallystick.verbs.dynamic.papers.sharp_hierarchical_bound`).

    >>> round(hierarchical_bound(0.01, mixing="flat") / 0.01**3, 6), round(hierarchical_bound(0.01) / 0.01**3, 6)
    (84.0, 108.0)
    """
    _check(epsilon, distance)
    if not printed:
        return min(1.0, sharp_hierarchical_bound(epsilon, distance, mixing=mixing))
    if mixing != "flat":
        raise InputError("printed=True is for mixing='flat': the paper's proof covers no other")
    return 543 * epsilon**3 + 300 * epsilon**2 * distance


def hierarchical_floor(epsilon: float) -> float:
    r"""Return what no hierarchy of depth 2 and width 3 can promise to go below:
    :math:`\epsilon^3/2`.

    [SAH23]_, Theorem 4.2.

    >>> round(hierarchical_floor(0.1), 12)
    0.0005
    """
    return _whole(epsilon) ** 3 / 2


def exponential_bound(epsilon: float, updates: int) -> float:
    r"""How wrong can the exponential-loss model be after so many updates:
    :math:`\exp(-(1-2\epsilon)^2 t/2)`.

    [SAH23]_, section A.2.

    >>> round(exponential_bound(0.1, 24), 6)
    0.000462
    """
    checked_epsilon(epsilon)
    if updates < 0:
        raise InputError(f"updates must not be negative, got {updates!r}")
    return math.exp(-((1 - 2 * epsilon) ** 2) * updates / 2)


def _check(epsilon: float, distance: float) -> None:
    checked_epsilon(epsilon)
    if not 0 <= distance <= 1:
        raise InputError(f"distance must be in [0, 1], got {distance!r}")


def _whole(epsilon: float) -> float:
    checked_epsilon(epsilon)
    return 1 / math.ceil(1 / epsilon - 1e-9)
