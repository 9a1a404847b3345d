"""What a number measures, and so how it is written."""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from tallystick.results.interval import Interval
from tallystick.results.numbers import (
    GAP,
    count,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
)

__all__ = ["Unit", "estimate_texts", "interval_text", "value_text"]

Unit: TypeAlias = Literal["share", "points", "count", "p", "number"]
"""A share of something, a difference of two shares, a count, a p-value, or any other number."""


def value_text(value: float | None, unit: Unit = "number") -> str:
    r"""Return *value* as a table shows it; a difference of shares goes without the word "points".

    >>> value_text(0.863, "share"), value_text(-0.021, "points"), value_text(2400, "count")
    ('86.3\xa0%', '−2.1', '2,400')
    >>> value_text(0.00003, "p"), value_text(None, "share"), value_text(3.14159)
    ('< 0.0001', '–', '3.142')
    """
    if value is None or math.isnan(value):
        return GAP
    if unit == "share":
        return percent(value)
    if unit == "points":
        return points(value).removesuffix(" points")
    if unit == "p":
        return p_value(value).removeprefix("p ").removeprefix("= ")
    if unit == "count" and float(value).is_integer():
        return count(int(value))
    return number(value)


def interval_text(interval: Interval, unit: Unit = "number") -> str:
    """Return the two ends of *interval* as a table shows them, beside their estimate.

    >>> interval_text(Interval(0.849, 0.876), "share"), interval_text(Interval(-0.01, 0.02), "points")
    ('[84.9, 87.6]', '[−1.0, +2.0]')
    """
    if unit == "share":
        whole = percent_interval(None, interval)
    elif unit == "points":
        whole = points_interval(None, interval).replace(" points", "")
    else:
        whole = number_interval(None, interval)
    return whole[whole.index("[") :]


def estimate_texts(
    value: float | None, interval: Interval | None, unit: Unit = "number"
) -> tuple[str, str]:
    """Return an estimate and its interval as every table and chart shows them.

    A number gets as many decimals as its interval deserves, so that one result is written alike in
    its verdict, its table and its chart.

    >>> estimate_texts(4.0881, Interval(3.871, 4.272)), estimate_texts(4.0881, None)
    (('4.09', '[3.87, 4.27]'), ('4.088', ''))
    """
    if interval is None:
        return value_text(value, unit), ""
    if unit != "number":
        return value_text(value, unit), interval_text(interval, unit)
    text, _, ends = number_interval(value, interval).partition(" [")
    return text, f"[{ends}"
