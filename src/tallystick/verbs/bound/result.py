"""The answer of ``bound``: between what the metric lies, for which label model, and what would
break it.
"""

from __future__ import annotations

from collections.abc import Mapping
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
    percent,
    value_text,
)
from tallystick.table import Label
from tallystick.verbs.bound.label_model_checks import LabelModelAudit
from tallystick.verbs.bound.weak_votes import WeakLabel


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Between what one metric lies, under one label model.

    Parameters
    ----------
    metric, positive, threshold, label_model
        What it is of.
    lower, upper
        The forward dual's estimates of the ends.
    lower_interval, upper_interval
        Where the sharp ends L and U themselves are. The low end of the first and the high end of
        the second hold together.
    method
        How they were made.
    independent_estimate
        The metric if prediction and label were independent given the votes.
    plugin_lower, plugin_upper
        The sharp bounds of the observed shares; too narrow where patterns are many.
    """

    metric: str
    positive: Label
    threshold: float | None
    label_model: str
    lower: float | Unknown
    upper: float | Unknown
    lower_interval: Interval | Unknown
    upper_interval: Interval | Unknown
    method: str
    independent_estimate: float | Unknown
    plugin_lower: float | Unknown
    plugin_upper: float | Unknown

    @property
    def low(self) -> float | None:
        """The end below which the metric is not, with confidence."""
        return self.lower_interval.low if isinstance(self.lower_interval, Interval) else None

    @property
    def high(self) -> float | None:
        """The end above which the metric is not, with confidence."""
        return self.upper_interval.high if isinstance(self.upper_interval, Interval) else None


@dataclass(frozen=True, kw_only=True)
class Breakdown:
    """How wrong the label model may be before a claim on the leading metric is no longer proved.

    ``on_average`` and ``in_every_pattern`` are total-variation distances of P(Y | Z); ``sweep``
    holds the ends by δ.
    """

    claim: str
    on_average: float
    in_every_pattern: float | Unknown
    sweep: tuple[dict[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class GoldEstimate:
    """One metric from labelled rows alone, valid whatever any label model is worth.

    Parameters
    ----------
    metric, positive, threshold
        What it is of.
    labels
        Labelled rows.
    estimate, interval
        The metric on these rows, and its interval.
    worth
        How many labels would give an interval as narrow without the consensus of the votes.
    """

    metric: str
    positive: Label = None
    threshold: float | None = None
    labels: int
    estimate: float | Unknown
    interval: Interval
    worth: float | Unknown


@dataclass(frozen=True, kw_only=True)
class RocPoint:
    """Where one threshold lies on the ROC curve: a rectangle, holding for all thresholds at once.

    ``method`` says whether it comes from labels, or from the robust range.
    """

    threshold: float
    true_positive_rate: Interval | Unknown
    false_positive_rate: Interval | Unknown
    method: str


@dataclass(frozen=True, kw_only=True)
class ReliabilityBin:
    """How often the positive class is true where the score lies in [low, high), and how often it
    should be: the mean of the two edges.
    """

    low: float
    high: float
    rows: int
    share: Interval | Unknown
    method: str


@dataclass(frozen=True, kw_only=True)
class BoundResult(Result):
    """Bounds on the metrics of one classifier.

    Parameters
    ----------
    bounds
        Without 20 labels the robust range comes first (``method: "robust"``), then the bounds under
        each label model.
    label_models
        What is known of each label model; ``refuted`` and ``votes_contradict`` say which the data
        contradict.
    label_model_distance
        The median distance of two label models of the family: the yardstick beside
        ``breakdown_delta``.
    gold
        Every metric from labels, if at least 20 rows are labelled.
    weak_labels
        Coverage, overlap, conflict and accuracy of each weak label.
    roc, reliability
        Of a score.
    """

    verb: ClassVar[str] = "bound"

    prediction: str
    weak: tuple[str, ...]
    classes: tuple[Label, ...]
    bounds: tuple[Bound, ...]
    label_models: tuple[LabelModelAudit, ...]
    breakdown_delta: float | Unknown
    breakdown: Breakdown | None = None
    label_model_distance: float | Unknown = Unknown("no family of label models was fitted")
    gold: tuple[GoldEstimate, ...] = ()
    weak_labels: tuple[WeakLabel, ...] = ()
    roc: tuple[RocPoint, ...] = ()
    reliability: tuple[ReliabilityBin, ...] = ()
    singleton_share: float
    delta: float = 0.0
    entropy_width: float | Unknown
    table: PatternTable | None = field(default=None, metadata={"private": True})

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per estimate from labels, then one per bound.

        ``contradicted_by`` says that labels, or the votes alone, reject the row's label model.
        """
        contradicted = {
            one.name: "labels" if one.refuted else "votes"
            for one in self.label_models
            if one.refuted or one.votes_contradict is True
        }
        estimates = [
            {
                "metric": g.metric if g.positive is None else f"{g.metric} of {g.positive}",
                "threshold": g.threshold,
                "label_model": f"none: {g.labels} labels",
                "low": g.interval.low,
                "lower": None,
                "independent": g.estimate,
                "upper": None,
                "high": g.interval.high,
                "contradicted_by": "",
            }
            for g in self.gold
        ]
        return estimates + [
            {
                "metric": b.metric if b.positive is None else f"{b.metric} of {b.positive}",
                "threshold": b.threshold,
                "label_model": b.label_model,
                "low": b.low,
                "lower": b.lower,
                "independent": b.independent_estimate,
                "upper": b.upper,
                "high": b.high,
                "contradicted_by": contradicted.get(b.label_model, ""),
            }
            for b in self.bounds
        ]

    def patterns(self) -> PatternTable | None:
        """Return what the label models say of each pattern of votes."""
        return self.table

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure; a risk is a plain number."""
        if "risk" in {g.metric for g in self.gold} | {b.metric for b in self.bounds}:
            return {}
        return dict.fromkeys(("low", "lower", "independent", "upper", "high"), "share")

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: the bounds, label models, weak labels, ROC."""
        return folds_of(self)

    @property
    def _unit(self) -> Unit:
        return "share" if self.units() else "number"

    def figures(self) -> tuple[Figure, ...]:
        """Return the bounds across thresholds, or side by side; then the ends by δ."""
        by_threshold = self.bounds[0].threshold is not None
        made = [self._across(alone=True) if by_threshold else self._side_by_side()]
        if by_threshold and len({b.label_model for b in self.bounds}) > 1:
            made.append(self._across(alone=False))
        if self.breakdown is not None:
            made.append(_delta_figure(self.breakdown))
        if self.roc:
            made.append(_roc_figure(self.roc))
        if self.reliability:
            made.append(_reliability_figure(self.reliability))
        if self.weak_labels:
            made.append(_weak_figure(self.weak_labels))
        return tuple(made)

    def _across(self, *, alone: bool) -> Figure:
        """Return the range by threshold: the first one *alone*, or one for each label model."""
        first = self.bounds[0]
        shown = [
            b
            for b in self.bounds
            if b.threshold is not None
            and (not alone or (b.metric, b.label_model) == (first.metric, first.label_model))
        ]
        return Figure(
            kind="bands",
            title=f"Where the {first.metric} lies, by threshold"
            + ("" if alone else ", for each label model"),
            columns={
                "threshold": [b.threshold for b in shown],
                "lower": [_number(b.lower) for b in shown],
                "upper": [_number(b.upper) for b in shown],
                "with_confidence_low": [b.low for b in shown],
                "with_confidence_high": [b.high for b in shown],
                "if_independent": [_number(b.independent_estimate) for b in shown],
                "group": [f"{b.metric}, {b.label_model}" for b in shown],
            },
            roles={
                "x": "threshold",
                "low": "lower",
                "high": "upper",
                "outer_low": "with_confidence_low",
                "outer_high": "with_confidence_high",
                "y": "if_independent",
            }
            | ({} if alone else {"group": "group"}),
            labels={"low": "range", "outer_low": "with its confidence", "y": "range"}
            if alone
            else {},
            unit=self._unit,
        )

    def _side_by_side(self) -> Figure:
        return Figure(
            kind="forest",
            title="Where the metric lies, by label model",
            columns={
                "name": [f"{b.metric}, {b.label_model}" for b in self.bounds],
                "lower": [_number(b.lower) for b in self.bounds],
                "upper": [_number(b.upper) for b in self.bounds],
                "with_confidence_low": [b.low for b in self.bounds],
                "with_confidence_high": [b.high for b in self.bounds],
                "if_independent": [_number(b.independent_estimate) for b in self.bounds],
            },
            roles={
                "name": "name",
                "value": "if_independent",
                "low": "lower",
                "high": "upper",
                "outer_low": "with_confidence_low",
                "outer_high": "with_confidence_high",
            },
            labels={"low": "range"},
            unit=self._unit,
        )


