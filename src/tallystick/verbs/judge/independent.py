"""Three or more judges graded without a single label, if their errors are independent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import NormalDist
from typing import get_args

import numpy as np

from tallystick.errors import InputError, NotIdentifiable
from tallystick.papers.noisy_judges.trio_quadratic import (
    Trios,
    TrioStatus,
    choose_branch,
    failure_modes,
    mirrored,
    solve_trios,
    trio_point,
    unresolved_roots,
)
from tallystick.results import Interval, Unknown
from tallystick.table import Tally
from tallystick.table.cells import Label, identity
from tallystick.table.panel import Floats, Ints, Panel
from tallystick.verbs.judge.logical import plain
from tallystick.verbs.judge.result import JudgeResult
from tallystick.verbs.judge.scores import (
    Alarm,
    JudgeScore,
    LabelScore,
    Number,
    Range,
    Ranges,
    Share,
    Solution,
    check_ranges,
)
from tallystick.verbs.judge.verdict import INDEPENDENCE, SHARED_BIAS
from tallystick.verbs.judge.verdict_methods import (
    failed_trios,
    logic_needs_range,
    maybe_chance,
    of_baseline,
    picks_no_branch,
    range_contradicted,
    trios_contradict,
)

_FAILED = get_args(TrioStatus)[1:]
_MOST_ROOTS = 20


def independent(
    votes: Tally | Panel,
    *,
    judges: Sequence[str] | None = None,
    truth: str | None = None,
    labels: Sequence[Label] = (),
    prevalence: Ranges | None = None,
    known: Known | None = None,
    alpha: float = 0.05,
) -> JudgeResult:
    """Grade three or more binary judges without labels, exactly if their errors are independent.

    A trio has two mirror points (`tallystick.papers.noisy_judges.trio_quadratic`), and the branch
    says which is reported. With more than three judges every trio is solved and each number is the
    median over the trios that are sensible; overall accuracy puts these medians together. Intervals
    are the delta method's, on the logit scale, by the middle trios.

    Parameters
    ----------
    votes, judges, labels
        The tally; which columns judge; labels that nobody voted for.
    truth
        A column of true labels, partly blank; it picks the branch and nothing else.
    prevalence
        Label to a range; picks the branch.
    known
        Judge to label to known accuracy; picks the branch.
    alpha
        One minus the level.

    Raises
    ------
    NotIdentifiable
        Fewer than three judges, or not one trio is sensible: the message says how each failed.

    Examples
    --------
    >>> from tallystick.papers.noisy_judges.correlated_judges import Point, simulate
    >>> point = Point(prevalence="1/2", accuracy={"x": ("9/10", "4/5"), "y": ("3/4", "3/4"), "z": ("2/3", "4/5")})
    >>> result = independent(simulate(point).tally, judges=["x", "y", "z"])
    >>> [round(score.accuracy, 9) for score in result.judges], round(result.prevalence["a"].estimate, 9)
    ([0.85, 0.75, 0.733333333], 0.5)
    """
    panel = Panel.of(votes, voters=judges, truth=truth, labels=labels).answered
    branch = (
        Branch.of(panel, prevalence=prevalence, known=known)
        if len(panel.classes) == 2
        else Branch()
    )
    blind = panel.blind
    trios = solve(blind)
    counts = trio_counts(trios, blind)
    found = medians(trios, branch, panel)
    if found is None:
        failures = ", ".join(
            f"{number} {mode}" for mode, number in counts.items() if number and mode != "trios"
        )
        raise NotIdentifiable(
            f"no trio of judges has a sensible solution ({failures}), which proves that their"
            " errors depend on one another or that items are too few: use dawid_skene, add judges,"
            " or label some items"
        )
    ends = found.intervals(blind, alpha)
    scores = tuple(
        JudgeScore(
            name=name,
            accuracy=_number(found.overall[j], name),
            interval=_interval(ends.overall[j], alpha, name),
            per_label={
                key: LabelScore(
                    estimate=_number(found.accuracy[j, c], name),
                    interval=_interval(ends.accuracy[j, c], alpha, name),
                )
                for c, key in enumerate(panel.keys)
            },
            votes=float(blind.voted[j]),
        )
        for j, name in enumerate(panel.names)
    )
    share = _interval(ends.balance, alpha, "prevalence")
    flipped = share if isinstance(share, Unknown) else _under(1 - share.high, 1 - share.low, alpha)
    failed = sum(number for mode, number in counts.items() if mode in _FAILED)
    solutions = both_points(found, panel, branch)
    result = JudgeResult(
        verdict=of_baseline(
            scores, "errors were independent", trios_contradict(failed, len(trios.status))
        ),
        decision="undecided",
        n_items=round(blind.n),
        assumptions=(INDEPENDENCE, branch.words),
        warnings=(SHARED_BIAS,),
        method="independent",
        judges=scores,
        prevalence={
            panel.keys[0]: Share(estimate=found.balance, interval=share),
            panel.keys[1]: Share(estimate=1 - found.balance, interval=flipped),
        },
        solutions=solutions,
        alarms=(*trio_alarms(counts), *unpicked(solutions, branch, panel)),
        trios=counts,
    )
    return held_to_range(result, panel, prevalence)


def solve(panel: Panel) -> Trios:
    """Solve every trio of binary judges, or say what is possible instead."""
    panel.require_binary("independent")
    if len(panel.names) < 3:
        raise NotIdentifiable(
            f"{len(panel.names)} judge(s) without labels have infinitely many explanations: add"
            " judges up to three, label some items, or ask logical for what holds anyway"
        )
    return solve_trios(panel.codes, panel.counts)


def trio_counts(trios: Trios, panel: Panel) -> dict[str, int]:
    """Return how many trios ended in which way, unresolved square roots included where they could
    be tested.
    """
    counts = {"trios": len(trios.status), **failure_modes(trios)}
    whole = bool((panel.counts == np.floor(panel.counts)).all())
    if panel.complete and whole and len(panel.names) <= _MOST_ROOTS:
        counts["unresolved root"] = unresolved_roots(panel.codes, panel.counts)
    return counts


def trio_alarms(counts: dict[str, int]) -> tuple[Alarm, ...]:
    """Say what failed trios prove."""
    modes = {mode: counts.get(mode, 0) for mode in _FAILED}
    failed = sum(modes.values())
    return (failed_trios(failed, counts["trios"], modes),) if failed else ()


def both_points(found: Medians, panel: Panel, branch: Branch) -> tuple[Solution, Solution]:
    """Return the point on the branch and its mirror point."""
    other_balance, other = mirrored(np.array(found.balance), found.accuracy)
    points = (
        (found.balance, found.accuracy, branch.name),
        (float(other_balance), other, "the mirror point"),
    )
    both = []
    for chosen, (balance, accuracy, name) in enumerate(points):
        both.append(
            Solution(
                prevalence={panel.keys[0]: float(balance), panel.keys[1]: 1 - float(balance)},
                accuracy={
                    judge: {
                        key: _number(float(accuracy[j, c]), judge)
                        for c, key in enumerate(panel.keys)
                    }
                    for j, judge in enumerate(panel.names)
                },
                chosen=chosen == 0,
                branch=name,
            )
        )
    return both[0], both[1]


def _number(value: float, name: str) -> Number:
    return float(value) if np.isfinite(value) else Unknown(f"no sensible trio contains {name}")


def _interval(ends: Floats, alpha: float, name: str) -> Range:
    if not np.isfinite(ends).all():
        return Unknown(f"the estimate of {name} lies on the edge, or no sensible trio contains it")
    return _under(float(ends[0]), float(ends[1]), alpha)


def _under(low: float, high: float, alpha: float) -> Interval:
    return Interval(
        low,
        high,
        level=1 - alpha,
        guarantee="under",
        assumption=INDEPENDENCE,
        method="trio delta method",
    )


# Which of two mirror points is the true one: a choice that votes alone never make.


Known = Mapping[str, Mapping[Label, float]]
"""Judge to label to its known accuracy there."""


@dataclass(frozen=True, kw_only=True)
class Branch:
    """What decides between the two points.

    Parameters
    ----------
    name
        ``better-than-chance``, ``prevalence``, ``known`` or ``labels``.
    prevalence
        For ``prevalence``: ranges by label.
    reference
        For ``known`` and ``labels``: judges x labels of accuracies, NaN where nothing is known.
    """

    name: str = "better-than-chance"
    prevalence: Ranges = field(default_factory=dict)
    reference: Floats | None = None

    @classmethod
    def of(cls, panel: Panel, *, prevalence: Ranges | None, known: Known | None) -> Branch:
        """Return the strongest branch that the inputs allow: labels, known judges, prevalence,
        better than chance.
        """
        labelled = panel.truth >= 0
        if labelled.any():
            reference = np.full((len(panel.names), 2), np.nan)
            for c in range(2):
                there = (panel.codes >= 0) & (labelled & (panel.truth == c))[:, None]
                votes = panel.counts @ there
                right = panel.counts @ (there & (panel.codes == c))
                reference[:, c] = np.divide(
                    right, votes, out=np.full(len(votes), np.nan), where=votes > 0
                )
            return cls(name="labels", reference=reference)
        if known:
            return cls(name="known", reference=known_table(known, panel))
        if prevalence:
            check_ranges(prevalence, panel)
            return cls(name="prevalence", prevalence=prevalence)
        return cls()

    def range_of_first(self, panel: Panel) -> tuple[float, float] | None:
        """Return the range of the first label's share, where a range decides."""
        if self.name != "prevalence":
            return None
        ranges = check_ranges(self.prevalence, panel)
        return ranges[0] if 0 in ranges else (1 - ranges[1][1], 1 - ranges[1][0])

    @property
    def words(self) -> str:
        """The choice as an assumption."""
        return {
            "better-than-chance": (
                "judges are better than chance taken together (the other point is its mirror)"
            ),
            "prevalence": (
                f"the prevalence lies in {dict(self.prevalence)!r}, which picks one of two mirror"
                " points"
            ),
            "known": "the judges of known quality pick one of two mirror points",
            "labels": "the labelled items pick one of two mirror points",
        }[self.name]


