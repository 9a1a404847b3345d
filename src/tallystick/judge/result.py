"""The frozen result of judge: scores per judge, label shares, all estimates side by side, alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from tallystick.results import Figure, Interval, PatternTable, Result, Unknown
from tallystick.tally import Tally

__all__ = [
    "AgreementPair",
    "AgreementTable",
    "Alarm",
    "CalibrationCheck",
    "CovariateEffect",
    "Estimate",
    "JudgeResult",
    "JudgeScore",
    "LabelScore",
    "LabelsNeeded",
    "Number",
    "Range",
    "ReliabilityBin",
    "Share",
    "Solution",
    "Statement",
]

Number: TypeAlias = float | Unknown
Range: TypeAlias = Interval | Unknown

_NO_LABELS = Unknown("no labels were given")
_ONLY_LABELS = Unknown("worked out from labels only, by evaluate and few_labels")
_HAS_INTERVAL = Unknown("the interval says how sure the number is")


@dataclass(frozen=True, kw_only=True)
class LabelScore:
    """How often a judge is right on items of one label, and what logic alone allows."""

    estimate: Number
    interval: Range
    logical: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeScore:
    """One judge: the share of its votes that are right, overall and by true label.

    Parameters
    ----------
    name
        The judge.
    accuracy, interval
        For these items. Without labels there is no interval, and the reason stands in its place.
    per_label
        The same on items of each label.
    votes
        How many votes it cast.
    logical
        What logic alone allows, whatever the truth is.
    new_items
        Where labels allow one, an interval for new items like the labelled ones.
    range
        Without labels: twice to half of the estimated error rate (U6), (low, high). It held for
        most judges of comparable panels and is not an interval.
    answered, when_answered
        Where some votes can never be true (tie, refusal): the share of its votes that are possible
        labels, and the share of these that are right. None where every vote is a possible label.
    tpr, tnr
        With two labels: the true positive rate (on items of the positive label) and the true
        negative rate. None otherwise.
    """

    name: str
    accuracy: Number
    interval: Range
    per_label: Mapping[str, LabelScore] = field(default_factory=dict)
    votes: float = 0.0
    logical: Interval | None = None
    new_items: Range = _ONLY_LABELS
    range: tuple[float, float] | Unknown = _HAS_INTERVAL
    answered: float | None = None
    when_answered: Share | None = None
    tpr: LabelScore | None = None
    tnr: LabelScore | None = None


@dataclass(frozen=True, kw_only=True)
class Share:
    """How common a label is."""

    estimate: Number
    interval: Range


@dataclass(frozen=True, kw_only=True)
class AgreementPair:
    """How far two judges agree, or a judge and the truth.

    ``weighted_kappa`` (quadratic), ``within_one`` and ``bias`` (how much higher the first grades)
    are for grades in order and None elsewhere.
    """

    a: str
    b: str
    n_items: int
    raw: Share
    kappa: Share
    gwet_ac1: Share
    weighted_kappa: Share | None = None
    within_one: Share | None = None
    bias: Share | None = None


@dataclass(frozen=True, kw_only=True)
class AgreementTable:
    """Agreement of a panel.

    Parameters
    ----------
    between
        All judges together: raw agreement, Fleiss' kappa, Krippendorff's alpha, Gwet's AC1.
    pairs, with_truth
        Every pair of judges; every judge and the truth, on labelled items.
    ordinal
        Whether the labels are read as grades in order.
    note
        What limits the numbers, or nothing.
    """

    between: Mapping[str, Share]
    pairs: tuple[AgreementPair, ...]
    with_truth: tuple[AgreementPair, ...]
    ordinal: bool
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """Labelled items with like probabilities: what was stated, and how many were right."""

    stated: float
    right: float
    labels: int


@dataclass(frozen=True, kw_only=True)
class CalibrationCheck:
    """How well item probabilities are calibrated, measured on labels that were left out.

    ``noise_floor`` is about what a perfect forecast would score on as many labels.
    """

    error: float
    noise_floor: float
    n_labels: int
    bins: tuple[ReliabilityBin, ...] = ()


@dataclass(frozen=True, kw_only=True)
class LabelsNeeded:
    """Forecasts of labels, in addition to those that are there.

    Parameters
    ----------
    precision
        For an interval of ± 5 points for every judge; 0 if they have it.
    leader
        To tell the leader from every rival; 0 if it is told, None if no forecast can be made.
    left
        Items of the table without a label: no forecast exceeds it.
    enough
        Whether labelling all that is left is expected to tell the leader.
    """

    precision: int
    leader: int | None
    left: int
    enough: bool


@dataclass(frozen=True, kw_only=True)
class CovariateEffect:
    """How a judge's errors, and its lean towards the positive label, change with a covariate.

    Slopes are per standard deviation of the covariate, as shares (0.04 is 4 points). With labels
    they are absolute; without, relative to the other judges, so a bias that all share shows
    nothing. ``lean`` is for two labels and None elsewhere.
    """

    judge: str
    covariate: str
    error: Share
    error_p: Number
    lean: Share | None
    lean_p: Number
    n_items: int
    relative: bool


@dataclass(frozen=True, kw_only=True)
class Solution:
    """One point that explains the votes equally well, and why it was chosen or not."""

    prevalence: Mapping[str, Number]
    accuracy: Mapping[str, Mapping[str, Number]]
    chosen: bool
    branch: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What one method says of all judges.

    ``rejected`` is True where labels refute it, False where they do not, None where nothing could
    (``why`` says so).
    """

    method: str
    assumption: str
    accuracy: Mapping[str, Number]
    prevalence: Mapping[str, Number] = field(default_factory=dict)
    rejected: bool | None = None
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """Something that the votes (or labels) prove, and what that does not prove."""

    name: str
    proves: str
    does_not_prove: str


