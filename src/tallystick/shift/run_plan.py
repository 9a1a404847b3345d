"""Everything that decides a run besides data and API, and where a run stands."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path

from tallystick.clients import Reading, Wire
from tallystick.errors import BudgetError, InputError
from tallystick.sampling import Plan
from tallystick.shift.design import AskDesign, design
from tallystick.shift.items import Items
from tallystick.shift.noise_rules import repeats_planned

__all__ = ["Progress", "Run"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """Where a run stands."""

    calls: int
    planned: int
    cost: float
    error: float | None


@dataclass(frozen=True, kw_only=True)
class Run:
    """Everything that decides a run besides data and API.

    Parameters
    ----------
    budget
        Questions at most, those asked twice included. A request that is sent again after a failure
        is not a new question.
    how
        Strategy and strata. Its window is set by the run.
    wire
        Concurrency, timeouts, retries, price.
    seed
        Of everything that is drawn.
    alpha, simultaneous
        As in :func:`assess`.
    repeats
        How many flips are asked again at most, to tell change from chance; they are part of the
        budget. None follows the rule of `noise_rules`, 0 asks none again.
    deterministic
        Declare that the same call always gives the same answer: nothing is asked again, and no
        interval allows for noise.
    flip_limit
        Ask in random order and stop as soon as it is proved that more, or fewer, than this share of
        answers changed.
    target_error
        Stop when the Frobenius error of the matrix is below this (with probability 1 - alpha).
    journal, durable
        The file that keeps every answer, and whether each is forced to the disk.
    reading
        How answers are read.
    """

    budget: int
    how: AskDesign = field(default_factory=AskDesign)
    wire: Wire = field(default_factory=Wire)
    seed: int = 0
    alpha: float = 0.05
    simultaneous: bool = False
    repeats: int | None = None
    deterministic: bool = False
    flip_limit: float | None = None
    target_error: float | None = None
    journal: Path | None = None
    durable: bool = False
    reading: Reading = field(default_factory=Reading)

    def __post_init__(self) -> None:
        repeats = self.repeats or 0
        if repeats < 0 or self.budget - repeats < 1:
            raise BudgetError(
                f"a budget of {self.budget} calls does not allow {self.repeats} repeats"
            )
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha!r}")
        if self.target_error is not None and not 0 < self.target_error < inf:
            raise InputError(f"target_error must be positive, got {self.target_error!r}")

    def affordable(self) -> int:
        """Return how many questions budget and money allow at most, repeats included."""
        wire = self.wire
        if wire.max_cost is None or not wire.price:
            return self.budget
        calls = min(self.budget, int(wire.max_cost / wire.price + 1e-9))
        if calls < 1:
            raise BudgetError(f"max_cost = {wire.max_cost:g} does not pay for one call")
        return calls

    def most_repeats(self, items: Items, *, fresh: bool = True) -> int:
        """Return how many flips may be asked again; *fresh* says whether that is possible."""
        if self.deterministic or not fresh or items.old is None or self.how.strategy != "ours":
            return 0
        budget = self.affordable()
        return repeats_planned(budget) if self.repeats is None else min(self.repeats, budget - 1)

    def plan(self, items: Items, *, fresh: bool = True) -> Plan:
        """Return the plan of this run."""
        budget = self.affordable()
        calls = min(budget, len(items))
        repeats = self.most_repeats(items, fresh=fresh)
        # What lies beyond the items pays for repeats first; the blind phase leaves the rest.
        reserve = min(max(0, repeats - (budget - calls)), 3 * calls // 10)
        if self.flip_limit is not None:
            calls -= reserve
        # A slow answer must not stall the others, so the window is wider than what may be in
        # flight; a gate, which throws away what it asked too much, gets none wider than that.
        wide = self.wire.concurrency * (1 if self.flip_limit is not None else 4)
        first = calls if self.flip_limit is not None else 0
        window = max(1, min(wide, calls // 4))
        return design(
            items,
            calls=calls,
            how=replace(self.how, window=window, random_first=first, reserve=reserve),
        )
