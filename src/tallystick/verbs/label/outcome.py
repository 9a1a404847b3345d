"""What a session has answered so far, with everything that was asked and answered beside it."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from tallystick.results import (
    SCHEMA,
    Interval,
    Needed,
    Result,
    Sentences,
    Unit,
    Unknown,
    about,
    count,
    percent,
    percent_interval,
)
from tallystick.results.numbers import number, plural, points, points_interval
from tallystick.sampling.duels import NEITHER, how_sure, needed_draws
from tallystick.sampling.stopping import next_batch, reader_error, too_noisy
from tallystick.sampling.tasks import LabelTask
from tallystick.table import reading_of
from tallystick.table.session import IN_FILE, Ask, Session
from tallystick.verbs.label.work import MeasureStanding, Standing, Work


def outcome(work: Work, batch: Sequence[Ask] = ()) -> LabelResult:
    """Return the answer of a session so far; *batch* are the asks that were just handed out."""
    where, session, task = work.standing(), work.session, work.task
    done = [ask for ask in session.asks if session.done(ask.number)]
    skipped = sum(session.skipped(ask.number) for ask in done)
    after = sum(
        ask.draw >= where.read.n and (ask.number, IN_FILE) not in session.answers for ask in done
    )
    readers = _readers(session, where)
    widest: Any = max(where.measures, key=_width, default=None)
    none = Unknown("this question has a verdict and no interval")
    needed = needed_of(where, task)
    verdict = verdict_of(where, task, alpha=session.head.alpha)
    pending = len(session.asks) - len(done)
    return LabelResult(
        verdict=verdict,
        sentences=Sentences(answer=verdict, next=next_of(where, task, session, pending=pending)),
        decision="decided" if needed is None else "undecided",
        needed=needed,
        n_items=task.strata.n_items + len(session.apart),
        assumptions=ASSUMPTIONS,
        warnings=_warnings(where, task, session, readers, waiting=after),
        seed=session.head.seed,
        reading=reading_of(replace(work.data, unused=None)),  # texts are shown to people
        session=session.path,
        question=session.head.question,
        asked=len(session.asks),
        answered=len(done) - skipped,
        skipped=skipped,
        pending=pending,
        read=where.read.n,
        of=getattr(widest, "name", None),
        estimate=getattr(widest, "estimate", none),
        interval=getattr(widest, "interval", none),
        anytime_interval=getattr(widest, "anytime_interval", none),
        measures=where.measures,
        winner=where.winner,
        forecast=Unknown("too few labels to forecast from")
        if where.forecast is None
        else where.forecast,
        stop=where.stop,
        batch=tuple(_shown_ask(ask) for ask in batch),
        readers=readers,
        labels_apart=len(session.apart),
        notes=task.notes,
    )


def _width(one: MeasureStanding) -> float:
    return one.interval.width if isinstance(one.interval, Interval) else float("inf")


def _shown_ask(ask: Ask) -> dict[str, Any]:
    uniform = Unknown("drawn uniformly from the items that can be drawn")
    return {
        "item": ask.item if ask.item is not None else str(ask.row + 1),
        "system": ask.system,
        "order": ask.number + 1,
        "probability": uniform if ask.probability is None else ask.probability,
    }


def _readers(session: Session, where: Standing) -> Readers | None:
    """Return what double reading says; None where one person reads."""
    if len(session.head.readers) < 2:
        return None
    both = [ask.number for ask in session.asks if session.read_twice(ask.number)]
    apart = sum(session.disagree(ask) for ask in both)
    error: Any = Unknown("nothing was read twice yet")
    interval: Any = error
    if both:
        error, interval = reader_error(apart, len(both), alpha=session.head.alpha)
    return Readers(
        twice=len(both),
        disagreed=apart,
        unresolved=where.read.unresolved,
        error=error,
        error_interval=interval,
    )


# What a labelling session has answered so far.


@dataclass(frozen=True, kw_only=True)
class Readers:
    """What double reading says of the readers.

    Parameters
    ----------
    twice, disagreed
        How many asks two readers have read, and on how many they differ.
    unresolved
        Disagreements that no third reader has settled; they count as the average reader.
    error, error_interval
        How often one reader errs, if both err independently and equally often.
    """

    twice: int
    disagreed: int
    unresolved: int
    error: float | Unknown
    error_interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class LabelResult(Result):
    """Where a labelling session stands.

    Parameters
    ----------
    session, question
        The file, and what is asked.
    asked, answered, skipped, pending
        Cells that were drawn; answered; skipped; neither.
    read
        Draws that the numbers rest on: all before the first that is pending.
    of
        Whose number *estimate* and the intervals are: the widest, where there are several.
    estimate, interval
        Approximate, for a stop at a planned precision.
    anytime_interval
        Holds whenever you stop, whatever you saw. Verdicts rest on it.
    measures
        The same for every number.
    winner
        Who is better or best, where that is asked and settled.
    forecast
        At most about how many more labels; null where nothing can be forecast.
    stop
        precision, verdict, certain, budget, not-worth-it, or null to go on.
    batch
        The asks that were handed out by this call.
    readers, labels_apart
        Double reading; labels of unknown origin that are counted apart.
    """

    verb: ClassVar[str] = "label"
    schema: ClassVar[int] = SCHEMA + 2

    session: str
    question: str
    asked: int
    answered: int
    skipped: int
    pending: int
    read: int
    of: str | None
    estimate: float | Unknown
    interval: Interval | Unknown
    anytime_interval: Interval | Unknown
    measures: tuple[MeasureStanding, ...]
    winner: str | None
    forecast: int | Unknown
    stop: str | None
    batch: tuple[Mapping[str, Any], ...] = ()
    readers: Readers | None = None
    labels_apart: int = 0

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per number."""
        if not self.measures:
            return super().rows()
        return [
            {
                "name": one.name,
                "estimate": one.estimate,
                "interval": one.interval,
                "anytime": one.anytime_interval,
            }
            for one in self.measures
        ]

    def units(self) -> Mapping[str, Unit]:
        """Return how the numbers are written: shares, or points for a difference."""
        unit: Unit = "points" if any(" - " in one.name for one in self.measures) else "share"
        return {"estimate": unit, "interval": unit, "anytime": unit}


