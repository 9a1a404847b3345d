r"""Majority of the others: grade each judge by the vote of all judges but itself.

.. math:: \mathrm{LOO}_j = \text{mean over the votes of } j \text{ of } W_{i v_{ij}}   \tag{U4}

where :math:`W_{iy} = 1/k` if y is one of the k labels with most votes among the other judges, else
0. Votes that are never true do not enter the majority and are never right. Items on which no other
judge cast a possible label are left out.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.stats.latent.votes import FloatArray, IntArray, Votes

__all__ = ["Others", "majority_of_others", "vote_table"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Others:
    """What the majority of the others says about each judge.

    Parameters
    ----------
    tables
        Judges x labels x votes: how many votes of each kind fell on items that the others call by
        each label. Tied labels count in equal parts.
    """

    tables: FloatArray

    @property
    def accuracy(self) -> FloatArray:
        """Share of each judge's votes that the others confirm; NaN where it cannot be graded."""
        labels = self.tables.shape[1]
        right = np.einsum("jyy->j", self.tables[:, :, :labels])
        votes = self.tables.sum(axis=(1, 2))
        unknown = np.full_like(right, np.nan)
        return np.asarray(np.divide(right, votes, out=unknown, where=votes > 0))


def majority_of_others(votes: Votes, n_labels: int) -> Others:
    """Return (U4) as tables, from which accuracies and shares per label follow.

    >>> from tallystick.stats.latent.votes import as_votes
    >>> votes = as_votes([[0, 0, 0], [0, 0, 1], [1, 0, 1]], [5, 3, 2], n_classes=2)
    >>> majority_of_others(votes, 2).accuracy
    array([0.75, 0.65, 0.6 ])
    """
    every = vote_table(votes.codes, n_labels)
    tables = []
    for j in range(votes.n_judges):
        mine = votes.codes[:, j]
        others = every - (mine[:, None] == np.arange(n_labels))
        winners = (others == others.max(axis=1, keepdims=True)) & (others.max(axis=1) > 0)[:, None]
        share = winners / np.maximum(winners.sum(axis=1), 1)[:, None]  # a tie of k counts 1/k

        table = np.zeros((n_labels, int(votes.n_votes.max())))
        cast = np.flatnonzero(mine >= 0)
        np.add.at(table.T, mine[cast], votes.counts[cast, None] * share[cast])
        tables.append(table)
    return Others(tables=np.stack(tables))


def vote_table(codes: IntArray, n_labels: int) -> FloatArray:
    """Return patterns x labels: how many judges voted for each label that can be true.

    >>> vote_table(np.array([[0, 1, 2]]), 2)
    array([[1., 1.]])
    """
    return np.stack([(codes == y).sum(axis=1) for y in range(n_labels)], axis=1).astype(np.float64)
