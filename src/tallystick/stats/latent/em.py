r"""Expectation-maximisation on weighted patterns, accelerated and still monotone.

The parameters are one array, classes x (1 + all votes): the class balance, then every judge's
confusion columns. With weights :math:`w_i` and responsibilities :math:`r_{iy} = P(y \mid x_i)` one
step is

.. math::
    \pi_y \propto b_y + \sum_i w_i r_{iy}, \qquad
    C_{jyv} \propto a_{jyv} + \sum_{i:\,x_{ij}=v} w_i r_{iy}   \tag{L2}

with pseudo-counts :math:`b, a`. It never lowers the objective, log likelihood plus
:math:`\sum b \log \pi + \sum a \log C`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError
from tallystick.stats.latent.model import TINY, LatentModel, class_scores, pack
from tallystick.stats.latent.options import LatentOptions
from tallystick.stats.latent.ridge import cross_ridge
from tallystick.stats.latent.votes import FloatArray, OneHot, Votes

__all__ = ["Climb", "Expectation", "Problem", "climb"]

_PATIENCE = 100
"""Steps that EM takes before it is taken to be on a ridge; most climbs are over by then."""

_MOST_CROSSING = 2_000
"""E steps that crossing a ridge may take."""


@dataclass(frozen=True, eq=False)
class Expectation:
    """The E step at one point: responsibilities (classes x patterns), log likelihood, objective."""

    responsibility: FloatArray
    log_likelihood: float
    objective: float


@dataclass(frozen=True, eq=False)
class Problem:
    """All that EM needs, prepared once for every start."""

    one_hot: OneHot
    weights: FloatArray
    barred: FloatArray | None
    prior: FloatArray
    fixed: FloatArray

    @classmethod
    def of(cls, votes: Votes, n_classes: int, options: LatentOptions) -> Problem:
        """Prepare *votes* under *options*; ``fixed`` is NaN where a parameter is free."""
        barred = None
        if (votes.truth >= 0).any():
            other = np.arange(n_classes)[:, None] != votes.truth
            barred = np.where((votes.truth >= 0) & other, -np.inf, 0.0)
        return cls(
            votes.one_hot,
            votes.weights,
            barred,
            _prior(votes, n_classes, options),
            _fixed(votes, n_classes, options),
        )

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which parameters are not estimated."""
        return np.isfinite(self.fixed)

    def expect(self, table: FloatArray) -> Expectation:
        """Return the E step at *table*."""
        scores = class_scores(table, self.one_hot)
        if self.barred is not None:
            scores += self.barred
        top = scores.max(axis=0)
        scores -= top
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        scores /= total
        top += np.log(total)
        likelihood = float(self.weights @ top)
        penalty = (
            float((self.prior * np.log(np.maximum(table, TINY))).sum()) if self.prior.any() else 0.0
        )
        return Expectation(scores, likelihood, likelihood + penalty)

    def counts(self, responsibility: FloatArray) -> FloatArray:
        """Return expected counts in the layout of the parameters, without pseudo-counts."""
        weighted = responsibility * self.weights
        return np.concatenate(
            (weighted.sum(axis=1, keepdims=True), self.one_hot.add(weighted)), axis=1
        )

    def maximise(self, responsibility: FloatArray) -> FloatArray:
        """Return the M step (L2)."""
        return self.normalise(self.counts(responsibility) + self.prior)

    def normalise(self, table: FloatArray) -> FloatArray:
        """Make every row of every part sum to 1; a row of zeros, on which nothing depends, becomes
        uniform.
        """
        out = np.empty_like(table)
        out[:, 0] = table[:, 0] / table[:, 0].sum()
        total = self.one_hot.total(table[:, 1:])
        if total.all():
            np.divide(table[:, 1:], total, out=out[:, 1:])
        else:
            size = self.one_hot.total(np.ones_like(total))
            out[:, 1:] = np.where(
                total > 0, table[:, 1:] / np.where(total > 0, total, 1.0), 1.0 / size
            )
        if self.known.any():
            out[self.known] = self.fixed[self.known]
        return out


@dataclass(frozen=True, eq=False)
class Climb:
    """Where one start led."""

    table: FloatArray
    expectation: Expectation
    iterations: int
    converged: bool
    history: tuple[float, ...]


