"""Ask and tell: which items to query next, given the answers so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from operator import index

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import InputError
from tallystick.sampling.policies import Book
from tallystick.sampling.strata import Plan

FAILED = -1
"""Stands for an answer that never came."""
WAITING = -2
"""Stands for an answer that may still come."""


class Sampler:
    """Buy information item by item: ``ask`` which, query them however you like, ``tell`` what came
    back.

    The sampler knows nothing of APIs or labels and does no I/O. Answers may be told in any order
    and any grouping; they take effect in the order in which they were asked for, and the choice
    number t uses exactly the answers to the first t - ``plan.in_flight`` questions. So a run is a
    function of its plan, its seed and its answers alone: slow or fast, concurrent or not, killed
    and repeated, it asks the same items.

    Parameters
    ----------
    plan
        What to sample, by which policy, for how much.
    rng
        A seed, or a generator from which one is drawn.

    Examples
    --------
    >>> from tallystick.sampling import Masa, Plan, Strata
    >>> truth = [0] * 60 + [0, 1] * 20
    >>> plan = Plan(strata=Strata([0] * 60 + [1] * 40), policy=Masa(), budget=30, n_outcomes=2)
    >>> sampler = Sampler(plan, rng=1)
    >>> while batch := sampler.ask():
    ...     sampler.tell((item, truth[item]) for item in batch)
    >>> sum(item < 60 for item in sampler.items)      # the mixed stratum got more than its share
    12
    """

    def __init__(self, plan: Plan, *, rng: Rng) -> None:
        generator = as_rng(rng)  # also refuses what is no seed
        seed = seed_of(rng)
        self.plan = plan
        self.key = int(generator.integers(2**63)) if seed is None else seed
        self._draws = draw(plan, self.key)
        self._start = np.concatenate([[0], np.cumsum(plan.strata.sizes)]).tolist()
        self._taken = [0] * len(plan.strata)
        self._of = plan.strata.of
        self._opening = plan.policy.opening(plan.calls)
        self._shuffled = [] if self._draws.blind is None else self._draws.blind.tolist()
        self._allocation = Allocation(plan)
        self._items: list[int] = []
        self._answers: list[int] = []
        self._blind: list[bool] = []
        self._open: dict[int, list[int]] = {}
        self._ready = 0  # answers told without a gap
        self._absorbed = 0  # answers that the policy has seen

    @property
    def done(self) -> bool:
        """Whether the budget or the items are used up; answers may still be in flight."""
        return len(self._items) >= self.plan.calls

    @property
    def items(self) -> list[int]:
        """The items asked for so far, in order."""
        return list(self._items)

    @property
    def answers(self) -> list[int]:
        """What came back for each: a code, FAILED, or WAITING where it may still come."""
        return list(self._answers)

    @property
    def blind(self) -> list[bool]:
        """Which of them were chosen without regard to answers."""
        return list(self._blind)

    @property
    def n_shuffled(self) -> int:
        """How many of the first questions are blind and in uniformly random order."""
        return min(max(len(self._shuffled), self._opening), self.plan.calls)

    @property
    def waiting(self) -> list[int]:
        """The items in flight, in the order in which they were asked for."""
        return [
            self._items[ticket]
            for ticket in sorted(t for tickets in self._open.values() for t in tickets)
        ]

    def ask(self, k: int | None = None) -> list[int]:
        """Return up to *k* items to query next (None: as many as may be in flight); empty only when
        done.

        Fewer than *k* come back where the budget ends or no more may be in flight. Asking while the
        limit is in flight, or the oldest question is unanswered for so long that the next choice
        depends on it, is refused: tell first.
        """
        limit = self.plan.in_flight
        batch: list[int] = []
        while not self.done and (k is None or len(batch) < k):
            due = len(self._items) + 1 - limit
            if due > self._ready:
                break
            self._absorb(due)
            item, stratum = self._next()
            self._note(item, stratum)
            batch.append(item)
        if not batch and not self.done:
            raise InputError(
                f"in_flight = {limit} and the answer to item {self._items[self._ready]} is due:"
                " tell it (None if it failed) before asking for more, or plan with a larger"
                " in_flight"
            )
        return batch

    def tell(self, answers: Mapping[int, int | None] | Iterable[tuple[int, int | None]]) -> None:
        """Take answers to items in flight, in any order: an outcome code, or None for a call that
        failed for good.

        With replacement an item can be in flight twice; the older question is answered first. If
        one pair is refused, the pairs before it are kept.
        """
        pairs = answers.items() if isinstance(answers, Mapping) else answers
        for item, outcome in pairs:
            tickets = self._open.get(item)
            if not tickets:
                raise InputError(
                    f"item {item!r} is not in flight: only items that were asked for can be"
                    " answered, once"
                )
            self._answers[tickets[0]] = self._code(item, outcome)
            del tickets[0]
            if not tickets:
                del self._open[item]
        while self._ready < len(self._answers) and self._answers[self._ready] != WAITING:
            self._ready += 1

    def _code(self, item: int, outcome: int | None) -> int:
        """Check one answer."""
        if outcome is None:
            return FAILED
        try:
            code = index(outcome)  # refuses 1.5 and "1", takes NumPy's integers
        except TypeError:
            code = FAILED
        if not 0 <= code < self.plan.n_outcomes:
            raise InputError(
                f"the answer to item {item!r} must be a code 0 … {self.plan.n_outcomes - 1}, or"
                f" None, got {outcome!r}"
            )
        return code

    def _next(self) -> tuple[int, int]:
        """Choose the next item and its stratum."""
        draws, number = self._draws, len(self._items)
        if number < self._opening:
            u = draws.uniform
            item = int(draws.order[number if u is None else int(u[number] * len(draws.order))])
            return item, int(self._of[item])
        if number < len(self._shuffled):
            stratum = self._shuffled[number]
        else:
            stratum = int(self._allocation.scores.argmax())
        begin = self._start[stratum]
        if draws.uniform is None:
            return int(draws.queue[begin + self._taken[stratum]]), stratum
        size = self._start[stratum + 1] - begin
        return int(draws.queue[begin + int(draws.uniform[number] * size)]), stratum

    def _note(self, item: int, stratum: int) -> None:
        """Put the question on record."""
        opening = len(self._items) < self._opening
        self._blind.append(opening or self._allocation.blind(stratum))
        self._open.setdefault(item, []).append(len(self._items))
        self._items.append(item)
        self._answers.append(WAITING)
        self._taken[stratum] += 1
        self._allocation.ask(stratum)

    def _absorb(self, due: int) -> None:
        """Let the policy see the first *due* answers."""
        if not self._allocation.rule.adaptive:
            return
        while self._absorbed < due:
            item = self._items[self._absorbed]
            stratum = int(self._of[item])
            self._allocation.tell(stratum, self._answers[self._absorbed], int(self.plan.old[item]))
            self._absorbed += 1
            self._allocation.refresh(self._absorbed)


# All the chance of a run, drawn before it begins.


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


# A rule and its book, kept scored.


class Allocation:
    """The scores of all strata of a plan."""

    def __init__(self, plan: Plan) -> None:
        self.rule = plan.policy.rule(plan)
        self.book = Book(plan)
        self._limits, self._floors = plan.limits, plan.floors
        # One question at a time: its answer comes before the next choice and scores the same
        # stratum anyway.
        self._apart = plan.in_flight > 1 or not self.rule.adaptive
        self.scores = np.empty(len(plan.strata))
        self._score_all()

    def blind(self, k: int) -> bool:
        """Tell whether the next question to stratum *k* would be chosen without regard to
        answers.
        """
        return bool(self.book.asked[k] < self.rule.blind_until[k])

    def ask(self, k: int) -> None:
        """Note a question put to stratum *k*."""
        self.book.asked[k] += 1
        if self._apart:
            self._score(k)

    def tell(self, k: int, new: int, old: int) -> None:
        """Note an answer, or that it failed."""
        if new != FAILED:
            self.book.tell(k, new, old)
        self._score(k)

    def refresh(self, absorbed: int) -> None:
        """After *absorbed* answers (failed ones included), read family rates again if it is
        time.
        """
        every = self.rule.refresh_every
        if every and absorbed % every == 0:
            self._score_all()

    def _score_all(self) -> None:
        self.rule.refresh(self.book)
        n = self.book.asked
        found = self.rule.score(self.book, np.arange(n.size))
        found = np.where(n < self._floors, np.inf, found)
        self.scores[:] = np.where(n >= self._limits, -np.inf, found)

    def _score(self, k: int) -> None:
        # np.where costs more than all the rest on a single number.
        n = self.book.asked[k]
        found = np.inf if n < self._floors[k] else self.rule.score(self.book, k)
        self.scores[k] = -np.inf if n >= self._limits[k] else found
