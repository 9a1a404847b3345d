"""The surface that must contain the truth: a self-check, a constraint for foreign estimates, never
a gauge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.judge.ballots import Ballots, Floats
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["Projection", "variety_distance", "variety_projection"]


@dataclass(frozen=True, kw_only=True)
class Projection:
    """A foreign estimate moved to the nearest point that the votes allow."""

    prevalence: float
    accuracy: Mapping[str, tuple[float, float]]
    distance: float


def variety_distance(
    votes: Tally,
    prevalence: float,
    accuracy: Mapping[str, tuple[float, float]],
    *,
    labels: tuple[Label, Label] | None = None,
) -> float:
    r"""Return how far an estimate is from explaining each judge's own vote shares.

    Whatever the correlations, the true point satisfies, for every judge,

    .. math:: P_\alpha (P_{i\alpha} - f_{i\alpha}) = P_\beta (P_{i\beta} - f_{i\beta})   \tag{J5}

    [CE23]_, Eq 22 (Theorem 4; Eq 23 follows from it), which is the share of votes α rearranged.
    Returned is the root of the summed squares of the differences of both sides. For every real
    point of ``independent`` it is zero, correlated or not: so it checks arithmetic and judges
    *other* methods; it is no gauge of correlation, against section 5 and Figure 3 of the text
    (``docs/theory/judge.md#j5``).

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1]})
    >>> variety_distance(votes, 0.5, {"ann": (0.8, 0.8), "bob": (0.5, 1.0)})
    0.0
    """
    found = _shares(votes, accuracy, labels)
    a, b = (np.array([accuracy[name][c] for name in accuracy]) for c in (0, 1))
    gaps = prevalence * (a - found) - (1 - prevalence) * (b - (1 - found))
    return float(np.sqrt((gaps**2).sum()))


def variety_projection(
    votes: Tally,
    prevalence: float,
    accuracy: Mapping[str, tuple[float, float]],
    *,
    labels: tuple[Label, Label] | None = None,
) -> Projection:
    r"""Move each judge's two accuracies to the nearest ones that its vote shares allow, at the same
    prevalence.

    At a fixed prevalence (J5) is one line a judge, so the nearest point is a closed form; a line
    that leaves the unit square is followed to the nearest point inside. The prevalence is kept:
    moving it too would let one judge's error spoil all the others.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1]})
    >>> moved = variety_projection(votes, 0.5, {"ann": (0.9, 0.7), "bob": (0.5, 0.9)})
    >>> moved.accuracy["ann"], [round(p, 3) for p in moved.accuracy["bob"]]
    ((0.8, 0.8), [0.45, 0.95])
    """
    if not 0 < prevalence < 1:
        raise InputError(f"prevalence must be in (0, 1), got {prevalence!r}")
    found = _shares(votes, accuracy, labels)
    moved: dict[str, tuple[float, float]] = {}
    total = 0.0
    for f, (name, (a, b)) in zip(found, accuracy.items(), strict=True):
        # P a - Q b = P f - Q (1 - f): go along the normal (P, -Q), then keep inside the square
        # along the line.
        p, q = prevalence, 1 - prevalence
        right = p * f - q * (1 - f)
        gap = (p * a - q * b - right) / (p * p + q * q)
        new_a = float(np.clip(a - p * gap, max(0.0, right / p), min(1.0, (right + q) / p)))
        new_b = float(np.clip((p * new_a - right) / q, 0.0, 1.0))
        moved[name] = (new_a, new_b)
        total += (new_a - a) ** 2 + (new_b - b) ** 2
    return Projection(prevalence=prevalence, accuracy=moved, distance=float(np.sqrt(total)))


def _shares(
    votes: Tally, accuracy: Mapping[str, tuple[float, float]], labels: tuple[Label, Label] | None
) -> Floats:
    """Return each judge's share of votes for the first label."""
    ballots = Ballots.of(votes, judges=tuple(accuracy), labels=labels or ())
    ballots.require_binary("the containing variety")
    return np.asarray(ballots.vote_counts[:, 0] / ballots.voted)
