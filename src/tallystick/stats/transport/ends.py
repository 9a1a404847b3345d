"""The two ends of a sharp interval, pattern by pattern, with the dual potentials that prove
them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tallystick.errors import InputError
from tallystick.stats.transport.marginals import FloatArray, as_weights

__all__ = ["Bounds", "End", "Side", "as_side", "in_order", "mirrored", "one_segment"]

Side: TypeAlias = Literal["lower", "upper"]


def as_side(side: Side) -> Side:
    """Refuse a side that is neither ``lower`` nor ``upper``."""
    if side not in ("lower", "upper"):
        raise InputError(f"side must be 'lower' or 'upper', got {side!r}")
    return side


@dataclass(frozen=True, slots=True, eq=False)
class End:
    """One end of the sharp interval of E[g(X, Y) | z], for every pattern z.

    Parameters
    ----------
    side
        ``lower`` or ``upper``.
    value
        The end itself, one number a pattern.
    potentials
        Optimal dual potentials :math:`a_{zy}`, (patterns, labels). Any potentials prove an outer
        bound (:func:`~tallystick.stats.transport.outer_bound`); these prove this one.
    slopes, lengths
        How the end moves outward as P(Y | z) may be wrong by more and more total variation: at the
        rate ``slopes[z, 0]`` for the first ``lengths[z, 0]``, then at ``slopes[z, 1]``, …, then not
        at all. Where the lengths are positive the slopes of a pattern never increase. For
        :mod:`~tallystick.stats.transport.robust`.
    """

    side: Side
    value: FloatArray
    potentials: FloatArray
    slopes: FloatArray
    lengths: FloatArray

    def mean(self, weights: ArrayLike | None = None) -> float:
        """Return the end for the whole population, with the patterns' *weights* (shares or
        counts).
        """
        return float(as_weights(weights, len(self.value)) @ self.value)


@dataclass(frozen=True, slots=True, eq=False)
class Bounds:
    """The sharp interval of E[g(X, Y) | z], for every pattern z: no shorter one holds for all
    couplings.
    """

    lower: End
    upper: End

    def mean(self, weights: ArrayLike | None = None) -> tuple[float, float]:
        """Return (lower, upper) for the whole population, with the patterns' *weights* (shares or
        counts).
        """
        return self.lower.mean(weights), self.upper.mean(weights)


def in_order(lower: End, upper: End) -> Bounds:
    """Return both ends; where they meet, rounding does not make them cross."""
    return Bounds(
        replace(lower, value=np.minimum(lower.value, upper.value)),
        replace(upper, value=np.maximum(lower.value, upper.value)),
    )


def one_segment(side: Side, value: FloatArray, potentials: FloatArray, room: FloatArray) -> End:
    """Return an end that moves outward at rate one until its *room* is spent."""
    return End(side, value, potentials, np.ones((len(value), 1)), room[:, None])


def mirrored(upper: End) -> End:
    """Return the lower end of g from the upper end of -g."""
    return End("lower", -upper.value, -upper.potentials, upper.slopes, upper.lengths)
