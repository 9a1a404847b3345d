"""By round: the worst case, the random case and the fitted case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from tallystick._rng import Rng, spawn
from tallystick.dynamic.bounds import path_bound, path_floor
from tallystick.dynamic.learners import Correlated, Learner, RandomErrors
from tallystick.dynamic.population import Array, Population
from tallystick.dynamic.rollouts import roll_path
from tallystick.dynamic.worst_case import worst_case
from tallystick.errors import InputError
from tallystick.results import Figure, Interval

__all__ = ["Envelope", "envelope", "worst_by_round"]

_BY_PROGRAM = 5
"""Up to so many rounds the worst case comes from a linear program (under a second); beyond, from
``path_bound``."""


@dataclass(frozen=True, kw_only=True)
class Envelope:
    """Majority risk by round, as it may turn out.

    Parameters
    ----------
    worst
        No path of such models is worse.
    floor
        No path can promise less.
    random, random_range
        Mean over rollouts with independent random errors, and where 90 % of them lie.
    fitted, fitted_range
        The same with errors correlated as fitted.
    """

    epsilon: float
    rho: float
    gamma: float
    worst: tuple[float, ...]
    floor: tuple[float, ...]
    random: tuple[float, ...]
    random_range: tuple[Interval, ...]
    fitted: tuple[float, ...]
    fitted_range: tuple[Interval, ...]

    def figures(self) -> tuple[Figure, ...]:
        """Return the three cases in one picture."""
        count = len(self.worst)
        rows: dict[str, list[Any]] = {
            "round": list(range(1, count + 1)) * 2,
            "case": ["random errors"] * count + ["fitted correlation"] * count,
            "risk": [*self.random, *self.fitted],
            "low": [each.low for each in (*self.random_range, *self.fitted_range)],
            "high": [each.high for each in (*self.random_range, *self.fitted_range)],
            "worst_case": list(self.worst) * 2,
            "floor": list(self.floor) * 2,
        }
        roles = {"x": "round", "y": "risk", "low": "low", "high": "high", "group": "case"}
        roles |= {"outer_high": "worst_case", "outer_low": "floor"}
        return (
            Figure("rounds", "What the next rounds may bring", rows, roles, {"y": "majority risk"}),
        )


def envelope(
    epsilon: float,
    *,
    rounds: int,
    rng: Rng,
    rho: float = 0.0,
    gamma: float = 0.0,
    size: int = 800,
    rollouts: int = 200,
) -> Envelope:
    """Compute the three cases of a path with uniform weights.

    >>> ahead = envelope(0.1, rounds=5, rho=0.6, rng=0, rollouts=50)
    >>> ahead.random[4] < ahead.fitted[4] < ahead.worst[4]
    True
    """
    population = Population.uniform(size)
    first, second = spawn(rng, 2)

    def cases(
        learner: Learner, generator: np.random.Generator
    ) -> tuple[tuple[float, ...], tuple[Interval, ...]]:
        risk = roll_path(population, learner, rounds=rounds, rollouts=rollouts, rng=generator).risk
        return tuple(float(mean) for mean in risk.mean(axis=0)), spread(
            risk, "errors fall as simulated"
        )

    random, random_range = cases(RandomErrors(epsilon), first)
    fitted, fitted_range = cases(Correlated(epsilon, rho, gamma), second)
    return Envelope(
        epsilon=epsilon,
        rho=rho,
        gamma=gamma,
        worst=worst_by_round(epsilon, rounds),
        floor=tuple(epsilon if t == 1 else path_floor(epsilon) for t in range(1, rounds + 1)),
        random=random,
        random_range=random_range,
        fitted=fitted,
        fitted_range=fitted_range,
    )


@lru_cache(maxsize=64)
def worst_by_round(epsilon: float, rounds: int) -> tuple[float, ...]:
    """Return a proved upper bound on the majority risk after each round of a uniform path, D_0 = D.

    >>> [round(worst, 4) for worst in worst_by_round(0.1, 3)]
    [0.1, 0.15, 0.05]
    """
    if rounds < 1:
        raise InputError(f"rounds must be at least 1, got {rounds!r}")
    out = []
    for t in range(1, rounds + 1):
        bound = path_bound(epsilon, t)
        if 3 < t <= _BY_PROGRAM or (t == 3 and epsilon > 0.25):
            bound = min(bound, worst_case(epsilon, t, gap=0.02, nodes=60, search=False).upper)
        out.append(bound)
    return tuple(out)


def spread(
    risk: Array, assumption: str, *, tails: Sequence[float] = (0.05, 0.95)
) -> tuple[Interval, ...]:
    """Return where the rollouts lie, by column: a 90 % prediction interval under *assumption*."""
    low, high = np.quantile(risk, tails, axis=0)
    return tuple(
        Interval(
            float(a),
            float(b),
            level=tails[1] - tails[0],
            guarantee="under",
            assumption=assumption,
            method="rollouts",
        )
        for a, b in zip(low, high, strict=True)
    )
