"""Tests made to measure: votes whose judges have exactly a given quality, and exactly no
correlation.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import lcm
from typing import Any

import numpy as np

from tallystick._rng import Rng, as_rng
from tallystick.errors import InputError
from tallystick.judge.papers.correlated import shares_by_truth
from tallystick.judge.papers.point import Point
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["Simulation", "simulate"]


@dataclass(frozen=True, kw_only=True, eq=False)
class Simulation:
    """The smallest test with the quality of *point*: whole numbers of items, and nothing left to
    chance.

    Parameters
    ----------
    point
        What was asked for.
    size
        Fewest items on which it can hold exactly.
    counts
        (votes, true label) to number of items.
    truth
        Name of the column of true labels.
    """

    point: Point
    size: int
    counts: dict[tuple[tuple[Label, ...], Label], int]
    truth: str

    @property
    def tally(self) -> Tally:
        """The counts as a tally, true labels included."""
        rows = list(self.counts)
        columns: dict[str, list[Label]] = {
            name: [votes[j] for votes, _ in rows] for j, name in enumerate(self.point.names)
        }
        columns[self.truth] = [label for _, label in rows]
        return Tally.from_patterns(columns, list(self.counts.values()))

    def stream(self, *, rng: Rng) -> dict[str, Any]:
        """Return the items in random order: every order has exactly the same counts."""
        order = as_rng(rng).permutation(self.size)
        return self._columns(
            np.repeat(np.arange(len(self.counts)), list(self.counts.values()))[order]
        )

    def independent_draws(self, n: int, *, rng: Rng) -> dict[str, Any]:
        """Return *n* items drawn independently from the same point, for contrast: their
        correlations are not zero.
        """
        chance = np.array(list(self.counts.values())) / self.size
        return self._columns(as_rng(rng).choice(len(chance), size=n, p=chance))

    def _columns(self, places: Any) -> dict[str, Any]:
        rows = list(self.counts)
        columns = {
            name: np.array([votes[j] for votes, _ in rows])[places]
            for j, name in enumerate(self.point.names)
        }
        return {**columns, self.truth: np.array([label for _, label in rows])[places]}


def simulate(point: Point, *, truth: str = "truth") -> Simulation:
    """Return the smallest test on which judges have exactly the quality of *point*.

    Its size is the least common multiple of the denominators of all pattern shares [CE23]_,
    supplement 7 (where "GCD of the frequencies" is meant as this). On it, judges of an independent
    point have sample correlations of exactly zero, which independent draws never have.

    Parameters
    ----------
    point
        Prevalence, accuracies and, if wanted, correlations.
    truth
        Name of the column of true labels.

    Examples
    --------
    >>> test = simulate(Point(prevalence="1/2", accuracy={"ann": ("3/4", "3/4"), "bob": ("2/3", 1), "eve": (1, "1/2")}))
    >>> test.size, test.tally.n
    (48, 48)
    >>> sorted(test.stream(rng=1))
    ['ann', 'bob', 'eve', 'truth']
    """
    if truth in point.accuracy:
        raise InputError(f"truth is called {truth!r} and so is a judge: rename one")
    shares = {
        (votes, label): share
        for votes, by_label in shares_by_truth(point).items()
        for label, share in by_label.items()
        if share
    }
    size = lcm(*(share.denominator for share in shares.values()))
    return Simulation(
        point=point,
        size=size,
        counts={key: int(share * size) for key, share in shares.items()},
        truth=truth,
    )