def _delta_figure(breakdown: Breakdown) -> Figure:
    return Figure(
        kind="bands",
        title="The bounds if the label model is wrong by δ on average",
        columns={
            key: [point[key] for point in breakdown.sweep] for key in ("delta", "low", "high")
        },
        roles={"x": "delta", "low": "low", "high": "high"},
        unit="share",
    )


def _roc_figure(roc: tuple[RocPoint, ...]) -> Figure:
    """Return the band between the lowest and the highest true positive rate, by threshold."""
    return Figure(
        kind="bands",
        title="True positive rate by threshold",
        columns={
            "threshold": [p.threshold for p in roc],
            "tpr_low": [_end(p.true_positive_rate, 0) for p in roc],
            "tpr_high": [_end(p.true_positive_rate, 1) for p in roc],
            "fpr_low": [_end(p.false_positive_rate, 0) for p in roc],
            "fpr_high": [_end(p.false_positive_rate, 1) for p in roc],
        },
        roles={"x": "threshold", "low": "tpr_low", "high": "tpr_high"},
        unit="share",
    )


def _reliability_figure(bins: tuple[ReliabilityBin, ...]) -> Figure:
    return Figure(
        kind="bands",
        title="How often the positive class is true, by score",
        columns={
            "score": [(b.low + b.high) / 2 for b in bins],
            "low": [_end(b.share, 0) for b in bins],
            "high": [_end(b.share, 1) for b in bins],
            "as_it_should_be": [(b.low + b.high) / 2 for b in bins],
            "rows": [b.rows for b in bins],
        },
        roles={"x": "score", "low": "low", "high": "high", "y": "as_it_should_be"},
        unit="share",
    )


