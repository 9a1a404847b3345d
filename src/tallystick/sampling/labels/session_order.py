r"""Who is better, by the labels of a session: one rule, whoever asks.

``label`` asks after every batch, and ``score`` when it reads the session as truth. Both get the
answer from here, so a verdict that one of them gave is never withdrawn by the other. The evidence
is anytime valid: E-values of two systems by (W7), of several by (W8). The largest E-value so far
also gives a p-value that holds whenever one looks,

.. math:: p_{ab} = \min\bigl(1, 1/\max_t E_t(D_{ab} \le 0)\bigr)   \tag{W13}

by Ville's inequality. It is for one direction; twice the smaller of the two is for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from tallystick.data.session import Session
from tallystick.sampling.labels.answers import (
    Read,
    apart_answers,
    journal_of,
    measured,
    read_answers,
)
from tallystick.sampling.labels.batches import verdict_forecast
from tallystick.sampling.labels.best_of import BestOf, best_of
from tallystick.sampling.labels.consensus import Floats
from tallystick.sampling.labels.difference import (
    SignVerdict,
    classifier_difference,
    judged_difference,
)
from tallystick.sampling.labels.planned_measure import apart_of
from tallystick.sampling.labels.task import LabelTask

__all__ = ["NEITHER", "SessionOrder", "session_order"]

NEITHER = "neither"
"""Named where every item is labelled and neither of two is ahead."""


@dataclass(frozen=True, kw_only=True, eq=False)
class SessionOrder:
    """Who is better, as far as the labels that may be read show it.

    Parameters
    ----------
    names
        Who competes.
    winner
        Who is better, the best within *epsilon*, or `NEITHER`; None while that is open.
    certain
        Whether no further label can change the answer.
    live
        Who may still be the best.
    p_values
        Competitors x competitors (W13): how well "a is not better than b" fits the labels.
    labelled, left
        How many units were read, and how many can still be drawn.
    missing
        About how many more would settle it; None where nothing can be forecast.
    epsilon
        How far behind the best the winner may be: 0 for two, who are compared with each other.
    best
        The contest of several, None for two.
    """

    names: tuple[str, ...]
    winner: str | None
    certain: bool
    live: NDArray[np.bool_]
    p_values: Floats
    labelled: int
    left: int
    missing: int | None
    epsilon: float
    best: BestOf | None = None


def session_order(
    session: Session, task: LabelTask, *, read: Read | None = None, alpha: float | None = None
) -> SessionOrder:
    """Say who is better by the labels of a session, for the claims that name somebody.

    Parameters
    ----------
    session, task
        The session, and the task that its draws were made for: ``classifiers``, ``judged`` or
        ``best-of``.
    read
        What may be read of it, if the caller has it already.
    alpha
        One minus the level, by default that of the session. A contest of several has let systems
        leave at its own level and keeps it.
    """
    answers = read_answers(session, task) if read is None else read
    if task.claim == "best-of":
        return _contest(session, task, answers)
    return _sign(session, task, answers, session.head.alpha if alpha is None else alpha)


def _sign(session: Session, task: LabelTask, read: Read, alpha: float) -> SessionOrder:
    """Compare two by the sign of their difference."""
    measure, journal = task.measures[0], journal_of(session, task.strata)
    compare = classifier_difference if task.claim == "classifiers" else judged_difference
    # Labels that are known apart count too: they move the mean of the rest at which all is even.
    tie = apart_of(apart_answers(session, task), measure, task).part(measure.mean(0.0))
    # Skips count against whoever is to be named: at the least value for the first, and so on.
    low, high = (
        compare(journal, values, measure.guess, alpha=alpha, tie=tie)
        for values in measured(read, measure)
    )
    named: SignVerdict = low if low.verdict == "first" else high
    agree = low.verdict == "first" or high.verdict == "second" or low.verdict == high.verdict
    places = {"first": task.names[0], "second": task.names[1], "tie": NEITHER}
    winner = places[named.verdict] if agree and named.verdict is not None else None

    ahead = float(low.first.max(initial=1.0)), float(high.second.max(initial=1.0))
    now = (float(path[-1]) if path.size else 1.0 for path in (low.first, high.second))
    growth = max(low.growth, high.growth)
    missing = verdict_forecast(log(min(max(1.0, *now), 1e300)), growth, alpha=alpha)
    return SessionOrder(
        names=task.names,
        winner=winner,
        certain=bool(winner and low.certain and high.certain),
        live=np.array([winner in (None, NEITHER, name) for name in task.names]),
        p_values=np.array([[1.0, 1 / ahead[0]], [1 / ahead[1], 1.0]]),  # (W13)
        labelled=read.n,
        left=task.strata.n_items - session.n_draws,
        missing=missing if read.n else None,
        epsilon=0.0,
    )


def _contest(session: Session, task: LabelTask, read: Read) -> SessionOrder:
    """Say where a contest of several stands."""
    assert task.contest is not None
    state = best_of(
        task.contest,
        [unit for one in session.batches for unit in one.units],
        _contest_labels(task, read),
        [b for b, one in enumerate(session.batches) for _ in one.units],
        epsilon=task.epsilon,
        alpha=session.head.alpha,
    )
    left = int(state.contested().sum())
    return SessionOrder(
        names=task.names,
        winner=None if state.named is None else task.names[state.named],
        certain=state.named is not None and not left,
        live=state.live,
        p_values=np.exp(-np.maximum(state.log_ahead, 0.0)),  # (W13)
        labelled=read.n,
        left=left,
        missing=0 if state.named is not None else None,
        epsilon=task.epsilon,
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
