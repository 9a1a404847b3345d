"""Fit the latent-class model: starts, EM, branch, and what was reached."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tallystick._rng import Rng, as_rng
from tallystick.errors import ConvergenceError, InputError, NotIdentifiable
from tallystick.stats.latent.em import Climb, Problem, climb
from tallystick.stats.latent.model import LatentModel, spread, unpack
from tallystick.stats.latent.options import LatentOptions
from tallystick.stats.latent.start import best_order, majority_share, majority_start, random_start
from tallystick.stats.latent.votes import FloatArray, Votes, as_votes

__all__ = ["LatentFit", "Start", "fit"]


@dataclass(frozen=True)
class Start:
    """What one start led to; ``history`` holds the objective after each accepted step and never
    falls.
    """

    kind: str
    log_likelihood: float
    objective: float
    iterations: int
    converged: bool
    history: tuple[float, ...]


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
        Of the start that won.
    starts
        Every start that was tried, the majority start first.
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
    starts: tuple[Start, ...]
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

    Maximises the likelihood of (L1), docs/theory/latent.md, by EM from the majority vote and, if
    asked, from random starts.

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
        Priors, known parts, starts, stopping.
    rng
        For random starts only.

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
    >>> from tallystick.stats.latent import log_likelihood
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
    generator = as_rng(rng)
    runs: list[Climb] = []
    starts: list[Start] = []
    for k in range(options.n_starts):
        if k == 0 and share is not None:
            kind, table = "majority", majority_start(problem, share)
        else:
            kind, table = "random", random_start(problem, generator)
        run = _named(problem, climb(problem, table, options), votes, options)
        runs.append(run)
        reached = run.expectation
        starts.append(
            Start(
                kind,
                reached.log_likelihood,
                reached.objective,
                run.iterations,
                run.converged,
                run.history,
            )
        )
    best = max(runs, key=lambda run: run.expectation.objective)
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
        starts=tuple(starts),
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
