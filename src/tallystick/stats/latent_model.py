r"""The latent-class model (Dawid-Skene): a class balance and one confusion matrix a judge.

An item has a class :math:`y` with probability :math:`\pi_y`; given the class the judges vote
independently,

.. math:: P(x) = \sum_y \pi_y \prod_{j:\,x_j \ne -1} C_{j y x_j}   \tag{L1}

and a missing vote says nothing about the class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.exact_tails import at_least, columns_of, one_per, positive, whole, within

if TYPE_CHECKING:
    import scipy.sparse as sp

TINY = 1e-300  # stands for 0 under a logarithm, so that 0 · log 0 = 0 in matrix products


@dataclass(frozen=True, eq=False)
class LatentModel:
    """A class balance and the judges' confusion matrices.

    Parameters
    ----------
    balance
        Probability of each class.
    confusion
        Judges x classes x votes; each row sums to 1. Votes beyond a judge's own alphabet have
        probability 0.
    n_votes
        The size of each judge's alphabet; by default the last axis of *confusion* for all.

    Examples
    --------
    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> model.accuracy
    array([0.85, 0.85, 0.85])
    """

    balance: FloatArray
    confusion: FloatArray
    n_votes: IntArray

    def __init__(
        self, balance: npt.ArrayLike, confusion: npt.ArrayLike, n_votes: npt.ArrayLike | None = None
    ) -> None:
        pi = np.array(balance, dtype=np.float64)
        table = np.array(confusion, dtype=np.float64)
        one_per("class", table.shape[1], balance=pi)
        sizes = np.array(
            np.broadcast_to(
                np.asarray(table.shape[2] if n_votes is None else n_votes), table.shape[:1]
            )
        )
        for name, rows in (("balance", pi[None, :]), ("confusion", table)):
            if not ((rows >= 0).all() and np.allclose(rows.sum(axis=-1), 1, atol=1e-9)):
                raise InputError(f"{name} must hold probabilities that sum to 1")
        for name, value in (("balance", pi), ("confusion", table), ("n_votes", sizes)):
            value.setflags(write=False)
            object.__setattr__(self, name, value)

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.confusion.shape[0])

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return self.balance.size

    @property
    def accuracy(self) -> FloatArray:
        r"""Probability that each judge is right on a new item, :math:`\sum_y \pi_y C_{jyy}`."""
        return np.asarray(
            np.einsum("y,jyy->j", self.balance, self.confusion[:, :, : self.n_classes])
        )

    def permuted(self, order: npt.ArrayLike) -> LatentModel:
        """Return the same model with class ``order[c]`` under the name c."""
        places = np.asarray(order)
        return LatentModel(self.balance[places], self.confusion[:, places], self.n_votes)


def pack(model: LatentModel) -> FloatArray:
    """Lay a model out as classes x (1 + all votes): the balance, then every judge's columns side by
    side.
    """
    keep = np.arange(model.confusion.shape[2]) < model.n_votes[:, None]
    return np.column_stack((model.balance, model.confusion.transpose(1, 0, 2)[:, keep]))


def unpack(table: FloatArray, n_votes: IntArray) -> LatentModel:
    """Undo `pack`."""
    return LatentModel(table[:, 0], spread(table[:, 1:], n_votes), n_votes)


def spread(columns: FloatArray, n_votes: IntArray) -> FloatArray:
    """Lay classes x (all votes) out as judges x classes x votes, with 0 beyond a judge's
    alphabet.
    """
    keep = np.arange(n_votes.max()) < n_votes[:, None]
    cube = np.zeros((columns.shape[0], *keep.shape))
    cube[:, keep] = columns
    return cube.transpose(1, 0, 2)


def class_scores(table: FloatArray, one_hot: OneHot) -> FloatArray:
    r"""Return :math:`\log(\pi_y \prod_j C_{jyx_j})`, classes x patterns, with 1e-300 for
    probability 0.
    """
    logs = np.log(np.maximum(table, TINY))
    scores = one_hot.score(logs[:, 1:])
    scores += logs[:, :1]
    return scores


def log_likelihood(model: LatentModel, codes: npt.ArrayLike) -> FloatArray:
    """Return the log probability (L1) of each pattern; ``-inf`` where the model rules it out.

    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> np.exp(log_likelihood(model, [[0, 0, 1], [0, -1, -1]])).round(4)
    array([0.0565, 0.55  ])
    """
    return _mixture(model, codes)[1]


def posterior(model: LatentModel, codes: npt.ArrayLike) -> FloatArray:
    r"""Return :math:`P(y \mid x)` for each pattern (patterns x classes), also for patterns never
    seen in a fit.

    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 3)
    >>> posterior(model, [[0, 0, 1], [-1, -1, -1]]).round(3)
    array([[0.717, 0.283],
           [0.5  , 0.5  ]])
    """
    joint, total = _mixture(model, codes)
    ruled_out = np.isneginf(total)
    if ruled_out.any():
        raise NotIdentifiable(
            f"pattern {int(ruled_out.argmax())} has probability 0 under the model, so no class is"
            " likely: drop it, or fit with confusion_prior > 0"
        )
    return np.asarray(np.exp(joint - total).T)


def _mixture(model: LatentModel, codes: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
    """Return log joint (classes x patterns, exact -inf) and log marginal."""
    array = np.asarray(codes)
    one_hot = as_votes(
        array, np.ones(array.shape[0]), n_classes=model.n_classes, n_votes=model.n_votes
    ).one_hot
    table = pack(model)
    joint = class_scores(table, one_hot)
    impossible = one_hot.score((table[:, 1:] == 0).astype(np.float64)) + (table[:, :1] == 0)
    joint[impossible > 0] = -np.inf
    return joint, np.logaddexp.reduce(joint, axis=0)


def expected_agreement(model: LatentModel) -> FloatArray:
    r"""Return the judges x judges probability of equal votes, :math:`\sum_y \pi_y \sum_v C_{jyv}
    C_{kyv}`.

    The diagonal is 1. Both judges are taken to vote.

    >>> model = LatentModel([0.5, 0.5], [[[0.9, 0.1], [0.2, 0.8]]] * 2)
    >>> expected_agreement(model).round(2)
    array([[1.  , 0.75],
           [0.75, 1.  ]])
    """
    agreement: FloatArray = np.einsum(
        "y,jyv,kyv->jk", model.balance, model.confusion, model.confusion, optimize=True
    )
    np.fill_diagonal(agreement, 1.0)
    return agreement


# What a fit of the latent-class model may be told besides the votes.


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentOptions:
    """How to fit the latent-class model; every default is maximum likelihood from the majority
    start.

    Parameters
    ----------
    balance
        The class balance, where it is known; it is then not estimated.
    confusion
        Known confusion matrices (classes x votes) by judge; they are then not estimated.
    confusion_prior
        Dirichlet pseudo-counts added in the M step: one number for all, or an array over judges x
        classes x votes. 0 is maximum likelihood.
    branch
        ``better-than-chance`` names the classes so that the judges' diagonals are largest, wherever
        the data cannot tell the namings apart; ``as-started`` keeps what the start led to.
    tolerance
        EM stops when a plain step moves no probability by more than this.
    max_iterations
        EM steps allowed; a fit that stops there is kept, and ``LatentFit.converged`` says so.
    """

    balance: npt.ArrayLike | None = None
    confusion: Mapping[int, npt.ArrayLike] = field(default_factory=dict)
    confusion_prior: float | npt.ArrayLike = 0.0
    branch: Literal["better-than-chance", "as-started"] = "better-than-chance"
    tolerance: float = 1e-8
    max_iterations: int = 10_000


# Votes as arrays: the checked input of the latent-class model, and its one-hot operator.
#
# Every sum that the model needs is a product with the one-hot matrix :math:`X` (patterns x all
# votes of all judges). It is dense when most judges vote on most items and sparse when most votes
# are missing; nothing else in this package knows which.


FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]

_SPARSE_FROM = 0.1
"""Share of ones from which on downwards the matrix is kept sparse.

