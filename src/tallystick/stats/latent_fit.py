"""Fit the latent-class model: starts, EM, branch, and what was reached."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Literal

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng, spawn
from tallystick.errors import ConvergenceError, InputError, NotIdentifiable
from tallystick.stats.latent_model import (
    Climb,
    FloatArray,
    IntArray,
    LatentModel,
    LatentOptions,
    Problem,
    Votes,
    as_votes,
    climb,
    log_likelihood,
    pack,
    posterior,
    spread,
    unpack,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentFit:
    """A fitted latent-class model, with the votes and options that made it.

    Parameters
    ----------
    model
        Class balance and confusion matrices.
    posterior
        Patterns x classes; one-hot where the truth was given.
    expected_counts
        Judges x classes x votes: how many votes of each kind fell on items of each class, in
        expectation.
    log_likelihood, objective
        Of the votes; the objective adds the log prior.
    iterations, converged
        Of EM.
    votes, options
        The checked input.
    """

    model: LatentModel
    posterior: FloatArray
    expected_counts: FloatArray
    log_likelihood: float
    objective: float
    iterations: int
    converged: bool
    votes: Votes
    options: LatentOptions

    @property
    def balance(self) -> FloatArray:
        """Class balance."""
        return self.model.balance

    @property
    def confusion(self) -> FloatArray:
        """Judges x classes x votes."""
        return self.model.confusion

    @property
    def n_effective(self) -> FloatArray:
        """Judges x classes: on how many items of each class a judge voted, in expectation.

        Where it is near 0 the row of the confusion matrix rests on nothing and must not be
        reported.
        """
        return np.asarray(self.expected_counts.sum(axis=2))

    @property
    def accuracy(self) -> FloatArray:
        """Expected share of each judge's own votes that are right.

        With complete votes and no prior it equals ``model.accuracy``; with missing votes it speaks
        of the items that the judge saw, and is the steadier number for judges with few votes.
        """
        n_classes = self.model.n_classes
        right = np.einsum("jcc->j", self.expected_counts[:, :, :n_classes])
        return np.asarray(right / self.expected_counts.sum(axis=(1, 2)))


def fit(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    n_classes: int,
    n_votes: int | npt.ArrayLike | None = None,
    truth: npt.ArrayLike | None = None,
    options: LatentOptions | None = None,
    rng: Rng = 0,
) -> LatentFit:
    """Fit class balance and confusion matrices to weighted vote patterns, with no labels or some.

    Maximises the likelihood of (L1), docs/theory/latent.md, by EM from the majority vote, or from
    a random start where no vote is named like a class.

    Parameters
    ----------
    codes
        Patterns x judges of vote codes; -1 is a missing vote, which is taken to say nothing of the
        class.
    counts
        Items that show each pattern.
    n_classes
        Number of latent classes. Vote v stands for class v where v < n_classes.
    n_votes
        Alphabet size, one for all or one a judge; by default *n_classes*.
    truth
        True class a pattern where known, -1 elsewhere. Items with labels must be like the others
        given their votes.
    options
        Priors, known parts, stopping.
    rng
        For a random start only.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges with two different votes, and neither truth, a known confusion
        matrix nor a prior to stand in: infinitely many models fit such votes equally well. Or votes
        that the known confusion matrices call impossible.
    ConvergenceError
        The tolerance was not reached in ``max_iterations`` (unless ``strict`` is False).

    Notes
    -----
    A judge that always gives the same vote is fitted so and moves nothing. A class that no item
    takes up ends with balance near 0 and ``n_effective`` near 0: its confusion rows mean nothing.

    Examples
    --------
    Three judges, right on .9, .8 and .7 of the items whatever the class, and two classes of equal
    size:

    >>> import itertools
    >>> truth = LatentModel([0.5, 0.5], [[[a, 1 - a], [1 - a, a]] for a in (0.9, 0.8, 0.7)])
    >>> codes = np.array(list(itertools.product([0, 1], repeat=3)))
    >>> from tallystick.stats.latent_model import log_likelihood
    >>> found = fit(codes, 1000 * np.exp(log_likelihood(truth, codes)), n_classes=2)
    >>> found.model.accuracy.round(4)
    array([0.9, 0.8, 0.7])
    """
    options = LatentOptions() if options is None else options
    votes = as_votes(codes, counts, n_classes=n_classes, n_votes=n_votes, truth=truth)
    _refuse_the_unidentified(votes, options)
    return fit_votes(votes, n_classes, options, rng)


def fit_votes(votes: Votes, n_classes: int, options: LatentOptions, rng: Rng) -> LatentFit:
    """Do the work of `fit` on votes that are known to fit the question."""
    problem = Problem.of(votes, n_classes, options)
    share = majority_share(votes, n_classes)
    start = random_start(problem, as_rng(rng)) if share is None else majority_start(problem, share)
    best = _named(problem, climb(problem, start, options), votes, options)
    if options.strict and not best.converged:
        raise ConvergenceError(
            f"EM did not reach tolerance {options.tolerance:g} in {best.iterations} steps: raise"
            " max_iterations, loosen tolerance, add a confusion_prior, or pass strict=False and"
            " read converged"
        )
    _refuse_contradictions(problem, best)
    responsibility = best.expectation.responsibility
    return LatentFit(
        model=unpack(best.table, votes.n_votes),
        posterior=np.ascontiguousarray(responsibility.T),
        expected_counts=spread(problem.counts(responsibility)[:, 1:], votes.n_votes),
        log_likelihood=best.expectation.log_likelihood,
        objective=best.expectation.objective,
        iterations=best.iterations,
        converged=best.converged,
        votes=votes,
        options=options,
    )


def _refuse_the_unidentified(votes: Votes, options: LatentOptions) -> None:
    silent = ~((votes.codes >= 0) & (votes.counts > 0)[:, None]).any(axis=0)
    if silent.any():
        raise InputError(f"judge {int(silent.argmax())} has no vote at all: drop its column")
    anchored = (
        bool((votes.truth >= 0).any())
        or bool(options.confusion)
        or bool(np.any(np.asarray(options.confusion_prior)))
    )
    varied = int(votes.varied.sum())
    if varied < 3 and not anchored:
        raise NotIdentifiable(
            f"only {varied} judges gave two different votes and three are needed: add a judge, some"
            " truth, a known confusion matrix or a confusion_prior"
        )


def _refuse_contradictions(problem: Problem, run: Climb) -> None:
    """Refuse votes that known confusion matrices call impossible: EM's stand-in for log 0 would
    hide them.
    """
    if not (problem.fixed == 0).any():
        return
    barriers = problem.one_hot.score((run.table[:, 1:] == 0).astype(np.float64))
    if problem.barred is not None:
        barriers -= problem.barred
    impossible = (barriers > 0).all(axis=0) & (problem.weights > 0)
    if impossible.any():
        raise NotIdentifiable(
            f"pattern {int(impossible.argmax())} has probability 0 under the known confusion"
            " matrices: correct them, or give their zeros a small probability"
        )


def _named(problem: Problem, run: Climb, votes: Votes, options: LatentOptions) -> Climb:
    """Move a run to the better-than-chance mirror point, wherever that costs no likelihood."""
    if options.branch == "as-started":
        return run
    mass = votes.counts @ (votes.codes >= 0)
    order = best_order(run.table, votes, mass)
    if (order == np.arange(order.size)).all():
        return run
    mirror = climb(problem, problem.normalise(run.table[order]), options)
    # Truth, known parts and lopsided priors tell the namings apart: then the likelihood decides,
    # not the naming.
    slack = 1e-9 * abs(run.expectation.objective)
    return mirror if mirror.expectation.objective >= run.expectation.objective - slack else run


# How sure the estimates are under the model: scores, information, intervals on the logit scale.
#
# Each row of probabilities (the balance; judge j's votes given class y) is written as a softmax
# of
# free coordinates :math:`\eta`, with its largest entry as reference. With responsibilities
# :math:`r_{iy}` the score of pattern i is
#
# .. math::
#     s_{i,y} = r_{iy} - \pi_y, \qquad
#     s_{i,jyv} = r_{iy}\,(1[x_{ij} = v] - C_{jyv})\,1[x_{ij} \ne -1]   \tag{L4}
#
# With the score :math:`s_i^y` that pattern i would have if its class were known to be y, the
# observed information is
#
# .. math::
#     I = J + \sum_i w_i s_i s_i' - \sum_i w_i \sum_y r_{iy} s_i^y s_i^{y\prime}   \tag{L5}
#
# where J, block by block :math:`n\,(\mathrm{diag}\,p - p p')`, is what complete data would tell.
# The middle term alone is the *outer* form. For three binary judges, where the fit is saturated,
# both have the inverse that the delta method gives on the multinomial frequencies; with nearly as
# many parameters as items the outer form is far too wide.


MOST_PARAMETERS = 10_000
"""Their matrix takes 800 MB; nobody means a model of more."""

_BOUNDARY = 1e-6  # a probability this near to 0 or 1 has no interval of this kind
# smallest eigenvalue of the information, scaled to unit diagonal, that is still inverted
_SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class LatentInformation:
    """Scores and covariance of the free softmax coordinates, and the intervals that follow.

    All intervals are valid under conditional independence only: off the model they fail, however
    narrow they are.

    Parameters
    ----------
    model
        The fitted model.
    position
        One row a coordinate: its class and its column (0 for the balance, then every judge's votes
        side by side).
    scores
        Patterns x coordinates, for one item of each pattern.
    information, covariance
        Over coordinates; the covariance is the inverse.
    unsupported
        Judges x classes x votes: True where an estimated probability lies on the boundary (0 or 1)
        or rests on no vote. It has no interval here, and the others are taken with it held fixed.
    """

    model: LatentModel
    position: IntArray
    scores: FloatArray
    information: FloatArray
    covariance: FloatArray
    unsupported: npt.NDArray[np.bool_]

    def balance_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper ends for the class balance; NaN where it was known or a class is
        empty.
        """
        return self.interval(self.model.balance, self._jacobian()[:, 0], level)

    def confusion_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        """Return lower and upper ends, judges x classes x votes; NaN where known beforehand or
        unsupported.
        """
        jacobian = self._jacobian()[:, 1:]
        flat = pack(self.model)[:, 1:]
        ends = self.interval(flat.ravel(), jacobian.reshape(flat.size, -1), level)
        low, high = (spread(end.reshape(flat.shape), self.model.n_votes) for end in ends)
        nothing = self.unsupported | (np.arange(low.shape[2]) >= self.model.n_votes[:, None, None])
        return np.where(nothing, np.nan, low), np.where(nothing, np.nan, high)

    def accuracy_interval(self, level: float = 0.95) -> tuple[FloatArray, FloatArray]:
        r"""Return lower and upper ends for each judge's accuracy :math:`\sum_y \pi_y C_{jyy}` on a
        new item.

        NaN for a judge with an unsupported entry among its own accuracies: its doubt is not known.
        """
        model, jacobian = self.model, self._jacobian()
        start = 1 + np.cumsum(model.n_votes) - model.n_votes
        gradient = np.zeros((model.n_judges, self.position.shape[0]))
        doubtful = np.zeros(model.n_judges, dtype=np.bool_)
        for y in range(model.n_classes):
            named = np.flatnonzero(model.n_votes > y)
            gradient[named] += model.confusion[named, y, y][:, None] * jacobian[y, 0]
            gradient[named] += model.balance[y] * jacobian[y, start[named] + y]
            doubtful[named] |= self.unsupported[named, y, y] & (model.balance[y] > _BOUNDARY)
        low, high = self.interval(model.accuracy, gradient, level)
        return np.where(doubtful, np.nan, low), np.where(doubtful, np.nan, high)

    def interval(
        self, estimate: FloatArray, gradient: FloatArray, level: float = 0.95
    ) -> tuple[FloatArray, FloatArray]:
        """Return logit intervals for probabilities with this *gradient* (estimates x coordinates).

        NaN where an estimate is 0 or 1 or depends on no coordinate.
        """
        if not 0 < level < 1:
            raise InputError(f"level must be in (0, 1), got {level!r}")
        from scipy.special import expit, logit

        error = np.sqrt(((gradient @ self.covariance) * gradient).sum(axis=1))
        inside = (estimate > 0) & (estimate < 1) & (error > 0)
        p = np.where(inside, estimate, 0.5)
        half = NormalDist().inv_cdf((1 + level) / 2) * error / (p * (1 - p))
        low, high = (np.where(inside, expit(logit(p) + sign * half), np.nan) for sign in (-1, 1))
        return low, high

    def posterior_gradient(self, codes: npt.ArrayLike, direction: FloatArray) -> FloatArray:
        r"""Return :math:`\sum_i \sum_y d_{iy}\, \partial P(y \mid x_i) / \partial \eta` for
        *direction* d.

        With G this gradient, a statistic of the posteriors has label-model variance :math:`G'
        I^{-1} G`, and :math:`G' I^{-1} s_i` is what pattern i contributes to its error.
        """
        p = posterior(self.model, codes)
        slope = p * (direction - (direction * p).sum(axis=1, keepdims=True))
        return np.asarray(_scores(slope, np.asarray(codes), self.position, self.model).sum(axis=0))

    def _jacobian(self) -> FloatArray:
        """Return the derivative of every probability (classes x columns) by every coordinate."""
        table = pack(self.model)
        part = _parts(self.model)
        out = np.zeros((*table.shape, self.position.shape[0]))
        for d, (y, m) in enumerate(self.position):
            if m == 0:
                out[:, 0, d] = table[:, 0] * ((np.arange(table.shape[0]) == y) - table[y, 0])
            else:
                mine = part == part[m]
                out[y, mine, d] = table[y, mine] * ((np.flatnonzero(mine) == m) - table[y, m])
        return out


