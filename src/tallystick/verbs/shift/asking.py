"""The loop of one run: which item is asked next, which flip again, and when to stop."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tallystick.clients import Caller, JournalEntry
from tallystick.clients.reading import is_refusal
from tallystick.errors import BudgetError, InputError
from tallystick.results.numbers import count as numbers_count
from tallystick.sampling import FAILED, Plan, Sampler
from tallystick.table import Data, Label
from tallystick.table.reading_names import parts
from tallystick.table.words import is_failed_call
from tallystick.verbs.shift.assess import Answers, FlipGate, frobenius_bound, looks
from tallystick.verbs.shift.change import point, unseen_error
from tallystick.verbs.shift.design import CLEAN_REPEATS, Items, more_repeats, outcome
from tallystick.verbs.shift.noise import collapse, count
from tallystick.verbs.shift.question import Progress, Run
from tallystick.verbs.shift.verdict import may_hide_label, money_warnings

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


# Answers that a table holds already: failed calls, numbers, and words that no label shares.
#
# Each of these would be counted as a wrong answer, and make an API look worse than it is.


_MOST_NUMBERS = 30
"""Different numbers with fractions from which on they are measurements, not labels."""
_MARKS = frozenset({"correct", "right", "success", "passed", "pass", "accurate"})
"""Words in the name of a column that says whether an answer was right."""


def without_failed_calls(
    words: Mapping[str, Sequence[Label]], answers: Sequence[str], *, named: Sequence[Label]
) -> tuple[dict[str, list[Label]], tuple[str, ...]]:
    """Return the columns with failed calls as no answer, and a note for each column that has some.

    Parameters
    ----------
    words
        The columns of labels.
    answers
        Those of them that hold answers; a true label is never a failed call.
    named
        Labels, and words that the caller counts as none of the labels: they stay.

    Examples
    --------
    >>> words, notes = without_failed_calls({"new": ["a", "Error: 429"]}, ["new"], named=["a", "b"])
    >>> words["new"], notes[0][:45]
    (['a', None], "1 of 2 answers in 'new' is a failed call ('Er")
    """
    known = {str(label) for label in named if label is not None}
    found, notes = {name: list(column) for name, column in words.items()}, []
    for name in answers:
        failed = Counter(
            str(word) for word in found[name] if str(word) not in known and is_failed_call(word)
        )
        if not failed:
            continue
        given = sum(word is not None for word in found[name])
        found[name] = [None if str(word) in failed else word for word in found[name]]
        many, shown = failed.total(), ", ".join(repr(text) for text, _ in failed.most_common(3))
        verb = "is a failed call" if many == 1 else "are failed calls"
        token = failed.most_common(1)[0][0]
        notes.append(
            f"{numbers_count(many)} of {numbers_count(given)} answers in {name!r} {verb} ({shown}): nobody answered"
            " there, so these items are left out. To count them as wrong answers, add --other"
            f" {token!r}"
        )
    return found, tuple(notes)


def failed_replays(
    data: Data, apis: Any, *, named: Sequence[Label]
) -> tuple[frozenset[int], tuple[str, ...]]:
    """Return the rows whose recorded answer, replayed as an API, is a failed call; and notes."""
    lost: set[int] = set()
    notes: list[str] = []
    for api in apis if isinstance(apis, tuple) else ():
        column = api.removeprefix("replay:") if isinstance(api, str) else ""
        if column == api or column not in data.table.columns:
            continue
        cells = data.cells(column)
        kept, more = without_failed_calls(cells, [column], named=named)
        before, after = cells[column], kept[column]
        lost |= {n for n, cell in enumerate(after) if cell is None and before[n] is not None}
        notes += more
    return frozenset(lost), tuple(notes)


def refuse_numbers(data: Data, truth: str) -> None:
    """Refuse measurements: an answer of 0.44 to a true 0.45 is not simply wrong.

    Numbers are measurements where most of many different ones have fractions.
    """
    numbers = [_number(cell) for cell in data.cells(truth)[truth] if cell is not None]
    known = {number for number in numbers if number is not None}
    fractions = sum(number != np.floor(number) for number in known)
    if len(known) <= _MOST_NUMBERS or 2 * fractions < len(known):
        return
    if sum(number is not None for number in numbers) < 0.9 * len(numbers):
        return
    raise InputError(
        f"{data.source}: column {truth!r} holds {numbers_count(len(known))} different numbers,"
        f" {min(known):g} and {max(known):g}: shift compares labels. Cut the numbers into classes"
        " first; or write how far each answer is from the truth into two columns, old_error and"
        " new_error, and compare those (tallystick compare FILE)"
    )


def _number(cell: Label) -> float | None:
    try:
        value = float(str(cell))
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def refuse_no_shared_label(
    new: str, texts: Sequence[str | None], codes: NDArray[np.intp], labels: Sequence[str]
) -> None:
    """Refuse new answers of which not one is a label, and that are not refusals either.

    Parameters
    ----------
    new
        The column of new answers.
    texts, codes
        The answers, and their places among the labels.
    labels
        The labels.
    """
    none = len(labels)
    if not len(codes) or bool((codes != none).any()):
        return
    odd = Counter(text for text in texts if text and not is_refusal(text))
    if 2 * odd.total() < len(codes):
        return
    shown = ", ".join(repr(text[:40]) for text, _ in odd.most_common(3))
    raise InputError(
        f"no answer in {new!r} is one of the labels: it holds {shown}, and the labels are"
        f" {', '.join(map(repr, labels[:5]))}{' …' if len(labels) > 5 else ''}. If they mean the"
        " same, write them alike; if an answer is a sentence, say how it is read (--answer words)"
    )


def pointed_to_compare(columns: Sequence[str]) -> str:
    """Return where to go with columns that say right or wrong; empty if there are no two such.

    >>> pointed_to_compare(["id", "old_correct", "new_correct"])
    '. Columns that say whether an answer was right (old_correct, new_correct) are compared by: tallystick compare FILE --models old_correct,new_correct'
    >>> pointed_to_compare(["id", "old", "new"])
    ''
    """
    marks = [name for name in columns if set(parts(name)) & _MARKS]
    if len(marks) < 2:
        return ""
    shown = marks[:4]
    return (
        f". Columns that say whether an answer was right ({', '.join(shown)}) are compared by:"
        f" tallystick compare FILE --models {','.join(shown)}"
    )
