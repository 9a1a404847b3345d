"""The frozen result of judge: what it says, as rows, text, figures and items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tallystick.results import (
    Figure,
    Interval,
    PatternTable,
    Result,
    Section,
    Unit,
    Unknown,
    count,
    number_interval,
    p_value,
    percent,
    points,
    points_interval,
)
from tallystick.table import Tally
from tallystick.verbs.judge.scores import (
    AgreementTable,
    Alarm,
    CalibrationCheck,
    CovariateEffect,
    JudgeScore,
    LabelsNeeded,
    Number,
    Range,
    Share,
    Solution,
    Statement,
)
from tallystick.verbs.judge.verdict import rate_of

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
    by_votes
        The same columns without any label, for labels that were not drawn at random.
    """

    verb: ClassVar[str] = "judge"

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
    covariates: tuple[CovariateEffect, ...] = ()
    never_true: tuple[str, ...] = ()
    positive: str | None = None
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

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        found: dict[str, Unit] = dict.fromkeys(
            ("accuracy", "range_low", "range_high", "new_items", "answered", "when answered"),
            "share",
        )
        return found | {f"right on {one}": "share" for s in self.judges for one in s.per_label}

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: judges, labels, agreement and what is certain."""
        return folds_of(self)

    def summary(self) -> str:
        """Return the text of every result, then label shares and agreement."""
        more = more_lines(self)
        return "\n".join([super().summary(), *(["", *more] if more else [])])

    def figures(self) -> tuple[Figure, ...]:
        """Return the judges' accuracies, the same by label, label shares and windows."""
        overall = _forest(
            "Share of votes that are right",
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
            name="label",
            value="share",
        )
        found = (overall, by_label, shares, self._over_windows())
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
            title="Accuracy, window by window",
            columns={
                "item": [start for start, _, _ in cells],
                "judge": [name for _, name, _ in cells],
                "accuracy": [value for _, _, value in cells],
            },
            roles={"x": "item", "y": "accuracy", "group": "judge"},
            unit="share",
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
    ends = score.interval
    if isinstance(ends, Interval) and not ends.width and isinstance(score.new_items, Interval):
        return score.new_items  # every vote is labelled: the doubt is about new items
    if isinstance(ends, Interval) or isinstance(score.range, Unknown):
        return ends
    return Interval(*score.range, guarantee="under", assumption="this panel is like others")


def _forest(
    title: str,
    cells: Sequence[tuple[str, str, Number, Range]],
    *,
    name: str = "judge",
    value: str = "accuracy",
) -> Figure | None:
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


# What a page of ``judge`` unfolds: judges, labels, agreement and what is certain.


_FEW_LABELS = 4
"""With more labels the rates by label have a picture and no columns."""


def folds_of(result: JudgeResult) -> tuple[Section, ...]:
    """Return the sections of a result, the judges first."""
    found = [_judges(result)]
    if result.prevalence and share_lines(result):
        found.append(_labels(result))
    if result.agreement is not None and agreement_lines(result):
        found.append(_agreement(result))
    if result.statements:
        found.append(
            Section(
                title="For certain",
                line=result.statements[0].text,
                notes=tuple(one.text for one in result.statements[1:20]),
            )
        )
    return tuple(found)


def _judges(result: JudgeResult) -> Section:
    rows = [_judge(score) for score in result.judges]
    units: dict[str, Unit] = dict.fromkeys(
        ("accuracy", "likely range", "for new items", "answered", "right when answered"), "share"
    )
    labels = [label for score in result.judges for label in score.per_label]
    units |= {f"on {label}": "share" for label in labels}
    known = sorted(
        (score for score in result.judges if isinstance(score.accuracy, float)),
        key=lambda score: -float(score.accuracy),  # type: ignore[arg-type]
    )
    line = f"{len(result.judges):,} judges."
    if known:
        first, last = known[0], known[-1]
        line = f"{first.name} {percent(float(first.accuracy))}"  # type: ignore[arg-type]
        if last is not first:
            line += f" to {last.name} {percent(float(last.accuracy))}"  # type: ignore[arg-type]
        line += " accuracy."
    figures = [one for one in result.figures()[1:] if one.title == "The same by true label"]
    return Section(
        title="Judges",
        line=line,
        rows=rows,
        units=units,
        figures=tuple(figures),
        notes=(*label_lines(result.labels_needed, result), *rate_names(result)),
    )


