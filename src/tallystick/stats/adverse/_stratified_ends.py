"""Compiled part of the stratified adverse empirical likelihood: the lower end of one mean.

Only the lower end is written, for distances d >= 0 from the least value that a label could have.
The upper end takes distances from the greatest value.
"""

from __future__ import annotations

import math
from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

__all__ = ["least_stratified_mean"]

_compile = numba.njit(cache=True, nogil=True, error_model="numpy")

LOWEST, HIGHEST = -12.0, 30.0
"""Where ln μ is looked for."""
HALVINGS = 46
"""Steps of bisection: ln μ is good to 6e-13."""
STEPS, CLOSE = 100, 1e-14
"""The most steps of Newton for ν, and the relative step at which it has arrived."""


def _normaliser(tilt: float, distance: NDArray[np.float64], each: float, pseudo: float) -> float:
    """Return ν of (AL19) in one stratum: the mass of its labels and its pseudo-label adds up to 1.

    *tilt* is μW, *each* the weight w of a label. The mass falls in ν and is convex, so Newton's
    steps from a point on its left approach ν from there and never pass it.
    """
    size = pseudo + each * distance.size
    nu: float = max(pseudo, size - tilt * each * distance.sum() / size)
    for _ in range(STEPS):
        mass, slope = pseudo / nu, pseudo / nu**2
        for i in range(distance.size):
            part = each / (nu + tilt * distance[i])
            mass += part
            slope += part / (nu + tilt * distance[i])
        step = (mass - 1.0) / slope
        nu += step
        if abs(step) <= CLOSE * nu:
            break
    return nu


normaliser: Any = _compile(_normaliser)


def _stratum(
    tilt: float, distance: NDArray[np.float64], each: float, pseudo: float
) -> tuple[float, float]:
    """Return the log-likelihood that a stratum loses at a tilt, and its mean distance there."""
    size = pseudo + each * distance.size
    nu = normaliser(tilt, distance, each, pseudo)
    lost, mean = pseudo * math.log(nu / size), 0.0
    for i in range(distance.size):
        bottom = nu + tilt * distance[i]
        lost += each * math.log(bottom / size)
        mean += each * distance[i] / bottom
    return lost, mean


stratum: Any = _compile(_stratum)


def _least_stratified_mean(
    distance: NDArray[np.float64],
    start: NDArray[np.int64],
    share: NDArray[np.float64],
    each: NDArray[np.float64],
    pseudo: float,
    bar: float,
) -> float:
    """Return the least mean distance that the labels of the strata leave open.

    *distance* holds the labels stratum by stratum, those of stratum h between *start* h and h + 1;
    *share* are W, *each* the weights of a label, *pseudo* the fraction of (AL19).
    """
    # The statistic grows with μ, so its crossing of the bar is found by halving.
    low, high = LOWEST, HIGHEST
    end = 0.0
    for step in range(HALVINGS + 1):
        middle = 0.5 * (low + high) if step < HALVINGS else high
        lost, end = 0.0, 0.0
        for h in range(share.size):
            mine = distance[start[h] : start[h + 1]]
            if mine.size == 0 or share[h] <= 0.0:
                continue  # without labels the whole stratum may lie at the least value
            part, mean = stratum(
                math.exp(middle) * share[h], mine, each[h], pseudo * math.sqrt(share[h])
            )
            lost += part
            end += share[h] * mean
        if 2.0 * lost < bar:
            low = middle
        else:
            high = middle
    return end


least_stratified_mean: Any = _compile(_least_stratified_mean)
