"""With every label known: exact prevalence, accuracies and correlations."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from fractions import Fraction
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.errors import InputError
from tallystick.judge.ballots import Ballots, Ints
from tallystick.judge.leader import by_labels
from tallystick.judge.parts import JudgeScore, LabelScore, Share
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict import on_labelled_items
from tallystick.judge.verdict_grounds import SAMPLE
from tallystick.results import Unknown
from tallystick.stats.intervals import clopper_pearson
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["Correlations", "Supervised", "supervised", "supervised_point"]

_MOST = 10

Correlations: TypeAlias = Mapping[tuple[Label, tuple[str, ...]], Fraction]
"""(label, judges) to the mean over its items of the product of (right - accuracy) of these judges.
"""


class Supervised:
    """Exact sample statistics of judges on labelled items, as fractions.

    Parameters
    ----------
    ballots
        Votes with their truth.
    """

    def __init__(self, ballots: Ballots) -> None:
        ballots.require_items("supervised")
        known = ballots.truth >= 0
        if not known.any():
            raise InputError("truth: not one item has a true label, and supervised needs them all")
        self._codes: Ints = ballots.codes[known]
        self._truth: Ints = ballots.truth[known]
        self._counts = [int(count) for count in ballots.counts[known]]
        self.names, self.classes = ballots.names, ballots.classes
        self.n = sum(self._counts)

    @property
    def prevalence(self) -> dict[Label, Fraction]:
        """Share of items of each label."""
        return {
            label: Fraction(self._sum(self._truth == c), self.n)
            for c, label in enumerate(self.classes)
        }

    def accuracy(self, judge: str) -> dict[Label, Fraction | None]:
        """Share of right votes among the judge's votes on each label; None where it has none."""
        column = self._codes[:, self.names.index(judge)]
        found: dict[Label, Fraction | None] = {}
        for c, label in enumerate(self.classes):
            there = (self._truth == c) & (column >= 0)
            total = self._sum(there)
            found[label] = Fraction(self._sum(there & (column == c)), total) if total else None
        return found

    def right(self, judge: str) -> tuple[int, int]:
        """Right votes and votes of a judge."""
        column = self._codes[:, self.names.index(judge)]
        return self._sum((column == self._truth) & (column >= 0)), self._sum(column >= 0)

    def correlation(self, label: Label, judges: tuple[str, ...]) -> Fraction | None:
        r"""Return :math:`\Gamma`, the mean over items of *label* on which all vote of
        :math:`\prod_i (c_i - p_i)`.

        [CE23]_, Eqs 9-10. Accuracies are those on the same items, so that independence means 0.
        """
        columns = self._codes[:, [self.names.index(name) for name in judges]]
        c = self.classes.index(label)
        there = np.flatnonzero((self._truth == c) & (columns >= 0).all(axis=1))
        weights = [self._counts[i] for i in there]
        total = sum(weights)
        if not total:
            return None
        right = (columns[there] == c).tolist()
        means = [
            Fraction(sum(w for w, row in zip(weights, right, strict=True) if row[j]), total)
            for j in range(len(judges))
        ]
        products = (
            w * prod((int(ok) - p for ok, p in zip(row, means, strict=True)), start=Fraction(1))
            for w, row in zip(weights, right, strict=True)
        )
        return sum(products, Fraction(0)) / total

    def correlations(self, order: int | None = None) -> Correlations:
        """Return all 2-way to *order*-way correlations by label; every order by default, up to ten
        judges.
        """
        highest = len(self.names) if order is None else order
        if order is None and len(self.names) > _MOST:
            raise InputError(
                f"{len(self.names)} judges have 2^{len(self.names)} correlations: pass order=2 or 3"
            )
        found: dict[tuple[Label, tuple[str, ...]], Fraction] = {}
        for m in range(2, highest + 1):
            for judges in itertools.combinations(self.names, m):
                for label in self.classes:
                    value = self.correlation(label, judges)
                    if value is not None:
                        found[label, judges] = value
        return found

    def _sum(self, mask: NDArray[np.bool_]) -> int:
        return sum(self._counts[i] for i in np.flatnonzero(mask))


def supervised_point(
    votes: Tally | Ballots, *, truth: str | None = None, judges: tuple[str, ...] | None = None
) -> Supervised:
    """Return exact statistics of labelled votes, as fractions.

    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1], "gold": [0, 0, 1, 0]})
    >>> exact = supervised_point(votes, truth="gold")
    >>> exact.prevalence[0], exact.accuracy("ann")[0], exact.correlation(0, ("ann", "bob"))
    (Fraction(3, 4), Fraction(2, 3), Fraction(1, 9))
    """
    return Supervised(Ballots.of(votes, judges=judges, truth=truth))


def supervised(
    votes: Tally | Ballots,
    *,
    truth: str | None = None,
    judges: tuple[str, ...] | None = None,
    alpha: float = 0.05,
) -> JudgeResult:
    """Grade judges on the labelled items alone: plain shares, exact intervals, no other assumption
    than a fair sample.

    Votes on unlabelled items are not used; ``evaluate`` uses them. Intervals are Clopper-Pearson:
    exact for new items like the labelled ones.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0, 0, 1, 1], "bob": [0, 1, 1, 1], "gold": [0, 0, 1, 0]})
    >>> supervised(votes, truth="gold").judges[0].accuracy
    0.75
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth)
    exact = Supervised(ballots)
    scores = []
    for name in ballots.names:
        right, total = exact.right(name)
        column = ballots.codes[:, ballots.names.index(name)]
        parts = {}
        for c, key in enumerate(ballots.keys):
            there = (ballots.truth == c) & (column >= 0)
            parts[key] = _score(
                int(ballots.counts @ (there & (column == c))),
                int(ballots.counts @ there),
                alpha,
                f"items of {key}",
            )
        whole = _score(right, total, alpha, "items")
        scores.append(
            JudgeScore(
                name=name,
                accuracy=whole.estimate,
                interval=whole.interval,
                per_label=parts,
                votes=float(total),
            )
        )
    prevalence = {}
    for c, key in enumerate(ballots.keys):
        part = _score(int(ballots.counts @ (ballots.truth == c)), exact.n, alpha, "items")
        prevalence[key] = Share(estimate=part.estimate, interval=part.interval)
    right_votes, all_votes = np.array(
        [exact.right(name) for name in ballots.names], dtype=np.float64
    ).T
    best = by_labels(ballots, right_votes, all_votes, alpha=alpha)
    return JudgeResult(
        verdict=on_labelled_items(best, scores, exact.n),
        n_items=round(ballots.n),
        assumptions=(SAMPLE,),
        method="supervised",
        judges=tuple(scores),
        prevalence=prevalence,
        n_labels=exact.n,
        leader=None if best is None else best.name,
        rivals=() if best is None else best.rivals,
    )


def _score(right: int, total: int, alpha: float, of: str) -> LabelScore:
    if not total:
        nothing = Unknown(f"no vote on labelled {of}")
        return LabelScore(estimate=nothing, interval=nothing)
    return LabelScore(estimate=right / total, interval=clopper_pearson(right, total, alpha=alpha))
