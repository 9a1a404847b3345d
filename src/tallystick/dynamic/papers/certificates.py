r"""Error sets that anyone can check: what a benchmark of such models can come to.

A certificate holds a population, a design and one error set per model. ``check()`` confirms that an
:math:`\epsilon`-approximate learner could have behaved so; ``risk_by_round()`` shows what it costs.
The bad sequences of [SAH23]_ are built in ``tallystick.dynamic.papers.constructions``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.dynamic.design import Design
from tallystick.dynamic.learners import Scripted
from tallystick.dynamic.papers.consistency import Consistency, check
from tallystick.dynamic.population import Array, Population
from tallystick.dynamic.rollouts import Rollouts, roll

__all__ = ["Certificate"]


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
        return tuple(float(risk) for risk in self._played().risk[0])

    def output_risk(self) -> float:
        """Risk of the vote that the design delivers."""
        return float(self._played().output_risk[0])

    def _played(self) -> Rollouts:
        return roll(self.population, self.design, self.learner(), rollouts=1, rng=0)

    @property
    def intervals(self) -> int:
        """The most intervals of the line that an error set consists of, with the items in order."""
        padded = np.pad(self.errors.astype(np.int8), ((0, 0), (1, 0)))
        return int((np.diff(padded, axis=1) == 1).sum(axis=1).max())
