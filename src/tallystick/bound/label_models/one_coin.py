r"""Dawid-Skene with one accuracy per weak label ("one coin").

A weak label that votes is right with probability :math:`a_j`, whatever the class; its errors are
spread evenly. Abstentions are silent, or, as votes, have a probability :math:`s_{jy}` per class:

.. math:: M_{jy}(y) = (1 - s_{jy}) a_j, \quad M_{jy}(c) = (1 - s_{jy}) \frac{1 - a_j}{K - 1}, \quad
          M_{jy}(\text{silent}) = s_{jy}   \tag{B6}
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_models.majority import as_balance, vote_share
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.weak_votes import WeakTable

__all__ = ["one_coin"]

_PRIOR = 0.1
"""Pseudo-votes of each kind, as in Dawid-Skene."""
_STEPS = 500
_TOLERANCE = 1e-6


def one_coin(
    table: WeakTable, *, balance: npt.ArrayLike | None = None, silence_votes: bool = False
) -> LabelModel:
    """Fit one accuracy per weak label by EM, from the share of the votes.

    Parameters
    ----------
    table
        The votes to fit on.
    balance
        The class balance, where it is known.
    silence_votes
        Whether an abstention says something about the class.

    Examples
    --------
    >>> from tallystick.bound.demo import spam
    >>> from tallystick.bound.weak_votes import weak_table
    >>> from tallystick.tally import Tally
    >>> names = ("links", "words", "sender", "caps")
    >>> table = weak_table(Tally.of(spam(2000, rng=1)), weak=names, prediction="classifier")
    >>> one_coin(table).probabilities(table)[-1].round(2)
    array([0.01, 0.99])
    """
    size = len(table.classes)
    known = None if balance is None else as_balance(balance, size)
    start = vote_share(table.votes, as_balance(known, size), 1.0)
    prior, log_votes = _climbed(table, start, known, silence_votes=silence_votes)
    return LabelModel(
        name="one coin, abstentions as votes" if silence_votes else "one coin",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: _posterior(votes, prior, log_votes),
        rests_on="the weak labels err independently, equally often in every class",
    )


def _climbed(
    table: WeakTable, p: FloatArray, known: FloatArray | None, *, silence_votes: bool
) -> tuple[FloatArray, FloatArray]:
    """Run EM from the posterior *p*; return the balance and the log of (B6) by label and class.

    The last axis of the log probabilities is the vote, an abstention being the last one.
    """
    votes, weight = table.votes, table.weight
    (rows, weak), size = votes.shape, p.shape[1]
    cast = votes >= 0
    log_votes = np.zeros((weak, size, size + 1))
    for _ in range(_STEPS):
        mass = weight[:, None] * p
        balance = mass.sum(axis=0) / weight.sum() if known is None else known

        # The M step: how often a vote is right, and how often a class is met with silence.
        right = np.zeros(weak)
        for j in range(weak):
            here = np.flatnonzero(cast[:, j])
            right[j] = mass[here, votes[here, j]].sum()
        said = weight @ cast
        accuracy = (right + _PRIOR) / (said + _PRIOR * size)
        spoke = cast.T @ mass
        silent = (mass.sum(axis=0) - spoke + _PRIOR) / (mass.sum(axis=0) + 2 * _PRIOR)
        log_votes = _log_table(accuracy, silent, silence_votes=silence_votes)

        new = _posterior(votes, balance, log_votes)
        moved = float(np.abs(new - p).max()) if rows else 0.0
        p = new
        if moved < _TOLERANCE:
            break
    mass = weight[:, None] * p
    return (mass.sum(axis=0) / weight.sum() if known is None else known), log_votes


def _log_table(accuracy: FloatArray, silent: FloatArray, *, silence_votes: bool) -> FloatArray:
    """Return the logarithm of (B6), (weak labels, classes, votes and silence)."""
    weak, size = silent.shape
    out = np.zeros((weak, size, size + 1))
    out[:, :, :size] = np.log((1 - accuracy) / (size - 1))[:, None, None]
    diagonal = np.arange(size)
    out[:, diagonal, diagonal] = np.log(accuracy)[:, None]
    if silence_votes:
        out[:, :, :size] += np.log1p(-silent)[:, :, None]
        out[:, :, size] = np.log(silent)
    return out


def _posterior(votes: IntArray, balance: FloatArray, log_votes: FloatArray) -> FloatArray:
    size = len(balance)
    score = np.tile(np.log(np.maximum(balance, 1e-300)), (len(votes), 1))
    codes = np.where(votes < 0, size, votes)
    for j in range(votes.shape[1]):
        score += log_votes[j].T[codes[:, j]]
    share = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(share / share.sum(axis=1, keepdims=True))
