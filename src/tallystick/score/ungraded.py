"""Outputs that neither a judge nor a person graded: most often there was nothing to grade.

A score speaks of the graded outputs. A system that fails on its hard items has no grade there, and
its score rises. So a gate that these outputs could turn stays open.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tallystick.results.numbers import count
from tallystick.score.outputs import Floats, Outputs

__all__ = ["is_graded", "left_out_note", "ungraded"]


def is_graded(outputs: Outputs) -> NDArray[np.bool_]:
    """Return which entries a score speaks of: all but those without any grade.

    Where people graded outputs of a system that no judge graded, labels speak for such outputs too,
    and they stay.

    Examples
    --------
    >>> none = np.nan
    >>> outputs = Outputs(systems=("a",), judges=("x",), system=np.zeros(3, np.int64),
    ...     grades=np.array([[1.0], [0.0], [none]]), truth=np.array([1.0, none, none]),
    ...     counts=np.ones(3), pass_fail=True, votes=True)
    >>> is_graded(outputs).tolist(), ungraded(outputs, is_graded(outputs))
    ([True, True, False], {'a': (1, 3)})
    """
    unjudged = np.asarray(np.isnan(outputs.grades).all(axis=1))
    kept = np.ones(len(unjudged), np.bool_)
    for system in range(len(outputs.systems)):
        own = outputs.of(system)
        silent = own & unjudged
        if not outputs.known[silent].any() and not unjudged[own].all():
            kept = kept & ~silent
    return kept


def ungraded(outputs: Outputs, kept: NDArray[np.bool_]) -> Mapping[str, tuple[int, int]]:
    """Return by system how many outputs nobody graded, and how many it has, where there are any."""
    lost, all_ = _counted(outputs, ~kept), _counted(outputs, np.ones_like(kept))
    return {name: (int(lost[j]), int(all_[j])) for j, name in enumerate(outputs.systems) if lost[j]}


def left_out_note(lost: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """Say how many outputs are left out because nobody graded them."""
    if not lost:
        return ()
    whose = ", ".join(f"{count(n)} of {name}" for name, (n, _) in lost.items())
    return (
        f"outputs without any grade are left out: {whose}. If they failed, write the lowest grade"
        " there",
    )


def _counted(outputs: Outputs, chosen: NDArray[np.bool_]) -> Floats:
    """Return how many of the chosen outputs each system has."""
    k = len(outputs.systems)
    own, counts = outputs.system[chosen], outputs.counts[chosen]
    return np.bincount(own, weights=counts, minlength=k).astype(np.float64)
