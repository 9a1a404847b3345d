"""Votes weighted by how often the other weak labels confirm them: no labels, no iteration."""

from __future__ import annotations

import numpy as np

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.weak_votes import WeakTable
from tallystick.stats.latent.others import majority_of_others
from tallystick.stats.latent.votes import as_votes

__all__ = ["consensus_of", "vote_weights", "weighted_majority"]

_ABOVE_CHANCE = 0.01
_MOST = 0.98
"""An accuracy is cut to [1/K + .01, .98], so that no vote counts for nothing or for everything."""


def vote_weights(
    votes: IntArray, counts: FloatArray, classes: int
) -> tuple[FloatArray, FloatArray]:
    r"""Return the accuracy and the weight of each weak label.

    .. math:: a_j = \frac{\text{agreements with the plurality of the others} + 1}
              {\text{rows where j and another vote} + 2}, \qquad
              w_j = \ln \frac{a_j (K - 1)}{1 - a_j}   \tag{B3}

    Ties of the others are split, and a is cut to [1/K + .01, .98].

    Parameters
    ----------
    votes
        Patterns x weak labels, -1 for an abstention.
    counts
        Rows per pattern.
    classes
        K.

    Examples
    --------
    >>> patterns = np.array([[0, 0, 1], [1, 1, 1], [1, -1, 1], [0, 0, -1], [1, 0, 1]])
    >>> vote_weights(patterns, np.array([3.0, 4, 2, 5, 1]), 2)[0].round(4)
    array([0.8235, 0.7667, 0.625 ])
    """
    held = as_votes(votes, counts, n_classes=classes)
    tables = majority_of_others(held, classes).tables
    confirmed = np.einsum("jyy->j", tables[:, :, :classes])
    accuracy = (confirmed + 1) / (tables.sum(axis=(1, 2)) + 2)
    accuracy = np.clip(accuracy, 1 / classes + _ABOVE_CHANCE, _MOST)
    return accuracy, np.log(accuracy * (classes - 1) / (1 - accuracy))  # (B3)


def weighted_majority(table: WeakTable) -> LabelModel:
    r"""Let each weak label vote with the weight that the others give it.

    .. math:: p(c \mid z) \propto \exp \sum_j w_j 1[\text{vote}_j = c]   \tag{B4}

    A row without a vote has equal probabilities.

    >>> from tallystick.tally import Tally
    >>> from tallystick.bound.weak_votes import weak_table
    >>> rows = {"a": [0, 0, 1, 1], "b": [0, 0, 1, 0], "c": [0, 1, 1, 1], "h": [0, 0, 1, 1]}
    >>> table = weak_table(Tally.of(rows), weak=["a", "b", "c"], prediction="h")
    >>> weighted_majority(table).probabilities(table)[0].round(3)
    array([0.797, 0.203])
    """
    size = len(table.classes)
    _, weights = vote_weights(table.votes, table.weight, size)
    return LabelModel(
        name="weighted majority",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: _softmax(votes, weights, size),
        rests_on="the weak labels' agreement with one another is their accuracy",
    )


def consensus_of(table: WeakTable) -> IntArray:
    """Return the class that the weighted votes of each pattern lead to, the first of equals.

    It comes from votes only, so it may sort rows into strata before a label is seen.
    """
    return np.asarray(weighted_majority(table).probabilities(table).argmax(axis=1))


def _softmax(votes: IntArray, weights: FloatArray, size: int) -> FloatArray:
    """Return (B4), with the largest exponent taken out first."""
    score = np.stack([(votes == c) @ weights for c in range(size)], axis=1)
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))