@dataclass(frozen=True, kw_only=True)
class Statement:
    """A sentence that holds whatever the truth is.

    One of *judges* reaches at most *bound*, or at least *bound* where *at_least* is set.
    """

    text: str
    judges: tuple[str, ...]
    bound: float
    at_least: bool = False


@dataclass(frozen=True, kw_only=True)
class JudgeResult(Result):
    """What the verb ``judge`` answers.

    Parameters
    ----------
    method
        The method whose numbers stand in *judges*.
    judges, prevalence
        The headline numbers; *prevalence* is the corrected share of each label.
    solutions
        Points that explain the votes equally well.
    estimates
        Every method that applies, side by side.
    alarms
        What is proved against an assumption.
    trios
        How many trios of judges ended how; empty where trios were not solved.
    statements
        What holds whatever the truth is.
    n_labels
        Items with a known truth.
    labels_worth
        How many labels alone would have been as informative (median over judges).
    labels_needed
        How many more labels would make every judge sure to ± 5 points, and tell the leader.
    leader
        The judge that comes first, with its rivals; empty names where nobody can be ranked.
    rivals
        Judges that may be as good.
    agreement
        How far the judges agree with one another and with the truth.
    calibration
        How well the probabilities of ``--items-out`` are calibrated; without 20 labels the reason.
    covariates
        Whether errors depend on a column such as the length.
    never_true
        Votes that count as answers but can never be true.
    positive
        The label that the true positive rate is about, where there are two.
    left_out
        What was fitted to a random part of the items, in words; empty if nothing was.
    windows
        One mapping per window of a stream, where it was asked for.
    votes, learnt
        The tally of judges, and columns to attach to each of its patterns.
    """

    verb: ClassVar[str] = "judge"

    method: str
    judges: tuple[JudgeScore, ...]
    prevalence: Mapping[str, Share] = field(default_factory=dict)
    solutions: tuple[Solution, ...] = ()
    estimates: tuple[Estimate, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    trios: Mapping[str, int] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    n_labels: int = 0
    labels_worth: Number = _NO_LABELS
    labels_needed: LabelsNeeded | None = None
    leader: str | None = None
    rivals: tuple[str, ...] = ()
    agreement: AgreementTable | None = None
    calibration: CalibrationCheck | Unknown = _NO_LABELS
    covariates: tuple[CovariateEffect, ...] = ()
    never_true: tuple[str, ...] = ()
    positive: str | None = None
    left_out: str = ""
    windows: tuple[Mapping[str, Any], ...] = ()
    votes: Tally | None = field(default=None, repr=False, metadata={"private": True})
    learnt: Mapping[str, Sequence[Any]] = field(
        default_factory=dict, repr=False, metadata={"private": True}
    )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per judge: accuracy and its interval or range, then the same by label."""
        return [self._row(score) for score in self.judges]

    def _row(self, score: JudgeScore) -> dict[str, Any]:
        row: dict[str, Any] = {
            "judge": score.name,
            "accuracy": score.accuracy,
            "interval": score.interval,
        }
        if not isinstance(score.range, Unknown):
            row |= {"range_low": score.range[0], "range_high": score.range[1]}
        if not isinstance(score.new_items, Unknown):
            row["new_items"] = score.new_items
        for label, part in score.per_label.items():
            row[f"right on {label}"] = part.estimate
        if score.answered is not None:
            row["answered"] = score.answered
        if score.when_answered is not None:
            row["when answered"] = score.when_answered.estimate
        row["votes"] = int(score.votes) if score.votes.is_integer() else score.votes
        return row

    def summary(self) -> str:
        """Return the text of every result, then label shares, agreement and all methods."""
        from tallystick.judge.verdict import more_lines

        more = more_lines(self)
        return "\n".join([super().summary(), *(["", *more] if more else [])])

    def figures(self) -> tuple[Figure, ...]:
        """Return the judges' accuracies, the same by label, label shares, methods and windows."""
        overall = _forest(
            f"Accuracy of {len(self.judges)} judges",
            [(score.name, "", score.accuracy, _ends(score)) for score in self.judges],
        )
        by_label = _forest(
            "The same by true label",
            [
                (score.name, label, part.estimate, part.interval)
                for score in self.judges
                for label, part in score.per_label.items()
            ],
        )
        shares = _forest(
            "Share of each label, corrected for the judges' errors",
            [
                (label, "", share.estimate, share.interval)
                for label, share in self.prevalence.items()
            ],
        )
        found = (overall, by_label, shares, self._methods(), self._over_windows())
        return tuple(figure for figure in found if figure is not None)

    def _over_windows(self) -> Figure | None:
        cells = [
            (window["start"], name, value)
            for window in self.windows
            for name, value in window["accuracy"].items()
            if value is not None
        ]
        if not cells:
            return None
        return Figure(
            kind="curve",
            title="The same, window by window",
            columns={
                "item": [start for start, _, _ in cells],
                "judge": [name for _, name, _ in cells],
                "accuracy": [value for _, _, value in cells],
            },
            roles={"x": "item", "y": "accuracy", "group": "judge"},
        )

    def _methods(self) -> Figure | None:
        cells = [
            (name, estimate.method, value)
            for estimate in self.estimates
            for name, value in estimate.accuracy.items()
            if isinstance(value, float)
        ]
        if not cells:
            return None
        return Figure(
            kind="forest",
            title="Every method that applies",
            columns={
                "judge": [name for name, _, _ in cells],
                "method": [method for _, method, _ in cells],
                "accuracy": [value for _, _, value in cells],
            },
            roles={"name": "judge", "group": "method", "x": "accuracy"},
        )

    def patterns(self) -> PatternTable | None:
        """Return what is known of the items of each vote pattern, to be attached to items."""
        return (
            PatternTable(self.votes, self.learnt)
            if self.votes is not None and self.learnt
            else None
        )


def _ends(score: JudgeScore) -> Range:
    """Return what is drawn as a line: the interval, or the range where there is none."""
    if isinstance(score.interval, Interval) or isinstance(score.range, Unknown):
        return score.interval
    return Interval(*score.range, guarantee="under", assumption="this panel is like others")


def _forest(title: str, cells: Sequence[tuple[str, str, Number, Range]]) -> Figure | None:
    known = [cell for cell in cells if isinstance(cell[2], float) or isinstance(cell[3], Interval)]
    if not known:
        return None
    return Figure(
        kind="forest",
        title=title,
        columns={
            "judge": [name for name, _, _, _ in known],
            "label": [label for _, label, _, _ in known],
            "accuracy": [value if isinstance(value, float) else None for _, _, value, _ in known],
            "low": [ends.low if isinstance(ends, Interval) else None for _, _, _, ends in known],
            "high": [ends.high if isinstance(ends, Interval) else None for _, _, _, ends in known],
        },
        roles={"name": "judge", "x": "accuracy", "low": "low", "high": "high"}
        | ({"group": "label"} if any(label for _, label, _, _ in known) else {}),
    )
