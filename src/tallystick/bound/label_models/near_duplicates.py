"""Weak labels that nearly repeat one another, merged: a rule and its copy are one witness."""

from __future__ import annotations

import numpy as np

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.weak_votes import ABSTAINED

__all__ = ["merged_votes", "near_duplicates"]

_KAPPA = 0.9
_COMMON = 20
_OVERLAP = 0.3
"""Copies agree beyond chance (kappa of at least .9) on at least 20 common rows, which are at least
.3 of the rows on which either votes."""


def near_duplicates(votes: IntArray, counts: FloatArray, classes: int) -> list[list[int]]:
    """Group the columns of *votes*: each joins the first group whose first column it repeats.

    >>> votes = np.array([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]])
    >>> near_duplicates(votes, np.full(4, 10.0), 2)
    [[0, 1], [2]]
    """
    groups: list[list[int]] = []
    for j in range(votes.shape[1]):
        home = next((g for g in groups if _repeats(votes[:, [g[0], j]], counts, classes)), None)
        if home is None:
            groups.append([j])
        else:
            home.append(j)
    return groups


def merged_votes(votes: IntArray, groups: list[list[int]]) -> IntArray:
    """Return one column per group: the first vote that one of its columns casts.

    >>> merged_votes(np.array([[-1, 1, 0]]), [[0, 1], [2]]).tolist()
    [[1, 0]]
    """
    out = np.full((len(votes), len(groups)), ABSTAINED, dtype=np.int64)
    for g, columns in enumerate(groups):
        for j in reversed(columns):  # the first column is written last, so its vote stands
            out[:, g] = np.where(votes[:, j] >= 0, votes[:, j], out[:, g])
    return out


def _repeats(pair: IntArray, counts: FloatArray, classes: int) -> bool:
    """Say whether the second column of *pair* is nearly the first."""
    voted = pair >= 0
    both, either = (float(counts @ part) for part in (voted.all(axis=1), voted.any(axis=1)))
    if both < _COMMON or both < _OVERLAP * either:
        return False
    here = voted.all(axis=1)
    cell = pair[here, 0] * classes + pair[here, 1]
    table = np.bincount(cell, weights=counts[here], minlength=classes**2)
    joint = table.reshape(classes, classes) / both
    agree, chance = float(np.trace(joint)), float(joint.sum(axis=1) @ joint.sum(axis=0))
    # Two columns that give one and the same vote agree by chance alone: kappa is 0/0 there.
    return chance < 1 and (agree - chance) / (1 - chance) >= _KAPPA
