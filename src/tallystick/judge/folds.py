"""What a page of ``judge`` unfolds: judges, labels, agreement, methods and what is certain."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tallystick.judge.verdict_lines import (
    agreement_lines,
    calibration_lines,
    label_lines,
    rate_names,
    share_lines,
)
from tallystick.results import Interval, Section, Unit, Unknown, percent

if TYPE_CHECKING:
    from tallystick.judge.parts import JudgeScore
    from tallystick.judge.result import JudgeResult

__all__ = ["folds_of"]

_FEW_LABELS = 4
"""With more labels the rates by label have a picture and no columns."""
_TESTED = {True: "rejected by the labels", False: "not rejected", None: "not tested"}


def folds_of(result: JudgeResult) -> tuple[Section, ...]:
    """Return the sections of a result, the judges first."""
    found = [_judges(result)]
    if result.prevalence and share_lines(result):
        found.append(_labels(result))
    if result.agreement is not None and agreement_lines(result):
        found.append(_agreement(result))
    if len(result.estimates) > 1:
        found.append(_methods(result))
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


def _methods(result: JudgeResult) -> Section:
    rejected = [one.method for one in result.estimates if one.rejected]
    line = f"{len(result.estimates)} methods."
    if any(one.rejected is not None for one in result.estimates):
        line = f"{len(rejected)} of {len(result.estimates)} methods are rejected by the labels."
    rows: list[dict[str, Any]] = [
        {
            "method": one.method,
            "by the labels": _TESTED[one.rejected],
            **{
                name: value if isinstance(value, float) else None
                for name, value in one.accuracy.items()
            },
        }
        for one in result.estimates
    ]
    units: dict[str, Unit] = {score.name: "share" for score in result.judges}
    return Section(title="Methods", line=line, rows=rows, units=units)
