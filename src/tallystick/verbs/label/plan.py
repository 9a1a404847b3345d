"""Before anything is labelled: about how many labels a question takes.

Nobody knows how well the judges agree with people before people have said something. What can be
measured is how well the judges agree with one another. So each judge in turn stands in for the
person: a session is run on the other judges' votes, with its answers, until it stops. The numbers
of labels that these sessions needed are the forecast and its range. With a single judge nothing can
be told yet.

Judges who err on their own are worse stand-ins than people, and judges who err together are better
ones. So the votes themselves are asked too: with answers drawn from what their consensus makes of
each stratum, as if they were as good as they look. The forecast lies between the two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from statistics import median
from typing import Any, ClassVar

import numpy as np

from tallystick._rng import as_rng
from tallystick.errors import TallystickError
from tallystick.results import Result, Unknown, about, count
from tallystick.sampling.stopping import next_batch
from tallystick.sampling.tasks import LabelTask
from tallystick.table import Capability, Data, Label, reading_of
from tallystick.table.session import RANDOM, Session, SessionHead
from tallystick.verbs.label.begin import label_question, labels_in, options_of, task_of
from tallystick.verbs.label.work import Standing, drawn_event, standing

MOST_JUDGES, RUNS = 5, 2
"""Judges that stand in for a person, and how many sessions each of them runs."""
MOST = 2_000
"""A rehearsal that has not stopped by then says "more than"."""
WIDE = 2.25
"""Stand-ins and believed answers that differ by more make no forecast: the middle could be wrong by
more than a factor of 1.5.
"""
FAR = 4.0
"""A range whose ends differ by more is no forecast either."""
CAUTION = 1.25
"""People agree with judges less, or more, than judges with one another: the range is widened."""


@dataclass(frozen=True, kw_only=True)
class LabelPlan:
    """What one question would take.

    Parameters
    ----------
    question, of
        The question, and the numbers that it is about.
    target
        The half-width that is wanted; None for a verdict.
    labels
        About how many labels, or why that cannot be told yet.
    low, high
        The range of the forecast; null where there is none.
    items
        How many items there are to label.
    """

    question: str
    of: str
    target: float | None
    labels: int | Unknown
    low: int | Unknown
    high: int | Unknown
    items: int


@dataclass(frozen=True, kw_only=True)
class LabelPlanResult(Result):
    """What labels would bring, before any is bought."""

    verb: ClassVar[str] = "label plan"

    plans: tuple[LabelPlan, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per question."""
        return [dict(vars(one)) for one in self.plans]


def plan(
    data: Data,
    questions: tuple[str, ...],
    *,
    target: float = 0.05,
    alpha: float = 0.05,
    **options: Any,
) -> LabelPlanResult:
    """Say about how many labels each question takes on these items.

    Parameters
    ----------
    data
        The table, read with the columns of the votes.
    questions
        Which questions; those that do not fit the table are left out if several are asked.
    target
        The half-width that is wanted.
    alpha
        One minus the level.
    **options
        Fields of the question, if one is asked.
    """
    plans: list[LabelPlan] = []
    notes = []
    for name in questions:
        try:
            asked = label_question(name)
            chosen = options_of(asked, options if len(questions) == 1 else {})
            plans.append(_plan(data, asked, chosen, target, alpha))
        except TallystickError as error:
            if len(questions) == 1:
                raise
            notes.append(f"{name} is left out: {error}")
    nothing = "No question fits this table: name the columns of votes (--judges, --models)."
    return LabelPlanResult(
        verdict=" ".join(map(_said, plans)) or nothing,
        decision="decided" if plans else "unknowable",
        n_items=data.n_rows,
        assumptions=("people agree with the judges about as well as the judges with one another",),
        plans=tuple(plans),
        notes=tuple(notes),
        reading=reading_of(data),
    )


def _plan(
    data: Data, asked: Capability[Result], chosen: Any, target: float, alpha: float
) -> LabelPlan:
    """Return the plan of one question."""
    task = task_of(asked, data, chosen)
    share = task.claim == "share"
    wanted = target if share and not any(one.limit is not None for one in task.measures) else None
    head = SessionHead(
        question=asked.verb,
        options={"target": wanted, **({"rule": RANDOM} if share else {})},
        classes=task.classes,
        scale=task.scale,
        target=target,
        alpha=alpha,
    )
    found = []
    for rest in _stand_ins(data, asked):
        own = task_of(
            asked, replace(rest, roles=replace(rest.roles, truth=data.roles.truth)), chosen
        )
        answers = labels_in(rest, own)
        found += [rehearse(own, answers, replace(head, seed=seed))[0] for seed in range(RUNS)]
    believed = [
        rehearse(task, _believed(task, seed), replace(head, seed=seed))[0]
        for seed in range(RUNS if found and share else 0)
    ]
    labels, low, high = _forecast(found, believed)
    return LabelPlan(
        question=asked.verb,
        of=", ".join(task.names or (one.name for one in task.measures)),
        target=wanted,
        labels=labels,
        low=low,
        high=high,
        items=task.strata.n_items,
    )