def information(
    fit: LatentFit, *, kind: Literal["observed", "outer"] = "observed"
) -> LatentInformation:
    """Return scores, information and intervals of a fit, under conditional independence.

    A prior counts as the pseudo-votes that it is: minus the second derivatives of its log density
    are added.

    Parameters
    ----------
    fit
        A converged fit.
    kind
        ``observed``, minus the second derivatives of the log likelihood (L5), or ``outer``, the sum
        of outer products of scores. They agree for few judges; for 39 judges on 108 items the outer
        form is 2.6 times as wide and often singular, while the observed one covers as promised
        (docs/benchmarks/judge.md).

    Raises
    ------
    NotIdentifiable
        The information is singular or nearly so: the votes do not pin all parameters down. The
        message names the parameter in which the flat direction is steepest.

    Examples
    --------
    >>> from tallystick.stats.latent_model import LatentModel
    >>> from tallystick.stats.latent_fit import fit, simulate
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> codes, _ = simulate(model, 2000, rng=3)
    >>> low, high = information(fit(codes, [1] * 2000, n_classes=2)).accuracy_interval()
    >>> bool((low < 0.85).all() and (high > 0.85).all() and (high - low < 0.1).all())
    True
    """
    model = fit.model
    problem = Problem.of(fit.votes, model.n_classes, fit.options)
    position, unsupported = _coordinates(fit, problem.known)
    if not position.size:
        raise NotIdentifiable(
            "every parameter is known or on the boundary: there is nothing to be unsure of"
        )
    if len(position) > MOST_PARAMETERS:
        raise NotIdentifiable(
            f"{model.n_classes} labels and {model.n_judges} judges have {len(position):,}"
            f" parameters, more than {MOST_PARAMETERS:,}: leave out a column that names items, or"
            " merge labels"
        )
    scores = _scores(fit.posterior, fit.votes.codes, position, model)
    scores[fit.votes.weights == 0] = 0.0
    matrix = scores.T @ (fit.votes.weights[:, None] * scores)
    matrix += _complete(problem.prior, position, model)
    if kind == "observed":
        matrix += _complete(problem.counts(fit.posterior.T), position, model) - _spread_of_scores(
            fit, position
        )
    scale = np.sqrt(np.maximum(matrix.diagonal(), 0.0))
    flat = int(scale.argmin())
    if scale[flat] > 0:
        values, vectors = np.linalg.eigh(matrix / np.outer(scale, scale))
        flat = int(np.abs(vectors[:, 0]).argmax())
        if values[0] > _SINGULAR:
            inverse = (vectors / values) @ vectors.T / np.outer(scale, scale)
            return LatentInformation(model, position, scores, matrix, inverse, unsupported)
    y, m = (int(k) for k in position[flat])
    where = (
        f"the balance of class {y}" if m == 0 else f"judge {int(_parts(model)[m]) - 1} on class {y}"
    )
    raise NotIdentifiable(
        f"the information is singular, most of all for {where}: use more items, fewer judges, some"
        " truth or a known class balance, or the parametric bootstrap"
    )


