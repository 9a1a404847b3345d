"""Where a session stands: intervals, verdicts, the forecast, and whether to stop."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from tallystick.data.session import Session
from tallystick.results import Interval, Unknown
from tallystick.sampling.labels import (
    Apart,
    BestOf,
    DrawJournal,
    LabelProgress,
    SignVerdict,
    StopReason,
    anytime_share,
    best_of,
    classifier_difference,
    forecast,
    judged_difference,
    rectified_steps,
    share_verdict,
    stop_reason,
    verdict_forecast,
)
from tallystick.sampling.labels.answers import (
    Read,
    apart_answers,
    journal_of,
    measured,
    read_answers,
)
from tallystick.sampling.labels.batches import FIRST
from tallystick.sampling.labels.consensus import Floats
from tallystick.sampling.labels.planned_measure import apart_of, planned_measure
from tallystick.sampling.labels.task import LabelTask, Measure

__all__ = ["MeasureStanding", "Standing", "standing"]


@dataclass(frozen=True, kw_only=True)
class MeasureStanding:
    """What is known of one number.

    Parameters
    ----------
    name
        What it is the number of.
    estimate
        The estimate of the planned interval.
    interval
        Approximate, for a stop at a planned precision.
    anytime_interval
        Holds whenever you stop, whatever you saw.
    limit, verdict
        The claim, and ``above``, ``below`` or None.
    """

    name: str
    estimate: float | Unknown
    interval: Interval | Unknown
    anytime_interval: Interval
    limit: float | None = None
    verdict: str | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Standing:
    """Where a session stands after the answers that may be read.

    Parameters
    ----------
    read
        The answers.
    measures
        What is known of each number.
    winner
        Who is better, or the best within epsilon; None while that is open or not asked.
    certain
        Whether no further label can change the answer.
    progress
        What the stop rules saw.
    stop
        Why to stop, or None to go on.
    forecast
        At most about how many more labels; None where nothing can be forecast.
    left
        How many units can still be drawn.
    best
        Where the contest of several models stands.
    """

    read: Read
    measures: tuple[MeasureStanding, ...]
    winner: str | None
    certain: bool
    progress: LabelProgress
    stop: StopReason | None
    forecast: int | None
    left: int
    best: BestOf | None = None


def standing(session: Session, task: LabelTask) -> Standing:
    """Say where a session stands."""
    read = read_answers(session, task)
    if task.claim == "best-of":
        return _contest(session, task, read)
    journal = journal_of(session, task.strata)
    apart = apart_answers(session, task)
    measures = tuple(_measure(session, task, read, journal, one, apart) for one in task.measures)
    left = task.strata.n_items - session.n_draws

    winner, certain, grown = None, False, None
    if task.claim in ("classifiers", "judged"):
        winner, certain, grown = _sign(session, task, read, journal, apart)
    limits = [one for one in measures if one.limit is not None]
    settled = winner is not None or bool(limits and all(one.verdict for one in limits))
    wanted = session.head.options.get("target")
    progress = LabelProgress(
        labelled=read.n,
        left=left,
        half_width=_half_width(measures),
        target=wanted,
        verdict=settled,
        certain=certain,
        budget=_affordable(session, task.rows.shape[1]),
    )
    return Standing(
        read=read,
        measures=measures,
        winner=winner,
        certain=certain,
        progress=progress,
        stop=stop_reason(progress),
        forecast=_forecast(progress, grown, left),
        left=left,
    )


def _forecast(progress: LabelProgress, grown: int | None, left: int) -> int | None:
    """Return the labels that are missing: to the precision asked, or to the verdict."""
    if progress.verdict or progress.certain or not left:
        return 0
    # Fewer labels than the first batch do not tell how far it is.
    if progress.labelled < FIRST:
        return None
    if progress.target is not None and progress.half_width is not None:
        return forecast(
            progress.labelled,
            progress.half_width,
            progress.target,
            items=progress.labelled + progress.left,
        )
    return grown


def _half_width(measures: tuple[MeasureStanding, ...]) -> float | None:
    """Return the largest half-width: a precision is reached when every number has reached it."""
    widths = [one.interval.width / 2 for one in measures if isinstance(one.interval, Interval)]
    return max(widths) if widths and len(widths) == len(measures) else None


def _measure(
    session: Session,
    task: LabelTask,
    read: Read,
    journal: DrawJournal,
    measure: Measure,
    apart_read: Read,
) -> MeasureStanding:
    low, high = measured(read, measure)
    apart = apart_of(apart_read, measure, task)
    alpha = session.head.alpha

    # Bets aim at the precision of the number itself, so w is divided by its scale (W6, W11).
    width = min(session.head.target / abs(measure.scale), 0.99)
    steps = [
        replace(
            rectified_steps(journal, part, measure.guess, bounds=measure.bounds), half_width=width
        )
        for part in (low, high)
    ]
    anytime = _shown(anytime_share(steps[0], alpha=alpha, skipped=steps[1]), apart, measure)
    verdict = None
    if measure.limit is not None:
        bar = apart.part(measure.mean(measure.limit))
        verdict = share_verdict(steps[0], bar, alpha=alpha, skipped=steps[1]).verdict
    estimate, interval = planned_measure(task, read, measure, apart, alpha=alpha)
    return MeasureStanding(
        name=measure.name,
        estimate=estimate,
        interval=interval,
        anytime_interval=anytime,
        limit=measure.limit,
        verdict=verdict,
    )


def _shown(interval: Interval, apart: Apart, measure: Measure) -> Interval:
    """Return an interval for the mean of the sampled units as one for the number (W11)."""
    whole = apart.interval(interval)
    low, high = sorted((measure.shown(whole.low), measure.shown(whole.high)))
    # A share of some units cannot leave [0, 1], however rough the scale made it.
    if measure.offset == 0 and measure.bounds == (0.0, 1.0):
        low, high = max(low, 0.0), min(high, 1.0)
    return replace(whole, low=min(low, high), high=high)


def _sign(
    session: Session, task: LabelTask, read: Read, journal: DrawJournal, apart: Read
) -> tuple[str | None, bool, int | None]:
    """Return who is better, whether that is certain, and about how many labels are missing."""
    measure, alpha = task.measures[0], session.head.alpha
    judge = classifier_difference if task.claim == "classifiers" else judged_difference
    # Labels that are known apart count too: they move the mean of the rest at which all is even.
    tie = apart_of(apart, measure, task).part(measure.mean(0.0))
    low, high = (
        judge(journal, values, measure.guess, alpha=alpha, tie=tie)
        for values in measured(read, measure)
    )
    # Skips count against whoever is to be named: at the least value for the first, and so on.
    named: SignVerdict = low if low.verdict == "first" else high
    places = {"first": task.names[0], "second": task.names[1], "tie": "neither"}
    agree = low.verdict == "first" or high.verdict == "second" or low.verdict == high.verdict
    winner = places[named.verdict] if agree and named.verdict is not None else None
    e = max(1.0, float(low.first[-1]) if low.first.size else 1.0)
    e = max(e, float(high.second[-1]) if high.second.size else 1.0)
    missing = verdict_forecast(log(min(e, 1e300)), max(low.growth, high.growth), alpha=alpha)
    return winner, bool(winner and low.certain and high.certain), missing if read.n else None


def _contest(session: Session, task: LabelTask, read: Read) -> Standing:
    """Say where a contest of several models stands."""
    assert task.contest is not None
    batch = [b for b, one in enumerate(session.batches) for _ in one.units]
    state = best_of(
        task.contest,
        [unit for one in session.batches for unit in one.units],
        _contest_labels(task, read),
        batch,
        epsilon=task.epsilon,
        alpha=session.head.alpha,
    )
    left = int(state.contested().sum())
    winner = None if state.named is None else task.names[state.named]
    progress = LabelProgress(
        labelled=read.n,
        left=left,
        verdict=winner is not None,
        certain=not left,
        budget=_affordable(session, int(state.live.sum()) if task.rows.shape[1] > 1 else 1),
    )
    return Standing(
        read=read,
        measures=(),
        winner=winner,
        certain=winner is not None and not left,
        progress=progress,
        stop=stop_reason(progress),
        forecast=0 if winner is not None else None,
        left=left,
        best=state,
    )


def _contest_labels(task: LabelTask, read: Read) -> Floats:
    """Return what people said, as the contest reads it."""
    if task.passing is None:
        # No model is right on an item that was skipped, or on which readers disagree for good.
        same = read.answers[:, 0, 0] == read.answers[:, 0, 1]
        return np.where(
            read.skipped | ~same, len(task.classes), np.nan_to_num(read.answers[:, 0, 0])
        )
    passed = np.where(np.isnan(read.answers), np.nan, read.answers == task.passing).mean(axis=2)
    return np.where(read.skipped[:, None], -1.0, passed)


def _affordable(session: Session, asks: int) -> int | None:
    """Return how many draws the budget allows in all, if each further one takes *asks* labels."""
    budget = session.head.budget
    if budget is None:
        return None
    return max(1, session.n_draws + (budget - len(session.asks)) // asks)
