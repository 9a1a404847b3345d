r"""One box of the worst case: a linear program over error patterns, with its dual bound.

Used by :mod:`tallystick.dynamic.worst_case`, which says what it is for. With the round risks r in a
box [l, u], and C the largest conditional error that a promise allows, the product q = c r is
relaxed to the two faces of its McCormick envelope that bound c from below,

.. math:: q \le u\,c, \qquad q \le C r + l\,c - l\,C, \qquad C = \min(1, \epsilon/w_{t,s}).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np

from tallystick.dynamic.population import Array

__all__ = ["BoxProgram", "BoxSolution"]


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