def _stand_ins(data: Data, asked: Capability[Result]) -> list[Data]:
    """Return the data once for each voter who can stand in for a person: its votes as the truth."""
    group = "weak" if asked.verb == "bound" else asked.door.want or "judges"
    voters: Sequence[str] = getattr(data.roles, group)
    if len(voters) < 2 or group == "models":
        return []
    found = []
    for one in voters[:MOST_JUDGES]:
        rest: Any = {group: tuple(name for name in voters if name != one), "truth": one}
        found.append(replace(data, roles=replace(data.roles, **rest)))
    return found


def _believed(task: LabelTask, seed: int) -> dict[int, Label]:
    """Return answers drawn from what the votes make of each unit."""
    units, rng = np.flatnonzero(task.strata.of >= 0), as_rng(seed)
    rows = task.rows[units, 0].tolist()
    if task.scale is not None and task.believed is not None:
        low, high = task.scale
        mean, place, spread = task.believed
        grade = mean[place[units]] + spread * rng.standard_normal(units.size)
        grades = low + (high - low) * np.clip(np.nan_to_num(grade, nan=0.5), 0.0, 1.0)
        return dict(zip(rows, grades.tolist(), strict=True))
    upto = np.cumsum(task.strata.guess, axis=1)[task.strata.of[units]]
    codes = (rng.random(units.size)[:, None] > upto / upto[:, -1:]).sum(axis=1)
    return {row: task.classes[code] for row, code in zip(rows, codes.tolist(), strict=True)}


def _forecast(
    found: list[int | None], believed: list[int | None]
) -> tuple[int | Unknown, int | Unknown, int | Unknown]:
    """Return about how many labels, and the range; None stands for a session that did not end."""
    ended = sorted(one for one in (*found, *believed) if one is not None)
    if not found or len(ended) < len(found) + len(believed):
        reason = _cannot(
            f"a rehearsal had not stopped after {count(MOST)} labels"
            if found
            else "with fewer than two judges nothing shows how well they agree"
        )
        return reason, reason, reason
    low, high = max(1, round(ended[0] / CAUTION)), round(ended[-1] * CAUTION)
    parts = [median(one for one in part if one is not None) for part in (found, believed) if part]
    least, most = (min(parts), max(parts)) if believed else (ended[0], ended[-1])
    if most > WIDE * max(least, 1) or high > FAR * low:
        return _cannot(f"judged by one another, {count(low)} to {count(high)}"), low, high
    return round(prod(parts) ** (1 / len(parts))), low, high


def _cannot(why: str) -> Unknown:
    return Unknown(f"cannot tell yet: {why}. The session forecasts from its own first 20 labels")


def rehearse(
    task: LabelTask,
    labels: Mapping[int, Label],
    head: SessionHead,
    *,
    most: int = MOST,
    step: float = 0.1,
) -> tuple[int | None, Standing]:
    """Run a session with these answers; return its labels (None: more than *most*) and its end.

    Parameters
    ----------
    task
        What is asked.
    labels
        Row to answer; a row without one is skipped.
    head
        How the session is run.
    most
        Labels after which it is given up.
    step
        Batches are at least this share of what was labelled: a forecast need not be better. 0 runs
        the session as it would be run.
    """
    session = Session(path="plan", head=head)
    while True:
        where = standing(session, task)
        if where.stop is not None or len(session.asks) >= most:
            return (None if where.stop is None else len(session.asks)), where
        size = max(next_batch(where.progress), int(step * where.read.n))
        event = drawn_event(session, task, where, None, min(size, where.progress.left))
        asks = session.then([event]).asks[len(session.asks) :]
        reader = head.readers[0]
        answers = [
            {"answer": one.number, "reader": reader, "label": labels[one.row]}
            if one.row in labels
            else {"skip": one.number, "reader": reader}
            for one in asks
        ]
        session = session.then([event, *answers])


def _said(one: LabelPlan) -> str:
    goal = "a verdict" if one.target is None else f"± {100 * one.target:g} points"
    if isinstance(one.labels, Unknown):
        return f"{one.question} ({one.of}), {goal}: {one.labels.reason}."
    return (
        f"{one.question} ({one.of}): {about(one.labels)} labels to {goal}"
        f" ({one.low} to {one.high})."
    )