At .1 (ten labels, 4,000 patterns) both storages take the same time on one core. Below it the sparse
product is faster, and on a busy machine by a factor of 100: BLAS splits the dense one over threads
that wait for one another.
"""
_DENSE_CELLS = 50_000_000  # a dense matrix above 400 MB is never built


@dataclass(frozen=True, eq=False)
class Votes:
    """Weighted vote patterns, checked: ``codes[i, j]`` is judge j's vote in pattern i, -1 where it
    gave none.

    Parameters
    ----------
    codes
        Patterns x judges.
    counts
        How many items show each pattern (any non-negative weight).
    n_votes
        The size of each judge's alphabet; it may exceed the number of classes (an abstention that
        means something is a vote of its own).
    """

    codes: IntArray
    counts: FloatArray
    n_votes: IntArray

    @property
    def n_judges(self) -> int:
        """Number of judges."""
        return int(self.codes.shape[1])

    @property
    def n_items(self) -> float:
        """Sum of the counts."""
        return float(self.counts.sum())

    @cached_property
    def one_hot(self) -> OneHot:
        """The one-hot operator of these patterns."""
        return OneHot.of(self.codes, self.n_votes)

    @cached_property
    def weights(self) -> FloatArray:
        """The counts, with 0 where a pattern has no vote: it would only slow EM."""
        return np.where((self.codes >= 0).any(axis=1), self.counts, 0.0)

    @cached_property
    def by_judge(self) -> FloatArray:
        """Judges x 2: the weight of its votes, and how many different votes it gave."""
        cast = self.one_hot.add(self.counts[None, :])[0]
        parts = [np.add.reduceat(part, self.one_hot.start) for part in (cast, 1.0 * (cast > 0))]
        return np.stack(parts, axis=1)


@dataclass(frozen=True, eq=False)
class OneHot:
    """The matrix :math:`X` with one column for each (judge, vote), in one of two storages.

    Class-by-pattern arrays go in and out, since NumPy reduces fastest over a short first axis.
    """

    columns: npt.NDArray[np.float64] | sp.csr_array
    rows: npt.NDArray[np.float64] | sp.csr_array
    judge: IntArray
    start: IntArray

    @classmethod
    def of(cls, codes: IntArray, n_votes: IntArray) -> OneHot:
        """Return the operator of *codes*, sparse where most of the matrix would be zeros."""
        start = np.concatenate(([0], np.cumsum(n_votes)[:-1]))
        judge = np.repeat(np.arange(n_votes.size), n_votes)
        width = int(n_votes.sum())
        pattern, voter = np.nonzero(codes >= 0)
        place = start[voter] + codes[pattern, voter]
        cells = codes.shape[0] * width
        if cells > _DENSE_CELLS or (cells > 10_000 and pattern.size <= _SPARSE_FROM * cells):
            import scipy.sparse as sp

            ones = np.ones(pattern.size)
            matrix = sp.csr_array((ones, (pattern, place)), shape=(codes.shape[0], width))
            return cls(sp.csr_array(matrix.T), matrix, judge, start)
        dense = np.zeros((codes.shape[0], width))
        dense[pattern, place] = 1.0
        return cls(np.ascontiguousarray(dense.T), dense, judge, start)

    def score(self, values: FloatArray) -> FloatArray:
        """Return, per class and pattern, the sum of *values* (classes x columns) over the votes of
        the pattern.
        """
        if isinstance(self.columns, np.ndarray):
            return values @ self.columns
        return np.ascontiguousarray((self.rows @ values.T).T)

    def add(self, values: FloatArray) -> FloatArray:
        """Return, per class and column, the sum of *values* (classes x patterns) over the patterns
        with that vote.
        """
        if isinstance(self.rows, np.ndarray):
            return values @ self.rows
        return np.ascontiguousarray((self.columns @ values.T).T)

    def together(self, counts: FloatArray) -> FloatArray:
        """Return, per column and column, how many items show both votes."""
        if isinstance(self.rows, np.ndarray):
            return self.rows.T @ (self.rows * counts[:, None])
        product: Any = self.columns @ self.rows.multiply(counts[:, None]).tocsr()
        return np.asarray(product.todense())

    def total(self, values: FloatArray) -> FloatArray:
        """Return the sums of *values* (classes x columns) over the votes of each judge, spread back
        over them.
        """
        return np.add.reduceat(values, self.start, axis=1)[:, self.judge]


def as_votes(
    codes: npt.ArrayLike,
    counts: npt.ArrayLike,
    *,
    n_classes: int,
    n_votes: int | npt.ArrayLike | None = None,
) -> Votes:
    """Check arrays and return them as Votes.

    >>> as_votes([[0, 1], [1, -1]], [3, 2], n_classes=2).n_items
    5.0
    >>> as_votes([[0, 2]], [1], n_classes=2)
    Traceback (most recent call last):
    tallystick.errors.InputError: codes must be in [-1, 1], got 2
    """
    table, weights = np.asarray(codes), np.asarray(counts, dtype=np.float64)
    columns_of(1, codes=table)
    whole(-1, codes=table)
    one_per("pattern", len(table), counts=weights)
    at_least(0, counts=weights)
    positive(sum_of_counts=weights.sum())
    whole(2, n_classes=n_classes)
    each = n_classes if n_votes is None else np.asarray(n_votes, dtype=np.int64)
    sizes = np.broadcast_to(each, (table.shape[1],)).copy()
    whole(2, n_votes=sizes)
    for column, size in zip(table.T, sizes, strict=True):
        within((-1, size - 1), codes=column)
    return Votes(table.astype(np.int64), weights, sizes)


# Expectation-maximisation on weighted patterns, accelerated and still monotone.
#
# The parameters are one array, classes x (1 + all votes): the class balance, then every judge's
# confusion columns. With weights :math:`w_i` and responsibilities :math:`r_{iy} = P(y \mid x_i)`
# one step is
#
# .. math::
#     \pi_y \propto \sum_i w_i r_{iy}, \qquad
#     C_{jyv} \propto a_{jyv} + \sum_{i:\,x_{ij}=v} w_i r_{iy}   \tag{L2}
#
# with pseudo-counts a. It never lowers the objective, log likelihood plus
# :math:`\sum a \log C`.


@dataclass(frozen=True, eq=False)
class Expectation:
    """The E step at one point: responsibilities (classes x patterns), log likelihood, objective."""

    responsibility: FloatArray
    log_likelihood: float
    objective: float


@dataclass(frozen=True, eq=False)
class Problem:
    """All that EM needs, prepared once for every start.

    With a *share* of unreadable items, *noise* is the log probability of each pattern on them.
    """

    one_hot: OneHot
    weights: FloatArray
    prior: FloatArray
    fixed: FloatArray
    noise: FloatArray | None = None
    share: float = 0.0

    @classmethod
    def of(cls, votes: Votes, n_classes: int, options: LatentOptions) -> Problem:
        """Prepare *votes* under *options*; ``fixed`` is NaN where a parameter is free."""
        return cls(
            votes.one_hot,
            votes.weights,
            _prior(votes, n_classes, options),
            _fixed(votes, n_classes, options),
        )

    @cached_property
    def known(self) -> npt.NDArray[np.bool_]:
        """Which parameters are not estimated."""
        return np.isfinite(self.fixed)

    def expect(self, table: FloatArray) -> Expectation:
        """Return the E step at *table*: responsibilities sum to the chance of being readable."""
        scores = class_scores(table, self.one_hot)
        # In place: with a hundred labels a new array of this size costs more than its arithmetic.
        if self.noise is not None:
            scores += np.log(1 - self.share)
            background = self.noise + np.log(self.share)
            top = np.maximum(scores.max(axis=0), background)
        else:
            top = scores.max(axis=0)
        scores -= top
        np.exp(scores, out=scores)
        total = scores.sum(axis=0)
        if self.noise is not None:
            total += np.exp(background - top)
        scores /= total
        top += np.log(total)
        # No dot product: BLAS splits one this long over threads, which wait for one another.
        likelihood = float((self.weights * top).sum())
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


def climb(problem: Problem, table: FloatArray, options: LatentOptions) -> Climb:
    r"""Run EM from *table* until a plain step moves no parameter by more than the tolerance.

    Accelerated by SQUAREM with steplength :math:`\alpha = -\lVert r\rVert / \lVert v\rVert` of two
    plain steps, r the first and v the change between them. The extrapolated point is taken only if
    its objective is at least that of the first plain step, so that it never falls; otherwise
    the second plain step is.
    """
    most = max(options.max_iterations, 1)
    here = problem.expect(table)
    steps = 0
    while steps < most:
        first = problem.maximise(here.responsibility)
        steps += 1
        if _distance(first, table) <= options.tolerance:
            return Climb(table, here, steps, True)
        there = problem.expect(first)
        second = problem.maximise(there.responsibility)
        steps += 1
        if _distance(second, first) <= options.tolerance:
            return Climb(first, there, steps, True)
        table = _extrapolate(problem, table, first, second)
        here = problem.expect(table)
        if here.objective < there.objective:
            table, here = second, problem.expect(second)
    return Climb(table, here, steps, False)


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
    at_least(0, confusion_prior=options.confusion_prior)
    confusion = np.broadcast_to(np.asarray(options.confusion_prior, dtype=np.float64), shape)
    keep = np.arange(shape[2]) < votes.n_votes[:, None]
    return np.column_stack((np.zeros(n_classes), confusion.transpose(1, 0, 2)[:, keep]))


def _fixed(votes: Votes, n_classes: int, options: LatentOptions) -> FloatArray:
    fixed = np.full((n_classes, 1 + int(votes.n_votes.sum())), np.nan)
    if options.balance is not None:
        fixed[:, 0] = np.asarray(options.balance, dtype=np.float64)
    for j, matrix in options.confusion.items():
        alone = LatentModel(
            np.full(n_classes, 1 / n_classes), np.asarray(matrix)[None], votes.n_votes[j : j + 1]
        )
        first = 1 + votes.one_hot.start[j]
        fixed[:, first : first + votes.n_votes[j]] = pack(alone)[:, 1:]
    return fixed


# The fit: starts, EM, branch, and what was reached.


@dataclass(frozen=True, kw_only=True, eq=False)
class LatentFit:
    """A fitted latent-class model, with the votes and options that made it.

    Parameters
    ----------
    model
        Class balance and confusion matrices.
    posterior
        Patterns x classes.
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

    @classmethod
    def of(cls, problem: Problem, run: Climb, votes: Votes, options: LatentOptions) -> LatentFit:
        """Write where a climb ended as a fit."""
        responsibility = run.expectation.responsibility
        return cls(
            model=unpack(run.table, votes.n_votes),
            posterior=np.ascontiguousarray(responsibility.T),
            expected_counts=spread(problem.counts(responsibility)[:, 1:], votes.n_votes),
            log_likelihood=run.expectation.log_likelihood,
            objective=run.expectation.objective,
            iterations=run.iterations,
            converged=run.converged,
            votes=votes,
            options=options,
        )

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
    options: LatentOptions | None = None,
) -> LatentFit:
    """Fit class balance and confusion matrices to weighted vote patterns.

    Maximises the likelihood of (L1), docs/theory/latent.md, by EM from the majority vote.

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
    options
        Priors, known parts, stopping.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges with two different votes, and neither a known confusion matrix nor a
        prior to stand in: infinitely many models fit such votes equally well. Or votes
        that the known confusion matrices call impossible.

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
    >>> found = fit(codes, 1000 * np.exp(log_likelihood(truth, codes)), n_classes=2)
    >>> found.model.accuracy.round(4)
    array([0.9, 0.8, 0.7])
    """
    options = LatentOptions() if options is None else options
    votes = as_votes(codes, counts, n_classes=n_classes, n_votes=n_votes)
    _refuse_the_unidentified(votes, options)
    return fit_votes(votes, n_classes, options)


