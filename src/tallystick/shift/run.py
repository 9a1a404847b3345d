"""Run an assessment: ask, journal, tell, stop; then assess."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

import numpy as np

from tallystick._rng import spawn
from tallystick.clients import Caller, Client, Journal, Wire, read_label
from tallystick.errors import BudgetError, InputError
from tallystick.results import Json, to_json
from tallystick.sampling import FAILED, Plan, Sampler
from tallystick.shift.assess import Answers, assess
from tallystick.shift.change import point, unseen_error
from tallystick.shift.counts import collapse, count
from tallystick.shift.design import AskDesign, design, outcome
from tallystick.shift.items import Items
from tallystick.shift.noise import noise_floor
from tallystick.shift.result import Requests, ShiftGate, ShiftResult
from tallystick.shift.stopping import FlipGate, frobenius_bound, looks
from tallystick.shift.verdict import (
    money_warnings,
    noise_warning,
    spelling_warnings,
    watched_basis,
)

__all__ = ["Progress", "Run", "run", "run_async"]

FIRST_LOOK = 100


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
        How many items are asked twice, to tell change from chance; they are part of the budget.
    flip_limit
        Ask in random order and stop as soon as it is proved that more, or fewer, than this share of
        answers changed.
    target_error
        Stop when the Frobenius error of the matrix is below this (with probability 1 - alpha).
    journal, durable
        The file that keeps every answer, and whether each is forced to the disk.
    coerce
        Whether an answer that is a label in another spelling (1.0 for 1) is read as that label.
    """

    budget: int
    how: AskDesign = field(default_factory=AskDesign)
    wire: Wire = field(default_factory=Wire)
    seed: int = 0
    alpha: float = 0.05
    simultaneous: bool = False
    repeats: int = 0
    flip_limit: float | None = None
    target_error: float | None = None
    journal: Path | None = None
    durable: bool = False
    coerce: bool = False

    def __post_init__(self) -> None:
        if self.repeats < 0 or self.budget - self.repeats < 1:
            raise BudgetError(
                f"a budget of {self.budget} calls does not allow {self.repeats} repeats"
            )
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha must be in (0, 1), got {self.alpha!r}")
        if self.target_error is not None and not 0 < self.target_error < inf:
            raise InputError(f"target_error must be positive, got {self.target_error!r}")

    def plan(self, items: Items) -> Plan:
        """Return the plan of this run."""
        calls = min(self.budget - self.repeats, len(items))
        if self.wire.max_cost is not None:
            calls = min(calls, int(self.wire.max_cost / self.wire.price + 1e-9) - self.repeats)
            if calls < 1:
                raise BudgetError(f"max_cost = {self.wire.max_cost:g} does not pay for one call")
        # A slow answer must not stall the others, so the window is wider than what may be in
        # flight; a gate, which throws away what it asked too much, gets none wider than that.
        wide = self.wire.concurrency * (1 if self.flip_limit is not None else 4)
        first = calls if self.flip_limit is not None else 0
        return design(
            items,
            calls=calls,
            how=replace(self.how, window=max(1, min(wide, calls // 4)), random_first=first),
        )


def run(
    items: Items,
    client: Client,
    rows: Sequence[Mapping[str, Any]],
    how: Run,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> ShiftResult:
    """Ask *client* about *items* as *how* says, and return how it changed.

    The result depends on the data, the settings and the answers alone: not on timing, and not on
    how often the run was killed and resumed from its journal (only ``requests`` and ``cost`` tell).

    Parameters
    ----------
    items
        What is known.
    client
        Whom to ask.
    rows
        What the client is given of each item.
    how
        Budget, strategy, limits, journal.
    progress
        Called after answers.

    Examples
    --------
    >>> from tallystick.clients import ReplayClient
    >>> rows = [{"new": "a" if n < 30 else "b"} for n in range(100)]
    >>> items = Items.of(["a"] * 50 + ["b"] * 50, old=["a"] * 50 + ["b"] * 50)
    >>> result = run(items, ReplayClient("new", columns=["new"]), rows, Run(budget=60))
    >>> result.calls, result.accuracy_change.interval.high < 0
    (60, True)
    """
    return asyncio.run(run_async(items, client, rows, how, progress=progress))


async def run_async(
    items: Items,
    client: Client,
    rows: Sequence[Mapping[str, Any]],
    how: Run,
    *,
    progress: Callable[[Progress], None] | None = None,
) -> ShiftResult:
    """Do the same as :func:`run`, inside a running event loop."""
    if len(rows) != len(items):
        raise InputError(f"rows must hold one row per item, got {len(rows)} for {len(items)}")
    if how.flip_limit is not None and items.old is None:
        raise InputError("a limit on flips needs the old answer to every item (old=…)")
    plan = how.plan(items)
    journal = Journal(
        how.journal,
        head=_head(items, client, plan, how),
        durable=how.durable,
        secrets=client.secrets,
    )
    known = len(journal.answers)
    lost = journal.in_flight
    try:
        async with client:

            def read(text: str | None) -> int:
                return read_label(text, items.labels, loose=client.loose, coerce=how.coerce)

            caller = Caller(client, rows, how.wire, journal, names=items.names, read=read)
            asking = _Asking(items, plan, how, caller, progress)
            await asking.main()
            answers = asking.answers()
            second = await asking.repeats(answers) if how.repeats else {}
    finally:
        journal.close()
    result = assess(
        items,
        plan.strata,
        answers,
        strategy=how.how.strategy,
        alpha=how.alpha,
        simultaneous=how.simultaneous,
        seed=how.seed,
    )
    requests = Requests(
        sent=journal.sent.total(),
        billed=journal.billed,
        failed=sum(entry.code is None for entry in journal.answers.values()),
        resent=lost,
        from_journal=known,
    )
    result = replace(
        result,
        calls=result.calls + len(second),
        cost=caller.spent,
        requests=requests,
        warnings=(*result.warnings, *asking.money(), *_spellings(items, journal)),
    )
    if asking.gate is not None:
        gate = ShiftGate(
            expression=f"flip_rate <= {asking.gate.limit:g}",
            passed=asking.gate.passed,
            rests_on=watched_basis(asking.gate.asked),
        )
        result = replace(result, gate=gate)
    return _with_noise(result, items, answers, second) if second else result


class _Asking:
    """The loop of one run. All decisions use answers in the order in which they were asked for."""

    def __init__(
        self,
        items: Items,
        plan: Plan,
        how: Run,
        caller: Caller,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.items, self.plan, self.how, self.caller, self.progress = (
            items,
            plan,
            how,
            caller,
            progress,
        )
        self.sampler = Sampler(plan, rng=how.seed)
        self.asked: list[int] = []
        self.codes: list[int | None] = []  # None: not here yet
        self.told = 0
        self.ready = 0  # answers without a gap
        self.answered = 0  # of these, those that a gate saw and that did not fail
        self.end: int | None = None  # how many answers count, once it is decided to stop
        # whether the money ended the first questions; second ones it did not pay
        self.broke, self.unpaid = False, 0
        self.gate = (
            None
            if how.flip_limit is None
            else FlipGate(limit=how.flip_limit, population=len(items), alpha=how.alpha)
        )
        self.looks = looks(first=max(FIRST_LOOK, 2 * len(plan.strata)), calls=plan.calls)

    async def main(self) -> None:
        """Ask until the budget is used up or a rule says stop."""
        tasks: dict[asyncio.Task[int | None], int] = {}
        try:
            while True:
                self._ask(tasks)
                if not tasks:
                    return
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._tell(tasks.pop(task), task.result())
                if self.end is not None:
                    return
        except BudgetError:  # the money is used up: what came in without a gap counts
            self.end, self.broke = self.ready, True
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ask(self, tasks: dict[asyncio.Task[int | None], int]) -> None:
        while (
            self.end is None
            and not self.sampler.done
            and len(self.asked) + 1 - self.plan.in_flight <= self.ready
        ):
            for item in self.sampler.ask():
                ticket = len(self.asked)
                self.asked.append(item)
                self.codes.append(None)
                entry = self.caller.journal.answers.get(f"q{ticket}")
                if entry is None:
                    tasks[asyncio.create_task(self.caller.ask(f"q{ticket}", item))] = ticket
                else:  # paid for already
                    self._tell(ticket, entry.code)

    def _tell(self, ticket: int, code: int | None) -> None:
        item = self.asked[ticket]
        self.codes[ticket] = FAILED if code is None else code
        self.sampler.tell(
            [(item, None if code is None else outcome(self.plan, self.items, item, code))]
        )
        while (
            self.end is None and self.ready < len(self.codes) and self.codes[self.ready] is not None
        ):
            self._advance()
        if self.progress is not None:
            self.told += 1
            number = self.told
            every = max(1, self.plan.calls // 20)
            error = (
                self._error()[0]
                if number % every == 0 and self.ready > 2 * len(self.plan.strata)
                else None
            )
            self.progress(
                Progress(calls=number, planned=self.plan.calls, cost=self.caller.spent, error=error)
            )

    def _advance(self) -> None:
        """Let the rules see one more answer."""
        item, code = self.asked[self.ready], self.codes[self.ready]
        self.ready += 1
        if self.gate is not None and self.items.old is not None:
            self.gate = self.gate.update(
                np.nan if code == FAILED else float(code != self.items.old[item])
            )
            self.answered += code != FAILED
            # one answer is proof enough, but no assessment
            if self.gate.passed is not None and self.answered > 1:
                self.end = self.ready
        if (
            self.how.target_error is not None
            and self.ready in self.looks
            and self._error()[1] <= self.how.target_error
        ):
            self.end = self.ready

    def _error(self) -> tuple[float, float]:
        """Return the estimated Frobenius error so far and its bound, with alpha split over the
        looks.
        """
        answers = self.answers()
        told = answers.codes != FAILED
        number = np.bincount(
            self.plan.strata.of[answers.asked[told]], minlength=len(self.plan.strata)
        )
        if told.sum() < 2:
            return np.inf, np.inf
        used = collapse(self.plan.strata, number)
        counts = count(self.items, used, answers.asked, answers.codes)
        variance = point(counts, by_item=self.how.how.strategy == "ours")[1]
        rows = np.bincount(counts.true, weights=variance)
        share = self.how.alpha / len(self.looks)
        unseen = unseen_error(counts, alpha=share)
        return float(rows.sum() ** 0.5), frobenius_bound(
            rows, calls=int(told.sum()), alpha=share, unseen=unseen
        )

    def answers(self) -> Answers:
        """Return the questions that count, with their answers."""
        end = self.ready if self.end is None else self.end
        blind = self.sampler.blind[:end]
        codes = [FAILED if code is None else code for code in self.codes[:end]]
        return Answers.of(self.asked[:end], codes, blind=blind)

    async def repeats(self, answers: Answers) -> dict[int, int]:
        """Ask some of the items that were chosen blindly a second time; return the second
        answers.
        """
        blind = np.ones(len(answers.asked), bool) if answers.blind is None else answers.blind
        candidates = answers.asked[blind & (answers.codes != FAILED)]
        chosen = (
            spawn(self.how.seed, 1)[0].permutation(np.sort(candidates))[: self.how.repeats].tolist()
        )
        known = self.caller.journal.answers

        async def again(item: int) -> int | None:
            entry = known.get(f"r{item}")
            return entry.code if entry is not None else await self.caller.ask(f"r{item}", item)

        came = await asyncio.gather(*(again(item) for item in chosen), return_exceptions=True)
        second: dict[int, int] = {}
        for item, code in zip(chosen, came, strict=True):
            if isinstance(code, BudgetError):  # what was paid for counts
                self.unpaid += 1
            elif isinstance(code, BaseException):
                raise code
            elif code is not None:
                second[item] = code
        return second

    def money(self) -> tuple[str, ...]:
        """Return warnings about what the limit on the cost left out."""
        wanted = min(self.how.budget - self.how.repeats, len(self.items))
        asked = self.ready if self.end is None else self.end
        return money_warnings(
            self.how.wire.max_cost,
            asked=asked if self.broke or self.plan.calls < wanted else None,
            wanted=wanted,
            unpaid=self.unpaid,
        )


def _spellings(items: Items, journal: Journal) -> tuple[str, ...]:
    L = len(items.labels)
    none = Counter(entry.text for entry in journal.answers.values() if entry.code == L)
    return spelling_warnings(none, items.labels)


def _with_noise(
    result: ShiftResult, items: Items, answers: Answers, second: Mapping[int, int]
) -> ShiftResult:
    if items.old is None:
        return result
    first = dict(zip(answers.asked.tolist(), answers.codes.tolist(), strict=True))
    twice = list(second)
    floor = noise_floor(
        items.old[twice], [first[item] for item in twice], [second[item] for item in twice]
    )
    warning = noise_warning(floor, alpha=1 - result.interval[0][0].level)
    return replace(result, noise=floor, warnings=(*result.warnings, warning))


def _head(items: Items, client: Client, plan: Plan, how: Run) -> dict[str, Json]:
    described = client.description
    text = to_json(
        [described, client.loose, list(items.labels), *(["coerce"] if how.coerce else [])]
    )
    rest = to_json(
        [how.seed, how.repeats, how.flip_limit, how.target_error, how.alpha, how.how.strategy]
    )
    return {
        "data": items.digest,
        "client": hashlib.sha256(text.encode()).hexdigest(),
        "plan": hashlib.sha256((plan.fingerprint + rest).encode()).hexdigest(),
        "api": described,
        "labels": list(items.labels),  # an answer is kept as its place among these
        "loose": client.loose,
        "seed": how.seed,
        "calls": plan.calls,
    }
