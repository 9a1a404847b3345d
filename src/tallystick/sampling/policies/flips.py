"""The default: seven tenths of the budget blind, the rest where answers still change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.sampling.book import column
from tallystick.sampling.policies.policy import Policy, Rule

if TYPE_CHECKING:
    from tallystick.sampling.book import Book
    from tallystick.sampling.plan import Plan

__all__ = ["Flips"]

FIRST = 1e200
"""Puts phase 1 above every score of phase 2."""


@dataclass(frozen=True, kw_only=True)
class Flips(Policy):
    r"""Ask proportionally and blindly until :math:`n_k = b N p_k`; then where one more answer
    lowers the error most.

    .. math::

       \arg\max_k \; p_k \sqrt{\frac{v_k}{c_k\, n_k (n_k + 1)}}, \qquad
       v_k = \frac{Q_k + q_g}{m_k + 1/\bar f_g} - \frac{\lVert D_k \rVert^2}{(m_k + 1/\bar f_g)^2}   \tag{A4}

    with m answers, Q = Σ‖x‖², D = Σx and x = e(new) - e(old). The flip rate is shrunk to that of
    the family g, :math:`\bar f_g = (\sum F + \tfrac12)/(\sum m + 1)`, and :math:`q_g` is what one
    flip adds to Q there (exactly 2 for unweighted one-hot outcomes, so that the first term is 2 (F
    + 1)/(m + 1/f̄)). v goes to 0 where everything flips alike, and where nothing flips. Rates
    divide by answers, allocation counts questions, those in flight included.

    docs/theory/shift.md, *Better: the old answers by item*, with b = .7: with less the
    strata that look clean are starved and the flip rate is biased low. Phase 1 stays apart
    (:attr:`Rule.blind_until`), because adaptive allocation biases sums of flips and intervals have
    to undo that. Its questions go in uniformly random order: some of them are asked twice to
    measure noise, and in proportional order large strata would come first.

    Parameters
    ----------
    blind
        The share b of the budget that is spent proportionally, blind to answers.
    refresh
        Family rates are read again after this many answers.
    first
        The first questions go in uniformly random order over all items (a gate needs that); they
        count as blind.
    reserve
        Questions of the budget that phase 1 must leave, if the minimum of each stratum allows it:
        they may be needed for repeats.
    """

    blind: float = 0.7
    refresh: int = 16
    first: int = 0
    reserve: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.blind <= 1:
            raise InputError(f"blind must be in [0, 1], got {self.blind!r}")
        if self.refresh < 1 or self.first < 0 or self.reserve < 0:
            raise InputError(
                "refresh must be at least 1, first and reserve at least 0, got"
                f" {self.refresh!r}, {self.first!r} and {self.reserve!r}"
            )

    def opening(self, calls: int) -> int:
        """Return *first*."""
        return min(self.first, calls)

    def shuffled(self, plan: Plan) -> NDArray[np.intp] | None:
        """Return the questions of phase 1; None where the first ones are random already."""
        if self.opening(plan.calls):
            return None
        return self.blind_questions(plan).astype(np.intp)

    def blind_questions(self, plan: Plan) -> NDArray[np.float64]:
        """Return how many questions of each stratum are blind: b N p, at least the minimum.

        With many small strata the minimum alone may fill the budget: then b falls until phase 1
        leaves the reserve, so that no stratum goes without an answer.
        """
        room = max(float(plan.floors.sum()), plan.calls - float(self.reserve))

        def at(share: float) -> NDArray[np.float64]:
            # Rounded down: rounding up lets small strata eat phase 2 (2 % more error at 500
            # calls). 1e-9 is for 30 - ulp.
            proportional = np.floor(share * plan.calls * plan.strata.shares + 1e-9)
            return np.minimum(np.maximum(plan.floors, proportional), plan.limits)

        if at(self.blind).sum() <= room:
            return at(self.blind)
        low, high = 0.0, self.blind
        for _ in range(50):
            middle = (low + high) / 2
            low, high = (middle, high) if at(middle).sum() <= room else (low, middle)
        return at(low)

    def rule(self, plan: Plan) -> Rule:
        """Return (A4)."""
        return _FlipsRule(plan, self)


class _FlipsRule(Rule):
    adaptive = True

    def __init__(self, plan: Plan, options: Flips) -> None:
        super().__init__(plan)
        self.refresh_every = options.refresh
        shares = plan.strata.shares
        self.blind_until = options.blind_questions(plan)
        self.table = np.stack([self.blind_until, FIRST * shares, np.square(plan.worth)])
        self.family = np.unique(plan.strata.families, return_inverse=True)[1]
        self.group = self.family
        # What a flip is expected to add to Q before any was seen: e(new) and e(old), each of mean
        # squared weight.
        self.usual = float(plan.vectors.squared.mean()) * (1 if plan.baseline is None else 2)

    def refresh(self, book: Book) -> None:
        """Read the flip rate of every family (of every run)."""
        # many runs side by side: families of different runs are different
        if len(self.group) != len(book.asked):
            runs = np.arange(len(book.asked) // len(self.family))[:, None]
            self.group = (runs * (self.family.max() + 1) + self.family).ravel()
        # bincount adds in order, so a run is the same to the last bit alone and beside others.
        answers, flips, square = (
            np.bincount(self.group, sums) for sums in (book.answered, book.flips, book.square)
        )
        slack = (answers + 1) / (flips + 0.5)  # 1 / f̄
        size = (square + 0.5 * self.usual) / (flips + 0.5)
        self.rates = np.stack([slack[self.group], size[self.group]])

    def score(self, book: Book, at: Any, k: Any) -> Any:
        """Return the square of (A4), or, in phase 1, the proportional rule lifted above it."""
        n, m, _, square, length = column(book.sums, at)
        until, first, gain = column(self.table, k)
        slack, size = column(self.rates, at)
        m = m + slack
        v = (square + size) / m - length / (m * m)
        used = n + (n < 1)
        # (A4)
        return (n < until) * first / (n + 0.5) + (n >= until) * gain * v / (used * (used + 1))