def fit_votes(votes: Votes, n_classes: int, options: LatentOptions) -> LatentFit:
    """Do the work of `fit` on votes that are known to fit the question."""
    problem = Problem.of(votes, n_classes, options)
    start = problem.maximise(majority_share(votes, n_classes))
    best = _named(problem, climb(problem, start, options), votes, options)
    _refuse_contradictions(problem, best)
    return LatentFit.of(problem, best, votes, options)


def _refuse_the_unidentified(votes: Votes, options: LatentOptions) -> None:
    silent = votes.by_judge[:, 0] == 0
    if silent.any():
        raise InputError(f"judge {int(silent.argmax())} has no vote at all: drop its column")
    anchored = bool(options.confusion) or bool(np.any(np.asarray(options.confusion_prior)))
    if not anchored:
        require_three(votes.by_judge[:, 1])


def require_three(different: FloatArray | IntArray) -> None:
    """Refuse fewer than three judges that gave two *different* votes: too few to tell who errs."""
    varied = int((different > 1).sum())
    if varied < 3:
        raise NotIdentifiable(
            f"only {varied} judges gave two different votes and three are needed: add a judge, or"
            " label some items"
        )


def _refuse_contradictions(problem: Problem, run: Climb) -> None:
    """Refuse votes that known confusion matrices call impossible: EM's stand-in for log 0 would
    hide them.
    """
    if not (problem.fixed == 0).any():
        return
    barriers = problem.one_hot.score((run.table[:, 1:] == 0).astype(np.float64))
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
    order = best_order(run.table, votes, votes.by_judge[:, 0])
    if (order == np.arange(order.size)).all():
        return run
    mirror = climb(problem, problem.normalise(run.table[order]), options)
    # Known parts and lopsided priors tell the namings apart: then the likelihood decides,
    # not the naming.
    slack = 1e-9 * abs(run.expectation.objective)
    return mirror if mirror.expectation.objective >= run.expectation.objective - slack else run


