r"""Which of k models is the best, or within ε of it: labels only where the candidates differ.

Live are the models that may still be the best; C are the unlabelled items on which the live models
do not all agree. Items are drawn uniformly from C. For each ordered pair of live models, with
:math:`L_{ab}` the sum of the differences d (1 if only a is right, -1 if only b is) over the
labelled items and :math:`g_{ab}` their guess, a draw gives

.. math:: Z_{ab} = \frac{L_{ab} + \sum_C g_{ab} + |C| (d - g_{ab})}{N}   \tag{W8}

whose expectation is the difference :math:`D_{ab}` of the two accuracies on all N items: outside C
the live models agree, so d is 0 there. Bets as in (W5), with leads of at least .03, cut at
:math:`.75/(m - low)`, :math:`low = (L_{ab} + \sum_C g_{ab} + |C| \min(0, \min_i(-1 - g_i)))/N`.

Model b leaves when a live a has :math:`E(D_{ab} \le 0) \ge 2(k-1)/\alpha`. Model a is named when
:math:`E(D_{ab} \le -\varepsilon) \ge 2(k-1)/\alpha` for every live b. The model that is named fails
to be within ε of the best with probability at most α: the best is thrown out with at most α/2, and
a model more than ε behind it is named with at most α/2.

*Systems whose outputs people grade* (`judged_contest`): an item is labelled for all live systems at
once, d is 1 if a person passes the output of a alone, C is every item that is not labelled, and
:math:`g_{ab}` is the difference of the pass rates in the strata of the two outputs, learnt from the
labels. An item that a person skipped counts as d = -1 for every ordered pair, so it speaks against
whoever is to be named.

Models leave, and C changes with them, only at the end of a batch, since a batch was drawn uniformly
from the C of its beginning. Each item leaves C when it is drawn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.sampling.bets import CUT, PRIOR_LABELS, SLACK
from tallystick.sampling.votes import AnyInts, Floats, Ints
from tallystick.table.session_rows import distinct_rows

SMALLEST_LEAD, TIMID = 0.03, 0.25
"""Bets are made as if leads were at least this large; a bet against the estimate is a quarter."""


@dataclass(frozen=True, kw_only=True, eq=False)
class BestOf:
    """Where the contest stands after some batches.

    Parameters
    ----------
    contest
        The models' answers.
    live
        Which models may still be the best.
    named
        The model that is within ε of the best, or None while that is open.
    drawn
        The labelled items, in draw order.
    log_ahead, log_near
        Models x models: the largest log of E(D_ab <= 0) and of E(D_ab <= -ε) so far.
    counts
        Strata x classes: the labels so far.
    right, skipped
        How many labelled items each model has right, and how many a person skipped.
    total, scatter
        Sums behind the mean and variance (W4) of each pair.
    log_e
        The two log e-values of each pair now.
    alpha, epsilon
        The level, and how far behind the best is good enough.
    """

    contest: Contest
    live: NDArray[np.bool_]
    named: int | None
    drawn: Ints
    log_ahead: Floats
    log_near: Floats
    counts: Floats
    right: Floats
    skipped: int
    total: Floats
    scatter: Floats
    log_e: Floats
    alpha: float
    epsilon: float

    @property
    def threshold(self) -> float:
        """The log e-value at which a pair is settled."""
        return float(np.log(2 * (self.contest.n_models - 1) / self.alpha))

    def contested(self) -> Ints:
        """Return, for each cell of the contest, how many items of C it holds."""
        return self.contest.contested(self.live, self.drawn)

    def shares(self) -> Floats:
        """Return strata x classes: the guess, moved by the labels so far."""
        labels = self.counts + PRIOR_LABELS * self.contest.guess
        return np.asarray(labels / (self.counts.sum(axis=1, keepdims=True) + PRIOR_LABELS))


def start(contest: Contest, *, epsilon: float = 0.02, alpha: float = 0.05) -> BestOf:
    """Return the contest before any label.

    >>> from tallystick.sampling.contest import contest_of
    >>> answers = [[0, 0], [1, 0], [0, 1], [1, 1]]
    >>> state = start(contest_of(answers, [0] * 4, guess=[[0.5, 0.5]]))
    >>> int(state.contested().sum()), state.named
    (2, None)
    """
    k = contest.n_models
    square = np.zeros((k, k))
    state = BestOf(
        contest=contest,
        live=np.ones(k, dtype=np.bool_),
        named=None,
        drawn=np.empty(0, np.int64),
        log_ahead=square,
        log_near=square,
        counts=np.zeros(contest.guess.shape),
        right=np.zeros(k),
        skipped=0,
        total=square,
        scatter=np.full((k, k), 0.25),
        log_e=np.zeros((2, k, k)),
        alpha=alpha,
        epsilon=epsilon,
    )
    return _settle(state)


def contested_draws(state: BestOf, *, size: int, rng: Rng) -> Ints:
    """Return the next items to label: uniform draws from C, in draw order.

    >>> from tallystick.sampling.contest import contest_of
    >>> answers = np.tile([[0, 0], [1, 0], [0, 1], [1, 1]], (25, 1))
    >>> state = start(contest_of(answers, [0] * 100, guess=[[0.5, 0.5]]))
    >>> items = contested_draws(state, size=3, rng=1)
    >>> (items % 4).tolist()
    [2, 1, 2]
    """
    items = state.contest.items(state.live, state.drawn)
    return np.asarray(as_rng(rng).choice(items, size=min(size, items.size), replace=False))


def advance(state: BestOf, items: ArrayLike, labels: ArrayLike) -> BestOf:
    """Return the contest after the labels of one batch, or of the part of it that was read.

    Parameters
    ----------
    state
        Where it stood when the batch was drawn.
    items
        The batch as it was drawn by `contested_draws`, in draw order.
    labels
        What people said of each, as the contest reads it. Models: the true class, the number of
        classes itself where no model is right. Systems: items x systems of 1, 0 and 1/2; NaN for
        an output that nobody was asked about, and a row of -1 for an item that was skipped.

    Examples
    --------
    >>> from tallystick.sampling.contest import contest_of
    >>> answers = np.tile([[0, 1, 1], [1, 0, 1]], (60, 1))
    >>> state = start(contest_of(answers, [0] * 120, guess=[[0.5, 0.5]]))
    >>> while state.named is None:
    ...     batch = contested_draws(state, size=10, rng=len(state.drawn))
    ...     state = advance(state, batch, answers[batch, 0])
    >>> state.named, len(state.drawn)
    (0, 20)
    """
    batch = np.asarray(items, dtype=np.int64)
    contest, truth = state.contest, np.asarray(labels, dtype=np.float64)
    if not np.isin(batch, contest.items(state.live, state.drawn)).all():
        raise InputError("items must be unlabelled and contested: draw them with contested_draws")

    # Frozen until the batch ends: the chance of everybody on every item, and its worst case.
    held, rho = state.contested(), contest.chance(state.shares())
    left, expected = float(held.sum()), held @ rho
    worst = contest.largest_gap(rho, held > 0)

    right, skipped, total, scatter = state.right, state.skipped, state.total, state.scatter
    log_e, peak = state.log_e, np.stack((state.log_ahead, state.log_near))
    # Who has left is not labelled any more: from then on its pairs are no e-processes.
    both = state.live[:, None] & state.live[None, :]
    for t, (item, label) in enumerate(zip(batch.tolist(), truth, strict=True), state.drawn.size):
        chance = rho[contest.cell[item]]
        hit = contest.hit(item, label, chance)
        base = _gaps(right + expected) - skipped
        d = -1.0 if hit is None else _gaps(hit)  # a skip speaks against everybody
        z = (base + left * (d - _gaps(chance))) / contest.n_items  # (W8)
        low = (base + left * np.minimum(0.0, -1 - worst)) / contest.n_items
        log_e = log_e + _log_growth(z, low, total / (t + 1), scatter / (t + 1), state.epsilon)
        peak = np.where(both, np.maximum(peak, log_e), peak)

        total = total + z
        scatter = scatter + (z - total / (t + 2)) ** 2
        expected, left = expected - chance, left - 1
        right, skipped = (right, skipped + 1) if hit is None else (right + hit, skipped)

    return _settle(
        replace(
            state,
            drawn=np.concatenate((state.drawn, batch)),
            counts=contest.learnt(state.counts, batch, truth),
            right=right,
            skipped=skipped,
            total=total,
            scatter=scatter,
            log_e=log_e,
            log_ahead=peak[0],
            log_near=peak[1],
        )
    )


def best_of(
    contest: Contest,
    items: ArrayLike,
    labels: ArrayLike,
    batch: ArrayLike,
    *,
    epsilon: float = 0.02,
    alpha: float = 0.05,
) -> BestOf:
    """Return the contest after a whole journal: the same as `advance`, batch by batch.

    Labels after the batch that named a model are not read.

    Parameters
    ----------
    contest, epsilon, alpha
        As in `start`.
    items, labels, batch
        One entry per draw, in draw order; fewer labels than items are fine.

    Examples
    --------
    >>> from tallystick.sampling.contest import contest_of
    >>> contest = contest_of([[0, 1]] * 30, [0] * 30, guess=[[0.5, 0.5]])
    >>> best_of(contest, range(20), [0] * 16, [0] * 10 + [1] * 10).named
    0
    """
    order, number = np.asarray(items, dtype=np.int64), np.asarray(batch, dtype=np.int64)
    truth = np.asarray(labels)
    state = start(contest, epsilon=epsilon, alpha=alpha)
    for one in np.unique(number[: len(truth)]):
        if state.named is not None:
            break
        part = np.flatnonzero(number[: len(truth)] == one)
        state = advance(state, order[part], truth[part])
    return state


def _log_growth(z: Floats, low: Floats, mean: Floats, variance: Floats, epsilon: float) -> Floats:
    """Return what one draw adds to log E(D <= 0) and log E(D <= -ε); infinite if impossible."""
    grown = np.empty((2, *z.shape))
    for row, m in enumerate((0.0, -epsilon)):
        e = np.maximum(np.abs(mean - m), SMALLEST_LEAD)
        bet = e / (variance + e**2) * np.where(mean >= m, 1.0, TIMID)  # (W5)
        risk = m - low
        cut = np.divide(CUT, risk, out=np.full_like(risk, np.inf), where=risk > 0)
        grown[row] = np.where(risk < -SLACK, np.inf, np.log1p(np.minimum(bet, cut) * (z - m)))
    return grown


def _settle(state: BestOf) -> BestOf:
    """Let models leave and name one, as the batch ends."""
    live = state.live.copy()
    beaten = ((state.log_ahead >= state.threshold) & live[:, None]).any(axis=0)
    if (live & ~beaten).any():  # evidence that throws out everybody contradicts itself
        live &= ~beaten
    state = replace(state, live=live)

    near = (state.log_near >= state.threshold) | ~live | np.eye(live.size, dtype=np.bool_)
    sure = live & near.all(axis=1)
    if live.sum() == 1 or sure.any():
        candidates = sure if sure.any() else live
    elif not state.contested().any():
        candidates = live  # nothing is left to label: the counts themselves decide
    else:
        return replace(state, named=None)
    return replace(state, named=int(np.where(candidates, _scores(state), -np.inf).argmax()))


def _scores(state: BestOf) -> Floats:
    """Return what is expected of each model: labelled items it has right, and the guess elsewhere.

    Items outside C count alike for all live models, so they are left out.
    """
    return np.asarray(state.right + state.contested() @ state.contest.chance(state.shares()))


def _gaps(values: Floats) -> Floats:
    return np.asarray(values[:, None] - values[None, :])


# Who competes for the first place: k models by their answers, or k systems by their outputs.


@dataclass(frozen=True, kw_only=True, eq=False)
class Contest:
    """Items sorted into cells, so that a million of them cost no more than their cells.

    *Models* give each item an answer, and only items on which the live models differ need a label.
    *Systems* have outputs that people grade (*judged*): any item may tell two of them apart, and
    what judges made of an output only says how likely it is to pass.

    Parameters
    ----------
    cell
        The cell of each item.
    answers
        Cells x competitors: the class with which a competitor is right, -1 for none.
    stratum
        Cells x competitors: the stratum that says how likely that class is. Strata of systems
        belong to one system each, since the same votes mean different things on different systems.
    sizes
        How many items each cell holds.
    guess
        Strata x classes: the share of each class that the votes lead one to expect.
    judged
        Whether people grade the outputs of systems.
    """

    cell: AnyInts
    answers: Ints
    stratum: Ints
    sizes: Ints
    guess: Floats
    judged: bool = False

    @property
    def n_items(self) -> int:
        """How many items there are, N."""
        return int(self.cell.size)

    @property
    def n_models(self) -> int:
        """How many compete, k."""
        return int(self.answers.shape[1])

    def contested(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return, for each cell, how many items of C it holds."""
        left = self.sizes - np.bincount(self.cell[drawn], minlength=self.sizes.size)
        mine = self.answers[:, live]
        return np.asarray(left if self.judged else left * (mine != mine[:, :1]).any(axis=1))

    def items(self, live: NDArray[np.bool_], drawn: Ints) -> Ints:
        """Return the items of C."""
        keep = (self.contested(live, drawn) > 0)[self.cell]
        keep[drawn] = False
        return np.flatnonzero(keep)

    def chance(self, p: Floats) -> Floats:
        """Return cells x competitors: the chance that each is right, given class shares *p*."""
        right = p[self.stratum, np.maximum(self.answers, 0)]
        return np.asarray(np.where(self.answers >= 0, right, 0.0))

    def hit(self, item: int, label: Floats, chance: Floats) -> Floats | None:
        """Return 1 for everybody who is right on an item; None where a person skipped it.

        A system that has left counts with its guess, which adds nothing.
        """
        if not self.judged:
            return np.asarray(self.answers[self.cell[item]] == label, dtype=np.float64)
        return None if (label < 0).any() else np.where(np.isnan(label), chance, label)

    def learnt(self, counts: Floats, items: Ints, labels: Floats) -> Floats:
        """Return the labels of each class in each stratum, with these added.

        Readers who disagree count half for each; a label outside the classes teaches nothing.
        """
        found, strata = counts.copy(), self.stratum[self.cell[items]]
        if self.judged:
            known = ~np.isnan(labels) & (labels >= 0)
            np.add.at(found[:, 1], strata[known], labels[known])
            np.add.at(found[:, 0], strata[known], 1 - labels[known])
            return found
        codes = labels.astype(np.int64)
        known = codes < counts.shape[1]
        np.add.at(found, (strata[known, 0], codes[known]), 1.0)
        return found

    def largest_gap(self, rho: Floats, cells: NDArray[np.bool_]) -> Floats:
        """Return competitors x competitors: the largest guess of d where both may differ.

        (W8) needs it for the least value that Z can have: d is at least -1 where both differ, and 0
        elsewhere.
        """
        if self.judged:  # at most one's best stratum less the other's worst
            return np.asarray(rho.max(axis=0)[:, None] - rho.min(axis=0)[None, :])
        k = self.n_models
        gap = np.full((k, k), -np.inf)
        mine, chance = self.answers[cells], rho[cells]
        for a in range(k):
            differ = mine[:, a, None] != mine
            lead = np.where(differ, chance[:, a, None] - chance, -np.inf)
            gap[a] = lead.max(axis=0, initial=-np.inf)
        return np.where(np.isneginf(gap), -1.0, gap)  # never: -1 - gap = 0, nothing can change


