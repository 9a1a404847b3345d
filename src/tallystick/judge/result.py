"""The frozen result of judge: what it says, as rows, text, figures and items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tallystick.judge.parts import (
    AgreementTable,
    Alarm,
    CalibrationCheck,
    CovariateEffect,
    Estimate,
    JudgeScore,
    LabelsNeeded,
    Number,
    Range,
    Share,
    Solution,
    Statement,
)
from tallystick.results import Figure, Interval, PatternTable, Result, Section, Unit, Unknown
from tallystick.tally import Tally

__all__ = ["JudgeResult"]

_NO_LABELS = Unknown("no labels were given")


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

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        found: dict[str, Unit] = dict.fromkeys(
            ("accuracy", "range_low", "range_high", "new_items", "answered", "when answered"),
            "share",
        )
        return found | {f"right on {one}": "share" for s in self.judges for one in s.per_label}

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: judges, labels, agreement, methods and what is certain."""
        from tallystick.judge.folds import folds_of

        return folds_of(self)

    def summary(self) -> str:
        """Return the text of every result, then label shares, agreement and all methods."""
        from tallystick.judge.verdict_lines import more_lines

        more = more_lines(self)
        return "\n".join([super().summary(), *(["", *more] if more else [])])

    def figures(self) -> tuple[Figure, ...]:
        """Return the judges' accuracies, the same by label, label shares, methods and windows."""
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
            title="Accuracy, window by window",
            columns={
                "item": [start for start, _, _ in cells],
                "judge": [name for _, name, _ in cells],
                "accuracy": [value for _, _, value in cells],
            },
            roles={"x": "item", "y": "accuracy", "group": "judge"},
            unit="share",
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
