"""The frozen result of judge: its parts, and the result itself as rows, text, figures and items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from tallystick.results import (
    Claims,
    Figure,
    Interval,
    PatternTable,
    Result,
    Section,
    Unit,
    Unknown,
    percent,
)
from tallystick.table import Tally

Number: TypeAlias = float | Unknown
Range: TypeAlias = Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class Share:
    """A number with its interval: a share, a coefficient, a distance."""

    estimate: Number
    interval: Range

    @classmethod
    def unknown(cls, reason: str) -> Share:
        """Return neither, for one reason."""
        return cls(estimate=Unknown(reason), interval=Unknown(reason))


@dataclass(frozen=True, kw_only=True)
class LabelScore(Share):
    """How often a judge is right on items of one label, and what logic alone allows."""

    logical: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeScore:
    """One judge: the share of its votes that are right, overall and by true label.

    Parameters
    ----------
    name
        The judge.
    accuracy, interval
        Without labels there is no interval, and the reason stands in its place.
    per_label
        The same on items of each label. With labels, accuracy is their mean, each label weighed by
        how common it is.
    votes
        How many votes it cast.
    logical
        What logic alone allows, whatever the truth is.
    range
        Without labels: from twice the largest to half of the smallest estimate of the error rate
        (U6), (low, high). Where the truth lay on comparable panels; not an interval.
    distance, weighted_kappa
        For grades in order, with labels: how far its grade lies from the true one on average, in
        grades, and quadratically weighted kappa with the truth. None elsewhere.
    answered, when_answered
        Where some votes can never be true (tie, refusal): the share of its votes that are possible
        labels, and the share of these that are right. None where every vote is a possible label.
    """

    name: str
    accuracy: Number
    interval: Range
    per_label: Mapping[str, LabelScore] = field(default_factory=dict)
    votes: float = 0.0
    logical: Interval | None = None
    range: tuple[float, float] | Unknown = Unknown("the interval says how sure the number is")
    distance: Share | None = None
    weighted_kappa: Share | None = None
    answered: float | None = None
    when_answered: Share | None = None


@dataclass(frozen=True, kw_only=True)
class AgreementPair:
    """How far two judges agree, or a judge and the truth.

    ``weighted_kappa`` (quadratic) and ``bias`` (how much higher the first grades) are for grades in
    order and None elsewhere.
    """

    a: str
    b: str
    n_items: int
    raw: Share
    kappa: Share
    gwet_ac1: Share
    weighted_kappa: Share | None = None
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
class CalibrationCheck:
    """How well item probabilities are calibrated, measured on labels that were left out.

    ``noise_floor`` is about what a perfect forecast would score on as many labels.
    """

    error: float
    noise_floor: float
    n_labels: int


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
class Solution:
    """One point that explains the votes equally well, and why it was chosen or not."""

    prevalence: Mapping[str, Number]
    accuracy: Mapping[str, Mapping[str, Number]]
    chosen: bool
    branch: str


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


_NO_LABELS = Unknown("no labels were given")
_NOT_DRAWN = Unknown("labels that were not drawn at random calibrate nothing")


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
    alarms
        What is proved against an assumption.
    trios
        How many trios of judges ended how; empty where trios were not solved.
    statements
        What holds whatever the truth is.
    n_labels
        Items with a known truth.
    population
        With labels: whether the numbers are about ``these`` items or ``new`` ones like them.
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
    never_true
        Votes that count as answers but can never be true.
    left_out
        What was fitted to a random part of the items, in words; empty if nothing was.
    windows
        One mapping per window of a stream, where it was asked for.
    votes, learnt
        The tally of judges, and columns to attach to each of its patterns.
    by_votes
        The same columns without any label, for labels that were not drawn at random.
    """

    verb: ClassVar[str] = "judge"
    schema: ClassVar[int] = 3

    method: str
    judges: tuple[JudgeScore, ...]
    prevalence: Mapping[str, Share] = field(default_factory=dict)
    solutions: tuple[Solution, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    trios: Mapping[str, int] = field(default_factory=dict)
    statements: tuple[Statement, ...] = ()
    n_labels: int = 0
    population: str | None = None
    labels_worth: Number = _NO_LABELS
    labels_needed: LabelsNeeded | None = None
    leader: str | None = field(default=None, metadata={"doubted": None})
    rivals: tuple[str, ...] = field(default=(), metadata={"doubted": ()})
    agreement: AgreementTable | None = None
    calibration: CalibrationCheck | Unknown = field(
        default=_NO_LABELS, metadata={"doubted": _NOT_DRAWN}
    )
    never_true: tuple[str, ...] = ()
    left_out: str = ""
    windows: tuple[Mapping[str, Any], ...] = ()
    votes: Tally | None = field(default=None, repr=False, metadata={"private": True})
    learnt: Mapping[str, Sequence[Any]] = field(
        default_factory=dict,
        repr=False,
        metadata={"private": True, "doubted": lambda result: result.by_votes},
    )
    by_votes: Mapping[str, Sequence[Any]] = field(
        default_factory=dict, repr=False, metadata={"private": True}
    )

    @property
    def claims(self) -> Claims | None:
        """Which judges are shown not to be the best; the leader beats them, or a rival does."""
        if self.leader is None:
            return None
        others = [one.name for one in self.judges if one.name != self.leader]
        beaten = {(self.leader, name) for name in others if name not in self.rivals}
        return Claims((self.leader, *others), beaten, what="judge")

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per judge: the headline and its interval or range, then the same by
        label.
        """
        return [_row(score) for score in self.ranked()]

    def ranked(self) -> list[JudgeScore]:
        """Return the judges, the most accurate first; the closest first on grades."""
        return sorted(self.judges, key=_place)

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        found: dict[str, Unit] = dict.fromkeys(
            ("accuracy", "range_low", "range_high", "answered", "when answered"), "share"
        )
        return found | {f"right on {one}": "share" for s in self.judges for one in s.per_label}

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: judges, labels, agreement and what is certain."""
        found = [_judges(self)]
        if any(isinstance(share.estimate, float) for share in self.prevalence.values()):
            found.append(_labels(self))
        if self.agreement is not None and self.agreement.between:
            found.append(_agreement(self, self.agreement))
        if self.statements:
            first, *rest = self.statements
            notes = tuple(one.text for one in rest[:20])
            found.append(Section(title="For certain", line=first.text, notes=notes))
        return tuple(found)

    def details(self) -> list[str]:
        """Return label shares, agreement and what else stands below the table."""
        from tallystick.verbs.judge.verdict import more_lines

        return more_lines(self)

    def figures(self) -> tuple[Figure, ...]:
        """Return the judges' accuracies, the same by label, label shares and windows."""
        overall = [(one.name, "", one.accuracy, _ends(one)) for one in self.ranked()]
        by_label = [
            (score.name, label, part.estimate, part.interval)
            for score in self.ranked()
            for label, part in score.per_label.items()
        ]
        shares = [(key, "", one.estimate, one.interval) for key, one in self.prevalence.items()]
        found = (
            forest("Share of votes that are right", overall),
            forest(_BY_LABEL, by_label),
            forest(SHARES, shares, name="label", value="share"),
            self._over_windows(),
        )
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
        items, names, values = (list(column) for column in zip(*cells, strict=True))
        return Figure(
            kind="curve",
            title="Accuracy, window by window",
            columns={"item": items, "judge": names, "accuracy": values},
            roles={"x": "item", "y": "accuracy", "group": "judge"},
            unit="share",
        )

    def patterns(self) -> PatternTable | None:
        """Return what is known of the items of each vote pattern, to be attached to items."""
        known = self.votes is not None and self.learnt
        return PatternTable(self.votes, self.learnt) if known and self.votes is not None else None


# Rows, figures, and what a page unfolds.


_BY_LABEL = "The same by true label"
SHARES = "Share of each label, corrected for the judges' errors"
_FEW_LABELS = 4
"""With more labels the rates by label have a picture and no columns."""


def _place(score: JudgeScore) -> float:
    off = score.distance
    if off is not None and isinstance(off.estimate, float):
        return off.estimate
    return -score.accuracy if isinstance(score.accuracy, float) else 0.0


def _row(score: JudgeScore) -> dict[str, Any]:
    row = _of_grades(score)
    row |= {"accuracy": score.accuracy, "interval": score.interval}
    if not isinstance(score.range, Unknown):
        row |= {"range_low": score.range[0], "range_high": score.range[1]}
    for label, part in score.per_label.items():
        row[f"right on {label}"] = part.estimate
    return row | _answers(score)


def _of_grades(score: JudgeScore) -> dict[str, Any]:
    """Return the first columns: the judge, and on grades how near it comes to the truth."""
    row: dict[str, Any] = {"judge": score.name}
    for name, measure in (("distance", score.distance), ("weighted kappa", score.weighted_kappa)):
        if measure is not None:
            row |= {name: measure.estimate, f"{name} interval": measure.interval}
    return row


def _answers(score: JudgeScore) -> dict[str, Any]:
    """Return the last columns: votes that can be true, and all votes."""
    row: dict[str, Any] = {}
    if score.answered is not None:
        row["answered"] = score.answered
    if score.when_answered is not None:
        row["when answered"] = score.when_answered.estimate
    return row | {"votes": int(score.votes) if score.votes.is_integer() else score.votes}


def _ends(score: JudgeScore) -> Range:
    """Return what is drawn as a line: the interval, or the range where there is none."""
    if isinstance(score.interval, Interval) or isinstance(score.range, Unknown):
        return score.interval
    return Interval(*score.range, guarantee="under", assumption="this panel is like others")


def forest(
    title: str,
    cells: Sequence[tuple[str, str, Number, Range]],
    *,
    name: str = "judge",
    value: str = "accuracy",
) -> Figure | None:
    """Return estimates with their ends as a picture: cells of name, group, number and ends."""
    known = [cell for cell in cells if isinstance(cell[2], float) or isinstance(cell[3], Interval)]
    if not known:
        return None
    return Figure(
        kind="forest",
        title=title,
        columns={
            "judge": [one for one, _, _, _ in known],
            "label": [label for _, label, _, _ in known],
            "accuracy": [x if isinstance(x, float) else None for _, _, x, _ in known],
            "low": [ends.low if isinstance(ends, Interval) else None for _, _, _, ends in known],
            "high": [ends.high if isinstance(ends, Interval) else None for _, _, _, ends in known],
        },
        roles={"name": "judge", "x": "accuracy", "low": "low", "high": "high"}
        | ({"group": "label"} if any(label for _, label, _, _ in known) else {}),
        labels={"name": name, "x": value},
        unit="share",
    )


def _judges(result: JudgeResult) -> Section:
    from tallystick.verbs.judge.verdict import label_lines, spread

    labels = [label for score in result.judges for label in score.per_label]
    units: dict[str, Unit] = dict.fromkeys(("accuracy", "answered", "when answered"), "share")
    units |= {f"on {label}": "share" for label in labels}
    known = [x for one in result.judges if isinstance(x := one.accuracy, float)]
    return Section(
        title="Judges",
        line=f"{spread(known)} accuracy." if known else f"{len(result.judges):,} judges.",
        rows=[_unfolded(score) for score in result.judges],
        units=units,
        figures=tuple(one for one in result.figures()[1:] if one.title == _BY_LABEL),
        notes=tuple(label_lines(result)),
    )


def _unfolded(score: JudgeScore) -> dict[str, Any]:
    """Return a row of a page: every rate with its interval, what is only possible in words."""
    row = _of_grades(score)
    overall = LabelScore(estimate=score.accuracy, interval=score.interval)
    parts = score.per_label if len(score.per_label) <= _FEW_LABELS else {}
    cells = {("accuracy", "interval", "possible"): overall}
    cells |= {(f"on {k}", f"on {k} interval", f"possible on {k}"): v for k, v in parts.items()}
    for (name, interval, possible), part in cells.items():
        if isinstance(part.estimate, Unknown) and isinstance(part.interval, Interval):
            row[possible] = _from_to(*part.interval)  # logic alone is no doubt about a number
        else:
            row |= {name: part.estimate, interval: part.interval}
    if not isinstance(score.range, Unknown):
        row["range on other panels"] = _from_to(*score.range)
    return row | _answers(score)


def _from_to(low: float, high: float) -> str:
    return f"{percent(low)} to {percent(high)}"


def _labels(result: JudgeResult) -> Section:
    from tallystick.verbs.judge.verdict import share_lines

    return Section(
        title="Labels",
        line=share_lines(result)[0],
        figures=tuple(one for one in result.figures()[1:] if one.title == SHARES),
        rows=[
            {"label": label, "share": share.estimate, "interval": share.interval}
            for label, share in result.prevalence.items()
        ],
        units={"share": "share"},
    )


def _agreement(result: JudgeResult, table: AgreementTable) -> Section:
    from tallystick.verbs.judge.verdict import agreement_lines

    first, *rest = agreement_lines(result)
    return Section(
        title="Agreement",
        line=first,
        rows=[
            {
                "pair": f"{row.a} and {row.b}",
                "agree": row.raw.estimate,
                "interval": row.raw.interval,
                "kappa": row.kappa.estimate,
                "kappa interval": row.kappa.interval,
                "Gwet's AC1": row.gwet_ac1.estimate,
                "items": row.n_items,
            }
            for row in (*table.with_truth, *table.pairs)
        ],
        units={"agree": "share"},
        notes=tuple(rest),
    )
