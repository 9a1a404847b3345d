"""What a run has seen: counts by stratum, all that an estimator needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from tallystick.sampling.plan import Plan

__all__ = ["FAILED", "Observed", "observe"]

FAILED = -1
"""Stands for an answer that never came."""

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Observed:
    """Counts of one run, shape (S, …), or of many, shape (runs, S, …).

    Parameters
    ----------
    shares
        The part of all items in each stratum, p_k.
    asked, answered
        Questions and answers by stratum; they differ by the calls that failed or are in flight.
    fraction
        The part of the stratum that was answered, φ_k; 0 with replacement.
    new
        Answers by stratum and outcome.
    old, same
        Baseline outcomes of the answered items, and how often the answer was the same; None without
        a baseline.
    before
        The part of *all* items with each baseline outcome; None without a baseline.
    """

    shares: FloatArray
    asked: IntArray
    answered: IntArray
    fraction: FloatArray
    new: IntArray
    old: IntArray | None
    same: IntArray | None
    before: FloatArray | None


def observe(
    plan: Plan, items: IntArray, outcomes: IntArray, *, keep: NDArray[np.bool_] | None = None
) -> Observed:
    """Count *outcomes* (:data:`FAILED` where there is none) of *items*, along the last axis.

    Parameters
    ----------
    plan
        The plan of the run.
    items, outcomes
        Shape (questions,) or (runs, questions).
    keep
        Which questions to count; None counts all. The blind ones give phase 1 by itself.
    """
    S, J = len(plan.strata), plan.n_outcomes
    lead = items.shape[:-1]
    runs = int(np.prod(lead, dtype=np.intp))
    counted = np.ones(items.shape, bool) if keep is None else keep
    at = np.arange(runs).reshape((*lead, 1)) * S + plan.strata.of[items]

    def count(mask: NDArray[np.bool_]) -> IntArray:
        return np.bincount(at[mask], minlength=runs * S).reshape((*lead, S))

    def table(mask: NDArray[np.bool_], values: IntArray) -> IntArray:
        return np.bincount(at[mask] * J + values[mask], minlength=runs * S * J).reshape(
            (*lead, S, J)
        )

    told = counted & (outcomes != FAILED)
    answered = count(told)
    old = None if plan.baseline is None else plan.old[items]
    return Observed(
        shares=plan.strata.shares,
        asked=count(counted),
        answered=answered,
        fraction=answered / plan.limits,  # limits are infinite with replacement
        new=table(told, outcomes),
        old=None if old is None else table(told, old),
        same=None if old is None else table(told & (outcomes == old), outcomes),
        before=None if old is None else np.bincount(plan.old, minlength=J) / plan.strata.n_items,
    )
