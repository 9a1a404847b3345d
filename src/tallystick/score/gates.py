"""The number that a gate compares with its bar: a corrected score, or a difference of two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
    lost: Mapping[str, tuple[int, int]] | None = None,
) -> tuple[GateOutcome, ...]:
    """Check every gate against a result; *lost* is what `ungraded` returns."""
    if not texts:
        return ()
    outcomes = check_gates(
        texts,
        margin=lambda gate: _with_ungraded(gate, result, lost or {}),
        known=names,
        measures=measures,
    )
    found = []
    for outcome in outcomes:
        one = [row for row in result.systems if f"score({row.name})" in outcome.expression]
        # More grades do not help where outputs are missing.
        if outcome.passed is None and one and one[0].name not in (lost or {}):
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


def _with_ungraded(
    gate: Gate, result: ScoreResult, lost: Mapping[str, tuple[int, int]]
) -> GateEstimate:
    """Return what a gate compares, and what it would be if all missing outputs had one grade."""
    found = margin(gate, result)
    gone = [name for name in (gate.left, gate.right) if name is not None and name in lost]
    scores = [margin(Gate(name, ">=", None, 0.0), result).estimate for name in gone]
    known = [score for score in scores if not isinstance(score, Unknown)]
    if not gone or len(known) < len(gone) or isinstance(found.interval, Unknown):
        return found

    # A share f of missing outputs with the grade u moves a score s by f (u - s).
    shares = [lost[name][0] / lost[name][1] for name in gone]
    extremes = []
    worst, best = result.scale or (0.0, 1.0)
    for mine, theirs in ((worst, best), (best, worst)):
        shift = sum(
            share * (mine - score if name == gate.left else score - theirs)
            for name, share, score in zip(gone, shares, known, strict=True)
        )
        moved = replace(
            found.interval, low=found.interval.low + shift, high=found.interval.high + shift
        )
        estimate = found.estimate
        if not isinstance(estimate, Unknown):
            estimate += shift
        extremes.append(replace(found, estimate=estimate, interval=moved))
    shown = [f"{lost[name][0]:,} of {lost[name][1]:,} outputs of {name}" for name in gone]
    return replace(
        found,
        extremes=tuple(extremes),
        missing=f"{' and '.join(shown)} have no grade",
        way_out="if they failed, write the lowest grade there",
    )


def _margin(gate: Gate, result: ScoreResult) -> GateEstimate:
    """Return the same of the grades as they are scored."""
    units = Units(result.scale)
    single = result.scale or (0.0, 1.0)
    within = single if gate.right is None else (-units.width, units.width)

    def known(estimate: float | Unknown, interval: Interval | Unknown) -> GateEstimate:
        unit: Literal["share", "number"] = "share" if units.share else "number"
        return GateEstimate(estimate, interval, unit, within=within)

    if gate.right is None:
        row = result.system(gate.left)
        return known(row.score, row.interval)
    if isinstance(result.pairs, Unknown):
        return known(result.pairs, result.pairs)
    for pair in result.pairs:
        if (pair.a, pair.b) == (gate.left, gate.right):
            return known(pair.difference, pair.interval)
        if (pair.b, pair.a) == (gate.left, gate.right):
            turned = replace(pair.interval, low=-pair.interval.high, high=-pair.interval.low)
            return known(-pair.difference, turned)
    if gate.left == gate.right:
        return known(0.0, Interval(0.0, 0.0))
    none = Unknown(f"{gate.left} and {gate.right} do not both have human grades")
    return known(none, none)