def known_table(known: Known, panel: Panel) -> Floats:
    """Return judges x labels of known accuracies, NaN where not given; refuse strangers by name."""
    table = np.full((len(panel.names), len(panel.classes)), np.nan)
    code = {identity(label): c for c, label in enumerate(panel.classes)}
    for judge, parts in known.items():
        if judge not in panel.names:
            raise InputError(
                f"known names {judge!r}, which is not one of the judges {list(panel.names)}"
            )
        for label, value in parts.items():
            if identity(label) not in code:
                raise InputError(
                    f"known: judge {judge!r} has label {label!r}, not one of {list(panel.classes)}"
                )
            if not 0 <= value <= 1:
                raise InputError(
                    f"known: accuracy of {judge!r} on {label!r} must be in [0, 1], got {value!r}"
                )
            table[panel.names.index(judge), code[identity(label)]] = value
    return table


# Many trios, one answer: medians over the sensible ones, with intervals by influence functions.


_STEP = 1e-30


@dataclass(frozen=True, eq=False)
class Ends:
    """Interval ends (…, 2), NaN where there are none."""

    balance: Floats
    accuracy: Floats
    overall: Floats


@dataclass(frozen=True, eq=False)
class Medians:
    """Medians over sensible trios, and the trios that attain each.

    Parameters
    ----------
    balance, accuracy, overall
        Prevalence of the first label; judges x 2; judges, from both. NaN for a judge in no sensible
        trio.
    trios, sign
        All trios, and the branch of each as the sign s of (J1).
    at_balance, at_accuracy
        The two middle trios of each median, the same twice for an odd number; -1 for none.
    """

    balance: float
    accuracy: Floats
    overall: Floats
    trios: Trios
    sign: Floats
    at_balance: Ints
    at_accuracy: Ints

    def intervals(self, panel: Panel, alpha: float) -> Ends:
        """Return delta-method ends on the logit scale; locally a median *is* what its middle trios
        say.
        """
        z = NormalDist().inv_cdf(1 - alpha / 2)
        n = len(panel.names)
        wanted = np.unique([*self.at_balance, *self.at_accuracy.ravel()])
        moves = {
            t: _influence(self.trios, t, float(self.sign[t]), panel)
            for t in wanted[wanted >= 0].tolist()
        }

        def error(influence: Floats) -> float:
            return float(np.sqrt(panel.counts @ influence**2))

        of_balance = np.mean([moves[t][:, 0] for t in self.at_balance.tolist()], axis=0)
        accuracy, overall = np.full((n, 2, 2), np.nan), np.full((n, 2), np.nan)
        for j in np.flatnonzero(self.at_accuracy[:, 0, 0] >= 0).tolist():
            parts = []
            for c in range(2):
                pair = self.at_accuracy[j, c].tolist()
                places = [
                    1 + 2 * int(np.flatnonzero(self.trios.judges[t] == j)[0]) + c for t in pair
                ]
                parts.append(
                    np.mean(
                        [moves[t][:, place] for t, place in zip(pair, places, strict=True)], axis=0
                    )
                )
                accuracy[j, c] = logit_ends(self.accuracy[j, c], error(parts[c]), z)
            first, second = self.accuracy[j]
            moved = (
                (first - second) * of_balance
                + self.balance * parts[0]
                + (1 - self.balance) * parts[1]
            )
            overall[j] = logit_ends(self.overall[j], error(moved), z)
        return Ends(logit_ends(self.balance, error(of_balance), z), accuracy, overall)