def _complete(counts: FloatArray, position: IntArray, model: LatentModel) -> FloatArray:
    r"""Return the information of complete data with these *counts* (classes x columns): n (diag p -
    p p') a row.
    """
    y, m = position.T
    part = _parts(model)
    p = pack(model)[y, m]
    # classes x parts
    rows = np.add.reduceat(counts, np.flatnonzero(np.diff(part, prepend=-1)), axis=1)
    rows[:, 0] = counts[:, 0].sum()
    same_row = (part[m][:, None] == part[m]) & ((y[:, None] == y) | (m == 0))
    return np.asarray(
        np.where(same_row, rows[y, part[m]][:, None] * (np.diag(p) - np.outer(p, p)), 0.0)
    )


def _spread_of_scores(fit: LatentFit, position: IntArray) -> FloatArray:
    """Return the last sum of (L5)."""
    codes, n_classes = fit.votes.codes, fit.model.n_classes
    out = np.zeros((position.shape[0], position.shape[0]))
    for y in range(n_classes):
        # Given class y only its own coordinates and those of the balance have a score: with many
        # classes nearly all of the matrix is zero, and it is not computed.
        mine = np.flatnonzero((position[:, 0] == y) | (position[:, 1] == 0))
        scores = _scores(np.eye(n_classes)[[y] * codes.shape[0]], codes, position[mine], fit.model)
        weighted = (fit.votes.weights * fit.posterior[:, y])[:, None] * scores
        out[np.ix_(mine, mine)] += scores.T @ weighted
    return out


