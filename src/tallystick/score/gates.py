"""The number that a gate compares with its bar: a corrected score, or a difference of two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from tallystick.results import Gate, GateEstimate, GateOutcome, Interval, Unknown, check_gates
from tallystick.score.result import ScoreResult
from tallystick.score.units import Units
from tallystick.score.verdict_next import gate_hint

__all__ = ["MEASURES", "checked", "margin"]

MEASURES = ("score",)
"""What ``MEASURE(SYSTEM)`` may say."""


def checked(
    texts: Sequence[str],
    result: ScoreResult,
    names: Sequence[str],
    *,
    measures: Sequence[str] = MEASURES,
) -> tuple[GateOutcome, ...]:
    """Check every gate against a result."""
    if not texts:
        return ()
    outcomes = check_gates(
        texts, margin=lambda gate: margin(gate, result), known=names, measures=measures
    )
    found = []
    for outcome in outcomes:
        one = [row for row in result.systems if f"score({row.name})" in outcome.expression]
        if outcome.passed is None and one:
            outcome = replace(outcome, text=gate_hint(outcome.text, one[0]))
        found.append(outcome)
    return tuple(found)


def margin(gate: Gate, result: ScoreResult) -> GateEstimate:
    """Return what is known of ``left - right``, or of ``left``, with the interval that is shown.

    Grades that were turned round, because less is better, are turned back: a gate speaks of what
    the table holds.
    """
    found = _margin(gate, result)
    if not result.turned or isinstance(found.estimate, Unknown):
        return found
    low, high = result.scale or (0.0, 1.0)
    whole = low + high if gate.right is None else 0.0
    interval = found.interval
    if isinstance(interval, Interval):
        interval = replace(interval, low=whole - interval.high, high=whole - interval.low)
    return replace(found, estimate=whole - found.estimate, interval=interval)


def _margin(gate: Gate, result: ScoreResult) -> GateEstimate:
    """Return the same of the grades as they are scored."""
    unit: Literal["share", "number"] = "share" if Units(result.scale).share else "number"
    if gate.right is None:
        row = result.system(gate.left)
        return GateEstimate(row.score, row.interval, unit)
    if isinstance(result.pairs, Unknown):
        return GateEstimate(result.pairs, result.pairs, unit)
    for pair in result.pairs:
        if (pair.a, pair.b) == (gate.left, gate.right):
            return GateEstimate(pair.difference, pair.interval, unit)
        if (pair.b, pair.a) == (gate.left, gate.right):
            turned = replace(pair.interval, low=-pair.interval.high, high=-pair.interval.low)
            return GateEstimate(-pair.difference, turned, unit)
    if gate.left == gate.right:
        return GateEstimate(0.0, Interval(0.0, 0.0), unit)
    none = Unknown(f"{gate.left} and {gate.right} do not both have human grades")
    return GateEstimate(none, none, unit)
