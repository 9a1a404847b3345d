"""The lines below the table of a result: label shares, forecasts, agreement, every method."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.judge.parts import CovariateEffect, Estimate, LabelsNeeded, Share
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict import rate_of
from tallystick.results import (
    Interval,
    Unknown,
    count,
    number_interval,
    p_value,
    percent,
    points,
    points_interval,
)

__all__ = [
    "agreement_lines",
    "calibration_lines",
    "label_lines",
    "more_lines",
    "rate_names",
    "share_lines",
]

_SHOWN = 20
_SAID = {True: "rejected", False: "not rejected", None: "not tested"}
_STATISTICS = {
    "fleiss_kappa": "Fleiss' kappa",
    "krippendorff_alpha": "Krippendorff's alpha",
    "krippendorff_alpha_ordinal": "ordinal alpha",
    "krippendorff_alpha_interval": "interval alpha",
    "gwet_ac1": "Gwet's AC1",
}


def more_lines(result: JudgeResult) -> list[str]:
    """Return the lines below the table: label shares, agreement, calibration, all methods."""
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
    if len(result.estimates) > 1:
        lines += ["", "Every method that applies:", *_side_by_side(result.estimates)]
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


def _side_by_side(estimates: Sequence[Estimate]) -> list[str]:
    """Return a table with a column per method and a row per judge, and what the labels say."""
    lines = [["judge", *(estimate.method for estimate in estimates)]]
    for name in list(estimates[0].accuracy)[:_SHOWN]:
        values = [estimate.accuracy.get(name) for estimate in estimates]
        lines.append(
            [
                name,
                *(
                    percent(value) if isinstance(value, float) else percent(None)
                    for value in values
                ),
            ]
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
