"""The answer of ``bound``: what labels say of each classifier, or between what it lies if a label
model is right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from tallystick.results import (
    SCHEMA,
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
from tallystick.table import Label
from tallystick.verbs.bound.votes import WeakLabel


@dataclass(frozen=True, kw_only=True)
class Bound:
    """Between what one metric lies, if one label model is right.

    Parameters
    ----------
    prediction, metric, positive, threshold, label_model
        What it is of.
    interval
        The range, with its assumption. It holds whatever joins predictions and truth, and allows
        for the error of a fitted label model.
    """

    prediction: str
    metric: str
    positive: Label
    threshold: float | None
    label_model: str
    interval: Interval | Unknown


@dataclass(frozen=True, kw_only=True)
class GoldEstimate:
    """One metric from labels, valid whatever the weak labels are worth.

    Parameters
    ----------
    prediction, metric, positive, threshold
        What it is of.
    labels
        Labelled rows.
    estimate, interval
        The metric and its interval.
    worth
        How many labels alone would give an interval as narrow.
    population
        ``these`` rows, or ``new`` ones like them.
    """

    prediction: str
    metric: str
    positive: Label = None
    threshold: float | None = None
    labels: int
    estimate: float | Unknown
    interval: Interval
    worth: float | Unknown
    population: str


@dataclass(frozen=True, kw_only=True)
class ClassifierPair:
    """How much more accurate the first of two classifiers is, from labels of the same rows.

    The intervals of all pairs hold together. A pair is settled if its *adjusted_p* is at most
    alpha; *better* names the better one then.
    """

    a: str
    b: str
    estimate: float
    interval: Interval
    adjusted_p: float
    better: str | None


@dataclass(frozen=True, kw_only=True)
class LabelModelAudit:
    """What is known of one label model.

    Parameters
    ----------
    name, rests_on
        Which it is, and what has to be true.
    class_balance
        P(Y) that it implies for these rows.
    unknown_mass
        Share of the rows for whose pattern it says nothing.
    votes_contradict
        Whether the votes alone reject the independence that it rests on. False proves nothing.
    calibration_p, refuted
        With labels: the p value of the surprise test (B5), and whether it rejects at 5%.
    """

    name: str
    rests_on: str
    class_balance: dict[str, float]
    unknown_mass: float
    votes_contradict: bool | Unknown
    calibration_p: float | Unknown
    refuted: bool


@dataclass(frozen=True, kw_only=True)
class BoundResult(Result):
    """What is known of one or more classifiers.

    Parameters
    ----------
    predictions, weak, classes
        The columns, and the labels that can be true.
    gold, population
        Every metric from labels, if at least 20 rows are labelled, and of which rows the first one
        speaks.
    pairs
        Differences in accuracy of several classifiers, from labels.
    bounds, label_models
        What follows if a label model is right, and what is known of each.
    weak_labels
        Coverage, overlap, conflict, agreement and accuracy of each weak label.
    """

    verb: ClassVar[str] = "bound"
    schema: ClassVar[int] = SCHEMA + 1

    predictions: tuple[str, ...]
    weak: tuple[str, ...]
    classes: tuple[Label, ...]
    gold: tuple[GoldEstimate, ...] = ()
    population: str | None = None
    pairs: tuple[ClassifierPair, ...] = field(
        default=(),
        metadata={"doubted": lambda found: tuple(replace(one, better=None) for one in found.pairs)},
    )
    bounds: tuple[Bound, ...] = ()
    label_models: tuple[LabelModelAudit, ...] = ()
    weak_labels: tuple[WeakLabel, ...] = ()
    table: PatternTable | None = field(default=None, metadata={"private": True})

    @property
    def claims(self) -> Claims | None:
        """Which classifiers are shown to be more accurate than which."""
        return claims_of(self.pairs) if self.pairs else None

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per estimate from labels, then one per range.

        ``contradicted_by`` says that labels, or the votes alone, reject the row's label model.
        """
        contradicted = {
            one.name: "labels" if one.refuted else "votes"
            for one in self.label_models
            if one.refuted or one.votes_contradict is True
        }
        held: list[Bound | GoldEstimate] = [*self.gold, *self.bounds]
        cut = any(one.threshold is not None for one in held)
        out = []
        for one in held:
            row: dict[str, Any] = {"threshold": one.threshold} if cut else {}
            if len(self.predictions) > 1 and not cut:
                row["prediction"] = one.prediction
            of = "" if one.positive is None else f" of {one.positive}"
            row["metric"] = f"{one.metric}{of}"
            if isinstance(one, Bound):
                by, estimate, bad = one.label_model, None, contradicted.get(one.label_model, "")
            else:
                by, estimate, bad = f"none: {one.labels} labels", one.estimate, ""
            low, high = _end(one.interval, 0), _end(one.interval, 1)
            row |= {"label_model": by, "estimate": estimate, "low": low, "high": high}
            out.append(row | {"contradicted_by": bad})
        return out

    def patterns(self) -> PatternTable | None:
        """Return what the leading label model says of each pattern of votes."""
        return self.table

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return dict.fromkeys(("estimate", "low", "high"), "share")

    def figures(self) -> tuple[Figure, ...]:
        """Return the estimates and ranges, the differences of pairs, and the weak labels."""
        made = [self._ranges()]
        if self.pairs:
            made.append(_pairs_figure(self.pairs))
        if self.weak_labels:
            made.append(_weak_figure(self.weak_labels))
        return tuple(made)

    def _ranges(self) -> Figure:
        """Return the first metric along the thresholds of a score, or everything side by side."""
        rows = self.rows()
        first = rows[0]
        keys = ("metric", "label_model")
        shown = [row for row in rows if all(row[key] == first[key] for key in keys)]
        title = "Where the metric lies"
        if len(shown) > 1 and "threshold" in first:
            return Figure(
                kind="bands",
                title=title,
                columns={
                    key: [_number(row[key]) for row in shown]
                    for key in ("threshold", "estimate", "low", "high")
                },
                roles={"x": "threshold", "low": "low", "high": "high", "y": "estimate"},
                unit="share",
            )
        names = [", ".join(str(row[k]) for k in ("prediction", *keys) if k in row) for row in rows]
        names = [name.replace("none: ", "from ") for name in names]
        values, ends = (
            [row["estimate"] for row in rows],
            [(row["low"], row["high"]) for row in rows],
        )
        return _forest(title, names, values, ends)

    def folds(self) -> tuple[Section, ...]:
        """Return what a page unfolds: every range, the pairs, the weak labels."""
        every: list[Bound | GoldEstimate] = [*self.gold, *self.bounds]
        found = [
            Section(
                title="Range",
                line=self._range_line(),
                rows=[_for_people(row, one) for row, one in zip(self.rows(), every, strict=True)],
                units={"estimate": "share"},
            )
        ]
        if self.pairs:
            settled = sum(pair.better is not None for pair in self.pairs)
            found.append(
                Section(
                    title="Pairs",
                    line=f"{settled} of {len(self.pairs)} pairs are settled.",
                    rows=[
                        {
                            "pair": f"{pair.a} - {pair.b}",
                            "difference": pair.estimate,
                            "interval": pair.interval,
                            "better": pair.better,
                        }
                        for pair in self.pairs
                    ],
                    units={"difference": "points"},
                    figures=(_pairs_figure(self.pairs),),
                )
            )
        if self.weak_labels:
            found.append(_weak_section(self.weak_labels))
        return tuple(found)

    def _range_line(self) -> str:
        if self.gold:
            return f"From {self.gold[0].labels:,} labels."
        bad = [a.name for a in self.label_models if a.refuted or a.votes_contradict is True]
        return f"If its label model is right{'; contradicted: ' if bad else ''}{', '.join(bad)}."


