"""Many runs side by side against answers that are already known: the way to compare policies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.sampling.allocation import Allocation
from tallystick.sampling.draws import draw
from tallystick.sampling.observed import FAILED, Observed, observe
from tallystick.sampling.plan import Plan

__all__ = ["Replay", "replay"]

BLOCK = 20_000_000
"""About how many numbers a block of runs may keep at once."""

IntArray = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Replay:
    """What every run asked.

    Parameters
    ----------
    plan
        The plan of all runs.
    keys
        The seed of every run: ``Sampler(plan, rng=int(keys[r]))`` asks the same items, given the
        same answers.
    items, outcomes, blind
        Shape (runs, questions): the items in the order in which they were asked for, what came
        back, and whether the choice was blind to answers.
    """

    plan: Plan
    keys: NDArray[np.int64]
    items: IntArray
    outcomes: IntArray
    blind: NDArray[np.bool_]

    def observed(self, *, blind: bool = False, runs: slice = slice(None)) -> Observed:
        """Return the counts of all runs (or of some), shape (runs, S, …); with *blind* of blind
        questions only.
        """
        keep = self.blind[runs] if blind else None
        return observe(self.plan, self.items[runs], self.outcomes[runs], keep=keep)

    def batches(self, *, blind: bool = False) -> Iterator[Observed]:
        """Yield the counts of all runs, in blocks small enough for memory."""
        step = _block(self.plan)
        for first in range(0, len(self.keys), step):
            yield self.observed(blind=blind, runs=slice(first, first + step))


def replay(plan: Plan, answers: ArrayLike, *, runs: int, rng: Rng) -> Replay:
    """Run the plan *runs* times against known *answers*, exactly as :class:`Sampler` would.

    All runs advance together, one question each a step, through the very code that a single run
    uses.

    Parameters
    ----------
    plan
        What to sample. Its budget is counted in calls: runs that end by money end at different
        lengths.
    answers
        The outcome of every item; -1 where the call would fail.
    runs
        How many runs.
    rng
        Seeds all of them.

    Examples
    --------
    >>> from tallystick.sampling import Budget, Proportional, Strata
    >>> plan = Plan(strata=Strata([0] * 60 + [1] * 40), policy=Proportional(), budget=Budget(calls=10), n_outcomes=2)
    >>> replay(plan, [0] * 60 + [0, 1] * 20, runs=3, rng=1).observed().answered
    array([[6, 4],
           [6, 4],
           [6, 4]])
    """
    if plan.budget.money is not None:
        raise InputError(
            f"a replay counts calls, not money = {plan.budget.money!r}: plan it with"
            " Budget(calls=…)"
        )
    if runs < 1:
        raise InputError(f"runs must be at least 1, got {runs!r}")
    known = np.asarray(answers)
    if known.shape != (plan.strata.n_items,) or known.dtype.kind not in "iu":
        raise InputError(
            f"answers must be {plan.strata.n_items} integer codes, got shape {known.shape} of"
            f" {known.dtype}"
        )
    if known.min() < FAILED or known.max() >= plan.n_outcomes:
        raise InputError(
            f"answers must be codes -1 … {plan.n_outcomes - 1}, got {known.min()} … {known.max()}"
        )
    keys = as_rng(rng).integers(2**63, size=runs)
    step = _block(plan)
    parts = [_advance(plan, known, keys[first : first + step]) for first in range(0, runs, step)]
    items = np.concatenate([part[0] for part in parts])
    blind = np.concatenate([part[1] for part in parts])
    return Replay(plan, keys, items, known.astype(np.intp)[items], blind)


def _block(plan: Plan) -> int:
    """How many runs fit into one block."""
    return max(
        1, BLOCK // (plan.strata.n_items + len(plan.strata) * plan.vectors.dimensions + plan.calls)
    )


def _advance(
    plan: Plan, known: IntArray, keys: NDArray[np.int64]
) -> tuple[IntArray, NDArray[np.bool_]]:
    """Run one block; return the items asked and whether each was chosen blindly."""
    allocation = Allocation(plan, runs=len(keys))
    opening = plan.policy.opening(plan.calls)
    S, of, old = len(plan.strata), plan.strata.of, plan.old
    run = np.arange(len(keys))
    items = np.empty((plan.calls, len(keys)), np.intp)
    blind = np.empty((plan.calls, len(keys)), bool)
    pick = _Pick(plan, keys)
    for number in range(plan.calls):
        due = number - plan.in_flight
        if due >= 0 and allocation.rule.adaptive:
            there = items[due]
            allocation.tell(run * S + of[there], of[there], known[there], old[there])
            allocation.refresh(due + 1)
        if number < opening:
            items[number] = pick.anywhere(number)
            k = of[items[number]]
        else:
            k = pick.blind[number] if number < len(pick.blind) else allocation.choose()
            items[number] = pick.inside(number, k, allocation.book.asked[run * S + k])
        at = run * S + k
        blind[number] = True if number < opening else allocation.blind(at, k)
        allocation.ask(at, k)
    return items.T.copy(), blind.T.copy()


class _Pick:
    """Which item comes next in every run; all runs of a block side by side."""

    def __init__(self, plan: Plan, keys: NDArray[np.int64]) -> None:
        M = plan.strata.n_items
        self.sizes = plan.strata.sizes
        self.start = np.cumsum(self.sizes) - self.sizes
        # With replacement all runs share one queue, and chance is in the uniform numbers.
        shared = 1 if plan.replacement else len(keys)
        self.row = np.arange(len(keys)) % shared
        self.queue = np.empty((shared, M), np.int32)
        self.order = np.empty((shared, M if plan.policy.opening(plan.calls) else 0), np.int32)
        self.uniform = np.empty((len(keys), plan.calls)) if plan.replacement else None
        first = plan.policy.shuffled(plan)
        number = 0 if first is None or plan.replacement else int(first.sum())
        # Strata of the blind phase, by question and run.
        self.blind = np.empty((number, len(keys)), np.intp)
        for run, key in enumerate(keys):
            draws = draw(plan, int(key))
            if draws.blind is not None:
                self.blind[:, run] = draws.blind
            self.queue[run % shared] = draws.queue
            self.order[run % shared] = draws.order[: self.order.shape[1]]
            if self.uniform is not None:
                self.uniform[run] = draws.uniform

    def anywhere(self, number: int) -> IntArray:
        """Return the next item of each run in random order."""
        u = self.uniform
        at = number if u is None else (u[:, number] * self.order.shape[1]).astype(np.intp)
        return np.asarray(self.order[self.row, at], dtype=np.intp)

    def inside(self, number: int, k: IntArray, taken: NDArray[np.float64]) -> IntArray:
        """Return the next item of stratum *k* of each run, of which *taken* were asked already."""
        steps = taken if self.uniform is None else self.uniform[:, number] * self.sizes[k]
        return np.asarray(
            self.queue[self.row, self.start[k] + steps.astype(np.intp)], dtype=np.intp
        )
