"""Ask and tell: which items to query next, given the answers so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import index
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng, seed_of
from tallystick.errors import FormatError, InputError
from tallystick.results import Json
from tallystick.sampling.allocation import Allocation
from tallystick.sampling.draws import draw
from tallystick.sampling.observed import FAILED, Observed, observe
from tallystick.sampling.plan import Plan

__all__ = ["Sampler"]

FORMAT = 1
WAITING = -2
"""Stands for an answer that may still come."""


class Sampler:
    """Buy information item by item: ``ask`` which, query them however you like, ``tell`` what came
    back.

    The sampler knows nothing of APIs or labels and does no I/O. Answers may be told in any order
    and any grouping; they take effect in the order in which they were asked for, and the choice
    number t uses exactly the answers to the first t - ``plan.in_flight`` questions. So a run is a
    function of its plan, its seed and its answers alone: slow or fast, concurrent or not, killed
    and restored, it asks the same items.

    Parameters
    ----------
    plan
        What to sample, by which policy, for how much.
    rng
        A seed, or a generator from which one is drawn.

    Examples
    --------
    >>> from tallystick.sampling import Budget, Masa, Plan, Strata
    >>> truth = [0] * 60 + [0, 1] * 20
    >>> plan = Plan(strata=Strata([0] * 60 + [1] * 40), policy=Masa(), budget=Budget(calls=30), n_outcomes=2)
    >>> sampler = Sampler(plan, rng=1)
    >>> while batch := sampler.ask():
    ...     sampler.tell((item, truth[item]) for item in batch)
    >>> sampler.observed().answered       # the mixed stratum got more than its share
    array([12, 18])
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
        self._spent = 0.0
        self._broke = False

    @property
    def done(self) -> bool:
        """Whether the budget or the items are used up; answers may still be in flight."""
        return len(self._items) >= self.plan.calls or self._broke

    @property
    def items(self) -> list[int]:
        """The items asked for so far, in order."""
        return list(self._items)

    @property
    def blind(self) -> list[bool]:
        """Which of them were chosen without regard to answers."""
        return list(self._blind)

    @property
    def n_shuffled(self) -> int:
        """How many of the first questions are blind and in uniformly random order."""
        return min(max(len(self._shuffled), self._opening), self.plan.calls)

    @property
    def spent(self) -> float:
        """What they cost, at the prices of the plan."""
        return self._spent

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
        depends on it, is refused: tell first. A run in money ends before the first item that it
        cannot pay for; skipping dear items would bias the sample.
        """
        if k is not None and k < 1:
            raise InputError(f"k must be at least 1, got {k!r}")
        limit = self.plan.in_flight
        batch: list[int] = []
        while not self.done and (k is None or len(batch) < k):
            due = len(self._items) + 1 - limit
            if due > self._ready:
                break
            self._absorb(due)
            item, stratum = self._next()
            if not self._pay(item):
                break
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

    def observed(self, *, blind: bool = False) -> Observed:
        """Return the counts of all that was told; with *blind* only of questions chosen without
        regard to answers.
        """
        outcomes = np.array(self._answers, dtype=np.intp)
        known = np.where(outcomes == WAITING, FAILED, outcomes)
        keep = np.array(self._blind, dtype=bool) if blind else None
        return observe(self.plan, np.array(self._items, dtype=np.intp), known, keep=keep)

    def state(self) -> dict[str, Json]:
        """Return all that is needed to continue, as JSON types; with items in flight, too.

        A run is a function of plan, seed and answers, so that is what is saved: no policy can
        forget to save something.
        """
        answers: list[Json] = [
            "waiting" if a == WAITING else None if a == FAILED else a for a in self._answers
        ]
        items: list[Json] = list(self._items)
        return {
            "format": FORMAT,
            "plan": self.plan.fingerprint,
            "key": self.key,
            "items": items,
            "answers": answers,
        }

    @classmethod
    def restore(cls, plan: Plan, state: Mapping[str, Any]) -> Sampler:
        """Return the sampler that :meth:`state` saved; it continues exactly as the saved one would
        have.

        Refused (FormatError) if the state is of another plan, of a newer format, or does not follow
        from its seed.
        """
        if state.get("format") != FORMAT:
            raise FormatError(
                f"this version reads sampler states of format {FORMAT}, got {state.get('format')!r}"
            )
        if state.get("plan") != plan.fingerprint:
            raise FormatError(
                "this state was saved under another plan: restore it with the plan that it began"
                " with"
            )
        items, answers = state.get("items"), state.get("answers")
        if not (
            isinstance(items, list) and isinstance(answers, list) and len(items) == len(answers)
        ):
            raise FormatError(
                "the state is damaged: it needs lists of items and answers, one answer per item"
            )
        sampler = cls(plan, rng=int(state["key"]))
        for number, (item, answer) in enumerate(zip(items, answers, strict=True)):
            due = number + 1 - plan.in_flight
            if due > sampler._ready or sampler.done or not sampler._again(due, item):
                raise FormatError(
                    f"the state is damaged: question {number} (item {item!r}) does not follow from"
                    " its seed"
                )
            if answer != "waiting":
                sampler.tell([(item, answer)])
        return sampler

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

    def _again(self, due: int, item: int) -> bool:
        """Repeat one question of a saved run; False if it would have been another."""
        self._absorb(due)
        chosen, stratum = self._next()
        if chosen != item or not self._pay(item):
            return False
        self._note(chosen, stratum)
        return True

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

    def _pay(self, item: int) -> bool:
        """Set the price of *item* aside; False if the money does not reach."""
        if self.plan.price is None:
            return True
        total = self._spent + float(self.plan.price[item])
        if self.plan.budget.money is not None and total > self.plan.budget.money:
            self._broke = True
            return False
        self._spent = total
        return True

    def _note(self, item: int, stratum: int) -> None:
        """Put the question on record."""
        opening = len(self._items) < self._opening
        self._blind.append(opening or bool(self._allocation.blind(stratum, stratum)))
        self._open.setdefault(item, []).append(len(self._items))
        self._items.append(item)
        self._answers.append(WAITING)
        self._taken[stratum] += 1
        self._allocation.ask(stratum, stratum)

    def _absorb(self, due: int) -> None:
        """Let the policy see the first *due* answers."""
        if not self._allocation.rule.adaptive:
            return
        while self._absorbed < due:
            item = self._items[self._absorbed]
            stratum = int(self._of[item])
            self._allocation.tell(
                stratum, stratum, self._answers[self._absorbed], int(self.plan.old[item])
            )
            self._absorbed += 1
            self._allocation.refresh(self._absorbed)
