r"""The programme (J9) for many patterns: its dual has one price per judge and per label.

A weight w on the judges, adding up to 1, and a price :math:`\mu_\ell` on the items of each label
turn the programme into a choice for each pattern on its own,

.. math:: t^* \le \sum_p c_p \max_\ell \Big(\sum_j \frac{w_j}{n_j} [v_{pj} = \ell] - \mu_\ell\Big)
          + \sum_\ell \max(\mu_\ell h_\ell, \mu_\ell l_\ell),   \tag{J9d}

with :math:`l_\ell` and :math:`h_\ell` the fewest and the most items of the label, and equality at
the best prices (linear programming duality). Every choice of prices gives a valid bound, so a
search that stops early is only less sharp. The right side is convex in a few dozen numbers and is
lowered by cutting planes (Kelley, *The cutting-plane method for solving convex programs*, J. SIAM
8, 1960). Memory is that of the votes, where the programme itself has a column per pattern and
label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.judge.ballots import Ballots, Floats

__all__ = ["price_bound"]

_ROUNDS = 200
_CLOSE = 1e-6
"""Distance between the bound and what is still possible at which the search ends."""

_BLOCK = 1 << 15
"""Patterns that are weighed at once."""


def price_bound(ballots: Ballots, ends: tuple[Floats, Floats], *, sign: float) -> float:
    """Return the best accuracy of the worst judge (sign -1), or the worst of the best (sign 1).

    Parameters
    ----------
    ballots
        The votes.
    ends
        The fewest and the most items that each label can have.
    sign
        As in (J9): -1 bounds from above, 1 from below.

    Examples
    --------
    >>> from tallystick.tally import Tally
    >>> ballots = Ballots.of(Tally.of({"a": [0, 0, 1, 1], "b": [1, 1, 1, 1]}))
    >>> free = (np.zeros(2), np.full(2, 4.0))
    >>> [round(price_bound(ballots, free, sign=sign), 4) for sign in (-1.0, 1.0)]
    [0.75, 0.25]
    """
    from scipy.optimize import linprog

    judges, labels = ballots.codes.shape[1], len(ballots.classes)
    low, high = ends
    bound_labels = bool((low > 0).any() or (high < ballots.n).any())
    # No price can matter beyond what one item is worth to all judges together.
    most = float((1 / ballots.voted).sum()) if bound_labels else 0.0
    x = np.concatenate((np.full(judges, 1 / judges), np.zeros(labels)))
    best = np.inf
    cuts: list[Floats] = []
    heights: list[float] = []
    for _ in range(_ROUNDS):
        value, slope = _dual(ballots, x, low, high, sign)
        best = min(best, value)
        cuts.append(slope)
        heights.append(value - float(slope @ x))
        found = _lowest(linprog, np.array(cuts), np.array(heights), judges, labels, most)
        x, floor = found[:-1], float(found[-1])
        if best - floor < _CLOSE:
            break
    # For sign 1 the dual was lowered for minus the accuracy.
    return float(np.clip(best if sign < 0 else -best, 0.0, 1.0))


def _dual(
    ballots: Ballots, x: Floats, low: Floats, high: Floats, sign: float
) -> tuple[float, Floats]:
    """Return the right side of (J9d) and a slope of it, block by block of patterns."""
    judges, labels = ballots.codes.shape[1], len(ballots.classes)
    weight, price = x[:judges], x[judges:]
    worth = -sign * weight / ballots.voted
    votes = ballots.answered.codes
    total, right, items = 0.0, np.zeros(judges), np.zeros(labels)
    for start in range(0, len(votes), _BLOCK):
        part = votes[start : start + _BLOCK]
        counts = ballots.counts[start : start + _BLOCK]
        truth = ballots.truth[start : start + _BLOCK]
        value = np.stack([(part == label) @ worth for label in range(labels)], axis=1) - price
        chosen = np.where(truth >= 0, truth, value.argmax(axis=1))
        total += float(counts @ np.take_along_axis(value, chosen[:, None], axis=1)[:, 0])
        right += counts @ (part == chosen[:, None])
        items += np.bincount(chosen, weights=counts, minlength=labels)
    ends = np.where(price > 0, high, low)
    slope = np.concatenate((-sign * right / ballots.voted, ends - items))
    return total + float(price @ ends), slope


def _lowest(
    linprog: Any, cuts: Floats, heights: Floats, judges: int, labels: int, most: float
) -> Floats:
    """Return the prices at which the highest cut is lowest, and its height."""
    size = judges + labels
    found = linprog(
        np.append(np.zeros(size), 1.0),
        A_ub=np.column_stack((cuts, -np.ones(len(cuts)))),
        b_ub=-heights,
        A_eq=np.concatenate((np.ones(judges), np.zeros(labels + 1)))[None, :],
        b_eq=[1.0],
        bounds=[(0.0, 1.0)] * judges + [(-most, most)] * labels + [(None, None)],
        method="highs",
    )
    if not found.success:
        raise InputError(f"the bounds on all judges could not be found ({found.message})")
    return np.asarray(found.x)
