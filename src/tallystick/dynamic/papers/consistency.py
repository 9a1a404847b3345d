"""Could these error sets have come out of this benchmark? A checker for Eq (16) and Eq (19) of
[SAH23]_.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.dynamic.design import Design
from tallystick.dynamic.learners import Scripted, checked_epsilon
from tallystick.dynamic.population import TOLERANCE, Array, Population
from tallystick.dynamic.rollouts import roll
from tallystick.errors import InputError

__all__ = ["Consistency", "check"]


@dataclass(frozen=True)
class Consistency:
    """Whether every model keeps its promise.

    Parameters
    ----------
    consistent
        Whether all rounds do.
    violated_round
        The first round that does not, counted from 1; None if all do.
    violated_step
        The name of its model in the design.
    risks
        Each model's risk on the distribution that it was trained on, to be held against *epsilon*.
    """

    consistent: bool
    violated_round: int | None
    violated_step: str | None
    risks: tuple[float, ...]
    epsilon: float

    def __str__(self) -> str:
        if self.violated_round is None:
            return (
                f"consistent: every model has risk at most {self.epsilon:g} on its own distribution"
            )
        risk = self.risks[self.violated_round - 1]
        where = f"round {self.violated_round} ({self.violated_step})"
        return f"{where} has risk {risk:.4g} > {self.epsilon:g} on its distribution"


def check(design: Design, errors: Array, population: Population, *, epsilon: float) -> Consistency:
    r"""Accept or reject a sequence of error sets, and name the round that gives it away.

    A sequence is consistent with an :math:`\epsilon`-approximate risk minimiser if and only if, in
    every round,

    .. math:: w_{t,0} \mathcal D_0(\mathcal K_t) + \sum_{t' < t} \overline w_{t,t'}
              \frac{\mathcal D(\mathcal K_t \cap \mathcal K_{t'})}{\mathcal D(\mathcal K_{t'})} \le \epsilon

    ([SAH23]_, Eq 19; Eq 16 is its first round). The left side is the risk of :math:`h_t` on
    :math:`\mathcal D_t`, so any design is checked in the same way.

    Parameters
    ----------
    design
        Any design.
    errors
        One row of booleans a trained model, in the order of ``design.trained``.
    population
        The distributions :math:`\mathcal D` and :math:`\mathcal D_0`.
    epsilon
        The promise, in (0, 1/2].

    Examples
    --------
    >>> from tallystick.dynamic.design import path
    >>> same = np.array([[1, 0, 0, 0]] * 2, dtype=bool)
    >>> print(check(path(2), same, Population.uniform(4), epsilon=0.25))
    round 2 (h2) has risk 0.625 > 0.25 on its distribution
    """
    checked_epsilon(epsilon)
    script = np.asarray(errors, dtype=bool)
    if script.shape != (design.rounds, population.size):
        raise InputError(
            f"errors need the shape ({design.rounds}, {population.size}), got {script.shape}"
        )
    played = roll(population, design, Scripted(script), rollouts=1, rng=0)
    risks = played.epsilon[0]
    over = np.flatnonzero(risks > epsilon + TOLERANCE)
    first = int(over[0]) if over.size else None
    return Consistency(
        consistent=first is None,
        violated_round=None if first is None else first + 1,
        violated_step=None if first is None else design.trained[first],
        risks=tuple(float(risk) for risk in risks),
        epsilon=epsilon,
    )
