"""A bound with its proof from both sides: potentials from outside, a coupling from inside."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.stats.transport.ends import Side
from tallystick.stats.transport.marginals import FloatArray

__all__ = ["Certified"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Certified:
    """One end of the interval of E[g(X, Y) | z] for every pattern, enclosed by a dual and a primal
    value.

    Parameters
    ----------
    side
        ``lower`` or ``upper``.
    value
        What the potentials prove, by the hard maximum (minimum) of (T1): an outer bound, whatever
        the solver did.
    primal
        What the coupling attains. The sharp end lies between *primal* and *value*.
    potentials
        Shape (patterns, labels).
    coupling
        Joint laws with the given marginals: (patterns, atoms, labels) from a programme on a table,
        (atoms, labels) from the smoothed dual on a list of atoms. With δ > 0 its label marginal is
        the worst one within δ of P(Y | z).
    """

    side: Side
    value: FloatArray
    primal: FloatArray
    potentials: FloatArray
    coupling: FloatArray

    @property
    def gap(self) -> FloatArray:
        """Return how far the end may be from *value*, pattern by pattern."""
        return np.abs(self.value - self.primal)
