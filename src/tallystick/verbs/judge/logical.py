"""What holds whatever the truth is: bounds and sentences that need no assumption."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np

from tallystick.errors import InputError
from tallystick.results import Interval, Unknown
from tallystick.stats.latent_checks import CROWD
from tallystick.table import Tally
from tallystick.table.panel import Ints, Panel
from tallystick.verbs.judge.question import Ranges, check_ranges
from tallystick.verbs.judge.result import JudgeResult, JudgeScore, LabelScore, Share, Statement
from tallystick.verbs.judge.verdict import (
    GIVEN_RANGE,
    NOTHING_EXCLUDED,
    joint_statement,
    logic_alone,
    pair_statement,
)

_PAIRS = 10
_MOST_CELLS = 40_000
"""Pattern-label cells beyond which the linear programmes about all judges are left out."""
_NO_TRUTH = "prevalence ranges and true labels contradict each other: correct one of them"
NO_ESTIMATE = Unknown("logic gives ranges, no estimates")


def logical(
    votes: Tally | Panel,
    *,
    truth: str | None = None,
    prevalence: Ranges | None = None,
    joint: bool = True,
) -> JudgeResult:
    r"""Say what the votes prove of the judges whatever the truth is.

    If Q of n items are truly ℓ and a judge votes ℓ on :math:`n_\ell`, it is right on between
    :math:`\max(0, Q - (n - n_\ell))` and :math:`\min(n_\ell, Q)` of them, and overall, at class
    counts :math:`Q_\ell`,

    .. math:: \max(0, \max_\ell (n_\ell + Q_\ell - n)) \le \text{right} \le \sum_\ell \min(n_\ell, Q_\ell).   \tag{J8}

    With a range of the prevalence, or labels, these are intervals. Joint sentences (two judges that
    disagree on a share d: one of them is right on at most 1 - d/2) come from a linear programme
    over the true labels of every vote pattern, which is safe: it can only say less than whole
    numbers would.

    Parameters
    ----------
    votes
        The tally of votes, or a panel.
    truth
        A column of true labels, partly blank: what is labelled is certain.
    prevalence
        Label to a range of its share among *these* items.
    joint
        Whether to work out sentences about all judges together.

    Examples
    --------
    >>> votes = Tally.of({"ann": [0] * 6 + [1] * 4, "bob": [1] * 6 + [0] * 4})
    >>> print(logical(votes).statements[0].text)
    Whatever the truth, one of ann and bob is right on at most 50.0%: they disagree on 100.0% of 10 items.
    >>> print(logical(votes, prevalence={0: (0.9, 1.0)}).judges[0].interval)
    [0.500, 0.700] (95%, exact)
    """
    panel = Panel.of(votes, truth=truth)
    panel.require_items("logical")
    ranges = check_ranges(prevalence, panel)
    logic = Logic.of(panel, ranges)
    scores = tuple(logic.score(j) for j in range(len(panel.names)))
    statements = pair_statements(panel)
    if joint and len(panel.names) > 1 and len(panel.counts) * len(panel.classes) <= _MOST_CELLS:
        every = (*statements, *_joint(panel, ranges))
        statements = tuple(sorted(every, key=lambda one: (one.at_least, round(one.bound, 9))))

    widths = [high - low for low, high in map(logic.overall, range(len(scores)))]
    tight = scores[int(np.argmin(widths))]
    if statements and (not ranges or min(widths) == 1):
        verdict = statements[0].text
    elif isinstance(tight.interval, Interval) and min(widths) < 1:
        verdict = logic_alone(tight.name, tight.interval)
    else:
        verdict = NOTHING_EXCLUDED
    return JudgeResult(
        verdict=verdict,
        decision="decided" if statements or min(widths) < 1 else "unknowable",
        n_items=round(panel.n),
        assumptions=(GIVEN_RANGE,) if ranges else (),
        method="logical",
        judges=scores,
        prevalence={
            key: Share(estimate=NO_ESTIMATE, interval=certain(logic.share(c)))
            for c, key in enumerate(panel.keys)
        },
        statements=statements,
        n_labels=panel.n_labels,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
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
        n, classes = int(panel.n), range(panel.n_classes)
        known, counts = panel.known, panel.counts.astype(np.int64)
        sure = np.array([counts[panel.truth == c].sum() for c in classes])
        unlabelled = int(counts[~known].sum())
        ends = [ranges.get(c, (0.0, 1.0)) for c in classes]
        least = np.array([np.ceil(low * n - 1e-9) for low, _ in ends]).astype(np.int64) - sure
        most = np.array([np.floor(high * n + 1e-9) for _, high in ends]).astype(np.int64) - sure
        least, most = np.maximum(least, 0), np.minimum(most, unlabelled)

        # What the other labels cannot take falls to this one, and the other way round.
        least = np.maximum(least, unlabelled - (most.sum() - most))
        most = np.minimum(most, unlabelled - (least.sum() - least))
        if (least > most).any():
            raise InputError(_NO_TRUTH)
        # Counted by judge, truth and vote in one pass: a pass for each label is slow with crowds.
        entry, judge = np.nonzero(panel.codes >= 0)
        shape = (len(panel.names), panel.n_classes + 1, len(panel.labels))
        cell = np.ravel_multi_index(
            (judge, panel.truth[entry] + 1, panel.codes[entry, judge]), shape
        )
        table = np.bincount(cell, counts[entry], int(np.prod(shape))).reshape(shape)
        table = table.astype(np.int64)
        labels = np.arange(panel.n_classes)
        return cls(
            names=panel.names,
            keys=panel.keys,
            open_votes=table[:, 0, : panel.n_classes],
            right=table[:, labels + 1, labels],
            seen=table[:, 1:].sum(axis=2),
            least=least,
            most=most,
            sure=sure,
            unlabelled=unlabelled,
            n=n,
            never=table[:, 0, panel.n_classes :].sum(axis=1),
        )

    def share(self, c: int) -> tuple[float, float]:
        """Return the possible shares of a label."""
        low, high = self.sure[c] + self.least[c], self.sure[c] + self.most[c]
        return float(low) / self.n, float(high) / self.n

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
        mine = int(self.open_votes[j, c])
        other = int(self.open_votes[j].sum() + self.never[j]) - mine
        right, seen = int(self.right[j, c]), int(self.seen[j, c])
        fewest = max(0 if seen else 1, int(self.least[c]) - (self.unlabelled - mine - other))
        most = min(mine + other, int(self.most[c]))
        if fewest > most:
            return 0.0, 1.0
        at_low, at_high = (min(max(turning, fewest), most) for turning in (other, mine))
        low = (right + max(0, at_low - other)) / (seen + at_low)
        return low, (right + min(mine, at_high)) / (seen + at_high)

    def score(self, j: int) -> JudgeScore:
        """Return the bounds of judge j."""
        whole, parts = self.certain(j)
        return JudgeScore(
            name=self.names[j],
            accuracy=NO_ESTIMATE,
            interval=whole,
            per_label={
                key: LabelScore(estimate=NO_ESTIMATE, interval=part, logical=part)
                for key, part in parts.items()
            },
            votes=float(self._votes(j)),
            logical=whole,
        )

    def certain(self, j: int) -> tuple[Interval, dict[str, Interval]]:
        """Return the same bounds of judge j, overall and by label, as intervals."""
        parts = {key: certain(self.on_label(j, c)) for c, key in enumerate(self.keys)}
        return certain(self.overall(j)), parts

    def _votes(self, j: int) -> int:
        return int(self.open_votes[j].sum() + self.never[j] + self.seen[j].sum())


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


def certain(ends: tuple[float, float]) -> Interval:
    """Return two ends as an interval that always holds."""
    return Interval(min(ends), max(ends), guarantee="exact", method="logic")


# Sentences about several judges at once.


def pair_statements(panel: Panel) -> tuple[Statement, ...]:
    """Return what disagreement alone proves of pairs, the strongest first; nothing for crowds."""
    if len(panel.names) > CROWD:
        return ()
    codes, counts = panel.codes, panel.counts
    found = []
    for i, j in itertools.combinations(range(len(panel.names)), 2):
        both = (codes[:, i] >= 0) & (codes[:, j] >= 0)
        common = float(counts[both].sum())
        differ = float(counts[both & (codes[:, i] != codes[:, j])].sum())
        if differ:
            found.append((differ / common, common, (panel.names[i], panel.names[j])))
    found.sort(key=lambda item: -item[0])
    return tuple(
        Statement(text=pair_statement(a, b, d, common), judges=(a, b), bound=1 - d / 2)
        for d, common, (a, b) in found[:_PAIRS]
    )


def _joint(panel: Panel, ranges: dict[int, tuple[float, float]]) -> tuple[Statement, ...]:
    """Return the best that the worst judge can be, and the worst that the best can be."""
    found = []
    for at_least in (False, True):
        bound = joint_bound(panel, ranges, at_least=at_least)
        if bound > 1e-9 if at_least else bound < 1 - 1e-9:
            text = joint_statement(len(panel.names), bound, at_least=at_least)
            found.append(Statement(text=text, judges=panel.names, bound=bound, at_least=at_least))
    return tuple(found)


def joint_bound(
    panel: Panel, ranges: dict[int, tuple[float, float]], *, at_least: bool = False
) -> float:
    r"""Return the best accuracy that the worst judge can have; *at_least*: the worst of the best.

    With :math:`x_{p\ell}` of the :math:`c_p` items of pattern p truly ℓ, every accuracy is linear
    in x, and

    .. math:: t^* = \max_x \min_j \text{accuracy}_j(x), \qquad \sum_\ell x_{p\ell} = c_p   \tag{J9}

    within the prevalence ranges. Fractions of items only widen the bound.

    >>> panel = Panel.of(Tally.of({"a": [0, 0, 1, 1], "b": [1, 1, 1, 1]}))
    >>> joint_bound(panel, {}), joint_bound(panel, {}, at_least=True)
    (0.75, 0.25)
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array, hstack, vstack

    # Columns: x by pattern and label, then t. A vote that is never true is never right.
    patterns, n_classes, judges = len(panel.counts), panel.n_classes, len(panel.names)
    width, sign = patterns * n_classes, 1.0 if at_least else -1.0
    possible = panel.answered.codes
    pattern, judge = np.nonzero(possible >= 0)
    place = pattern * n_classes + possible[pattern, judge]
    right = csr_array((1 / panel.voted[judge], (judge, place)), shape=(judges, width))
    gap = hstack([right, csr_array(np.full((judges, 1), -1.0))]).tocsr()
    zero, endless = np.zeros(judges), np.full(judges, np.inf)
    accuracy = LinearConstraint(gap, *((-endless, zero) if at_least else (zero, endless)))

    cells = np.arange(width)
    each = csr_array((np.ones(width), (cells // n_classes, cells)), shape=(patterns, width + 1))
    labels = csr_array((np.ones(width), (cells % n_classes, cells)), shape=(n_classes, width + 1))
    ends = np.array([ranges.get(c, (0.0, 1.0)) for c in range(n_classes)]) * panel.n
    low = np.concatenate((panel.counts, np.ceil(ends[:, 0] - 1e-9)))
    high = np.concatenate((panel.counts, np.floor(ends[:, 1] + 1e-9)))

    least, most = np.zeros(width + 1), np.append(np.repeat(panel.counts, n_classes), 1.0)
    known = np.flatnonzero(panel.known)
    least[known * n_classes + panel.truth[known]] = panel.counts[known]
    found = milp(
        np.append(np.zeros(width), sign),
        constraints=[accuracy, LinearConstraint(vstack([each, labels]).tocsr(), low, high)],
        bounds=Bounds(least, most),
    )
    if not found.success:
        raise InputError(_NO_TRUTH)
    return float(np.clip(sign * found.fun, 0.0, 1.0))