# The sentences of a labelling session; nobody else makes them.


ASSUMPTIONS = (
    "labels are read in the order in which items were drawn, with the recorded probabilities",
    "the answers are about these items, not about new ones",
)

_STOPS = {
    "precision": "You can stop: the precision that you asked for is reached.",
    "verdict": "You can stop: the question is settled.",
    "certain": "You can stop: no further label can change the answer.",
    "budget": "The budget is spent.",
    "not-worth-it": "Labels alone will not get there: more are needed than are left.",
}
_SETTLED = ("precision", "verdict", "certain")


def verdict_of(where: Standing, task: LabelTask, *, alpha: float) -> str:
    """Say the answer, its number, its doubt, and whether to go on."""
    n, anytime = where.read.n, how_sure(alpha)
    labels = f"{count(n)} {plural(_unit(task), n)}"
    if task.claim == "share":
        parts = [_share(one, anytime, labels) for one in where.measures[:3]]
        if not n:
            parts = [f"Nothing is labelled yet; {count(task.strata.n_items)} items can be drawn."]
    else:
        parts = [_winner(where, task, labels)]
    if where.stop is not None:
        parts.append(_STOPS[where.stop])
    elif where.forecast:
        parts.append(f"At most {about(where.forecast)} more {_unit(task)}s.")
    return " ".join(parts)


def _unit(task: LabelTask) -> str:
    """Return what is drawn: one label, or an item whose outputs are all labelled."""
    return "label" if task.rows.shape[1] == 1 else "item"


def _winner(where: Standing, task: LabelTask, labels: str) -> str:
    names, two = task.names, len(task.names) == 2
    if where.winner is None:
        if where.best is not None:
            names = tuple(n for n, live in zip(names, where.best.live, strict=True) if live)
        open_ = f"{_or(names)} may be {'better' if two else 'the best'}"
        lead = "".join(
            f" ({one.name}: {_written(one)}, approximate)"
            for one in where.measures
            if isinstance(one.interval, Interval)
        )
        return f"Undecided after {labels}: {open_}{lead}."
    if where.winner == NEITHER:
        return f"Neither {' nor '.join(names)} is better: all {labels} are in."
    best = (
        "better"
        if where.best is None
        else f"the best, or within {task.epsilon * 100:g} points of it"
    )
    return f"{where.winner} is {best} ({where.sure}), after {labels}."


