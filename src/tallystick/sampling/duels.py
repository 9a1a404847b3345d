r"""Which of two is better: labels only where it matters, and a sign that holds whenever you stop.

*Two classifiers.* The items are the M disagreements: elsewhere both are right or both are wrong.
The value is 1 if the first is right, 0 if the second is, and 1/2 if neither is, so the first is
better if the mean is above 1/2. Items are drawn uniformly; strata (four slices by the guess that
the first is right) only improve the guess. Two e-processes are averaged, one on the values as they
are (g = 0) and one on the rectified values (W3),

.. math:: E = \tfrac12 E_{raw} + \tfrac12 E_{rectified}   \tag{W7}

because a guess that misleads costs the second much and the first nothing.

*Two systems whose outputs were judged.* The items are all N, the value is d = -1, 0 or 1 (a person
prefers B, neither, A), strata are the values of (votes for A - votes for B), and items are drawn by
(W1) with the spread :math:`s_h^2 = (\sum d^2 + 1.6)/(k + 4) - (\sum d/(k + 4))^2`. Only the
rectified process is used: mixing in the raw one decided .46 instead of .59 of pairs at a difference
of .03.

Both bet by (W5) against the mean of a tie, and stop at :math:`2/\alpha`, or when the items that are
left can not turn the sign. The wrong sign is called with probability at most :math:`\alpha/2`.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick.errors import InputError
from tallystick.results import Needed, count
from tallystick.sampling.bets import BetEvidence, evidence, rectified_steps
from tallystick.sampling.contest import BestOf, best_of
from tallystick.sampling.draws import GUESS_FLOOR, DrawJournal, LabelStrata, rank_slices
from tallystick.sampling.planned import apart_of
from tallystick.sampling.stopping import verdict_forecast
from tallystick.sampling.tasks import (
    LabelTask,
    Read,
    apart_answers,
    journal_of,
    measured,
    read_answers,
)
from tallystick.sampling.votes import Floats, Ints
from tallystick.table.session import Session

SLICES = 4
"""Slices of the disagreements by the guess that the first classifier is right."""
TIMID = 0.25
"""The gambler against the current estimate stakes this share of the bet."""
SMALLEST_LEAD = {"classifiers": 0.05, "judged": 0.03}
"""Bets are made as if the lead were at least this large."""


def disagreement_strata(
    first: ArrayLike, second: ArrayLike, posterior: ArrayLike
) -> tuple[LabelStrata, Floats]:
    """Return strata of the items on which two classifiers differ, and the guess in each.

    Items on which they agree are outside. The guess of the value of an item is
    P(first right) + (1 - P(first right) - P(second right))/2.

    Parameters
    ----------
    first, second
        The class that each gives to each item; -1 for no answer, which is always wrong.
    posterior
        Items x classes, from all the votes there are, without labels.

    Examples
    --------
    >>> half = np.full((40, 2), 0.5)
    >>> strata, guess = disagreement_strata([0] * 40, [0] * 20 + [1] * 20, half)
    >>> strata.sizes.tolist(), guess.tolist()
    ([20], [0.5])
    """
    a, b = np.asarray(first, dtype=np.int64), np.asarray(second, dtype=np.int64)
    table = np.asarray(posterior, dtype=np.float64)
    apart = np.flatnonzero(a != b)
    if not apart.size:
        raise InputError("the two classifiers never disagree: there is nothing to label")

    right = [np.where(of[apart] >= 0, table[apart, of[apart]], 0.0) for of in (a, b)]
    guess = right[0] + (1 - right[0] - right[1]) / 2
    part = rank_slices(guess, slices=SLICES, least=1)
    of = np.full(a.size, -1)
    of[apart] = part
    mean = np.bincount(part, weights=guess) / np.bincount(part)
    mean = np.clip(mean, GUESS_FLOOR, 1 - GUESS_FLOOR)
    rows = np.column_stack((1 - mean, mean))
    return LabelStrata(of=of, side=(mean > 0.5).astype(np.int64), guess=rows), mean


def gap_strata(
    votes_a: ArrayLike, votes_b: ArrayLike, *, judges: int
) -> tuple[LabelStrata, Floats]:
    """Return strata by how many more votes A has than B, and the guess of the difference in each.

    For two systems whose outputs were both judged: the guess is the vote difference over the
    number of judges.

    >>> strata, guess = gap_strata([3, 0, 3, 1], [0, 0, 0, 2], judges=3)
    >>> strata.of.tolist(), guess.round(2).tolist()
    ([2, 1, 2, 0], [-0.33, 0.0, 1.0])
    """
    gap = np.asarray(votes_a, dtype=np.int64) - np.asarray(votes_b, dtype=np.int64)
    values, place = np.unique(gap, return_inverse=True)
    guess = values / judges
    rows = np.column_stack(((1 - guess) / 2, (1 + guess) / 2))
    side = (values > 0).astype(np.int64)
    return LabelStrata(of=place, side=side, guess=rows), guess


def classifier_difference(
    journal: DrawJournal,
    values: tuple[ArrayLike, ArrayLike],
    guess: ArrayLike,
    *,
    alpha: float = 0.05,
    tie: float = 0.5,
) -> BetEvidence:
    """Say which of two classifiers is better, from labels on their disagreements.

    Parameters
    ----------
    journal
        Uniform draws from the strata of `disagreement_strata` (`uniform_spread`).
    values
        1 if the first is right, 0 if the second is, 1/2 if neither is; in draw order, with skips at
        the least value and at the largest.
    guess
        The guess of the value in each stratum.
    alpha
        One minus the level.
    tie
        The mean of the items that are drawn from at which both are equally good: another one than
        1/2 where labels are known apart from them.

    Examples
    --------
    >>> from tallystick.sampling.draws import draw_batch
    >>> strata, guess = disagreement_strata([0] * 200, [1] * 200, np.full((200, 2), 0.5))
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=30, spread=[1.0], rng=1)
    >>> found = classifier_difference(journal, ([1.0] * 30, [1.0] * 30), guess)
    >>> found.verdict, found.items - found.labelled, round(float(found.above[6]), 1)
    ('above', 170, 30.6)
    """
    low, high = (rectified_steps(journal, part, guess) for part in values)
    nothing = np.zeros(journal.sizes.size)
    plain = [rectified_steps(journal, part, nothing, learn=False) for part in values]
    return evidence(
        low,
        tie,
        alpha=alpha,
        skipped=high,
        raw=(plain[0], plain[1]),
        start=tie,
        bets=(SMALLEST_LEAD["classifiers"], TIMID),
    )


def judged_difference(
    journal: DrawJournal,
    values: tuple[ArrayLike, ArrayLike],
    guess: ArrayLike,
    *,
    alpha: float = 0.05,
    tie: float = 0.0,
) -> BetEvidence:
    """Say which of two systems people prefer, from labels on outputs that judges compared.

    Parameters
    ----------
    journal
        Draws from the strata of `gap_strata` by `gap_spread`.
    values
        1 if a person prefers the first, -1 the second, 0 neither; with skips at either end.
    guess
        The vote difference over the number of judges in each stratum, or any better guess.
    alpha, tie
        As in `classifier_difference`; both are even at 0.

    Examples
    --------
    >>> from tallystick.sampling.draws import draw_batch
    >>> strata, guess = gap_strata([2] * 60 + [0] * 40, [0] * 60 + [2] * 40, judges=2)
    >>> start = DrawJournal.empty(strata.sizes)
    >>> journal = draw_batch(strata, start, size=60, spread=[1.0, 1.0], rng=1)
    >>> values = np.where(journal.item < 60, 1.0, -1.0)
    >>> judged_difference(journal, (values, values), guess).verdict
    'above'
    """
    low, high = (rectified_steps(journal, part, guess, bounds=(-1.0, 1.0)) for part in values)
    bets = SMALLEST_LEAD["judged"], TIMID
    return evidence(low, tie, alpha=alpha, skipped=high, start=tie, bets=bets)


def gap_spread(stratum: Ints, values: Floats, n_strata: int) -> Floats:
    """Return the spreads of judged outputs, for values -1, 0 and 1.

    >>> gap_spread(np.array([0, 0]), np.array([1.0, 1.0]), 2).round(4).tolist()
    [0.6992, 0.6325]
    """
    k = np.bincount(stratum, minlength=n_strata) + 4
    total = np.bincount(stratum, weights=values, minlength=n_strata)
    squares = np.bincount(stratum, weights=values**2, minlength=n_strata)
    return np.asarray(np.sqrt((squares + 1.6) / k - (total / k) ** 2))


# Who is better, by the labels of a session: one rule, whoever asks.
#
# ``label`` asks after every batch, and ``score`` when it reads the session as truth. Both get the
# answer from here, so a verdict that one of them gave is never withdrawn by the other. The evidence
# is anytime valid: E-values of two systems by (W7), of several by (W8). The largest E-value so far
# also gives a p-value that holds whenever one looks,
#
# .. math:: p_{ab} = \min\bigl(1, 1/\max_t E_t(D_{ab} \le 0)\bigr)   \tag{W13}
#
# by Ville's inequality. It is for one direction; twice the smaller of the two is for both.


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

    def sure(self, alpha: float) -> str:
        """Say how sure the winner is."""
        return "certain, on these items" if self.certain else how_sure(alpha)


def how_sure(alpha: float) -> str:
    """Say what evidence is worth that holds at any stopping time."""
    return f"{100 * (1 - alpha):g}%, whenever you stop"


def needed_draws(missing: int | None, left: int, *, items: bool = True) -> Needed:
    """Return how many more draws would settle what is open, of those that are left."""
    if missing is not None and missing > left:
        return Needed(None, f"items: only {count(left)} of these are left to label")
    if items:
        return Needed(missing, "items that label draws, with the outputs of every system")
    return Needed(missing, "labels on items that label draws")


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
    found = compare(journal, measured(read, measure), measure.guess, alpha=alpha, tie=tie)
    places = {"above": task.names[0], "below": task.names[1], "even": NEITHER}
    winner = None if found.verdict is None else places[found.verdict]

    ahead = float(found.above.max(initial=1.0)), float(found.below.max(initial=1.0))
    now = (float(path[-1]) if path.size else 1.0 for path in (found.above, found.below))
    missing = verdict_forecast(log(min(max(1.0, *now), 1e300)), found.growth, alpha=alpha)
    return SessionOrder(
        names=task.names,
        winner=winner,
        certain=found.certain,
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
