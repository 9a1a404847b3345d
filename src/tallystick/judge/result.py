"""What judging answers with: scores a judge, prevalence, all estimates side by side, alarms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from tallystick.results import Figure, Interval, PatternTable, Result, Unknown
from tallystick.tally import Tally

__all__ = [
    "Alarm",
    "Estimate",
    "JudgeResult",
    "JudgeScore",
    "LabelScore",
    "Number",
    "Range",
    "Share",
    "Solution",
    "Statement",
]

Number: TypeAlias = float | Unknown
Range: TypeAlias = Interval | Unknown

_NO_LABELS = Unknown("no labels were given")
_ONLY_LABELS = Unknown("worked out from labels only, by evaluate and few_labels")
_SHOWN = 20
_SAID = {True: "rejected", False: "not rejected", None: "not tested"}


@dataclass(frozen=True, kw_only=True)
class LabelScore:
    """How often a judge is right on items of one label: estimate, interval, and what logic alone
    allows.
    """

    estimate: Number
    interval: Range
    logical: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class JudgeScore:
    """One judge: the share of its votes that are right, overall and by true label.

    ``interval`` is about these items; ``new_items``, where labels allow one, about new items like
    the labelled ones.
    """

    name: str
    accuracy: Number
    interval: Range
    per_label: Mapping[str, LabelScore] = field(default_factory=dict)
    votes: float = 0.0
    logical: Interval | None = None
    new_items: Range = _ONLY_LABELS


@dataclass(frozen=True, kw_only=True)
class Share:
    """How common a label is."""

    estimate: Number
    interval: Range


@dataclass(frozen=True, kw_only=True)
class Solution:
    """One point that explains the votes equally well; ``branch`` says why it was chosen, or that it
    was not.
    """

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
    """A sentence that holds whatever the truth is; *bound* is at most, or *at_least*, what one of
    *judges* reaches.
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
        The headline numbers.
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
        What the votes made of the labels: how many labels alone would have been as good (median
        over judges).
    windows
        One mapping a window of a stream, where it was asked for.
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
    windows: tuple[Mapping[str, Any], ...] = ()
    votes: Tally | None = field(default=None, repr=False, metadata={"private": True})
    learnt: Mapping[str, Sequence[Any]] = field(
        default_factory=dict, repr=False, metadata={"private": True}
    )

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a judge: accuracy and its interval, then the same by label."""
        return [
            {
                "judge": score.name,
                "accuracy": score.accuracy,
                "interval": score.interval,
                **({} if isinstance(score.new_items, Unknown) else {"new_items": score.new_items}),
                **{f"right on {label}": part.estimate for label, part in score.per_label.items()},
                "votes": int(score.votes) if score.votes.is_integer() else score.votes,
            }
            for score in self.judges
        ]

    def summary(self) -> str:
        """Return the text of every result, then all methods side by side, and what is certain
        whatever the truth.
        """
        parts = [super().summary()]
        if len(self.estimates) > 1:
            parts += ["", "Every method that applies:", *_side_by_side(self.estimates)]
        if self.statements and self.statements[0].text not in self.verdict:
            parts += ["", f"For certain: {self.statements[0].text}"]
        return "\n".join(parts)

    def figures(self) -> tuple[Figure, ...]:
        """Return the judges' accuracies, then the same by label, then every method beside the
        others.
        """
        overall = _forest(
            f"Accuracy of {len(self.judges)} judges ({self.method})",
            [(score.name, "", score.accuracy, score.interval) for score in self.judges],
        )
        by_label = _forest(
            "The same by true label",
            [
                (score.name, label, part.estimate, part.interval)
                for score in self.judges
                for label, part in score.per_label.items()
            ],
        )
        found = (overall, by_label, self._methods(), self._over_windows())
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
        """Return the consensus of each vote pattern and its probability, to be attached to
        items.
        """
        return (
            PatternTable(self.votes, self.learnt)
            if self.votes is not None and self.learnt
            else None
        )


def _side_by_side(estimates: Sequence[Estimate]) -> list[str]:
    """Return lines of a table: a column a method, a row a judge, and what the labels say."""
    lines = [["judge", *(estimate.method for estimate in estimates)]]
    for name in list(estimates[0].accuracy)[:_SHOWN]:
        values = [estimate.accuracy.get(name) for estimate in estimates]
        lines.append(
            [name, *(f"{value:.3f}" if isinstance(value, float) else "–" for value in values)]
        )
    if any(estimate.rejected is not None for estimate in estimates):
        lines.append(["(by labels)", *(_SAID[estimate.rejected] for estimate in estimates)])
    widths = [max(len(line[j]) for line in lines) for j in range(len(lines[0]))]
    told = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    more = len(estimates[0].accuracy) - _SHOWN
    return [*told, *([f"… and {more} more judges (in --json)"] if more > 0 else [])]


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