def _parts(model: LatentModel) -> IntArray:
    """Return, by column of a packed table, 0 for the balance and 1 + j for judge j."""
    return np.concatenate(([0], 1 + np.repeat(np.arange(model.n_judges), model.n_votes)))


def _coordinates(
    fit: LatentFit, known: npt.NDArray[np.bool_]
) -> tuple[IntArray, npt.NDArray[np.bool_]]:
    """Return the free coordinates and the mask of unsupported probabilities."""
    model, table = fit.model, pack(fit.model)
    part = _parts(model)
    exposed = np.column_stack((np.ones(model.n_classes), fit.n_effective.T[:, part[1:] - 1]))
    inside = (table > _BOUNDARY) & (table < 1 - _BOUNDARY) & (exposed > _BOUNDARY)
    # nothing is known of the votes on a class that does not occur
    inside[:, 1:] &= table[:, :1] > _BOUNDARY
    free = inside & ~known
    for k in range(model.n_judges + 1):
        columns = np.flatnonzero(part == k)
        rows = [(slice(None), 0)] if k == 0 else [(y, columns) for y in range(model.n_classes)]
        for row in rows:  # the largest probability of each row is its reference and no coordinate
            if free[row].any():
                last = int(np.where(free[row], table[row], -1.0).argmax())
                cell = (last, 0) if k == 0 else (row[0], columns[last])
                free[cell] = False
    unsupported = spread((~inside & ~known)[:, 1:].astype(np.float64), model.n_votes) > 0
    return np.argwhere(free), unsupported


