"""The number that a gate compares with its bar: a corrected score, or a difference of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from tallystick.results import (
    Gate,
    GateEstimate,
    GateOutcome,
    Interval,
    Unknown,
    about,
    check_gates,
)
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.result import ScoreResult

MEASURES = ("score",)
"""What ``MEASURE(SYSTEM)`` may say."""


def checked(
    texts: Sequence[str],
    result: ScoreResult,
    names: Sequence[str],
    *,
    lost: Mapping[str, tuple[int, int]],
) -> tuple[GateOutcome, ...]:
    """Check every gate against a result; *lost* is what `ungraded` returns."""
    if not texts:
        return ()
    outcomes = check_gates(
        texts,
        margin=lambda gate: _with_ungraded(gate, result, lost),
        known=names,
        measures=MEASURES,
    )
    found = []
    for outcome in outcomes:
        named = [row for row in result.systems if f"score({row.name})" in outcome.expression]
        # More grades do not help where outputs are missing, or where all are graded.
        if outcome.passed is None and named and named[0].name not in lost:
            row = named[0]
            if not isinstance(row.needed, Unknown) and row.n_labels < row.n_outputs:
                more = about(max(1, row.needed.low - row.n_labels))
                outcome = replace(outcome, text=f"{outcome.text}; grade {more} more of {row.name}")
        found.append(outcome)
    return tuple(found)


def _with_ungraded(
    gate: Gate, result: ScoreResult, lost: Mapping[str, tuple[int, int]]
) -> GateEstimate:
    """Return what a gate compares, and what it would be if all missing outputs had one grade."""
    found = margin(gate, result)
    gone = [name for name in (gate.left, gate.right) if name is not None and name in lost]
    scores = [margin(Gate(name, ">=", None, 0.0), result).estimate for name in gone]
    known = [score for score in scores if isinstance(score, float)]
    interval, estimate = found.interval, found.estimate
    if not gone or len(known) < len(gone) or not isinstance(interval, Interval):
        return found

    # A share f of missing outputs with the grade u moves a score s by f (u - s).
    extremes = []
    worst, best = result.scale or (0.0, 1.0)
    for mine, theirs in ((worst, best), (best, worst)):
        shift = sum(
            lost[name][0] / lost[name][1] * (mine - s if name == gate.left else s - theirs)
            for name, s in zip(gone, known, strict=True)
        )
        moved = replace(interval, low=interval.low + shift, high=interval.high + shift)
        at = estimate + shift if isinstance(estimate, float) else estimate
        extremes.append(replace(found, estimate=at, interval=moved))
    shown = [f"{lost[name][0]:,} of {lost[name][1]:,} outputs of {name}" for name in gone]
    return replace(
        found,
        extremes=tuple(extremes),
        missing=f"{' and '.join(shown)} have no grade",
        way_out="if they failed, write the lowest grade there",
    )


def margin(gate: Gate, result: ScoreResult) -> GateEstimate:
    """Return what is known of ``left - right``, or of ``left``, with the interval that is shown.

    Grades that were turned round, because less is better, are turned back: a gate speaks of what
    the table holds.
    """
    units, single = Units(result.scale), gate.right is None
    low, high = result.scale or (0.0, 1.0)
    estimate, interval = _known(gate, result)
    if result.turned:
        whole = low + high if single else 0.0
        estimate = whole - estimate if isinstance(estimate, float) else estimate
        if isinstance(interval, Interval):
            interval = replace(interval, low=whole - interval.high, high=whole - interval.low)
    unit: Literal["share", "number"] = "share" if units.share else "number"
    within = (low, high) if single else (-units.width, units.width)
    return GateEstimate(estimate, interval, unit, within=within)


def _known(gate: Gate, result: ScoreResult) -> tuple[float | Unknown, Interval | Unknown]:
    """Return the estimate and the interval of the grades as they are scored."""
    if gate.right is None:
        row = result.system(gate.left)
        return row.score, row.interval
    if isinstance(result.pairs, Unknown):
        return result.pairs, result.pairs
    for pair in result.pairs:
        if (pair.a, pair.b) == (gate.left, gate.right):
            return pair.difference, pair.interval
        if (pair.b, pair.a) == (gate.left, gate.right):
            ends = replace(pair.interval, low=-pair.interval.high, high=-pair.interval.low)
            return -pair.difference, ends
    if gate.left == gate.right:
        return 0.0, Interval(0.0, 0.0)
    none = Unknown(f"{gate.left} and {gate.right} do not both have human grades")
    return none, none