def contest_of(answers: ArrayLike, stratum: ArrayLike, *, guess: ArrayLike) -> Contest:
    """Return the contest of some models on some items.

    Parameters
    ----------
    answers
        Items x models of class codes; -1 for no answer, which is always wrong.
    stratum
        The stratum of each item, from votes only.
    guess
        Strata x classes.

    Examples
    --------
    >>> contest_of([[0, 1], [0, 1], [1, 1]], [0, 0, 0], guess=[[0.5, 0.5]]).sizes.tolist()
    [2, 1]
    """
    table, where = np.asarray(answers), np.asarray(stratum, dtype=np.int64)
    shares, spread = _shares(guess), np.repeat(where[:, None], table.shape[1], axis=1)
    return _sorted(table, spread, np.column_stack((where, table)), shares, judged=False)


def judged_contest(strata: ArrayLike, *, guess: ArrayLike) -> Contest:
    """Return the contest of systems whose outputs people grade pass or fail, item by item.

    Parameters
    ----------
    strata
        Items x systems: the stratum of each output.
    guess
        Strata x 2: the share of fails and passes that the judges lead one to expect.

    Examples
    --------
    >>> contest = judged_contest(np.tile([[0, 1], [0, 2]], (5, 1)), guess=[[0.5, 0.5]] * 3)
    >>> contest.n_items, contest.n_models
    (10, 2)
    """
    table, shares = np.asarray(strata), _shares(guess)
    return _sorted(np.ones_like(table), table, table, shares, judged=True)


def _shares(guess: ArrayLike) -> Floats:
    return np.atleast_2d(np.asarray(guess, dtype=np.float64))


def _sorted(
    answers: AnyInts, strata: AnyInts, told_by: AnyInts, guess: Floats, *, judged: bool
) -> Contest:
    """Put items that *told_by* does not tell apart into one cell."""
    first, sizes, cell = distinct_rows(told_by, max(guess.shape))
    return Contest(
        cell=cell,
        answers=answers[first].astype(np.int64),
        stratum=strata[first].astype(np.int64),
        sizes=sizes.astype(np.int64),
        guess=guess,
        judged=judged,
    )
