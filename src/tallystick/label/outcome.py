"""What a session has answered so far, with everything that was asked and answered beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from tallystick.data import conclude, read
from tallystick.data.session import IN_FILE, Ask, Session, SessionHead
from tallystick.errors import TallystickError
from tallystick.label.result import LabelResult, Readers
from tallystick.label.standing import Standing
from tallystick.label.verdict import ASSUMPTIONS, needed_of, next_of, verdict_of, warnings_of
from tallystick.results import Interval, Result, Sentences, Unknown, count
from tallystick.sampling.labels import reader_error, refused_claim, too_noisy
from tallystick.sampling.labels.task import LabelTask

if TYPE_CHECKING:
    from tallystick.label.work import Work

__all__ = ["fields_of", "outcome", "reading_of", "refused"]

MOST_ROWS = 200_000
"""Larger tables are not read again for the capability's own result: it is asked for by its verb."""


def reading_of(head: SessionHead) -> dict[str, Any]:
    """Return the roles and the options of reading that a session was begun with."""
    return _tuples(head.options["reading"])


def fields_of(head: SessionHead) -> dict[str, Any]:
    """Return the fields of the question that a session was begun with."""
    return _tuples(head.options["fields"])


def _tuples(given: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in given.items()
    }


def outcome(work: Work, batch: Sequence[Ask] = (), *, final: bool = True) -> LabelResult:
    """Return the answer of a session so far.

    Parameters
    ----------
    work
        The session.
    batch
        The asks that were just handed out.
    final
        Whether to ask the capability itself too, with the session as its truth.
    """
    where, session, task = work.standing(), work.session, work.task
    done = [ask for ask in session.asks if session.done(ask.number)]
    skipped = sum(session.skipped(ask.number) for ask in done)
    after = sum(
        ask.draw >= where.read.n and (ask.number, IN_FILE) not in session.answers for ask in done
    )
    widest = max(where.measures, key=_width, default=None)
    readers, noisy = _readers(session, task, where)
    reason = refused(session, task, where)
    nothing = Unknown(reason or "this question has a verdict and no interval")
    warnings = warnings_of(
        where,
        readers,
        noisy=noisy,
        apart=len(session.apart),
        pending_after=after,
    )
    timed = [one.seconds for one in session.answers.values() if one.seconds is not None]
    needed = needed_of(where, task)
    items = task.strata.n_items
    verdict = reason or verdict_of(where, task, alpha=session.head.alpha)
    pending = len(session.asks) - len(done)
    return LabelResult(
        verdict=verdict,
        sentences=Sentences(answer=verdict, next=next_of(where, task, session, pending=pending)),
        decision="decided" if needed is None and reason is None else "undecided",
        needed=needed,
        n_items=items + len(session.apart),
        assumptions=ASSUMPTIONS,
        warnings=warnings,
        seed=session.head.seed,
        session=session.path,
        question=session.head.question,
        asked=len(session.asks),
        answered=len(done) - skipped,
        skipped=skipped,
        pending=pending,
        read=where.read.n,
        of=None if widest is None else widest.name,
        estimate=nothing if widest is None or reason else widest.estimate,
        interval=nothing if widest is None or reason else widest.interval,
        anytime_interval=nothing if widest is None or reason else widest.anytime_interval,
        measures=where.measures,
        winner=where.winner,
        forecast=Unknown("too few labels to forecast from")
        if where.forecast is None
        else where.forecast,
        stop=where.stop,
        result=_own_result(work)
        if final
        else Unknown("not worked out while items are handed out: ask with --status --json"),
        batch=tuple(_shown_ask(ask) for ask in batch),
        readers=readers,
        labels_apart=len(session.apart),
        seconds_per_label=median(timed) if timed else Unknown("no label was timed"),
        notes=task.notes,
    )


def refused(session: Session, task: LabelTask, where: Standing) -> str | None:
    """Return why the claim cannot rest on the labels that there are, or None if it can."""
    claims: Mapping[str, Any] = {
        "share": "share",
        "classifiers": "difference",
        "judged": "difference",
        "best-of": "best-of",
    }
    origin: Any = session.head.origin
    drawn = where.read.n
    if origin != "unknown":
        # What the table held is a draw of somebody else's; of unknown origin it counts only where
        # this session drew it too.
        in_file = {ask.draw for ask in session.asks if (ask.number, IN_FILE) in session.answers}
        drawn -= sum(draw < where.read.n for draw in in_file)
    if drawn == where.read.n and not session.apart:
        return None
    text = refused_claim(origin, claims[task.claim], target="these", drawn=drawn)
    return None if text is None else f"{text[0].upper()}{text[1:]}."


def _readers(session: Session, task: LabelTask, where: Standing) -> tuple[Readers | None, bool]:
    """Return what double reading says, and whether readers are noisier than the precision."""
    if len(session.head.readers) < 2:
        return None, False
    first, second = session.head.readers[:2]
    both = [
        ask.number
        for ask in session.asks
        if all(
            (ask.number, who) in session.answers and not session.answers[ask.number, who].skipped
            for who in (first, second)
        )
    ]
    apart = sum(session.disagree(ask) for ask in both)
    if not both:
        none = Unknown("nothing was read twice yet")
        return Readers(twice=0, disagreed=0, unresolved=0, error=none, error_interval=none), False
    found = reader_error(apart, len(both), alpha=session.head.alpha)
    noisy = any(
        too_noisy(found.estimate, min(max(one.estimate, 0.0), 1.0), session.head.target)
        for one in where.measures
        if isinstance(one.estimate, float) and task.claim == "share"
    )
    readers = Readers(
        twice=len(both),
        disagreed=apart,
        unresolved=where.read.unresolved,
        error=found.estimate,
        error_interval=found.interval,
    )
    return readers, noisy


def _own_result(work: Work) -> Result | Unknown:
    """Ask the capability itself, with this session as its truth."""
    found = work.asked.capability
    if found is None:
        return Unknown(f"{work.asked.name} has no result of its own beside these numbers")
    if not work.standing().read.n:
        return Unknown("nothing is labelled yet")
    if work.task.rows.size > MOST_ROWS:
        files = " ".join(work.session.head.source)
        return Unknown(
            f"not worked out for a table of {count(work.task.rows.size)} rows: ask tallystick"
            f" {work.asked.name} {files} --truth-file {work.session.path}"
        )
    try:
        options = work.asked.options(fields_of(work.session.head))
        given = {**reading_of(work.session.head), "truth_file": work.session.path}
        source: Any = list(work.session.head.source) or work.data
        if not work.session.head.source:
            return Unknown("the session was begun from a frame: pass it to the capability")
        with read(source, found.door, **given) as data:
            return conclude(found, data, replace(options, alpha=work.session.head.alpha))
    except TallystickError as error:
        return Unknown(f"{work.asked.name} could not answer from these labels: {error}")


def _width(one: Any) -> float:
    return one.interval.width if isinstance(one.interval, Interval) else float("inf")


def _shown_ask(ask: Ask) -> dict[str, Any]:
    probability: Any = ask.probability
    if probability is None:
        probability = Unknown("uniform among the items on which the models that are left differ")
    return {
        "item": ask.item if ask.item is not None else str(ask.row + 1),
        "system": ask.system,
        "order": ask.number + 1,
        "probability": probability,
    }