def medians(trios: Trios, branch: Branch, panel: Panel) -> Medians | None:
    """Return medians over the sensible trios on the branch; None if there is none."""
    use = np.flatnonzero(trios.status == "sensible")
    if not use.size:
        return None
    balance, accuracy = choose_branch(
        trios, prevalence=branch.range_of_first(panel), reference=branch.reference
    )
    with np.errstate(all="ignore"):  # trios without a point are not used
        sign = np.where(
            (accuracy.sum(axis=(1, 2)) - 3) * (1 / trios.covariance).sum(axis=1) > 0, 1.0, -1.0
        )
    n = len(panel.names)
    at_accuracy, found = np.full((n, 2, 2), -1), np.full((n, 2), np.nan)
    for j in range(n):
        mine, place = np.nonzero(trios.judges[use] == j)
        for c in range(2 if mine.size else 0):
            values = accuracy[use[mine], place, c]
            middle = _middle(values)
            at_accuracy[j, c], found[j, c] = use[mine[middle]], values[middle].mean()
    middle = use[_middle(balance[use])]
    share = float(np.clip(balance[middle].mean(), 0, 1))
    found = np.clip(found, 0, 1)
    return Medians(share, found, found @ [share, 1 - share], trios, sign, middle, at_accuracy)


def _middle(values: Floats) -> Ints:
    """Return the places of the lower and the upper median."""
    order = np.argsort(values, kind="stable")
    return order[[(len(values) - 1) // 2, len(values) // 2]]


def _influence(trios: Trios, t: int, sign: float, panel: Panel) -> Floats:
    """Return patterns x 7: how one item of each pattern moves the prevalence and the six accuracies
    of one trio.

    The numbers are algebraic in seven raw moments; a complex step differentiates them exactly.
    """
    three = panel.codes[:, trios.judges[t]] == 1
    there = (panel.codes[:, trios.judges[t]] >= 0).sum(axis=1) == 3
    groups = ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2), (0, 1, 2))
    shows = np.stack([three[:, list(group)].all(axis=1) for group in groups], axis=1).astype(float)
    n = float(panel.counts[there].sum())
    raw = (panel.counts * there) @ shows / n
    stepped = raw + 1j * _STEP * np.eye(7)
    mean, d = stepped[:, :3], stepped[:, [5, 4, 3]] - stepped[:, [1, 0, 0]] * stepped[:, [2, 2, 1]]
    third = stepped[:, 6] - mean.prod(axis=1) - (mean * d).sum(axis=1)
    with np.errstate(all="ignore"):
        balance, accuracy = trio_point(mean, d, third, np.full(7, sign))
        gradient = (
            np.imag(np.concatenate((balance[:, None], accuracy.reshape(7, 6)), axis=1)) / _STEP
        )
    moved = np.where(there[:, None], shows - raw, 0.0) / n
    return np.asarray(moved @ gradient)


