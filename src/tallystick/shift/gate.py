"""The numbers of a result that a gate can compare, each with its interval."""

from __future__ import annotations

from tallystick.errors import InputError
from tallystick.results import GateEstimate, Interval, Unknown
from tallystick.shift.items import Items
from tallystick.shift.result import Change, ShiftResult

__all__ = ["METRICS", "check_metric", "metric_estimate", "metric_interval"]

METRICS = ("flip_rate", "accuracy_change", "error", "recall_change:LABEL")


def check_metric(metric: str, items: Items) -> None:
    """Refuse a *metric* that no run on *items* can measure, before a call is paid for.

    >>> check_metric("recall_change:Cat", Items.of(["cat", "dog"]))
    Traceback (most recent call last):
    tallystick.errors.InputError: a gate on recall_change names a label with items, one of cat, dog; got 'Cat'
    """
    name, colon, label = metric.partition(":")
    if metric == "flip_rate" and items.old is None:
        raise InputError("a gate on flip_rate needs the old answer to every item (--old)")
    if name == "recall_change" and colon:
        known = [one for one, mass in zip(items.labels, items.mass, strict=True) if mass]
        if label not in known:
            raise InputError(
                f"a gate on recall_change names a label with items, one of {', '.join(known[:8])};"
                f" got {label!r}"
            )
    elif metric not in METRICS[:3]:
        raise _no_metric(metric)


def metric_interval(result: ShiftResult, metric: str) -> Interval:
    """Return the interval of *metric*; a gate passes if all of it is on the right side of the bar.

    A limit on flips is better watched during the run: ``Run(flip_limit=…)``.

    Parameters
    ----------
    result
        The assessment.
    metric
        ``flip_rate``, ``accuracy_change``, ``recall_change:LABEL`` or ``error`` (the Frobenius
        error, from 0 up to its bound).
    """
    if metric == "error":
        return Interval(0.0, result.error["bound"], method="bound on the Frobenius error")
    change = _change(result, metric)
    if change.interval is None:
        raise InputError(f"{metric} is not known here: {change.estimate}")
    return change.interval


def metric_estimate(result: ShiftResult, metric: str) -> GateEstimate:
    """Return the estimate of *metric* with the interval of :func:`metric_interval`."""
    interval = metric_interval(result, metric)
    if metric == "error":
        return GateEstimate(Unknown("only a bound on the error is known"), interval, "number")
    return GateEstimate(_change(result, metric).estimate, interval)


def _change(result: ShiftResult, metric: str) -> Change:
    if metric == "flip_rate":
        return result.flip_rate
    if metric == "accuracy_change":
        return result.accuracy_change
    name, colon, label = metric.partition(":")
    if name == "recall_change" and colon and label in result.recall_change:
        return result.recall_change[label]
    raise _no_metric(metric)


def _no_metric(metric: str) -> InputError:
    return InputError(f"a gate of shift is on one of {', '.join(METRICS)}, got {metric!r}")
