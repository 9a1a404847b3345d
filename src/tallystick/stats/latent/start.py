"""Where EM starts, and on which of its mirror points it ends."""

from __future__ import annotations

import numpy as np

from tallystick.stats.latent.em import Problem
from tallystick.stats.latent.votes import FloatArray, IntArray, Votes

__all__ = ["best_order", "majority_share", "majority_start", "random_start"]


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
