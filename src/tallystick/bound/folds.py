"""What a page of ``bound`` unfolds: the range, every label model, and the weak labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tallystick.results import Section, Unit, percent, value_text

if TYPE_CHECKING:
    from tallystick.bound.result import BoundResult

__all__ = ["folds_of"]


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
