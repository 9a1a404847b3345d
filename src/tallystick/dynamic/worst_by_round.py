"""What no path of such models can exceed, round by round: programs where they are sharp."""

from __future__ import annotations

from functools import lru_cache

from tallystick.dynamic.bounds import path_bound
from tallystick.dynamic.worst_case import worst_case
from tallystick.errors import InputError

__all__ = ["MOST_ROUNDS", "worst_by_round"]

MOST_ROUNDS = 200
"""Longer paths are refused: nobody runs them, and their bounds exceed 1 anyway."""

_BY_PROGRAM = 9
"""Up to so many rounds a branch and bound of a few boxes is sharper than the closed form."""

_BOXES = 60


@lru_cache(maxsize=64)
def worst_by_round(epsilon: float, rounds: int) -> tuple[float, ...]:
    """Return a proved upper bound on the majority risk after each round of a uniform path, D_0 = D.

    Three rounds are exact up to epsilon = 1/4. Four to nine come from
    :func:`tallystick.dynamic.worst_case` with a few boxes, in some three seconds, or from the
    closed form where it is smaller; longer paths from the closed form
    (:func:`tallystick.dynamic.papers.any_rounds_bound`), which is proved but not sharp.

    >>> [round(worst, 4) for worst in worst_by_round(0.1, 3)]
    [0.1, 0.15, 0.05]
    """
    if not 1 <= rounds <= MOST_ROUNDS:
        raise InputError(f"rounds must be from 1 to {MOST_ROUNDS}, got {rounds!r}")
    out = []
    for t in range(1, rounds + 1):
        bound = path_bound(epsilon, t)
        if 3 < t <= _BY_PROGRAM or (t == 3 and epsilon > 0.25):
            program = worst_case(epsilon, t, gap=0.02, nodes=_BOXES, search=False)
            bound = min(bound, program.upper)
        out.append(bound)
    return tuple(out)
