"""The share of the votes, smoothed: a label model that nothing is fitted for."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from tallystick.bound.blocks import FloatArray, IntArray
from tallystick.bound.label_models.model import LabelModel
from tallystick.bound.weak_votes import WeakTable
from tallystick.errors import InputError

__all__ = ["as_balance", "leading", "majority", "vote_share"]


def majority(
    table: WeakTable, *, balance: npt.ArrayLike | None = None, pseudo_votes: float = 1.0
) -> LabelModel:
    r"""Take the share of the votes for a class as its probability.

    .. math:: p_{zy} = \frac{v_{zy} + s\,b_y}{\sum_y v_{zy} + s}

    with votes v, class balance b (equal unless given) and *pseudo_votes* s. Where all abstain it is
    the balance.

    >>> from tallystick.tally import Tally
    >>> from tallystick.bound.weak_votes import weak_table
    >>> table = weak_table(Tally.of({"a": [0, 1], "b": [1, 1], "h": [0, 1]}), weak=["a", "b"], prediction="h")
    >>> majority(table).probabilities(table).round(3).tolist()
    [[0.5, 0.5], [0.167, 0.833]]
    """
    prior = as_balance(balance, len(table.classes))
    if not pseudo_votes > 0:
        raise InputError(f"pseudo_votes must be positive, got {pseudo_votes!r}")
    return LabelModel(
        name="majority",
        classes=table.classes,
        weak=table.weak,
        predict=lambda votes: vote_share(votes, prior, pseudo_votes),
        rests_on="the share of votes for a class is its probability",
    )


def as_balance(balance: npt.ArrayLike | None, classes: int) -> FloatArray:
    """Return the class balance, equal shares unless given."""
    if balance is None:
        return np.full(classes, 1 / classes)
    held = np.asarray(balance, dtype=np.float64)
    if held.shape != (classes,) or not ((held > 0).all() and abs(held.sum() - 1) < 1e-6):
        raise InputError(
            f"class balance must hold {classes} positive shares that sum to 1, got {held.tolist()}"
        )
    return np.asarray(held / held.sum())


def vote_share(votes: IntArray, balance: FloatArray, pseudo_votes: float) -> FloatArray:
    """Return the smoothed share of the votes, patterns x classes."""
    counted = np.stack([(votes == c).sum(axis=1) for c in range(len(balance))], axis=1).astype(
        np.float64
    )
    return np.asarray(
        (counted + pseudo_votes * balance) / (counted.sum(axis=1, keepdims=True) + pseudo_votes)
    )


def leading(votes: IntArray, size: int) -> IntArray:
    """Return the class with most votes of each pattern, the first of equals; *size* where all
    abstain.
    """
    counted = np.stack([(votes == c).sum(axis=1) for c in range(size)], axis=1)
    return np.asarray(
        np.where(counted.max(axis=1) > 0, counted.argmax(axis=1), size), dtype=np.int64
    )
