"""Compiled part of step-down max-T: how many draws reach each bar, for boards of hundreds or
thousands of models.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["count_reached"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")


def _count_reached(
    z: NDArray[np.float32],
    first: NDArray[np.intp],
    second: NDArray[np.intp],
    scale: NDArray[np.float32],
    bar: NDArray[np.float32],
    reached: NDArray[np.int64],
    largest: NDArray[np.float32],
) -> None:
    """Add to *reached* the draws whose running maximum reaches each bar, and leave in *largest*
    each draw's maximum.

    *z* is models x draws, so that the inner loop runs over draws that lie side by side.
    """
    draws = z.shape[1]
    for pair in range(first.size):
        i, j, factor, level = first[pair], second[pair], scale[pair], bar[pair]
        count = 0
        for d in range(draws):
            value = abs(z[i, d] - z[j, d]) * factor
            largest[d] = max(largest[d], value)
            count += largest[d] >= level
        reached[pair] += count


count_reached = _compile(_count_reached)