def _scores(
    weight: FloatArray, codes: IntArray, position: IntArray, model: LatentModel
) -> FloatArray:
    """Return (L4) with *weight* (patterns x classes) for the responsibilities; it is linear in
    them.
    """
    table = pack(model)
    part = _parts(model)
    y, m = position.T
    judge = np.maximum(part[m] - 1, 0)
    start = 1 + np.cumsum(model.n_votes) - model.n_votes
    p = table[y, m]
    votes = codes[:, judge]
    out = weight[:, y] * ((votes == m - start[judge]) - p * (votes >= 0))
    balance = m == 0
    out[:, balance] = weight[:, y[balance]] - p[balance] * weight.sum(axis=1, keepdims=True)
    return np.asarray(out)


# Refit the model to data that it has drawn itself.


def refits(fit: LatentFit, n: int, rng: Rng) -> list[LatentFit]:
    """Return *n* fits to replicas of the data, each with its own spawned generator and the options
    of *fit*.
    """
    replica = Replica.of(fit)
    options = replace(fit.options, strict=False)
    out = []
    for generator in spawn(rng, n):
        out.append(fit_votes(replica.draw(generator), fit.model.n_classes, options, generator))
    return out


# Draw votes from the latent-class model: new items, or a replica of the data with the same
# gaps.