def _weak_figure(weak: tuple[WeakLabel, ...]) -> Figure:
    """Return the weak labels with their accuracy; the table beside it has the rest."""
    return Figure(
        kind="forest",
        title="The weak labels",
        columns={
            "name": [w.name for w in weak],
            "votes_for": [", ".join(w.polarity) for w in weak],
            "coverage": [w.coverage for w in weak],
            "overlap": [w.overlap for w in weak],
            "conflict": [w.conflict for w in weak],
            "estimated_accuracy": [_number(w.estimated_accuracy) for w in weak],
            "checked_accuracy": [_number(w.checked_accuracy) for w in weak],
            "checked_low": [_end(w.checked_interval, 0) for w in weak],
            "checked_high": [_end(w.checked_interval, 1) for w in weak],
            "labels": [w.labels for w in weak],
        },
        roles={
            "name": "name",
            "value": "checked_accuracy" if any(w.labels for w in weak) else "estimated_accuracy",
            "low": "checked_low",
            "high": "checked_high",
        },
        labels={"value": "accuracy"},
        unit="share",
    )


def _end(interval: Interval | Unknown, side: int) -> float | None:
    return None if isinstance(interval, Unknown) else tuple(interval)[side]


def _number(value: float | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value


# What a page of ``bound`` unfolds: the range, every label model, and the weak labels.


def folds_of(result: BoundResult) -> tuple[Section, ...]:
    """Return the sections of a result, the range that the verdict is about first."""
    rows = result.rows()
    figures = result.figures()[1:]
    found = [_first(result, rows)]
    if len(rows) > len(found[0].rows):
        found.append(
            Section(
                title="Label models",
                line=_models_line(result),
                rows=[_range(row, result.units()) for row in rows],
                units=_units(result),
                figures=tuple(one for one in figures if "label model" in one.title),
            )
        )
    curves = tuple(one for one in figures if "label model" not in one.title)
    found += [
        Section(title=title, line=line, figures=tuple(one for one in curves if start in one.title))
        for title, line, start in (
            ("Breakdown", "How wrong the label model may be before the claim fails.", "δ"),
            ("ROC", "True positive rate by threshold.", "True positive"),
            ("Reliability", "How often the positive class is true, by score.", "How often"),
        )
        if any(start in one.title for one in curves)
    ]
    if result.weak_labels:
        found.append(_weak(result))
    return tuple(found)


def _units(result: BoundResult) -> dict[str, Unit]:
    return {"estimate": "share", "if independent": "share"} if result.units() else {}


def _first(result: BoundResult, rows: list[dict[str, Any]]) -> Section:
    """Return the rows of the label model that the verdict speaks of, by metric or threshold."""
    units = result.units()
    shown = [_range(row, units) for row in rows if row["label_model"] == rows[0]["label_model"]]
    least = [row["low"] for row in rows if row["label_model"] == rows[0]["label_model"]]
    ends = [low for low in least if isinstance(low, float)]
    by = rows[0]["label_model"]
    line = f"By the label model {by}."
    if ends and result.units():
        which = (
            "if the weak labels share no errors"
            if by == "family of seven"
            else f"by the label model {by}"
        )
        line = f"At least {percent(max(ends))}, {which}."
    return Section(title="Range", line=line, rows=shown, units=_units(result))


def _range(row: Mapping[str, Any], units: Mapping[str, Unit]) -> dict[str, Any]:
    """Return one row for people. A range is one cell, and words: it is not an interval."""

    def between(low: str, high: str) -> str | None:
        ends = [row[low], row[high]]
        if not all(isinstance(end, float | int) for end in ends):
            return None
        return " to ".join(value_text(float(end), units.get("low", "number")) for end in ends)

    # An estimate from labels trusts no label model, so it assumes no independence either.
    by_labels = str(row["label_model"]).startswith("none: ")
    return {
        "metric": row["metric"],
        "threshold": row["threshold"],
        "label model": row["label_model"],
        "estimate": row["independent"] if by_labels else None,
        "range": between("lower", "upper"),
        "with confidence": between("low", "high"),
        "if independent": None if by_labels else row["independent"],
        "contradicted by": row["contradicted_by"] or None,
    }


def _models_line(result: BoundResult) -> str:
    bad = [one.name for one in result.label_models if one.refuted or one.votes_contradict is True]
    if bad:
        return f"{len(bad)} of {len(result.label_models)} label models are contradicted."
    return f"{len(result.label_models)} label models, none contradicted."


def _weak(result: BoundResult) -> Section:
    checked = any(one.labels for one in result.weak_labels)
    return Section(
        title="Weak labels",
        line=f"{len(result.weak_labels)} weak labels, "
        + ("checked by labels." if checked else "checked only by one another."),
        rows=[
            {
                "weak label": one.name,
                "votes for": ", ".join(one.polarity),
                "coverage": one.coverage,
                "overlap": one.overlap,
                "conflict": one.conflict,
                "estimated accuracy": one.estimated_accuracy,
                "checked accuracy": one.checked_accuracy,
                "checked interval": one.checked_interval,
                "labels": one.labels,
            }
            for one in result.weak_labels
        ],
        units=dict.fromkeys(
            ("coverage", "overlap", "conflict", "estimated accuracy", "checked accuracy"), "share"
        ),
        figures=tuple(one for one in result.figures() if one.title == "The weak labels"),
    )
