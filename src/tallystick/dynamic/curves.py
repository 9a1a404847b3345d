"""From predictions to curves: majority risk, plurality risk and excess risk by round, whoever made
the predictions.

Digits trees, a GPU's neural networks and a real log all end here: an array of predictions of shape
(rollouts, rounds, items).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tallystick.dynamic.population import Array, majority_share
from tallystick.errors import InputError

__all__ = ["Curves", "curves", "plurality"]


@dataclass(frozen=True, eq=False)
class Curves:
    """Rollouts in rows, rounds in columns, on equally weighted items.

    Parameters
    ----------
    risk
        Of the plurality vote of all models so far; ties are split by chance. With two labels it is
        the majority.
    binary_risk
        Of the binary majority, which knows only right from wrong: at least half of the models wrong
        (a tie counts 1/2).
    model_risk
        Of the round's own model.
    epsilon
        Of the round's own model, on the uniform mixture that it was trained on.
    """

    risk: Array
    binary_risk: Array
    model_risk: Array
    epsilon: Array


def curves(predictions: Array, labels: Array, *, trained_on_path: bool = True) -> Curves:
    """Follow the votes through the rounds.

    Parameters
    ----------
    predictions
        (rollouts, rounds, items), any labels.
    labels
        The true label of each item.
    trained_on_path
        Whether round t was trained on the uniform mixture of a path (else on the plain data, as a
        static control is).

    Examples
    --------
    >>> calls = np.array([[[0, 1, 2], [0, 1, 1], [0, 0, 1]]])
    >>> curves(calls, np.array([0, 1, 2])).risk.round(3).tolist()
    [[0.0, 0.167, 0.333]]
    """
    calls = np.asarray(predictions)
    truth = np.asarray(labels)
    if calls.ndim != 3 or calls.shape[2] != truth.size:
        raise InputError(
            f"predictions need the shape (rollouts, rounds, {truth.size}), got {calls.shape}"
        )
    errors = calls != truth
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    place, own = np.searchsorted(classes, calls), np.searchsorted(classes, truth)
    rollouts, rounds, items = calls.shape
    risk, binary, excess = (np.empty((rollouts, rounds)) for _ in range(3))
    for b in range(rollouts):
        votes = np.zeros((items, classes.size), dtype=np.int32)
        wrong = np.zeros(items)
        total = np.full(items, 1 / items)
        for t in range(rounds):
            votes[np.arange(items), place[b, t]] += 1
            top = votes == votes.max(axis=1, keepdims=True)
            risk[b, t] = np.mean(1 - top[np.arange(items), own] / top.sum(axis=1))
            wrong += errors[b, t]
            binary[b, t] = majority_share(wrong, t + 1).mean()
            excess[b, t] = (
                total / total.sum() if trained_on_path else np.full(items, 1 / items)
            ) @ errors[b, t]
            if errors[b, t].any():
                total = total + errors[b, t] / errors[b, t].sum()
    return Curves(risk=risk, binary_risk=binary, model_risk=errors.mean(axis=2), epsilon=excess)


def plurality(predictions: Array, labels: Array) -> Array:
    """Return where the plurality vote of these models is wrong: (..., items), ties split by chance.

    Parameters
    ----------
    predictions
        (..., models, items), any labels.
    labels
        The true label of each item.

    Examples
    --------
    >>> plurality(np.array([[0, 1, 2], [0, 1, 1], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.0, 1.0]
    >>> plurality(np.array([[0, 1, 2], [0, 0, 1]]), np.array([0, 1, 2])).tolist()
    [0.0, 0.5, 0.5]
    """
    calls, truth = np.asarray(predictions), np.asarray(labels)
    classes = np.unique(np.concatenate([np.unique(calls), np.unique(truth)]))
    votes = np.stack([(calls == label).sum(axis=-2) for label in classes], axis=-1)
    top = votes == votes.max(axis=-1, keepdims=True)
    return np.asarray(1 - (top & (truth[:, None] == classes)).any(axis=-1) / top.sum(axis=-1))
