"""One run: which item is asked next, which flip again, when to stop; then the assessment."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan, log
from typing import Any

import numpy as np

from tallystick._rng import as_rng, seed_of
from tallystick.clients import (
    OTHER_DATA,
    Caller,
    Client,
    Journal,
    JournalEntry,
    Progress,
    is_refusal,
    mentions_label,
    request_notes,
    unread_warnings,
    usage_warnings,
)
from tallystick.errors import BudgetError, FormatError
from tallystick.results import Json, to_json
from tallystick.sampling import FAILED, Plan, Sampler
from tallystick.stats.anytime import RateTest
from tallystick.verbs.shift.assess import assess
from tallystick.verbs.shift.design import Items, outcome
from tallystick.verbs.shift.estimates import WHY, Answers, Past
from tallystick.verbs.shift.noise import FEWEST_REPEATS, AnswersAre
from tallystick.verbs.shift.question import ShiftQuestion
from tallystick.verbs.shift.result import Requests, ShiftResult
from tallystick.verbs.shift.verdict import (
    money_warnings,
    noise_notes,
)

# A population so large that a test learns nothing from the items already seen: with noise it may
# not.
ENDLESS = 10**12


def run(
    items: Items,
    client: Client,
    rows: Sequence[Mapping[str, Any]],
    how: ShiftQuestion,
    *,
    past: Past | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> ShiftResult:
    """Ask *client* about *items* as *how* says, and return whether and how it changed.

    The result depends on the data, the settings and the answers alone, not on timing or kills.

    Parameters
    ----------
    items, past
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
    >>> result = run(items, ReplayClient("new", columns=["new"]), rows, ShiftQuestion(budget=60))
    >>> result.calls, result.accuracy_change.interval.high < 0
    (60, True)
    """
    fresh = not client.recorded
    plan = how.plan(items, fresh=fresh)
    # A journal is continued by its seed; a generator gives its next number.
    seed = seed_of(how.seed)
    seed = int(as_rng(how.seed).integers(2**31)) if seed is None else seed
    head: dict[str, Json] = {
        "api": client.description,
        "labels": list(items.labels),  # an answer's code is its place among these
        "reading": how.answer_reading.how,
        "seed": seed,
        "calls": plan.calls,
    }
    journal = Journal(how.journal, head=head, secrets=client.secrets)
    lost = journal.in_flight
    try:
        answered = {entry.item for entry in journal.answers.values()}
        if answered and not answered & {*items.names}:
            raise FormatError(OTHER_DATA.format(how.journal, min(answered)))

        def read(text: str | None) -> int:
            return how.answer_reading.code(text, items.labels)

        caller = Caller(client, rows, how, journal, names=items.names, read=read)
        asking = Asking(items, plan, how, caller, seed=seed, progress=progress)
        asking.most_repeats = how.most_repeats(fresh=fresh)

        async def ask_all() -> None:
            async with client:
                await asking.main()

        asyncio.run(ask_all())
    finally:
        journal.close()
    kind: AnswersAre = "deterministic" if how.deterministic else "random" if fresh else "recorded"
    result = assess(
        items,
        plan.strata,
        asking.answers(),
        strategy=how.strategy,
        alpha=how.alpha,
        seed=seed,
        answers_are=kind,
        past=past,
    )
    return _told(result, asking, client, lost)


def _told(result: ShiftResult, asking: Asking, client: Client, lost: int) -> ShiftResult:
    """Add to an assessment what the run cost, and what was seen on the way."""
    journal, how, items = asking.caller.journal, asking.how, asking.items
    entries = asking.unread().values()
    used = result.calls
    requests = Requests(
        sent=journal.sent.total(),
        billed=journal.billed,
        answered=sum(entry.code is not None for entry in journal.answers.values()),
        failed=sum(entry.code is None for entry in journal.answers.values()),
        resent=lost,
        from_journal=asking.reused,
        paid_twice=journal.paid_twice,
        unused=max(0, len(journal.answers) - used) + journal.in_flight,
        unread=len(entries),
    )
    texts = [one.text for one in entries if not one.cut and not is_refusal(one.text)]
    usage, currency = journal.usage, how.prices.currency
    # Of an API that answers at random, the watch proves only that few answers changed.
    watched = None if asking.gate is None else asking.gate.passed
    watched = watched if how.deterministic or watched else None
    api, asked_hash, data_hash = identity_of(items, client)
    return replace(
        result,
        cost=journal.spent,
        currency=currency,
        requests=requests,
        usage=usage,
        watched=watched,
        api=api,
        asked_hash=asked_hash,
        data_hash=data_hash,
        warnings=(
            *result.warnings,
            *asking.money(),
            *unread_warnings(texts, answers=len(asking.asked)),
            *usage_warnings(replace(usage, cut=0)),  # said with what they could hide
        ),
        notes=(
            *journal.notes,
            *result.notes,
            *noise_notes(result.noise, alpha=how.alpha),
            *request_notes(journal, currency, reused=asking.reused),
        ),
    )


def identity_of(items: Items, client: Client) -> tuple[str, str, str]:
    """Return what a history keeps of a run, so that different ones are not mixed."""
    described = client.description
    name = described.get("url") or described.get("target") or described.get("column") or ""
    request = described.get("request")
    model = request.get("model", "") if isinstance(request, dict) else ""
    shown = " ".join(str(part) for part in (described.get("kind", ""), model, name) if part)
    data = "\x1f".join((*items.labels, "\x1e", *items.names))
    return shown, _digest(to_json(described)), _digest(data)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def why_unread(text: str, labels: Sequence[str], *, cut: bool = False) -> int:
    """Return why an answer that is none of the labels is none: a place in `WHY`.

    Another word (a label that is never true) is simply wrong.

    >>> [WHY[why_unread(text, ["A", "B"])] for text in ("It may be (A).", "D", "I'm sorry, I can't.")]
    ['unread', '', 'refused']
    """
    if cut:
        return WHY.index("cut")
    if is_refusal(text):
        return WHY.index("refused")
    return WHY.index("unread" if mentions_label(text, labels) else "")


class Asking:
    """The loop of one run. All decisions use answers in the order in which they were asked for."""

    def __init__(
        self,
        items: Items,
        plan: Plan,
        how: ShiftQuestion,
        caller: Caller,
        *,
        seed: int,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self.items, self.plan, self.how, self.caller = items, plan, how, caller
        self._progress = progress
        self._sampler = Sampler(plan, rng=seed)
        self.asked: list[int] = []
        self._codes: list[int | None] = []  # None: not here yet
        self._told = 0
        self._ready = 0  # answers without a gap
        self._answered = 0  # of these, those that a gate saw and that did not fail
        self._end: int | None = None  # how many answers count, once it is decided to stop
        self.most_repeats = 0
        self._second: dict[int, int] = {}  # second answers, by item
        self._limit = plan.calls  # first questions at most; repeats lower it
        self.reused = 0
        # whether the money ended the first questions; second ones it did not pay
        self._broke, self._unpaid = False, 0
        self.gate: FlipGate | None = None
        # With random answers few flips prove that few are beyond noise; many flips prove nothing,
        # and a limit of 0 cannot be watched at all.
        if how.flip_limit is not None and (how.flip_limit > 0 or how.deterministic):
            population = len(items) if how.deterministic else ENDLESS
            self.gate = FlipGate(limit=how.flip_limit, population=population, alpha=how.alpha)

    async def main(self) -> None:
        """Ask until the budget is used up or a gate is decided; flips of the blind phase twice."""
        ours = self.how.strategy == "ours"
        blind = self._sampler.n_shuffled if ours else self.plan.calls
        if self.most_repeats and blind:
            await self._first(min(blind, self._limit))
            if not self._broke:
                await self._again()
            self._limit = min(self._limit, self.how.affordable() - len(self._second))
        if not self._broke and self._end is None:
            await self._first(self._limit)

    async def _first(self, limit: int) -> None:
        """Ask new items until *limit* of them were asked, and all have answered."""
        tasks: dict[asyncio.Task[int | None], int] = {}
        try:
            while True:
                self._ask(tasks, limit)
                if not tasks:
                    return
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._tell(tasks.pop(task), task.result())
                if self._end is not None:
                    return
        except BudgetError:  # the money is used up: what came in without a gap counts
            self._end, self._broke = self._ready, True
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ask(self, tasks: dict[asyncio.Task[int | None], int], limit: int) -> None:
        while (
            self._end is None
            and not self._sampler.done
            and len(self.asked) < limit
            and len(self.asked) + 1 - self.plan.in_flight <= self._ready
        ):
            for item in self._sampler.ask(limit - len(self.asked)):
                ticket = len(self.asked)
                self.asked.append(item)
                self._codes.append(None)
                code = self.caller.known(item)
                if code is None:
                    tasks[asyncio.create_task(self.caller.ask(item))] = ticket
                else:  # paid for already
                    self.reused += 1
                    self._tell(ticket, code)

    def _tell(self, ticket: int, code: int | None) -> None:
        item = self.asked[ticket]
        self._codes[ticket] = FAILED if code is None else code
        said = None if code is None else outcome(self.plan, self.items, item, code)
        self._sampler.tell([(item, said)])
        while (
            self._end is None
            and self._ready < len(self._codes)
            and self._codes[self._ready] is not None
        ):
            self._advance()
        if self._progress is not None:
            self._told += 1
            planned = min(self.how.affordable(), self.plan.calls + self.most_repeats)
            self._progress(
                Progress(calls=self._told, planned=planned, cost=self.caller.journal.spent)
            )

    def _advance(self) -> None:
        """Let the gate see one more answer."""
        item, code = self.asked[self._ready], self._codes[self._ready]
        self._ready += 1
        if self.gate is None:
            return
        flip = np.nan if code == FAILED else float(code != self.items.old[item])
        self.gate = self.gate.update(flip)
        self._answered += code != FAILED
        # One answer is proof enough, but no assessment. That there are many flips proves nothing of
        # an API that answers at random: the run goes on.
        decided = self.gate.passed is not None and (self.gate.passed or self.how.deterministic)
        if decided and self._answered > 1:
            self._end = self._ready

    @property
    def _counted(self) -> int:
        return self._ready if self._end is None else self._end

    def answers(self) -> Answers:
        """Return the questions that count, with their answers."""
        end, ours = self._counted, self.how.strategy == "ours"
        asked = self.asked[:end]
        counted = set(asked)
        unread, labels = self.unread(), self.items.labels
        return Answers.of(
            asked,
            [FAILED if code is None else code for code in self._codes[:end]],
            # Phase 1 of other strategies is two answers per stratum: too few to correct by.
            blind=self._sampler.blind[:end] if ours else None,
            why=[
                why_unread(unread[item].text, labels, cut=unread[item].cut) if item in unread else 0
                for item in asked
            ],
            again={item: code for item, code in self._second.items() if item in counted},
        )

    def unread(self) -> dict[int, JournalEntry]:
        """Return each answer from which no label was read, by item."""
        none = len(self.items.labels)
        journal, names = self.caller.journal, self.items.names
        found = {}
        for item, code in zip(self.asked, self._codes, strict=True):
            entry = journal.answers.get(f"1:{names[item]}") if code == none else None
            if entry is not None:
                found[item] = entry
        return found

    async def _again(self) -> None:
        """Ask flips of the blind phase a second time, in the random order in which they came.

        If the first 30 all confirm, the API shows no noise and nothing more is repeated.
        """
        end, old = self._counted, self.items.old
        first = {item: self._codes[place] for place, item in enumerate(self.asked[:end])}
        flips = [item for item, code in first.items() if code not in (None, FAILED, old[item])]
        # Repeats count against the budget, and the first questions have had theirs.
        room = min(self.most_repeats, self.how.affordable() - len(self.asked))
        while len(self._second) < min(room, len(flips)) and not self._unpaid:
            done = len(self._second)
            steady = all(code == first[item] for item, code in self._second.items())
            if self.how.repeats is None and done >= FEWEST_REPEATS and steady:
                break
            batch = flips[done : min(room, done + FEWEST_REPEATS)]
            came = await asyncio.gather(
                *(self._repeat(item) for item in batch), return_exceptions=True
            )
            for item, code in zip(batch, came, strict=True):
                if isinstance(code, BudgetError):  # what was paid for counts
                    self._unpaid += 1
                elif isinstance(code, BaseException):
                    raise code
                else:
                    self._second[item] = FAILED if code is None else code

    async def _repeat(self, item: int) -> int | None:
        self.reused += self.caller.known(item, draw=2) is not None
        code = await self.caller.ask(item, draw=2)
        self._told += 1
        return code

    def money(self) -> tuple[str, ...]:
        """Return warnings about what the limit on the cost left out."""
        wanted = min(self.how.budget or 0, len(self.items))
        short = self._broke or self.how.affordable() < wanted
        unasked = wanted - self._counted if short else 0
        return money_warnings(self.how.max_cost, unasked=unasked, unpaid=self._unpaid)


# When enough has been asked: a limit on flips, proved or refuted at any time.


@dataclass(frozen=True, kw_only=True)
class FlipGate:
    r"""Watch items in uniformly random order, until it is proved which side of *limit* the share of
    flips is on.

    Two e-processes run side by side: one for "under the limit", one for "over it". Each is wrong
    with probability at most *alpha*, however often one looks. With a limit of 0 the first flip
    settles it. A call that failed counts as a flip against "under" and as no flip against "over".

    Parameters
    ----------
    limit
        The share x of flips that is still allowed.
    population
        How many items there are.
    alpha
        The chance of a wrong decision, for either.

    Examples
    --------
    >>> gate = FlipGate(limit=0.01, population=20_000)
    >>> while gate.passed is None:
    ...     gate = gate.update(0.0)
    >>> gate.passed, gate.asked
    (True, 304)
    """

    limit: float
    population: int
    alpha: float = 0.05
    asked: int = 0
    flips: int = 0
    failures: int = 0
    passed: bool | None = None
    _tests: tuple[RateTest, RateTest] | None = None

    def __post_init__(self) -> None:
        if self.limit > 0 and self._tests is None:
            under = RateTest(limit=self.limit, population=self.population, side="below")
            over = RateTest(limit=self.limit, population=self.population, side="above")
            object.__setattr__(self, "_tests", (under, over))

    def update(self, flip: float) -> FlipGate:
        """Return the gate after one more item in the order asked: 1 flipped, 0 not, NaN failed.

        Once it has decided it stays as it is.
        """
        if self.passed is not None:
            return self
        failed = isnan(flip)
        asked, failures = self.asked + 1, self.failures + failed
        flips = self.flips + (flip == 1)
        seen = replace(self, asked=asked, flips=flips, failures=failures)
        if self._tests is None:
            clean = asked == self.population and not flips and not failures
            return replace(seen, passed=False if flips else True if clean else None)
        under = self._tests[0].update(1.0 if failed else flip)
        over = self._tests[1].update(0.0 if failed else flip)
        most = self.limit * self.population * (1 + 1e-9)
        passed: bool | None = None
        if flips > most:  # whatever the others say
            passed = False
        elif self.population - asked + flips + failures <= most:  # even if all others flipped
            passed = True
        else:
            enough = -log(self.alpha)
            passed = True if under.peak >= enough else False if over.peak >= enough else None
        return replace(seen, passed=passed, _tests=(under, over))
