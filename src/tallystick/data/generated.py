"""Answers that are drawn with a known accuracy: the raw material of every demonstration table."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["draw_answers", "draw_truth"]

Ints = npt.NDArray[np.int64]


def draw_truth(n: int, shares: tuple[float, ...], draw: np.random.Generator) -> Ints:
    """Return *n* true labels as whole numbers, label k with share ``shares[k]``."""
    return draw.choice(len(shares), n, p=shares)


def draw_answers(
    truth: Ints,
    accuracy: float,
    labels: int,
    draw: np.random.Generator,
    *,
    hard: Any = 0.0,
    shared: float = 0.0,
) -> Ints:
    """Return answers that are right with probability *accuracy*.

    Parameters
    ----------
    truth, accuracy, labels
        The true labels, how often they are met, and how many labels there are.
    draw
        The generator.
    hard
        A standard normal number per item that is common to all who answer it.
    shared
        Which share of the luck is *hard*: 0 for independent errors, 1 for the same errors.

    Examples
    --------
    >>> draw = np.random.default_rng(0)
    >>> truth = draw_truth(10_000, (0.7, 0.3), draw)
    >>> bool(abs((draw_answers(truth, 0.9, 2, draw) == truth).mean() - 0.9) < 0.02)
    True
    """
    from scipy.special import ndtri

    luck = np.sqrt(shared) * hard + np.sqrt(1 - shared) * draw.standard_normal(len(truth))
    wrong = (truth + draw.integers(1, labels, len(truth))) % labels
    return np.asarray(np.where(luck < ndtri(accuracy), truth, wrong))
