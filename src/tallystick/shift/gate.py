"""Gates of `shift`: which numbers they can compare, and whether they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import sqrt
from typing import Literal

from tallystick.errors import InputError
from tallystick.results import (
    Gate,
    GateEstimate,
    Interval,
    Needed,
    Unknown,
    check_gates,
    parse_gate,
)
from tallystick.results.gates import check_bar
from tallystick.shift.items import Items
from tallystick.shift.result import Change, ShiftGate, ShiftResult
from tallystick.shift.unread import failed_share, wider
from tallystick.shift.verdict import gate_basis, gated_verdict

__all__ = [
    "METRICS",
    "check_metric",
    "flip_limit",
    "metric_estimate",
    "metric_interval",
    "read_gates",
    "with_gates",
]

METRICS = (
    "flip_rate",
    "answers_differ",
    "accuracy_change",
    "grade_change",
    "error",
    "recall_change:LABEL",
)
"""What a gate can compare. ``flip_rate`` is the share of answers that changed beyond the API's own
randomness (all flips of a deterministic API); ``answers_differ`` is the share of all flips."""


def _within(metric: str) -> tuple[float, float] | None:
    """Return between what a metric lies; None for grades, which have scales of their own."""
    if metric == "error":
        return 0.0, sqrt(2)  # two matrices of shares that sum to 1 are never further apart
    if metric in ("flip_rate", "answers_differ"):
        return 0.0, 1.0
    is_change = metric == "accuracy_change" or metric.startswith("recall_change:")
    return (-1.0, 1.0) if is_change else None


def read_gates(texts: Sequence[str]) -> tuple[Gate, ...]:
    """Read gates as they are typed; each compares a metric with a number.

    >>> [gate.left for gate in read_gates(["flip_rate <= 1%"])]
    ['flip_rate']
    """
    gates = tuple(parse_gate(text) for text in texts)
    for gate in gates:
        if gate.right is not None:
            raise InputError(
                "a gate of shift compares a metric with a number, e.g. 'flip_rate <= 0.01', got"
                f" {str(gate)!r}"
            )
        # Before a call is paid for.
        if (within := _within(gate.left)) is not None:
            check_bar(gate, *within, share=gate.left != "error")
    return gates


def flip_limit(gates: Sequence[Gate]) -> float | None:
    """Return the share of changed answers that a run can watch while it asks, if a gate sets one.

    Of several the first is watched; the others are checked against the interval at the end.
    """
    return next(
        (gate.offset for gate in gates if gate.left == "flip_rate" and gate.relation == "<="), None
    )


def with_gates(result: ShiftResult, gates: Sequence[Gate]) -> ShiftResult:
    """Return the result with the outcome of every gate, and a verdict that begins with them.

    A test that watched the run decides its gate; every other gate is decided by its interval.
    """
    if not gates:
        return result
    outcomes = list(check_gates(gates, margin=lambda one: metric_estimate(result, one.left)))
    watched = flip_limit(gates)
    if result.gate is not None and watched is not None:
        place = next(
            n
            for n, gate in enumerate(gates)
            if (gate.left, gate.relation, gate.offset) == ("flip_rate", "<=", watched)
        )
        outcomes[place] = replace(outcomes[place], passed=result.gate.passed)

    first = outcomes[0]
    shown = result.gate or ShiftGate(
        expression=str(gates[0]), passed=first.passed, rests_on=gate_basis(first)
    )
    decided = all(one.passed is not None for one in outcomes)
    # More calls do not show how noisy the old API was, and without that the gate stays open.
    blocked = result.noise is not None and result.noise.less_stable
    blocked &= any(
        gate.left == "flip_rate" and one.passed is None and isinstance(one.estimate, Unknown)
        for gate, one in zip(gates, outcomes, strict=True)
    )
    more = "old answers per item (--old-draws)" if blocked else "calls"
    return replace(
        result,
        gate=shown,
        gates=tuple(outcomes),
        verdict=gated_verdict(outcomes, result.verdict),
        sentences=None,
        decision="decided" if decided else "undecided",
        needed=None if decided else Needed(None, more),
    )


def check_metric(metric: str, items: Items) -> None:
    """Refuse a *metric* that no run on *items* can measure, before a call is paid for.

    >>> check_metric("recall_change:Cat", Items.of(["cat", "dog"]))
    Traceback (most recent call last):
    tallystick.errors.InputError: a gate on recall_change names a label with items, one of cat, dog; got 'Cat'
    """
    name, colon, label = metric.partition(":")
    if metric in ("flip_rate", "answers_differ") and items.old is None:
        raise InputError(f"a gate on {metric} needs the old answer to every item (--old)")
    if not items.labelled and name in ("accuracy_change", "recall_change"):
        raise InputError(f"a gate on {metric} needs true labels (--truth)")
    if name == "recall_change" and colon:
        known = [one for one, mass in zip(items.labels, items.mass, strict=True) if mass]
        if label not in known:
            raise InputError(
                f"a gate on recall_change names a label with items, one of {', '.join(known[:8])};"
                f" got {label!r}"
            )
    elif metric not in METRICS[:-1]:
        raise _no_metric(metric)


def metric_interval(result: ShiftResult, metric: str) -> Interval:
    """Return the interval of *metric*; a gate passes if all of it is on the right side of the bar.

    Nobody knows what a failed call would have answered, so the interval allows for either: a gate
    that failed calls could turn is undecided. A limit on flips is better watched during the run:
    ``Run(flip_limit=…)``.

    Parameters
    ----------
    result
        The assessment.
    metric
        One of :data:`METRICS`. ``error`` is the Frobenius error, from 0 up to its bound.
    """
    if metric == "error":
        return Interval(0.0, result.error["bound"], method="bound on the Frobenius error")
    change = _change(result, metric)
    if change.interval is None:
        raise InputError(f"{metric} is not known here: {change.estimate}")
    label = metric.partition(":")[2] or None
    failed = 0.0 if result.evidence is None else failed_share(*result.evidence, label=label)
    least = 0.0 if metric in ("flip_rate", "answers_differ") else -1.0
    why = "failed calls may have answered anything"
    allowed = wider(change, below=failed, above=failed, least=least, why=why).interval
    assert allowed is not None  # the change has one
    return allowed


def metric_estimate(result: ShiftResult, metric: str) -> GateEstimate:
    """Return the estimate of *metric* with the interval of :func:`metric_interval`."""
    interval = metric_interval(result, metric)
    if metric == "error":
        none = Unknown("only a bound on the error is known")
        return GateEstimate(none, interval, "number", within=_within(metric))
    unit: Literal["share", "number"] = "number" if metric == "grade_change" else "share"
    return GateEstimate(_change(result, metric).estimate, interval, unit, within=_within(metric))


def _change(result: ShiftResult, metric: str) -> Change:
    if metric == "flip_rate" and result.noise is not None:
        return result.noise.beyond
    if metric in ("flip_rate", "answers_differ"):
        return result.flip_rate
    if metric == "grade_change" and result.grade_change is not None:
        return result.grade_change
    if metric == "accuracy_change":
        return result.accuracy_change
    name, colon, label = metric.partition(":")
    if name == "recall_change" and colon and label in result.recall_change:
        return result.recall_change[label]
    raise _no_metric(metric)


def _no_metric(metric: str) -> InputError:
    return InputError(f"a gate of shift is on one of {', '.join(METRICS)}, got {metric!r}")