_MOST_CELLS = 4096  # patterns of one group that are worth enumerating


def simulate(model: LatentModel, n: int, *, rng: Rng) -> tuple[IntArray, IntArray]:
    """Return vote codes (items x judges, none missing) and the true classes of *n* new items.

    >>> model = LatentModel([0.5, 0.5], [[[1, 0], [0, 1]]] * 2)
    >>> codes, truth = simulate(model, 4, rng=1)
    >>> bool((codes == truth[:, None]).all())
    True
    """
    if n < 0:
        raise InputError(f"n must not be negative, got {n!r}")
    generator = as_rng(rng)
    truth = np.searchsorted(np.cumsum(model.balance)[:-1], generator.random(n), side="right")
    levels = np.cumsum(model.confusion, axis=2)[:, :, :-1]
    codes = np.empty((n, model.n_judges), dtype=np.int64)
    for j in range(model.n_judges):
        # The last levels are 1 for votes beyond the alphabet, and a draw in [0, 1) never passes
        # them.
        levels[j, :, int(model.n_votes[j]) - 1 :] = 1.0
        codes[:, j] = (generator.random(n)[:, None] >= levels[j, truth]).sum(axis=1)
    return codes, truth.astype(np.int64)


@dataclass(frozen=True, eq=False)
class Replica:
    """Draws data sets like those of a fit: as many items, the same votes missing, the same items
    labelled.

    Groups of items with one gap pattern are drawn as one multinomial over all vote patterns where
    these are fewer than the items; the rest is drawn item by item.
    """

    model: LatentModel
    grids: tuple[tuple[IntArray, FloatArray, int], ...]
    voted: npt.NDArray[np.bool_]
    labelled: npt.NDArray[np.bool_]

    @classmethod
    def of(cls, fit: LatentFit) -> Replica:
        """Prepare replicas of the data of *fit*."""
        votes = fit.votes
        sizes = votes.counts.astype(np.int64)
        if (sizes != votes.counts).any():
            raise InputError(
                "counts must be whole numbers for a parametric replica: weights are not items"
            )
        marks = np.column_stack((votes.codes >= 0, votes.truth >= 0))
        groups, member = np.unique(marks, axis=0, return_inverse=True)
        items = np.bincount(member.ravel(), weights=votes.counts).astype(np.int64)
        grids = []
        one_by_one = []
        for mark, n in zip(groups, items, strict=True):
            cells = float(np.prod(votes.n_votes[mark[:-1]].astype(np.float64)))
            if mark[-1] or cells > min(int(n), _MOST_CELLS):
                one_by_one.append(np.repeat(mark[None, :], n, axis=0))
                continue
            alphabets = [
                range(int(v)) if on else (-1,)
                for v, on in zip(votes.n_votes, mark[:-1], strict=True)
            ]
            codes = np.array(list(itertools.product(*alphabets)), dtype=np.int64)
            chance = np.exp(log_likelihood(fit.model, codes))
            grids.append((codes, chance / chance.sum(), int(n)))
        rest = (
            np.vstack(one_by_one) if one_by_one else np.empty((0, marks.shape[1]), dtype=np.bool_)
        )
        return cls(fit.model, tuple(grids), rest[:, :-1], rest[:, -1])

    def draw(self, rng: Rng) -> Votes:
        """Return one replica."""
        generator = as_rng(rng)
        codes, truth = simulate(self.model, self.voted.shape[0], rng=generator)
        parts = [np.where(self.voted, codes, -1)]
        known = [np.where(self.labelled, truth, -1)]
        counts = [np.ones(truth.size)]
        for grid, chance, n in self.grids:
            drawn = generator.multinomial(n, chance)
            seen = drawn > 0
            parts.append(grid[seen])
            known.append(np.full(int(seen.sum()), -1))
            counts.append(drawn[seen].astype(np.float64))
        return Votes(
            np.vstack(parts), np.concatenate(counts), self.model.n_votes, np.concatenate(known)
        )


