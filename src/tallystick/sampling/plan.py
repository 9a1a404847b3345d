"""Everything that decides a run except its seed and its answers."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import BudgetError, InputError
from tallystick.sampling.budget import Budget
from tallystick.sampling.effects import Effects
from tallystick.sampling.policies.policy import Policy
from tallystick.sampling.strata import IntArray, Strata, codes

__all__ = ["Plan"]

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False, kw_only=True)
class Plan:
    """What to sample, by which policy, for how much.

    A run is a function of its plan, its seed and its answers in the order in which they were asked
    for; nothing else. In particular neither the order nor the time in which answers arrive can
    change it.

    Parameters
    ----------
    strata
        The items and their strata.
    policy
        Which stratum to ask next.
    budget
        Calls, money or both.
    n_outcomes
        Answers are codes 0 … n_outcomes - 1.
    baseline
        The earlier answer to every item, in the same codes: then an answer counts as its *change*,
        e(new) - e(old).
    effects
        Row j is the vector that outcome j stands for; None means one-hot.
    weights
        How much an error in each outcome matters, of shape (J,), or (S, J) for weights that differ
        by stratum.
    prices
        What each item costs. Policies that weigh strata by variance then weigh it by money.
    in_flight
        How many answers may be outstanding. The choice number t uses the answers to the first t -
        in_flight questions and no more, even if more have arrived: so any run with the same plan,
        seed and answers is the same run.
    replacement
        Draw with replacement (to remake published experiments); otherwise an item is asked at most
        once.

    Examples
    --------
    >>> from tallystick.sampling import Masa
    >>> plan = Plan(strata=Strata([0] * 60 + [1] * 40), policy=Masa(), budget=Budget(calls=10), n_outcomes=2)
    >>> plan.calls
    10
    """

    strata: Strata
    policy: Policy
    budget: Budget
    n_outcomes: int
    baseline: ArrayLike | None = None
    effects: ArrayLike | None = None
    weights: ArrayLike | None = None
    prices: ArrayLike | None = None
    in_flight: int = 1
    replacement: bool = False

    def __post_init__(self) -> None:
        if self.in_flight < 1:
            raise InputError(f"in_flight must be at least 1, got {self.in_flight!r}")
        _ = self.vectors, self.old  # refused now if they do not fit, not at the first answer
        floors, rest = int(self.floors.sum()), self.calls - self.policy.opening(self.calls)
        if floors > rest:
            raise BudgetError(
                f"{len(self.strata)} strata with at least {self.policy.minimum} questions each need"
                f" {floors} calls, the budget has {rest} for them: merge strata, lower the policy's"
                " minimum or raise the budget"
            )

    @cached_property
    def vectors(self) -> Effects:
        """What each outcome stands for."""
        return Effects.of(
            self.n_outcomes, len(self.strata), matrix=self.effects, weights=self.weights
        )

    @cached_property
    def old(self) -> IntArray:
        """The earlier answer to every item; the code n_outcomes where there is none."""
        if self.baseline is None:
            return np.full(self.strata.n_items, self.n_outcomes, np.intp)
        old = codes(self.baseline, "baseline")
        if len(old) != self.strata.n_items or old.max() >= self.n_outcomes:
            raise InputError(
                f"baseline must hold {self.strata.n_items} codes below n_outcomes ="
                f" {self.n_outcomes}, got {len(old)} up to {old.max()}"
            )
        return old

    @cached_property
    def price(self) -> FloatArray | None:
        """The price of every item, or None if prices play no part."""
        if self.prices is None:
            return None
        price = np.asarray(self.prices, dtype=np.float64)
        if price.shape != (self.strata.n_items,) or not (
            np.isfinite(price).all() and (price > 0).all()
        ):
            raise InputError(
                f"prices must hold a positive number for each of the {self.strata.n_items} items"
            )
        return price

    @cached_property
    def calls(self) -> int:
        """The planned number of questions, N."""
        mean = None if self.price is None else float(self.price.mean())
        return self.budget.planned(
            available=None if self.replacement else self.strata.n_items, price=mean
        )

    @cached_property
    def worth(self) -> FloatArray:
        """The share of each stratum over the root of its mean price: Neyman's weight when money is
        what is scarce.
        """
        if self.price is None:
            return self.strata.shares
        cost = np.bincount(self.strata.of, weights=self.price) / self.strata.sizes
        return np.asarray(self.strata.shares / np.sqrt(cost))

    @cached_property
    def limits(self) -> FloatArray:
        """How many questions each stratum can take."""
        return (
            np.full(len(self.strata), np.inf)
            if self.replacement
            else self.strata.sizes.astype(np.float64)
        )

    @cached_property
    def floors(self) -> FloatArray:
        """How many questions each stratum gets before anything else."""
        return np.minimum(float(self.policy.minimum), self.limits)

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything that decides a run, so that a saved one is not continued under
        another plan.
        """
        digest = hashlib.sha256(
            repr((self.policy, self.calls, self.budget, self.in_flight, self.replacement)).encode()
        )
        for part in (
            self.strata.of,
            self.strata.families,
            self.old,
            self.vectors.value,
            self.vectors.weight,
            self.price,
        ):
            digest.update(b"-" if part is None else np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()
