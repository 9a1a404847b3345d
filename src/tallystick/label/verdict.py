"""The sentences of a labelling session; nobody else makes them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from tallystick.data.session import Session
from tallystick.label.result import Readers
from tallystick.label.standing import MeasureStanding, Standing
from tallystick.results import Interval, Needed, about, count, percent, percent_interval
from tallystick.results.numbers import number, points, points_interval
from tallystick.sampling.labels import next_batch
from tallystick.sampling.labels.batches import FIRST
from tallystick.sampling.labels.task import LabelTask

__all__ = ["ASSUMPTIONS", "needed_of", "next_of", "verdict_of", "warnings_of"]

ASSUMPTIONS = (
    "labels are read in the order in which items were drawn, with the recorded probabilities",
    "the answers are about these items, not about new ones",
)

_NEARLY = "the best, or within {:g} points of it"

_STOPS = {
    "precision": "You can stop: the precision that you asked for is reached.",
    "verdict": "You can stop: the question is settled.",
    "certain": "You can stop: no further label can change the answer.",
    "budget": "The budget is spent.",
    "not-worth-it": "Labels alone will not get there: more are needed than are left.",
}


def verdict_of(where: Standing, task: LabelTask, *, alpha: float) -> str:
    """Say the answer, its number, its doubt, and whether to go on."""
    parts = [*_answer(where, task, f"{100 * (1 - alpha):g} %, whenever you stop")]
    if where.stop is not None:
        parts.append(_STOPS[where.stop])
    elif where.forecast:
        parts.append(f"At most {about(where.forecast)} more {_unit(task)}s.")
    return " ".join(parts)


def _unit(task: LabelTask) -> str:
    """Return what is drawn: one label, or an item whose outputs are all labelled."""
    return "label" if task.rows.shape[1] == 1 else "item"


def _answer(where: Standing, task: LabelTask, anytime: str) -> list[str]:
    names, n = task.names, count(where.read.n)
    labels = f"{n} {_unit(task)}" if where.read.n == 1 else f"{n} {_unit(task)}s"
    if task.claim != "share":
        if where.winner is None:
            open_ = names
            if where.best is not None:
                open_ = tuple(n for n, live in zip(names, where.best.live, strict=True) if live)
            best = "better" if len(names) == 2 else "the best"
            if not where.read.n:
                return [f"Nothing is labelled yet: {_or(open_)} may be {best}."]
            lead = "".join(f" ({_lead(one)})" for one in where.measures)
            return [f"Undecided after {labels}: {_or(open_)} may be {best}{lead}."]
        spare = where.left
        rest = f" {count(spare)} further items were not needed." if spare else ""
        if where.winner == "neither":
            return [f"Neither {' nor '.join(names)} is better: all {labels} are in."]
        best = (
            "better" if len(names) == 2 and not where.best else _NEARLY.format(task.epsilon * 100)
        )
        sure = "certain, on these items" if where.certain else anytime
        return [f"{where.winner} is {best} ({sure}), after {labels}.{rest}"]
    if not where.read.n:
        return [f"Nothing is labelled yet; {count(task.strata.n_items)} items can be drawn."]
    sentences = []
    for one in where.measures[:3]:
        if not isinstance(one.interval, Interval) or not isinstance(one.estimate, float):
            sentences.append(f"{one.name}: no label counts for it yet.")
        elif one.limit is not None and one.verdict is not None:
            bar = percent(one.limit) if _is_share(one) else number(one.limit)
            sentences.append(f"{one.name} is {one.verdict} {bar} ({anytime}), after {labels}.")
        else:
            sentences.append(_numbers(one))
    more = len(where.measures) - 3
    if more > 0:
        sentences.append(f"{more} more in the table.")
    return sentences


def _or(names: Sequence[str]) -> str:
    if len(names) < 3:
        return " or ".join(names)
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _numbers(one: MeasureStanding) -> str:
    assert isinstance(one.interval, Interval)
    write = percent_interval if _is_share(one) else points_interval
    estimate = one.estimate if isinstance(one.estimate, float) else None
    planned = write(estimate, one.interval)
    each = percent if _is_share(one) else points
    low, high = (each(end) for end in one.anytime_interval)
    return f"{one.name}: {planned} at a planned stop (approximate); {low} to {high} (anytime)."


def _lead(one: MeasureStanding) -> str:
    """Write a difference at a planned stop; nothing is known of it without labels."""
    if not isinstance(one.interval, Interval) or not isinstance(one.estimate, float):
        return "no label counts yet"
    return f"{one.name}: {points_interval(one.estimate, one.interval)}, approximate"


def _is_share(one: MeasureStanding) -> bool:
    return " - " not in one.name


def needed_of(where: Standing, task: LabelTask) -> Needed | None:
    """Return how many labels would settle it; None if it is settled."""
    if where.stop in ("precision", "verdict", "certain"):
        return None
    if where.forecast is not None and where.forecast > where.left:
        return Needed(None, f"items: only {count(where.left)} of these are left to label")
    if _unit(task) == "item":
        return Needed(where.forecast, "items that label draws, with the outputs of every system")
    return Needed(where.forecast, "labels on items that label draws")


def next_of(where: Standing, task: LabelTask, session: Session, *, pending: int) -> str:
    """Say what to type next: label more, or ask the question with these labels."""
    head, path = session.head, shlex.quote(session.path)
    if where.stop in ("precision", "verdict", "certain", "budget"):
        if head.question == "prevalence" or not where.read.n or not head.source:
            return ""
        return f"Next: {shlex.join(_question(session))}"
    if pending:
        size = pending
        what = f"{count(size)} {_asked(task, size)} for an answer. To write {_them(size)} again:"
    else:
        outputs = int(where.best.live.sum()) if where.best is not None else task.rows.shape[1]
        more = FIRST - where.read.n if where.read.n < FIRST else next_batch(where.progress)
        size = max(1, more) * (outputs if task.rows.shape[1] > 1 else 1)
        what = f"label {count(size)} more:"
    return (
        f"Next: {what} tallystick label --session {path} --next {size} --out batch.csv, fill in"
        " the last column, then --add batch.csv; or label on a page with --open."
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


def _asked(task: LabelTask, size: int) -> str:
    unit = "item" if task.rows.shape[1] == 1 else "output"
    return f"{unit} waits" if size == 1 else f"{unit}s wait"


def _them(size: int) -> str:
    return "it" if size == 1 else "them"


def warnings_of(
    where: Standing, readers: Readers | None, *, noisy: bool, apart: int, pending_after: int
) -> tuple[str, ...]:
    """Return what changes how a sensible reader takes the numbers."""
    found = []
    skips = int(where.read.skipped.sum())
    if skips:
        found.append(
            f"skipped items: {count(skips)}. They count against the answer both ways, so the"
            " intervals are wider"
        )
    if noisy and readers is not None:
        found.append(
            f"readers differ on {count(readers.disagreed)} of {count(readers.twice)} items read"
            " twice. Their errors are larger than a third of the precision asked: have a third"
            " reader settle the disagreements"
        )
    if readers is not None and readers.unresolved:
        found.append(
            f"{count(readers.unresolved)} disagreements are open and count as the average reader"
        )
    if apart:
        found.append(
            f"{count(apart)} labels of unknown origin are counted apart: they are taken as known,"
            " and say nothing about the other items"
        )
    if pending_after:
        found.append(
            f"{count(pending_after)} answers stand after an item without an answer and are not"
            " counted yet. Answer or skip the items in order"
        )
    return tuple(found)