# Where EM starts, and on which of its mirror points it ends.


def majority_share(votes: Votes, n_classes: int) -> FloatArray | None:
    """Return each pattern's vote shares (classes x patterns), or None if no vote is named like a
    class.

    Vote v of a judge stands for class v wherever the judge's alphabet reaches that far; votes
    beyond the classes (an abstention) stand for none. Patterns without a usable vote get the
    overall shares.
    """
    tally = np.stack([(votes.codes == c).sum(axis=1) for c in range(n_classes)]).astype(np.float64)
    overall = tally @ votes.counts
    if not overall.any():
        return None
    total = tally.sum(axis=0)
    return np.asarray(
        np.where(total > 0, tally / np.maximum(total, 1), (overall / overall.sum())[:, None])
    )


def majority_start(problem: Problem, share: FloatArray) -> FloatArray:
    """Return the M step of the vote shares, with known classes in place."""
    if problem.barred is None:
        return problem.maximise(share)
    allowed = np.isfinite(problem.barred)
    return problem.maximise(np.where(allowed.all(axis=0), share, allowed))


def random_start(problem: Problem, rng: np.random.Generator) -> FloatArray:
    """Return parameters drawn uniformly from their simplices (Dirichlet of ones)."""
    return problem.normalise(rng.standard_exponential(problem.fixed.shape))


def best_order(table: FloatArray, votes: Votes, mass: FloatArray) -> IntArray:
    r"""Return the naming of classes under which judges are right most, :math:`\max \sum_j n_j
    \sum_c C_{j,o(c),c}`.

    For two classes this is the branch :math:`\sum_j n_j \delta_j > 0` with :math:`\delta_j` the sum
    of judge j's two accuracies less 1. *mass* holds the votes :math:`n_j` by judge.
    """
    n_classes = table.shape[0]
    right = np.zeros((n_classes, n_classes))  # class under its present name x vote
    for j, first in enumerate(votes.one_hot.start):
        width = min(n_classes, int(votes.n_votes[j]))
        right[:, :width] += mass[j] * table[:, 1 + first : 1 + first + width]
    if (right.diagonal() >= right.max(axis=0)).all():  # best for every vote, so for their sum
        return np.arange(n_classes)
    from scipy.optimize import linear_sum_assignment

    _, order = linear_sum_assignment(right.T, maximize=True)
    return np.asarray(order, dtype=np.int64)
