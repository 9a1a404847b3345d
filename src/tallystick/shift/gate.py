"""Whether a result meets a condition: holds, fails, or cannot be decided."""

from __future__ import annotations

from typing import Literal, TypeAlias

from tallystick.errors import InputError
from tallystick.shift.result import Change, Gate, ShiftResult

__all__ = ["METRICS", "Sign", "judge_gate"]

Sign: TypeAlias = Literal["<=", ">="]
METRICS = ("flip_rate", "accuracy_change", "error", "recall_change:LABEL")


def judge_gate(result: ShiftResult, metric: str, sign: Sign, limit: float) -> Gate:
    """Judge *metric* against *limit* by its interval: all of it on the right side, all on the wrong one, or neither.

    (A limit on flips is better watched while the run goes on: ``Run(flip_limit=…)``.)

    Parameters
    ----------
    result
        The assessment.
    metric
        ``flip_rate``, ``accuracy_change``, ``recall_change:LABEL`` or ``error`` (the bound on the Frobenius error).
    sign, limit
        The condition.
    """
    expression = f"{metric} {sign} {limit:g}"
    if metric == "error":
        bound = result.error["bound"]
        met = bound <= limit if sign == "<=" else bound >= limit
        return Gate(expression=expression, passed=met, rests_on="the bound on the Frobenius error (approximate)")
    change = _metric(result, metric)
    if change.interval is None:
        raise InputError(f"{metric} is not known here: {change.estimate}")
    low, high = change.interval
    below, above = (high <= limit, low > limit) if sign == "<=" else (low >= limit, high < limit)
    return Gate(
        expression=expression,
        passed=True if below else False if above else None,
        rests_on=f"its {100 * change.interval.level:g} % interval ({change.interval.promise})",
    )


def _metric(result: ShiftResult, metric: str) -> Change:
    if metric == "flip_rate":
        return result.flip_rate
    if metric == "accuracy_change":
        return result.accuracy_change
    name, colon, label = metric.partition(":")
    if name == "recall_change" and colon and label in result.recall_change:
        return result.recall_change[label]
    raise InputError(f"a gate of shift is on one of {', '.join(METRICS)}, got {metric!r}")