def _judge(score: JudgeScore) -> dict[str, Any]:
    # Where every vote is labelled nothing is left to doubt but new items, as the verdict says.
    ends = score.interval
    if isinstance(ends, Interval) and not ends.width and isinstance(score.new_items, Interval):
        ends = score.new_items
    all_labelled = ends is not score.interval
    row: dict[str, Any] = {"judge": score.name}
    if isinstance(score.accuracy, Unknown) and isinstance(ends, Interval):
        # Logic alone: what is possible is words, since it is no doubt about a number.
        row["possible"] = _possible(ends)
    else:
        row |= {"accuracy": score.accuracy, "interval": ends}
    if not isinstance(score.range, Unknown):
        low, high = score.range
        row["likely range"] = f"{percent(low)} to {percent(high)}"
    if len(score.per_label) <= _FEW_LABELS:
        for label, part in score.per_label.items():
            if isinstance(part.estimate, Unknown) and isinstance(part.interval, Interval):
                row[f"possible on {label}"] = _possible(part.interval)
                continue
            row[f"on {label}"] = part.estimate
            row[f"on {label} interval"] = None if all_labelled else part.interval
    if score.answered is not None:
        row["answered"] = score.answered
    if score.when_answered is not None:
        row["right when answered"] = score.when_answered.estimate
    row["votes"] = int(score.votes) if score.votes.is_integer() else score.votes
    return row


def _possible(ends: Interval) -> str:
    return f"{percent(ends.low)} to {percent(ends.high)}"


def _labels(result: JudgeResult) -> Section:
    return Section(
        title="Labels",
        line=share_lines(result)[0],
        figures=tuple(one for one in result.figures()[1:] if one.title.startswith("Share of")),
        rows=[
            {"label": label, "share": share.estimate, "interval": share.interval}
            for label, share in result.prevalence.items()
        ],
        units={"share": "share"},
    )


def _agreement(result: JudgeResult) -> Section:
    table = result.agreement
    pairs = [] if table is None else [*table.with_truth, *table.pairs]
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
            for row in pairs
        ],
        units={"agree": "share"},
        notes=(*rest, *calibration_lines(result)),
    )


# The lines below the table of a result: label shares, forecasts, agreement.


_SHOWN = 20
_STATISTICS = {
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "krippendorff_alpha_ordinal": "ordinal alpha",
    "krippendorff_alpha_interval": "interval alpha",
    "gwet_ac1": "Gwet's AC1",
}


def more_lines(result: JudgeResult) -> list[str]:
    """Return the lines below the table: label shares, agreement, calibration."""
    lines = [
        *share_lines(result),
        *label_lines(result.labels_needed, result),
        *agreement_lines(result),
        *rate_names(result),
        *calibration_lines(result),
        *[_covariate_line(one) for one in result.covariates],
        *([result.left_out[0].upper() + result.left_out[1:] + "."] if result.left_out else []),
        *_window_lines(result),
    ]
    if result.statements and result.statements[0].text not in result.verdict:
        lines += ["", f"For certain: {result.statements[0].text}"]
    return lines


def share_lines(result: JudgeResult) -> list[str]:
    """Say how common each label is, corrected for the judges' errors."""
    known = {
        label: share
        for label, share in result.prevalence.items()
        if isinstance(share.estimate, float)
    }
    if not known:
        return []
    told = ", ".join(
        f"{label} {rate_of(share.estimate, share.interval)}"
        for label, share in list(known.items())[:_SHOWN]
    )
    bare = not any(isinstance(share.interval, Interval) for share in known.values())
    doubt = " (from votes alone: no interval)" if bare else ""
    return [f"Share of each label, corrected for the judges' errors: {told}{doubt}."]


