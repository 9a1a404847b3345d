"""All the chance of a run, drawn before it begins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import as_rng

if TYPE_CHECKING:
    from tallystick.sampling.plan import Plan

__all__ = ["Draws", "draw"]


@dataclass(frozen=True, eq=False)
class Draws:
    """The random order of a run.

    Without replacement: one random order of all items; each stratum is walked in that order, so a
    policy decides only *how far* down each stratum a run goes, never which item is drawn, and the
    answers of a stratum are exchangeable. With replacement: one uniform number a question.

    Parameters
    ----------
    order
        The items, in random order (without replacement) or in their own.
    queue
        The items stratum by stratum, each stratum in the order of *order*.
    uniform
        One number in [0, 1) a question, with replacement only.
    blind
        The strata of the blind phase in uniformly random order, one per question; None where the
        policy has no such phase.
    """

    order: NDArray[np.intp]
    queue: NDArray[np.intp]
    uniform: NDArray[np.float64] | None
    blind: NDArray[np.intp] | None = None


def draw(plan: Plan, key: int) -> Draws:
    """Return the chance of the run that *key* names."""
    rng = as_rng(key)
    # Sorting 16-bit numbers is linear in their count, and there are rarely more strata than that.
    of = plan.strata.of.astype(np.uint16 if len(plan.strata) <= 2**16 else np.intp)
    if plan.replacement:
        return Draws(np.arange(len(of)), np.argsort(of, kind="stable"), rng.random(plan.calls))
    order = rng.permutation(len(of))
    first = plan.policy.shuffled(plan)
    blind = None
    if first is not None:
        blind = rng.permutation(np.repeat(np.arange(len(first)), first))
    return Draws(order, order[np.argsort(of[order], kind="stable")], None, blind)