def logit_ends(p: float, error: float, z: float) -> Floats:
    """Return delta-method ends on the logit scale; NaN on the edge, where there is no slope."""
    if not (0 < p < 1 and np.isfinite(error)):
        return np.full(2, np.nan)
    half = z * error / (p * (1 - p))
    centre = np.log(p / (1 - p))
    return np.asarray(1 / (1 + np.exp(-np.clip([centre - half, centre + half], -700, 700))))


# Whether a prevalence that was given agrees with what the votes or labels say.


_SLACK = 1e-9


def held_to_range(result: JudgeResult, panel: Panel, prevalence: Ranges | None) -> JudgeResult:
    """Return *result* with an alarm for every label whose share contradicts its given range, and a
    warning in words.

    It contradicts if its interval misses the range, or its estimate does and there is no interval.
    An estimate outside whose interval reaches into the range may be chance: that is a warning only.
    """
    alarms, warnings = [], []
    for c, (low, high) in check_ranges(prevalence, panel).items():
        key = panel.keys[c]
        share = result.prevalence.get(key)
        if (
            share is None
            or not isinstance(share.estimate, float)
            or _within(share.estimate, low, high)
        ):
            continue
        ends = share.interval
        given, alarm = range_contradicted(key, low, high, result.method, share)
        if isinstance(ends, Interval) and ends.low <= high + _SLACK and ends.high >= low - _SLACK:
            warnings.append(maybe_chance(given))
            continue
        alarms.append(alarm)
        warnings.append(logic_needs_range(alarm))
    return replace(result, alarms=(*result.alarms, *alarms), warnings=(*warnings, *result.warnings))


def unpicked(solutions: Sequence[Solution], branch: Branch, panel: Panel) -> tuple[Alarm, ...]:
    """Return an alarm if the range was to pick one of two mirror points, and neither lies in it."""
    if branch.name != "prevalence":
        return ()
    ranges = check_ranges(branch.prevalence, panel)
    if not solutions or any(_fits(one.prevalence, panel, ranges) for one in solutions):
        return ()
    shares = [plain(one.prevalence[panel.keys[0]]) for one in solutions]
    return (picks_no_branch(shares, panel.keys[0]),)


def _fits(
    shares: Mapping[str, object], panel: Panel, ranges: Mapping[int, tuple[float, float]]
) -> bool:
    return all(_within(shares[panel.keys[c]], *ends) for c, ends in ranges.items())


def _within(value: object, low: float, high: float) -> bool:
    return isinstance(value, float) and low - _SLACK <= value <= high + _SLACK
