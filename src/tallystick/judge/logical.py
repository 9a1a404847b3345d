"""What holds whatever the truth is: bounds and sentences that need no assumption."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.judge.ballots import Ballots, Floats, Ints, Ranges, check_ranges
from tallystick.judge.joint import best_worst, worst_best
from tallystick.judge.parts import JudgeScore, LabelScore, Range, Share, Statement
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict_grounds import GIVEN_RANGE
from tallystick.judge.verdict_methods import (
    NOTHING_EXCLUDED,
    joint_statement,
    logic_alone,
    pair_statement,
)
from tallystick.results import Figure, Interval, Unknown
from tallystick.tally import Tally
from tallystick.values.label import Label

__all__ = ["Logic", "LogicalResult", "logical", "logical_curve"]

_POINTS = 201
_PAIRS = 10
_MOST_CELLS = 40_000
"""Pattern-label cells beyond which the linear programmes about all judges are left out."""


@dataclass(frozen=True, kw_only=True)
class LogicalResult(JudgeResult):
    """A judge result with ``curve``: the bounds of every judge at every prevalence of the first
    label.
    """

    curve: dict[str, list[Any]] = field(default_factory=dict)

    def figures(self) -> tuple[Figure, ...]:
        """Return the curve of overall accuracy, then the judges."""
        if not self.curve:
            return super().figures()
        curve = Figure(
            kind="bands",
            title="What accuracy is possible at each prevalence",
            columns=self.curve,
            roles={"x": "prevalence", "low": "low", "high": "high", "group": "judge"},
            unit="share",
        )
        return (curve, *super().figures())


def logical(
    votes: Tally | Ballots,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    prevalence: Ranges | None = None,
    joint: bool = True,
) -> LogicalResult:
    r"""Say what the votes prove of the judges whatever the truth is.

    If Q of n items are truly ℓ and a judge votes ℓ on :math:`n_\ell`, it is right on between
    :math:`\max(0, Q - (n - n_\ell))` and :math:`\min(n_\ell, Q)` of them, and overall, at class
    counts :math:`Q_\ell`,

    .. math:: \max(0, \max_\ell (n_\ell + Q_\ell - n)) \le \text{right} \le \sum_\ell \min(n_\ell, Q_\ell).   \tag{J8}

    Without a prevalence these are curves; with a range of it, or labels, intervals. Joint sentences
    (two judges that disagree on a share d: one of them is right on at most 1 - d/2) come from a
    linear programme over the true labels of every vote pattern, which is safe: it can only say less
    than whole numbers would.

    Parameters
    ----------
    votes, judges, labels
        The tally; which columns judge; labels that nobody voted for.
    truth
        A column of true labels, partly blank: what is labelled is certain.
    prevalence
        Label to a range of its share among *these* items.
    joint
        Whether to work out sentences about several judges.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0] * 6 + [1] * 4, "bob": [1] * 6 + [0] * 4})
    >>> print(logical(votes).statements[0].text)
    Whatever the truth, one of ann and bob is right on at most 50.0 %: they disagree on 100.0 % of 10 items.
    >>> print(logical(votes, prevalence={0: (0.9, 1.0)}).judges[0].interval)
    [0.500, 0.700] (95 %, exact)
    """
    ballots = Ballots.of(votes, judges=judges, truth=truth, labels=labels)
    ballots.require_items("logical")
    ranges = check_ranges(prevalence, ballots)
    logic = Logic.of(ballots, ranges)
    scores = tuple(logic.score(j) for j in range(len(ballots.names)))
    statements = _pairs(ballots)
    if (
        joint
        and len(ballots.names) > 1
        and len(ballots.counts) * len(ballots.classes) <= _MOST_CELLS
    ):
        every = (*statements, *_joint(ballots, ranges))
        statements = tuple(sorted(every, key=lambda one: (one.at_least, round(one.bound, 9))))
    curve = logical_curve(ballots) if len(ballots.classes) == 2 and ballots.complete else {}
    tight = min(scores, key=lambda score: _width(score.interval))
    if statements and (not ranges or _width(tight.interval) == 1):
        verdict = statements[0].text
    elif isinstance(tight.interval, Interval) and tight.interval.width < 1:
        verdict = logic_alone(tight.name, tight.interval)
    else:
        verdict = NOTHING_EXCLUDED
    return LogicalResult(
        verdict=verdict,
        decision="decided" if statements or _width(tight.interval) < 1 else "unknowable",
        n_items=round(ballots.n),
        assumptions=(GIVEN_RANGE,) if ranges else (),
        method="logical",
        judges=scores,
        prevalence={
            key: Share(
                estimate=Unknown("logic gives ranges, no estimates"),
                interval=_certain(*logic.share(c)),
            )
            for c, key in enumerate(ballots.keys)
        },
        statements=statements,
        n_labels=int(ballots.counts[ballots.truth >= 0].sum()),
        curve=curve,
    )


@dataclass(frozen=True, eq=False)
class Logic:
    """Counts that logic works on: each judge's open votes, what is labelled, and how many of each
    label there can be.

    Parameters
    ----------
    names, keys
        Judges and labels.
    open_votes
        Judges x labels: votes on items without a known truth.
    right, seen
        Judges x labels: labelled items of each true label that the judge got right, and that it
        voted on.
    least, most
        Labels: how many of the unlabelled items can be truly of each.
    sure
        Labels: labelled items of each.
    never
        Judges: votes on items without a known truth that can never be true.
    unlabelled, n
        Unlabelled items, all items.
    """

    names: tuple[str, ...]
    keys: tuple[str, ...]
    open_votes: Ints
    right: Ints
    seen: Ints
    least: Ints
    most: Ints
    sure: Ints
    unlabelled: int
    n: int
    never: Ints

    @classmethod
    def of(cls, ballots: Ballots, ranges: dict[int, tuple[float, float]]) -> Logic:
        """Prepare the counts."""
        n_classes, n = len(ballots.classes), int(ballots.n)
        known = ballots.truth >= 0
        counts = ballots.counts.astype(np.int64)
        sure = np.bincount(ballots.truth[known], weights=counts[known], minlength=n_classes).astype(
            np.int64
        )
        unlabelled = int(counts[~known].sum())
        least, most = np.zeros(n_classes, np.int64), np.full(n_classes, unlabelled)
        for c in range(n_classes):
            low, high = ranges.get(c, (0.0, 1.0))
            least[c] = max(0, int(np.ceil(low * n - 1e-9)) - sure[c])
            most[c] = min(unlabelled, int(np.floor(high * n + 1e-9)) - sure[c])
        # What the other labels cannot take falls to this one, and the other way round.
        least = np.maximum(least, unlabelled - (most.sum() - most))
        most = np.minimum(most, unlabelled - (least.sum() - least))
        if (least > most).any():
            raise InputError(
                f"prevalence and truth contradict each other: {sure.tolist()} items are labelled"
                f" and no whole number of the other {unlabelled} fits the range"
            )
        open_votes = np.stack(
            [counts[~known] @ (ballots.codes[~known] == c) for c in range(n_classes)], axis=1
        )
        right = np.stack(
            [
                counts @ ((ballots.codes == c) & (ballots.truth == c)[:, None])
                for c in range(n_classes)
            ],
            axis=1,
        )
        seen = np.stack(
            [
                counts @ ((ballots.codes >= 0) & (ballots.truth == c)[:, None])
                for c in range(n_classes)
            ],
            axis=1,
        )
        never = counts[~known] @ (ballots.codes[~known] >= n_classes)
        return cls(
            ballots.names,
            ballots.keys,
            open_votes,
            right,
            seen,
            least,
            most,
            sure,
            unlabelled,
            n,
            np.asarray(never, dtype=np.int64),
        )

    def share(self, c: int) -> tuple[float, float]:
        """Return the possible shares of a label."""
        return (
            float(self.sure[c] + self.least[c]) / self.n,
            float(self.sure[c] + self.most[c]) / self.n,
        )

    def overall(self, j: int) -> tuple[float, float]:
        """Return the possible accuracies of judge j over the items that it voted on."""
        low, high = _right_ends(self.open_votes[j], self.least, self.most, self.unlabelled)
        done, total = int(self.right[j].sum()), self._votes(j)
        return (done + low) / total, (done + high) / total

    def on_label(self, j: int, c: int) -> tuple[float, float]:
        """Return the possible accuracies of judge j on label c, (J8) with labelled items added; [0,
        1] if it has none.

        With q open items truly c, the lower share falls until q reaches the judge's other votes and
        rises from there; the upper one rises until q reaches its votes c and falls from there.
        """
        mine, other = (
            int(self.open_votes[j, c]),
            int(self.open_votes[j].sum() - self.open_votes[j, c] + self.never[j]),
        )
        right, seen = int(self.right[j, c]), int(self.seen[j, c])
        fewest = max(0 if seen else 1, int(self.least[c]) - (self.unlabelled - mine - other))
        most = min(mine + other, int(self.most[c]))
        if fewest > most:
            return 0.0, 1.0
        at_low, at_high = (min(max(turning, fewest), most) for turning in (other, mine))
        return (right + max(0, at_low - other)) / (seen + at_low), (right + min(mine, at_high)) / (
            seen + at_high
        )

    def score(self, j: int) -> JudgeScore:
        """Return the bounds of judge j."""
        none = Unknown("logic gives ranges, no estimates")
        return JudgeScore(
            name=self.names[j],
            accuracy=none,
            interval=_certain(*self.overall(j)),
            per_label={
                key: LabelScore(
                    estimate=none,
                    interval=_certain(*self.on_label(j, c)),
                    logical=_certain(*self.on_label(j, c)),
                )
                for c, key in enumerate(self.keys)
            },
            votes=float(self._votes(j)),
            logical=_certain(*self.overall(j)),
        )

    def _votes(self, j: int) -> int:
        return int(self.open_votes[j].sum() + self.never[j] + self.seen[j].sum())


def logical_curve(ballots: Ballots) -> dict[str, list[Any]]:
    """Return the bounds of overall accuracy and of both labels over the prevalence of the first of
    two labels.

    Complete votes; at most 201 prevalences, whole numbers of items each.
    """
    n = int(ballots.n)
    q = np.unique(np.round(np.linspace(0, n, min(n + 1, _POINTS))).astype(np.int64))
    columns: dict[str, list[Any]] = {name: [] for name in ("judge", "prevalence", "low", "high")}
    for key in ballots.keys:
        columns |= {f"low on {key}": [], f"high on {key}": []}
    for name, (a, b) in zip(ballots.names, ballots.vote_counts.tolist(), strict=True):
        low = np.maximum(0, np.maximum(a + q - n, b + (n - q) - n))
        high = np.minimum(a, q) + np.minimum(b, n - q)
        columns["judge"] += [name] * len(q)
        columns["prevalence"] += (q / n).tolist()
        columns["low"] += (low / n).tolist()
        columns["high"] += (high / n).tolist()
        for key, mine, size in ((ballots.keys[0], a, q), (ballots.keys[1], b, n - q)):
            columns[f"low on {key}"] += _over(np.maximum(0, size - (n - mine)), size, 0.0)
            columns[f"high on {key}"] += _over(np.minimum(mine, size), size, 1.0)
    return columns


def _over(part: Floats, whole: Ints, otherwise: float) -> list[float]:
    out: list[float] = np.divide(
        part, whole, out=np.full(len(whole), otherwise), where=whole > 0
    ).tolist()
    return out


def _right_ends(votes: Ints, least: Ints, most: Ints, unlabelled: int) -> tuple[int, int]:
    """Return the fewest and the most right votes, over every division of the open items among
    labels.

    The most: start from the fewest items of each label and give the rest to labels that the judge
    votes for. The fewest, t: votes ℓ and items ℓ must meet in t only where together they exceed all
    open items by t, so the smallest t for which the labels still find room is bisected for.
    """
    rest = unlabelled - int(least.sum())
    gain = int(np.maximum(np.minimum(votes, most) - least, 0).sum())
    high = int(np.minimum(votes, least).sum()) + min(rest, gain)
    low, enough = int(max(0, (least + votes - unlabelled).max())), int(votes.sum())
    while low < enough:
        t = (low + enough) // 2
        if int(np.minimum(most, unlabelled - votes + t).sum()) >= unlabelled:
            enough = t
        else:
            low = t + 1
    return low, high


def _certain(low: float, high: float) -> Interval:
    return Interval(min(low, high), max(low, high), guarantee="exact", method="logic")


def _width(interval: Range) -> float:
    return interval.width if isinstance(interval, Interval) else 1.0


def _pairs(ballots: Ballots) -> tuple[Statement, ...]:
    """Return what disagreement alone proves of pairs, the strongest first."""
    codes, counts = ballots.codes, ballots.counts
    found = []
    for i, j in itertools.combinations(range(len(ballots.names)), 2):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        common = float(counts[both].sum())
        if not common:
            continue
        d = float(counts[both & (codes[:, i] != codes[:, j])].sum()) / common
        found.append((d, common, (ballots.names[i], ballots.names[j])))
    found.sort(key=lambda item: -item[0])
    return tuple(
        Statement(
            text=pair_statement(a, b, d, common),
            judges=(a, b),
            bound=1 - d / 2,
        )
        for d, common, (a, b) in found[:_PAIRS]
        if d > 0
    )


def _joint(ballots: Ballots, ranges: dict[int, tuple[float, float]]) -> tuple[Statement, ...]:
    top, bottom = best_worst(ballots, ranges), worst_best(ballots, ranges)
    found = []
    if top < 1 - 1e-9:
        found.append(
            Statement(
                text=joint_statement(len(ballots.names), top, at_least=False),
                judges=ballots.names,
                bound=top,
            )
        )
    if bottom > 1e-9:
        found.append(
            Statement(
                text=joint_statement(len(ballots.names), bottom, at_least=True),
                judges=ballots.names,
                bound=bottom,
                at_least=True,
            )
        )
    return tuple(found)