def fit_plain(
    votes: Votes, n_labels: int, *, tolerance: float = 1e-8, max_iterations: int = 10_000
) -> LatentFit:
    """Fit Dawid-Skene with one pseudo-vote per row of C, (U2) at h = 0.

    Raises `NotIdentifiable` if fewer than three judges voted.

    >>> votes = as_votes([[0, 0, 0], [1, 1, 1], [0, 0, 1]], [4, 4, 2], n_classes=2)
    >>> fit_plain(votes, 2).balance.round(2)
    array([0.59, 0.41])
    """
    voted = int((votes.by_judge[:, 0] > 0).sum())
    if voted < 3:
        raise NotIdentifiable(
            f"{voted} judges voted and three are needed: add a judge or label some items"
        )
    # The pseudo-votes of (U2) are a Dirichlet prior whose counts are g, the same for every label.
    prior = np.repeat(spread(frequencies(votes), votes.n_votes), n_labels, axis=1)
    options = LatentOptions(
        confusion_prior=prior,
        branch="as-started",
        tolerance=tolerance,
        max_iterations=max_iterations,
    )
    return fit_votes(votes, n_labels, options)


def frequencies(votes: Votes) -> FloatArray:
    """Return g: 1 x all votes of all judges, each judge's share of its own votes."""
    cast = votes.one_hot.add(votes.weights[None, :])
    return np.asarray(cast / np.maximum(votes.one_hot.total(cast), 1e-300))


# Where EM starts, and on which of its mirror points it ends.


def majority_share(votes: Votes, n_classes: int) -> FloatArray:
    """Return each pattern's vote shares (classes x patterns).

    Vote v of a judge stands for class v wherever the judge's alphabet reaches that far; votes
    beyond the classes (an abstention) stand for none. Patterns without a usable vote get the
    overall shares.
    """
    tally = np.stack([(votes.codes == c).sum(axis=1) for c in range(n_classes)]).astype(np.float64)
    overall = tally @ votes.counts
    if not overall.any():
        raise NotIdentifiable("no vote names a class, so nothing says which class is which")
    total = tally.sum(axis=0)
    return np.asarray(
        np.where(total > 0, tally / np.maximum(total, 1), (overall / overall.sum())[:, None])
    )


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
