"""What holds whatever the truth is: bounds and sentences that need no assumption."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Figure, Interval, Unknown
from tallystick.table import Tally
from tallystick.table.cells import Label
from tallystick.table.panel import Floats, Ints, Panel
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import (
    JudgeScore,
    LabelScore,
    Number,
    Range,
    Ranges,
    Share,
    Statement,
    check_ranges,
)
from tallystick.verbs.judge.sessions import price_bound
from tallystick.verbs.judge.verdict import GIVEN_RANGE
from tallystick.verbs.judge.verdict_methods import (
    NOTHING_EXCLUDED,
    joint_statement,
    logic_alone,
    pair_statement,
)

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
    votes: Tally | Panel,
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
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels)
    panel.require_items("logical")
    ranges = check_ranges(prevalence, panel)
    logic = Logic.of(panel, ranges)
    scores = tuple(logic.score(j) for j in range(len(panel.names)))
    statements = _pairs(panel)
    if joint and len(panel.names) > 1 and len(panel.counts) * len(panel.classes) <= _MOST_CELLS:
        every = (*statements, *_joint(panel, ranges))
        statements = tuple(sorted(every, key=lambda one: (one.at_least, round(one.bound, 9))))
    curve = logical_curve(panel) if len(panel.classes) == 2 and panel.complete else {}
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
        n_items=round(panel.n),
        assumptions=(GIVEN_RANGE,) if ranges else (),
        method="logical",
        judges=scores,
        prevalence={
            key: Share(
                estimate=Unknown("logic gives ranges, no estimates"),
                interval=_certain(*logic.share(c)),
            )
            for c, key in enumerate(panel.keys)
        },
        statements=statements,
        n_labels=int(panel.counts[panel.truth >= 0].sum()),
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
    def of(cls, panel: Panel, ranges: dict[int, tuple[float, float]]) -> Logic:
        """Prepare the counts."""
        n_classes, n = len(panel.classes), int(panel.n)
        known = panel.truth >= 0
        counts = panel.counts.astype(np.int64)
        sure = np.bincount(panel.truth[known], weights=counts[known], minlength=n_classes).astype(
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
            [counts[~known] @ (panel.codes[~known] == c) for c in range(n_classes)], axis=1
        )
        right = np.stack(
            [counts @ ((panel.codes == c) & (panel.truth == c)[:, None]) for c in range(n_classes)],
            axis=1,
        )
        seen = np.stack(
            [counts @ ((panel.codes >= 0) & (panel.truth == c)[:, None]) for c in range(n_classes)],
            axis=1,
        )
        never = counts[~known] @ (panel.codes[~known] >= n_classes)
        return cls(
            panel.names,
            panel.keys,
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


def logical_curve(panel: Panel) -> dict[str, list[Any]]:
    """Return the bounds of overall accuracy and of both labels over the prevalence of the first of
    two labels.

    Complete votes; at most 201 prevalences, whole numbers of items each.
    """
    n = int(panel.n)
    q = np.unique(np.round(np.linspace(0, n, min(n + 1, _POINTS))).astype(np.int64))
    columns: dict[str, list[Any]] = {name: [] for name in ("judge", "prevalence", "low", "high")}
    for key in panel.keys:
        columns |= {f"low on {key}": [], f"high on {key}": []}
    for name, (a, b) in zip(panel.names, panel.vote_counts.tolist(), strict=True):
        low = np.maximum(0, np.maximum(a + q - n, b + (n - q) - n))
        high = np.minimum(a, q) + np.minimum(b, n - q)
        columns["judge"] += [name] * len(q)
        columns["prevalence"] += (q / n).tolist()
        columns["low"] += (low / n).tolist()
        columns["high"] += (high / n).tolist()
        for key, mine, size in ((panel.keys[0], a, q), (panel.keys[1], b, n - q)):
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


def _pairs(panel: Panel) -> tuple[Statement, ...]:
    """Return what disagreement alone proves of pairs, the strongest first."""
    codes, counts = panel.codes, panel.counts
    found = []
    for i, j in itertools.combinations(range(len(panel.names)), 2):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        common = float(counts[both].sum())
        if not common:
            continue
        d = float(counts[both & (codes[:, i] != codes[:, j])].sum()) / common
        found.append((d, common, (panel.names[i], panel.names[j])))
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


def _joint(panel: Panel, ranges: dict[int, tuple[float, float]]) -> tuple[Statement, ...]:
    top, bottom = best_worst(panel, ranges), worst_best(panel, ranges)
    found = []
    if top < 1 - 1e-9:
        found.append(
            Statement(
                text=joint_statement(len(panel.names), top, at_least=False),
                judges=panel.names,
                bound=top,
            )
        )
    if bottom > 1e-9:
        found.append(
            Statement(
                text=joint_statement(len(panel.names), bottom, at_least=True),
                judges=panel.names,
                bound=bottom,
                at_least=True,
            )
        )
    return tuple(found)


# Sentences about several judges at once, by linear programming over the true labels of vote
# patterns.


MOST_CELLS = 20_000
"""Patterns x labels beyond which the programme is solved by prices: memory would grow with it."""


def best_worst(
    panel: Panel, ranges: dict[int, tuple[float, float]], *, whole: bool = False
) -> float:
    r"""Return the best accuracy that the worst judge can have: at least one judge is no better than
    this.

    With :math:`x_{p\ell}` of the :math:`c_p` items of pattern p truly ℓ, every accuracy is linear
    in x, and

    .. math:: t^* = \max_x \min_j \text{accuracy}_j(x), \qquad \sum_\ell x_{p\ell} = c_p   \tag{J9}

    within the prevalence ranges. Fractions of items only widen the bound; *whole* insists on whole
    ones.

    >>> from tallystick.table import Tally
    >>> best_worst(Panel.of(Tally.of({"a": [0, 0, 1, 1], "b": [1, 1, 1, 1]})), {})
    0.75
    """
    return _solve(panel, ranges, sign=-1.0, whole=whole)


def worst_best(
    panel: Panel, ranges: dict[int, tuple[float, float]], *, whole: bool = False
) -> float:
    """Return the worst accuracy that the best judge can have: at least one judge is no worse than
    this.

    >>> from tallystick.table import Tally
    >>> worst_best(Panel.of(Tally.of({"a": [0, 0, 1, 1], "b": [1, 1, 1, 1]})), {})
    0.25
    """
    return _solve(panel, ranges, sign=1.0, whole=whole)


def _solve(
    panel: Panel, ranges: dict[int, tuple[float, float]], *, sign: float, whole: bool
) -> float:
    """Minimise sign · t with every accuracy at least t (sign -1) or at most t (sign 1); x first, t
    last.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack, vstack

    n_classes = len(panel.classes)
    n_patterns, n_judges = panel.codes.shape
    width = n_patterns * n_classes
    if width > MOST_CELLS and not whole:
        return price_bound(panel, _class_ends(panel, ranges), sign=sign)
    size = panel.voted
    possible = panel.answered.codes  # a vote that is never true is never right
    pattern, judge = np.nonzero(possible >= 0)
    place = pattern * n_classes + possible[pattern, judge]
    right = csr_array((1 / size[judge], (judge, place)), shape=(n_judges, width))
    column = csr_array(np.full((n_judges, 1), -1.0))
    each = csr_array(
        (np.ones(width), (np.repeat(np.arange(n_patterns), n_classes), np.arange(width))),
        shape=(n_patterns, width),
    )
    of_class = csr_array(
        (np.ones(width), (np.tile(np.arange(n_classes), n_patterns), np.arange(width))),
        shape=(n_classes, width),
    )
    low, high = _class_ends(panel, ranges)
    accuracy = LinearConstraint(
        hstack([right, column]).tocsr(),
        np.zeros(n_judges) if sign < 0 else np.full(n_judges, -np.inf),
        np.full(n_judges, np.inf) if sign < 0 else np.zeros(n_judges),
    )
    rest = hstack([vstack([each, of_class]), csr_array((n_patterns + n_classes, 1))]).tocsr()
    fixed = LinearConstraint(
        rest, np.concatenate((panel.counts, low)), np.concatenate((panel.counts, high))
    )
    least, most = np.zeros(width + 1), np.append(np.repeat(panel.counts, n_classes), 1.0)
    known = np.flatnonzero(panel.truth >= 0)
    cells = known * n_classes + panel.truth[known]
    least[cells] = panel.counts[known]
    found = milp(
        np.append(np.zeros(width), sign),
        constraints=[accuracy, fixed],
        bounds=Bounds(least, most),
        integrality=np.append(np.full(width, float(whole)), 0.0),
    )
    if not found.success:
        raise InputError(
            f"prevalence ranges and truth leave no possible truth for these votes ({found.message})"
        )
    return float(np.clip(sign * found.fun, 0.0, 1.0))


def _class_ends(panel: Panel, ranges: dict[int, tuple[float, float]]) -> tuple[Floats, Floats]:
    n = panel.n
    ends = [ranges.get(c, (0.0, 1.0)) for c in range(len(panel.classes))]
    return np.ceil([low * n - 1e-9 for low, _ in ends]), np.floor(
        [high * n + 1e-9 for _, high in ends]
    )


def plain(value: Number, otherwise: float = float("nan")) -> float:
    """Return a number, or *otherwise* where it is unknown."""
    return value if isinstance(value, float) else otherwise
