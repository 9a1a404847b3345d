"""A rule and its book, kept scored: the part that a single run and many replayed runs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick.sampling.book import Book
from tallystick.sampling.observed import FAILED

if TYPE_CHECKING:
    from tallystick.sampling.plan import Plan

__all__ = ["Allocation"]


class Allocation:
    """The scores of all strata, for one run or for *runs* side by side.

    Parameters
    ----------
    plan
        What decides.
    runs
        How many runs stand side by side; positions are those of :class:`Book`.
    """

    def __init__(self, plan: Plan, runs: int = 1) -> None:
        self.rule = plan.policy.rule(plan)
        self.book = Book(plan.vectors, len(plan.strata), runs)
        self._limits, self._floors = plan.limits, plan.floors
        # One question at a time: its answer comes before the next choice and scores the same
        # stratum anyway.
        self._apart = plan.in_flight > 1 or not self.rule.adaptive
        self._strata = np.tile(np.arange(len(plan.strata)), runs)
        self._everywhere = np.arange(len(self._strata))
        self.scores = np.empty(len(self._strata))
        self.rule.refresh(self.book)
        self._score_all()

    def choose(self) -> NDArray[np.intp]:
        """Return the stratum to ask next, for every run; the first of equals."""
        best: NDArray[np.intp] = self.scores.reshape(-1, len(self._limits)).argmax(axis=1)
        return best

    def blind(self, at: Any, k: Any) -> Any:
        """Tell whether the next question to stratum *k* would be chosen without regard to
        answers.
        """
        return self.book.asked[at] < self.rule.blind_until[k]

    def ask(self, at: Any, k: Any) -> None:
        """Note a question put to stratum *k*."""
        self.book.asked[at] += 1
        if self._apart:
            self._score(at, k)

    def tell(self, at: Any, k: Any, new: Any, old: Any) -> None:
        """Note an answer, or that it failed."""
        if isinstance(at, int):
            if new != FAILED:
                self.book.tell(at, k, new, old)
        else:
            live = new != FAILED
            self.book.tell(at[live], k[live], new[live], old[live])
        self._score(at, k)

    def refresh(self, absorbed: int) -> None:
        """After *absorbed* answers (failed ones included), read family rates again if it is
        time.
        """
        every = self.rule.refresh_every
        if every and absorbed % every == 0:
            self.rule.refresh(self.book)
            self._score_all()

    def _score_all(self) -> None:
        self._score(self._everywhere, self._strata)

    def _score(self, at: Any, k: Any) -> None:
        score = self.rule.score(self.book, at, k)
        n = self.book.asked[at]
        if isinstance(at, int):  # np.where costs more than all the rest on a single number
            self.scores[at] = (
                -np.inf if n >= self._limits[k] else np.inf if n < self._floors[k] else score
            )
        else:
            self.scores[at] = np.where(
                n >= self._limits[k], -np.inf, np.where(n < self._floors[k], np.inf, score)
            )