def claims_of(pairs: Sequence[ClassifierPair]) -> Claims:
    """Claim what the pairs settle."""
    # The first classifier is in a pair with every other one: by the differences from it all stand
    # in order.
    first = pairs[0].a
    ahead = {first: 0.0} | {pair.b: -pair.estimate for pair in pairs if pair.a == first}
    better = {(one.better, one.b if one.better == one.a else one.a) for one in pairs if one.better}
    return Claims(tuple(sorted(ahead, key=lambda name: -ahead[name])), better, what="classifier")


def _for_people(row: Mapping[str, Any], one: Bound | GoldEstimate) -> dict[str, Any]:
    """Return one row of the page. A range under a label model is words: it is not an interval."""
    out = {key: value for key, value in row.items() if key in ("threshold", "prediction", "metric")}
    if isinstance(one, GoldEstimate):
        return out | {"estimate": one.estimate, "interval": one.interval, "labels": one.labels}
    known = [end for key in ("low", "high") if (end := _number(row[key])) is not None]
    return out | {
        "label model": row["label_model"],
        "range": " to ".join(percent(end) for end in known) if len(known) == 2 else None,
        "contradicted by": row["contradicted_by"] or None,
    }


def _forest(
    title: str, names: list[str], values: Sequence[Any], ends: Sequence[Any], unit: Unit = "share"
) -> Figure:
    """Return estimates with their intervals, one row per name."""
    low, high = ([_end(one, side) for one in ends] for side in (0, 1))
    return Figure(
        kind="forest",
        title=title,
        columns={"name": names, "value": list(map(_number, values)), "low": low, "high": high},
        roles={"name": "name", "x": "value", "low": "low", "high": "high"},
        unit=unit,
    )


def _pairs_figure(pairs: Sequence[ClassifierPair]) -> Figure:
    return _forest(
        "How much more accurate the first of two classifiers is",
        [f"{pair.a} - {pair.b}" for pair in pairs],
        [pair.estimate for pair in pairs],
        [pair.interval for pair in pairs],
        "points",
    )


def _weak_figure(weak: Sequence[WeakLabel]) -> Figure:
    """Return the weak labels: by labels where there are any, otherwise their agreement."""
    checked = any(one.labels for one in weak)
    return _forest(
        "Weak labels",
        [one.name for one in weak],
        [one.checked_accuracy if checked else one.agreement for one in weak],
        [one.checked_interval for one in weak],
    )


_RIGHT = "right, by labels"


def _weak_section(weak: Sequence[WeakLabel]) -> Section:
    checked = any(one.labels for one in weak)
    return Section(
        title="Weak labels",
        line=f"{len(weak)} weak labels" + ("." if checked else ", checked only by one another."),
        rows=[
            {
                "weak label": one.name,
                "votes for": ", ".join(one.polarity),
                "coverage": one.coverage,
                "overlap": one.overlap,
                "conflict": one.conflict,
                "agreement": one.agreement,
                _RIGHT: one.checked_accuracy,
                "interval": one.checked_interval,
                "labels": one.labels,
            }
            for one in weak
        ],
        units=dict.fromkeys(("coverage", "overlap", "conflict", "agreement", _RIGHT), "share"),
        figures=(_weak_figure(weak),),
    )


def _end(interval: Any, side: int) -> float | None:
    return None if isinstance(interval, Unknown) else tuple(interval)[side]


def _number(value: Any) -> float | None:
    return None if value is None or isinstance(value, Unknown) else float(value)