def _or(names: Sequence[str]) -> str:
    return " or ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _share(one: MeasureStanding, anytime: str, labels: str) -> str:
    if not isinstance(one.interval, Interval):
        return f"{one.name}: no label counts for it yet."
    if one.limit is not None and one.verdict is not None:
        bar = number(one.limit) if _is_lead(one) else percent(one.limit)
        return f"{one.name} is {one.verdict} {bar} ({anytime}), after {labels}."
    each = points if _is_lead(one) else percent
    low, high = map(each, one.anytime_interval)
    return (
        f"{one.name}: {_written(one)} at a planned stop (approximate); {low} to {high} (anytime)."
    )


def _written(one: MeasureStanding) -> str:
    assert isinstance(one.interval, Interval)
    write = points_interval if _is_lead(one) else percent_interval
    return write(one.estimate if isinstance(one.estimate, float) else None, one.interval)


def _is_lead(one: MeasureStanding) -> bool:
    return " - " in one.name


def needed_of(where: Standing, task: LabelTask) -> Needed | None:
    """Return how many labels would settle it; None if it is settled."""
    if where.stop in _SETTLED:
        return None
    return needed_draws(where.forecast, where.progress.left, items=_unit(task) == "item")


def next_of(where: Standing, task: LabelTask, session: Session, *, pending: int) -> str:
    """Say what to type next: label more, or ask the question with these labels."""
    head = session.head
    if where.stop in (*_SETTLED, "budget"):
        grown = task.strata.of.size > head.options.get("rows", task.strata.of.size)
        if head.question == "prevalence" or not where.read.n or not head.source or grown:
            return ""
        return f"Next: {shlex.join(_question(session))}"
    size, what = pending, "write the batch again that waits for answers:"
    if not pending:
        size = max(1, next_batch(where.progress)) * where.parts
        what = f"label {count(size)} more:"
    return (
        f"Next: {what} tallystick label --session {shlex.quote(session.path)} --next {size} --out"
        " batch.csv, fill in the last column, then --add batch.csv; or label on a page with --open."
    )


def _question(session: Session) -> list[str]:
    """Return the command that asks the question with the labels of the session."""
    head = session.head
    words = ["tallystick", head.question, *head.source]
    given = {name: one for name, one in head.options["reading"].items() if name != "shape"}
    scale = head.options["fields"].get("scale")
    if scale is not None:
        given["scale"] = [f"{end:g}" for end in scale]
    for name, value in given.items():
        flag = f"--{name.replace('_', '-')}"
        held = ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
        words += [flag] if value is True else [flag, held]
    return [*words, "--truth-file", session.path]


def _warnings(
    where: Standing, task: LabelTask, session: Session, readers: Readers | None, *, waiting: int
) -> tuple[str, ...]:
    """Return what changes how a sensible reader takes the numbers."""
    told = [
        (
            int(where.read.skipped.sum()),
            "items were skipped. They count against the answer both ways",
        ),
        (
            len(session.apart),
            "labels of unknown origin are counted apart: they are taken as known, and say nothing"
            " about the other items. If they were drawn at random, begin with --label-draw random",
        ),
        (
            waiting,
            "answers stand after an item without an answer and are not counted yet. Answer or skip"
            " the items in order",
        ),
    ]
    if readers is not None and isinstance(readers.error, float):
        shares = [one.estimate for one in where.measures if task.claim == "share"]
        noisy = any(
            too_noisy(readers.error, min(max(one, 0.0), 1.0), session.head.target)
            for one in shares
            if isinstance(one, float)
        )
        told += [
            (
                readers.disagreed * noisy,
                f"of {count(readers.twice)} items that were read twice are disputed. That is more"
                " than a third of the precision asked: have a third reader settle them",
            ),
            (readers.unresolved, "disagreements are open and count as the average reader"),
        ]
    return tuple(f"{count(n)} {text}" for n, text in told if n)
