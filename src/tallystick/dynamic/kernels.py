"""Compiled inner loops of the rollouts: rows are rollouts, columns items. Plain NumPy takes four
times as long.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from tallystick.dynamic.population import Array

__all__ = ["add_errors", "count_votes", "fill"]

_BINS = 256


@njit(cache=True)
def fill(
    scores: Array, weights: Array, clean: Array, epsilon: Array, luck: Array, errors: Array
) -> None:  # pragma: no cover
    """Mark the clean items of highest score as *errors* until their mass reaches *epsilon*, one a
    row.

    The item on the boundary is taken if *luck* (uniform, one a row) falls below the part of it that
    still fits; luck above one never takes it. A histogram of scores finds the boundary, so only the
    few items beside it are sorted.
    """
    size = scores.shape[1]
    mass = np.empty(_BINS)
    beside = np.empty(size, dtype=np.int64)
    bins = np.empty(size, dtype=np.int64)
    for row in range(scores.shape[0]):
        high, low = -np.inf, np.inf
        for i in range(size):
            score = scores[row, i]
            if clean[i] and np.isfinite(score):
                high, low = max(high, score), min(low, score)
        scale = (_BINS - 1) / (high - low) if high > low else 0.0
        mass[:] = 0
        for i in range(size):
            if clean[i]:
                score = scores[row, i]
                place = (
                    0
                    if score >= high
                    else (_BINS - 1 if score <= low else int((high - score) * scale))
                )
                bins[i] = place
                mass[place] += weights[row, i]
        reached, edge = 0.0, 0
        while edge < _BINS and reached + mass[edge] <= epsilon[row]:
            reached += mass[edge]
            edge += 1
        found = 0
        for i in range(size):
            errors[row, i] = clean[i] and bins[i] < edge
            if clean[i] and bins[i] == edge:
                beside[found] = i
                found += 1
        order = np.argsort(-scores[row][beside[:found]])
        for k in range(found):
            i = beside[order[k]]
            weight = weights[row, i]
            if reached + weight <= epsilon[row]:
                reached += weight
                errors[row, i] = True
            else:
                errors[row, i] = luck[row] * weight < epsilon[row] - reached
                break


@njit(cache=True)
def count_votes(
    errors: Array,
    ballot: float,
    half: float,
    close: float,
    clean: Array,
    weights: Array,
    wrong: Array,
    out: Array,
) -> None:  # pragma: no cover
    """Add a round's votes to *wrong*; write majority risk, model risk and excess risk of each
    rollout into *out*.
    """
    for row in range(errors.shape[0]):
        majority, model, excess = 0.0, 0.0, 0.0
        for i in range(errors.shape[1]):
            if errors[row, i]:
                wrong[row, i] += ballot
                model += clean[i]
                excess += weights[row, i]
            margin = wrong[row, i] - half
            if margin > close:
                majority += clean[i]
            elif margin >= -close:
                majority += 0.5 * clean[i]
        out[row, 0], out[row, 1], out[row, 2] = majority, model, excess


@njit(cache=True)
# pragma: no cover
def add_errors(errors: Array, coin: Array, population: Array, total: Array, count: Array) -> None:
    """Add the error distribution of each rollout, as ideal annotators return it, to the running sum
    *total*.
    """
    for row in range(errors.shape[0]):
        mass = 0.0
        for i in range(errors.shape[1]):
            if coin[i]:
                mass += 0.5 * population[i]
            elif errors[row, i]:
                mass += population[i]
        if mass > 0:
            count[row] += 1
            for i in range(errors.shape[1]):
                if coin[i]:
                    total[row, i] += 0.5 * population[i] / mass
                elif errors[row, i]:
                    total[row, i] += population[i] / mass
