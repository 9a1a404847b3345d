"""The loop of one run: which item is asked next, which flip again, and when to stop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import numpy as np

from tallystick.clients import Caller, JournalEntry
from tallystick.errors import BudgetError
from tallystick.sampling import FAILED, Plan, Sampler
from tallystick.shift.assess import Answers
from tallystick.shift.change import point, unseen_error
from tallystick.shift.counts import collapse, count
from tallystick.shift.design import outcome
from tallystick.shift.items import Items
from tallystick.shift.noise_rules import CLEAN_REPEATS, more_repeats
from tallystick.shift.run_plan import Progress, Run
from tallystick.shift.stopping import FlipGate, frobenius_bound, looks
from tallystick.shift.unread import may_hide_label
from tallystick.shift.verdict_notes import money_warnings

__all__ = ["Asking"]

FIRST_LOOK = 100
ENDLESS = 10**12
"""A population so large that a test learns nothing from the items already seen: with noise it may
not."""


class Asking:
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
        self.most_repeats = 0
        self.second: dict[int, int] = {}  # second answers, by item
        self.limit = plan.calls  # first questions at most; repeats lower it
        self.reused = 0
        # whether the money ended the first questions; second ones it did not pay
        self.broke, self.unpaid = False, 0
        self.gate = self._watch()
        self.looks = looks(first=max(FIRST_LOOK, 2 * len(plan.strata)), calls=plan.calls)

    def _watch(self) -> FlipGate | None:
        """Return what watches the run.

        With random answers few flips prove that few are beyond noise; many flips prove nothing, and
        a limit of 0 cannot be watched at all.
        """
        how = self.how
        if how.flip_limit is None or (how.flip_limit == 0 and not how.deterministic):
            return None
        population = len(self.items) if how.deterministic else ENDLESS
        return FlipGate(limit=how.flip_limit, population=population, alpha=how.alpha)

    async def main(self) -> None:
        """Ask until the budget is used up or a rule says stop; flips of the blind phase twice."""
        blind = self.sampler.n_shuffled if self.most_repeats else 0
        if blind:
            await self._first(min(blind, self.limit))
            if not self.broke:
                await self._again()
            self.limit = min(self.limit, self.how.affordable() - len(self.second))
        if not self.broke and self.end is None:
            await self._first(self.limit)

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
                if self.end is not None:
                    return
        except BudgetError:  # the money is used up: what came in without a gap counts
            self.end, self.broke = self.ready, True
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def _ask(self, tasks: dict[asyncio.Task[int | None], int], limit: int) -> None:
        while (
            self.end is None
            and not self.sampler.done
            and len(self.asked) < limit
            and len(self.asked) + 1 - self.plan.in_flight <= self.ready
        ):
            for item in self.sampler.ask(limit - len(self.asked)):
                ticket = len(self.asked)
                self.asked.append(item)
                self.codes.append(None)
                code = self.caller.known(item)
                if code is None:
                    tasks[asyncio.create_task(self.caller.ask(item))] = ticket
                else:  # paid for already
                    self.reused += 1
                    self._tell(ticket, code)

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
            planned = min(self.how.affordable(), self.plan.calls + self.most_repeats)
            self.progress(
                Progress(calls=number, planned=planned, cost=self.caller.spent, error=error)
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
            # One answer is proof enough, but no assessment. That there are many flips proves
            # nothing of an API that answers at random: the run goes on.
            decided = self.gate.passed is not None and (self.gate.passed or self.how.deterministic)
            if decided and self.answered > 1:
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
        asked = self.asked[:end]
        counted = set(asked)
        again = {item: code for item, code in self.second.items() if item in counted}
        unread = self._unread()
        labels = self.items.labels
        # A reply that was cut off may have come to any label.
        unclear = [
            item in unread and (unread[item].cut or may_hide_label(unread[item].text, labels))
            for item in asked
        ]
        return Answers.of(asked, codes, blind=blind, unclear=unclear, again=again)

    def unread_texts(self) -> tuple[list[str], int]:
        """Return the answers from which no label was read, and how many more were cut off."""
        entries = list(self._unread().values())
        texts = [entry.text for entry in entries if not entry.cut]
        return texts, len(entries) - len(texts)

    def _unread(self) -> dict[int, JournalEntry]:
        """Return each answer from which no label was read, by item."""
        none = len(self.items.labels)
        journal, names = self.caller.journal, self.items.names
        found = {}
        for item, code in zip(self.asked, self.codes, strict=True):
            entry = journal.answers.get(f"1:{names[item]}") if code == none else None
            if entry is not None:
                found[item] = entry
        return found

    async def _again(self) -> None:
        """Ask flips of the blind phase a second time, in the random order in which they came.

        If the first 30 all confirm, the API shows no noise and nothing more is repeated.
        """
        end = self.ready if self.end is None else self.end
        old = self.items.old
        assert old is not None  # otherwise nothing may be repeated
        flips = [
            item
            for item, code in zip(self.asked[:end], self.codes[:end], strict=True)
            if code not in (None, FAILED) and code != old[item]
        ]
        # Repeats count against the budget, and the first questions have had theirs.
        room = min(self.most_repeats, self.how.affordable() - len(self.asked))
        first = {item: self.codes[place] for place, item in enumerate(self.asked[:end])}
        while len(self.second) < min(room, len(flips)) and not self.unpaid:
            done = len(self.second)
            unconfirmed = sum(code != first[item] for item, code in self.second.items())
            by_rule = self.how.repeats is None
            if by_rule and not more_repeats(done, unconfirmed, budget=self.how.affordable()):
                break
            batch = flips[done : min(room, done + CLEAN_REPEATS)]
            came = await asyncio.gather(
                *(self._second(item) for item in batch), return_exceptions=True
            )
            for item, code in zip(batch, came, strict=True):
                if isinstance(code, BudgetError):  # what was paid for counts
                    self.unpaid += 1
                elif isinstance(code, BaseException):
                    raise code
                else:
                    self.second[item] = FAILED if code is None else code

    async def _second(self, item: int) -> int | None:
        self.reused += self.caller.known(item, draw=2) is not None
        code = await self.caller.ask(item, draw=2)
        self.told += 1
        return code

    def money(self) -> tuple[str, ...]:
        """Return warnings about what the limit on the cost left out."""
        wanted = min(self.how.budget, len(self.items))
        asked = self.ready if self.end is None else self.end
        short = self.how.affordable() < wanted
        return money_warnings(
            self.how.wire.max_cost,
            asked=asked if self.broke or short else None,
            wanted=wanted,
            unpaid=self.unpaid,
        )