def climb(problem: Problem, table: FloatArray, options: LatentOptions) -> Climb:
    r"""Run EM from *table* until a plain step moves no parameter by more than the tolerance.

    Accelerated by SQUAREM with steplength :math:`\alpha = -\lVert r\rVert / \lVert v\rVert` of two
    plain steps, r the first and v the change between them. The extrapolated point is taken only if
    its objective is at least that of the first plain step, so the history never falls; otherwise
    the second plain step is.

    A climb that is not over after 100 steps (or as many as there are parameters) is on a ridge:
    :func:`cross_ridge` goes along it, once, and EM goes on from where that ended.
    """
    whole = options.max_iterations
    # The curvature is learnt in about as many steps as there are parameters: no use before that.
    patience = max(_PATIENCE, table.size)
    if not options.accelerate or whole <= patience:
        return _by_steps(problem, table, options, whole)
    first = _by_steps(problem, table, options, patience)
    if first.converged:
        return first

    steps = first.iterations
    far, seen = cross_ridge(
        problem, first.table, tolerance=options.tolerance, most=min(whole - steps, _MOST_CROSSING)
    )
    steps += seen
    better = problem.expect(far).objective >= first.expectation.objective
    last = _by_steps(problem, far if better else first.table, options, max(whole - steps, 1))
    return Climb(
        last.table,
        last.expectation,
        steps + last.iterations,
        last.converged,
        first.history + last.history,
    )


def _by_steps(problem: Problem, table: FloatArray, options: LatentOptions, most: int) -> Climb:
    """Run EM from *table* for at most *most* steps, with SQUAREM where asked for."""
    here = problem.expect(table)
    history = [here.objective]
    steps = 0
    while steps < most:
        first = problem.maximise(here.responsibility)
        steps += 1
        if _distance(first, table) <= options.tolerance:
            return Climb(table, here, steps, True, tuple(history))
        there = problem.expect(first)
        history.append(there.objective)
        if not options.accelerate:
            table, here = first, there
            continue
        second = problem.maximise(there.responsibility)
        steps += 1
        if _distance(second, first) <= options.tolerance:
            return Climb(first, there, steps, True, tuple(history))
        table = _extrapolate(problem, table, first, second)
        here = problem.expect(table)
        if here.objective < there.objective:
            table, here = second, problem.expect(second)
        history.append(here.objective)
    return Climb(table, here, steps, False, tuple(history))


def _extrapolate(
    problem: Problem, zero: FloatArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    r = first - zero
    v = second - first - r
    norm = float(np.sqrt((v * v).sum()))
    if norm == 0:
        return second
    step = max(1.0, float(np.sqrt((r * r).sum())) / norm)
    far = zero + 2 * step * r + step * step * v
    # EM cannot leave an exact 0, so a jump may shrink a probability but not end it.
    return problem.normalise(np.maximum(far, 0.1 * second))


def _distance(a: FloatArray, b: FloatArray) -> float:
    return float(np.abs(a - b).max())


def _prior(votes: Votes, n_classes: int, options: LatentOptions) -> FloatArray:
    shape = (votes.n_judges, n_classes, int(votes.n_votes.max()))
    try:
        balance = np.broadcast_to(np.asarray(options.balance_prior, dtype=np.float64), (n_classes,))
        confusion = np.broadcast_to(np.asarray(options.confusion_prior, dtype=np.float64), shape)
    except ValueError:
        raise InputError(
            f"priors must fit {n_classes} classes and judges x classes x votes = {shape}"
        ) from None
    keep = np.arange(shape[2]) < votes.n_votes[:, None]
    return np.column_stack((balance, confusion.transpose(1, 0, 2)[:, keep]))


def _fixed(votes: Votes, n_classes: int, options: LatentOptions) -> FloatArray:
    fixed = np.full((n_classes, 1 + int(votes.n_votes.sum())), np.nan)
    if options.balance is not None:
        balance = np.asarray(options.balance, dtype=np.float64)
        if balance.shape != (n_classes,) or not (
            (balance > 0).all() and np.isclose(balance.sum(), 1)
        ):
            raise InputError(
                f"balance must hold {n_classes} positive probabilities that sum to 1, got"
                f" {options.balance!r}"
            )
        fixed[:, 0] = balance
    for j, matrix in options.confusion.items():
        if not 0 <= j < votes.n_judges:
            raise InputError(f"confusion names judge {j}, but there are {votes.n_judges} judges")
        alone = LatentModel(
            np.full(n_classes, 1 / n_classes), np.asarray(matrix)[None], votes.n_votes[j : j + 1]
        )
        first = 1 + votes.one_hot.start[j]
        fixed[:, first : first + votes.n_votes[j]] = pack(alone)[:, 1:]
    return fixed