def label_lines(forecast: LabelsNeeded | None, result: JudgeResult) -> list[str]:
    """Say how many more labels would help, and what those there are worth."""
    if forecast is None or not forecast.left:
        return []
    parts = []
    if forecast.precision:
        parts.append(f"about {count(forecast.precision)} more give each judge ± 5 points")
    elif result.n_labels:
        parts.append("every judge is known to ± 5 points")
    if forecast.leader:
        enough = "" if forecast.enough else " may not even"
        parts.append(
            f"about {count(forecast.leader)} more tell the leader"
            if not enough
            else f"all {count(forecast.left)} that are left may be too few to tell the leader"
        )
    elif forecast.leader is None and result.rivals:
        parts.append("no forecast says how many tell the leader")
    told = "; ".join(parts)
    worth = result.labels_worth
    lines = [f"Labels: {told}. {count(forecast.left)} items are unlabelled."] if parts else []
    if isinstance(worth, float) and worth > 1.05 * result.n_labels > 0:
        lines.append(
            f"The judges' votes make these {count(result.n_labels)} labels as informative as about"
            f" {count(round(worth))} labels alone."
        )
    return lines


def agreement_lines(result: JudgeResult) -> list[str]:
    """Say how far the judges agree with one another."""
    table = result.agreement
    if table is None or not table.between:
        return []
    raw = table.between["raw"]
    parts = [f"two judges agree on {rate_of(raw.estimate, raw.interval)}"]
    for key, name in _STATISTICS.items():
        if key in table.between:
            parts.append(f"{name} {_coefficient(table.between[key])}")
    lines = [f"Agreement: {', '.join(parts)} (intervals are for new items)."]
    if table.note:
        lines.append(f"Agreement: {table.note}.")
    return lines


def _coefficient(share: Share) -> str:
    if not isinstance(share.estimate, float):
        return "undefined"
    if not isinstance(share.interval, Interval):
        return f"{share.estimate:.2f}"
    return number_interval(share.estimate, share.interval)


def rate_names(result: JudgeResult) -> list[str]:
    """Name the true positive and the true negative rate."""
    if result.positive is None or not any(score.tpr for score in result.judges):
        return []
    other = next(
        (key for key in result.judges[0].per_label if key != result.positive), "the other label"
    )
    return [
        f'"right on {result.positive}" is the true positive rate (TPR), "right on {other}" the true'
        " negative rate (TNR)."
    ]


def calibration_lines(result: JudgeResult) -> list[str]:
    """Say how well the probabilities of items are calibrated."""
    check = result.calibration
    if isinstance(check, Unknown):
        return []
    return [
        f"Item probabilities are off by {points(check.error, sign=False)} on average, measured on"
        f" {count(check.n_labels)} labels that were left out; perfect ones would show about"
        f" {points(check.noise_floor, sign=False)}."
    ]


def _covariate_line(effect: CovariateEffect) -> str:
    estimate, interval = effect.error.estimate, effect.error.interval
    if not isinstance(estimate, float) or not isinstance(interval, Interval):
        return f"{effect.judge} and {effect.covariate}: nothing can be said."
    versus = ", relative to the other judges" if effect.relative else ""
    p = p_value(effect.error_p) if isinstance(effect.error_p, float) else ""
    told = (
        f"{effect.judge} and {effect.covariate}: errors change by"
        f" {points_interval(estimate, interval)} per standard deviation{versus} ({p})"
    )
    lean = effect.lean
    if (
        lean is not None
        and isinstance(lean.estimate, float)
        and isinstance(lean.interval, Interval)
    ):
        told += (
            f"; its lean to the positive label by {points_interval(lean.estimate, lean.interval)}"
        )
    return f"{told}."


def _window_lines(result: JudgeResult) -> list[str]:
    lines = []
    for window in result.windows:
        place = f"Items {count(window['start'] + 1)} to {count(window['end'])}"
        lines += [f"{place}: {one['proves']}." for one in window.get("alarms", ())]
        lines += [f"{place}: {text}." for text in window.get("notices", ())]
    return lines
