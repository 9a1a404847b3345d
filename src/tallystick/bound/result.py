"""The answer of ``bound``: between what the metric lies, for which label model, and what would
break it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

from tallystick.bound.label_models.audit import LabelModelAudit
from tallystick.results import Figure, Interval, PatternTable, Result, Unknown
from tallystick.tally import Label

__all__ = ["Bound", "BoundResult", "Breakdown", "GoldEstimate"]


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
    """The accuracy from labelled rows, sharpened by the label model's guess for all rows; valid
    whatever that is.

    ``worth`` is how many labels alone would have given the width; ``refuted`` says that this
    interval and the bounds have no point in common, so that the label model is wrong.
    """

    metric: str
    label_model: str
    labels: int
    estimate: float
    interval: Interval
    worth: float
    refuted: bool


@dataclass(frozen=True, kw_only=True)
class BoundResult(Result):
    """Bounds on the metrics of one classifier."""

    verb: ClassVar[str] = "bound"

    prediction: str
    weak: tuple[str, ...]
    classes: tuple[Label, ...]
    bounds: tuple[Bound, ...]
    label_models: tuple[LabelModelAudit, ...]
    breakdown_delta: float | Unknown
    breakdown: Breakdown | None = None
    gold: tuple[GoldEstimate, ...] = ()
    singleton_share: float
    delta: float = 0.0
    entropy_width: float | Unknown
    table: PatternTable | None = field(default=None, metadata={"private": True})

    def rows(self) -> list[dict[str, Any]]:
        """Return one row a bound."""
        return [
            {
                "metric": b.metric if b.positive is None else f"{b.metric} of {b.positive}",
                "threshold": b.threshold,
                "label_model": b.label_model,
                "low": b.low,
                "lower": b.lower,
                "independent": b.independent_estimate,
                "upper": b.upper,
                "high": b.high,
            }
            for b in self.bounds
        ]

    def patterns(self) -> PatternTable | None:
        """Return what the label models say of each pattern of votes."""
        return self.table

    def figures(self) -> tuple[Figure, ...]:
        """Return the bounds across thresholds, or side by side; then the ends by δ."""
        made = [self._across() if self.bounds[0].threshold is not None else self._side_by_side()]
        if self.breakdown is not None:
            made.append(_delta_figure(self.breakdown))
        return tuple(made)

    def _across(self) -> Figure:
        return Figure(
            kind="bands",
            title="Between what the metric lies, by threshold",
            columns={
                "threshold": [b.threshold for b in self.bounds],
                "lower": [_number(b.lower) for b in self.bounds],
                "upper": [_number(b.upper) for b in self.bounds],
                "with_confidence_low": [b.low for b in self.bounds],
                "with_confidence_high": [b.high for b in self.bounds],
                "if_independent": [_number(b.independent_estimate) for b in self.bounds],
                "group": [f"{b.metric}, {b.label_model}" for b in self.bounds],
            },
            roles={
                "x": "threshold",
                "low": "lower",
                "high": "upper",
                "outer_low": "with_confidence_low",
                "outer_high": "with_confidence_high",
                "y": "if_independent",
                "group": "group",
            },
        )

    def _side_by_side(self) -> Figure:
        return Figure(
            kind="forest",
            title="Between what the metric lies, by label model",
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
        )


def _delta_figure(breakdown: Breakdown) -> Figure:
    return Figure(
        kind="bands",
        title="The bounds if the label model is wrong by δ on average",
        columns={
            key: [point[key] for point in breakdown.sweep] for key in ("delta", "low", "high")
        },
        roles={"x": "delta", "low": "low", "high": "high"},
    )


def _number(value: float | Unknown) -> float | None:
    return None if isinstance(value, Unknown) else value
