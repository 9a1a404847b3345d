"""The running sums that policies decide by: one set a stratum, for one run or for many side by
side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tallystick.sampling.effects import Effects

__all__ = ["Book", "column"]


def column(table: Any, at: Any) -> Any:
    """Return the entries of each row at *at*: plain floats for one position, arrays for an array of
    positions.

    Plain floats are several times faster than NumPy's for the dozen operations of a rule, and round
    alike.
    """
    return table[:, at].tolist() if isinstance(at, int) else table[:, at]


def _take(array: Any, *at: Any) -> Any:
    return array[at]


class Book:
    """Per stratum: questions asked, answers, how many of them changed anything, and two sums of
    their vectors x.

    All arrays are flat. Stratum k of run r stands at position r · S + k, so the same line of code
    serves a single run (an int) and a thousand runs side by side (an array of positions, one a
    run): there is one rule, written once.

    Attributes
    ----------
    sums
        The five rows below, so that one read fetches a stratum.
    asked, answered
        Questions put (those in flight included) and answers received (failed ones excluded).
    flips
        Answers with x ≠ 0.
    square, length
        Σ‖x‖² and ‖Σx‖².
    """

    def __init__(self, effects: Effects, n_strata: int, runs: int = 1) -> None:
        self.effects = effects
        self.sums = np.zeros((5, runs * n_strata))
        self.asked, self.answered, self.flips, self.square, self.length = self.sums
        self._total = np.zeros(runs * n_strata * effects.dimensions)

    def tell(self, at: Any, k: Any, new: Any, old: Any) -> None:
        """Add one answer (a run): outcome *new* where it had been *old*, in stratum *k* at position
        *at*.
        """
        self.answered[at] += 1
        if isinstance(at, int):
            if new != old:
                self._add(at, k, new, old)
            return
        moved = new != old
        self._add(at[moved], k[moved], new[moved], old[moved])

    def _add(self, at: Any, k: Any, new: Any, old: Any) -> None:
        effects, total = self.effects, self._total
        take: Any = np.ndarray.item if isinstance(at, int) else _take
        gain, loss = take(effects.weight, k, new), take(effects.weight, k, old)
        square, length = 0.0 * gain, 0.0 * gain
        for index, value in zip(effects.index, effects.value, strict=True):
            i, a = take(index, new), take(value, new) * gain
            j, b = take(index, old), take(value, old) * loss
            square = square + (a * a + b * b - 2 * a * b * (i == j))
            # ‖s + a e_i‖² = ‖s‖² + a (2 s_i + a): the length of the sum is kept in O(1), too.
            i, j = at * effects.dimensions + i, at * effects.dimensions + j
            length = length + a * (2 * take(total, i) + a)
            total[i] += a
            length = length + b * (b - 2 * take(total, j))
            total[j] -= b
        self.square[at] += square
        self.length[at] += length
        self.flips[at] += square > 0
