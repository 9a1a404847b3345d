"""Before anything is labelled: about how many labels each question takes, with and without judges.

If the votes are as good as they look, stratum h holds a share :math:`p_h` of ones (its guess), and
:math:`k` labels fall into it in proportion to (W1). The planned interval at these expected counts
has the half-width that :math:`k` labels are expected to reach. Labels alone are the same with one
stratum. Votes that mislead cost labels, never coverage: the session itself forecasts from its own
labels as soon as it has 20.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, log
from typing import Any, ClassVar

import numpy as np

from tallystick.errors import TallystickError
from tallystick.results import Figure, Result, Unknown, about, count
from tallystick.sampling.label_accuracies import Floats, drawing_probabilities
from tallystick.sampling.label_shares import planned_shares
from tallystick.sampling.label_task import LabelTask, Measure
from tallystick.table import Data, reading_of
from tallystick.verbs.label.begin import label_question

ANYTIME = 1.33
"""An interval that holds whenever you stop took this many times the labels (1.2 to 1.5)."""

_STEPS = 60


@dataclass(frozen=True, kw_only=True)
class LabelPlan:
    """What one number would take.

    Parameters
    ----------
    question, of
        The question, and the number.
    target
        The half-width that is wanted; None for a verdict.
    labels, labels_alone
        About how many labels, with the votes and without; null with the reason if all items would
        not do.
    anytime_labels
        About how many for an interval that holds whenever you stop.
    items
        How many items there are to label.
    curve
        Labels, and the half-width with and without votes.
    """

    question: str
    of: str
    target: float | None
    labels: int | Unknown
    labels_alone: int | Unknown
    anytime_labels: int | Unknown
    items: int
    curve: tuple[tuple[int, float, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelPlanResult(Result):
    """What labels would bring, before any is bought."""

    verb: ClassVar[str] = "label plan"

    plans: tuple[LabelPlan, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per number."""
        return [
            {
                "question": one.question,
                "of": one.of,
                "labels": one.labels,
                "labels alone": one.labels_alone,
                "anytime": one.anytime_labels,
                "items": one.items,
            }
            for one in self.plans
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the half-width by the number of labels, with and without the votes."""
        found = []
        for one in [plan for plan in self.plans if plan.curve][:3]:
            labels = [k for k, _, _ in one.curve]
            columns: dict[str, list[Any]] = {
                "labels": labels * 2,
                "half-width": [w for _, w, _ in one.curve] + [a for _, _, a in one.curve],
                "with": ["votes"] * len(labels) + ["labels alone"] * len(labels),
            }
            roles = {"x": "labels", "y": "half-width", "group": "with"}
            found.append(Figure("curve", f"{one.question}: {one.of}", columns, roles))
        return tuple(found)


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
            task = asked.task(data, asked.options(options if len(questions) == 1 else {}))
        except TallystickError as error:
            if len(questions) == 1:
                raise
            notes.append(f"{name} is left out: {error}")
            continue
        plans += plan_task(name, task, target=target, alpha=alpha)
    if not plans:
        text = "No question fits this table: name the columns of votes (--judges, --models)."
        return LabelPlanResult(
            verdict=text,
            decision="unknowable",
            n_items=data.n_rows,
            plans=(),
            notes=tuple(notes),
            reading=reading_of(data),
        )
    return LabelPlanResult(
        verdict=_verdict(plans),
        n_items=data.n_rows,
        assumptions=("the votes are as good as they look; votes that mislead cost more labels",),
        plans=tuple(plans),
        notes=tuple(notes),
        reading=reading_of(data),
    )


def plan_task(
    question: str, task: LabelTask, *, target: float = 0.05, alpha: float = 0.05
) -> list[LabelPlan]:
    """Return the plan of each number of a task."""
    if task.claim == "best-of":
        unknown = Unknown("the models' labels decide how long a contest takes: begin a session")
        return [
            LabelPlan(
                question=question,
                of=f"best of {len(task.names)}",
                target=None,
                labels=unknown,
                labels_alone=unknown,
                anytime_labels=unknown,
                items=int(np.asarray(task.disagree).sum()),
            )
        ]
    if task.claim in ("classifiers", "judged"):
        return [_sign_plan(question, task, alpha)]
    return [_share_plan(question, task, one, target, alpha) for one in task.measures]


def _sizes(task: LabelTask, measure: Measure) -> Floats:
    """Return how many units of each stratum count for a measure."""
    if measure.cell is None:
        return measure.cell_sizes(task.strata).astype(np.float64)
    of = task.strata.of[measure.cell >= 0]
    return np.bincount(of, minlength=len(task.strata)).astype(np.float64)


def _share_plan(
    question: str, task: LabelTask, measure: Measure, target: float, alpha: float
) -> LabelPlan:
    sizes = _sizes(task, measure)
    n = int(sizes.sum())
    share = float(sizes.sum()) / task.strata.n_items
    # The guess is over all units of a stratum; units outside the measure have value 0.
    per_unit = np.divide(
        measure.guess * task.strata.sizes, sizes, out=np.full(sizes.size, 0.5), where=sizes > 0
    )
    p = np.clip(per_unit, 0.02, 0.98)
    grid = np.unique(np.geomspace(10, max(n - 1, 11), _STEPS).astype(int))
    grid = grid[grid < n]
    spread = np.sqrt(p * (1 - p))
    with_votes = np.array([_half(sizes, p, k * share, spread, alpha) for k in grid])
    whole, mean = np.array([float(n)]), np.array([float((sizes * p).sum() / sizes.sum())])
    alone = np.array([_half(whole, mean, k * share, np.ones(1), alpha) for k in grid])
    labels = _first(grid, with_votes, target, n)
    return LabelPlan(
        question=question,
        of=measure.name,
        target=target,
        labels=labels,
        labels_alone=_first(grid, alone, target, n),
        anytime_labels=labels if isinstance(labels, Unknown) else min(ceil(ANYTIME * labels), n),
        items=n,
        curve=tuple(
            (int(k), float(w), float(a)) for k, w, a in zip(grid, with_votes, alone, strict=True)
        ),
    )


def _half(sizes: Floats, p: Floats, k: float, spread: Floats, alpha: float) -> float:
    """Return the half-width that k labels are expected to reach in these strata."""
    q = drawing_probabilities(sizes, np.where(sizes > 0, spread, 0.0))
    labelled = np.minimum(k * q, sizes)
    # What a full stratum cannot take goes to the others, in proportion to what they have left.
    spare = k - labelled.sum()
    room = sizes - labelled
    if spare > 1e-9 and room.sum() > 0:
        labelled = np.minimum(labelled + room * min(spare / room.sum(), 1.0), sizes)
    found = planned_shares(sizes, labelled, labelled * p, alpha=alpha)
    return float(found.high[0] - found.low[0]) / 2


def _first(grid: Any, widths: Floats, target: float, n: int) -> int | Unknown:
    reached = np.flatnonzero(widths <= target)
    if not reached.size:
        return Unknown(f"not even {count(n)} labels reach ± {100 * target:g} points")
    return int(grid[reached[0]])


def _sign_plan(question: str, task: LabelTask, alpha: float) -> LabelPlan:
    """Return about how many labels a sign takes if the guesses of its strata are right."""
    measure = task.measures[0]
    sizes = task.strata.sizes.astype(np.float64)
    low, high = measure.bounds
    tie = (low + high) / 2
    mean = float((sizes * measure.guess).sum() / sizes.sum())
    lead = abs(mean - tie)
    p = np.clip((measure.guess - low) / (high - low), 0.02, 0.98)
    variance = float((sizes * p * (1 - p)).sum() / sizes.sum()) * (high - low) ** 2
    raw = 0.25 * (high - low) ** 2

    def labels(v: float) -> int | Unknown:
        growth = 0.5 * lead**2 / (v + lead**2)
        if growth < 1e-6:
            return Unknown("the votes see no difference: begin a session to find out")
        return min(ceil(log(2 / alpha) / growth), int(sizes.sum()))

    found = labels(variance)
    return LabelPlan(
        question=question,
        of=measure.name,
        target=None,
        labels=found,
        labels_alone=labels(raw),
        anytime_labels=found,
        items=int(sizes.sum()),
    )


def _verdict(plans: list[LabelPlan]) -> str:
    parts = []
    for one in plans[:4]:
        goal = "a verdict" if one.target is None else f"± {100 * one.target:g} points"
        if isinstance(one.labels, Unknown):
            parts.append(f"{one.question} ({one.of}): {one.labels.reason}.")
            continue
        alone = (
            ""
            if isinstance(one.labels_alone, Unknown)
            else f", {about(one.labels_alone)} without the votes"
        )
        parts.append(f"{one.question} ({one.of}): {about(one.labels)} labels to {goal}{alone}.")
    return " ".join(parts)
