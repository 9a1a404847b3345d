"""What a run would cost, before a call is paid for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from tallystick.results import Result
from tallystick.shift.items import Items
from tallystick.shift.run import Run
from tallystick.shift.verdict import forecast_assumptions, forecast_verdict

__all__ = ["Forecast", "forecast"]

FLIPS = (0.001, 0.01, 0.05, 0.2)
"""Shares of changed answers for which the width is forecast."""


@dataclass(frozen=True, kw_only=True)
class Forecast(Result):
    """Calls, money, time, and how wide the answer will be.

    Parameters
    ----------
    calls, cost, seconds
        At most; seconds at *latency* per call, or at the rate limit if that is slower.
    strata
        How many strata there will be.
    half_widths
        About how wide the 95 % interval of the accuracy change will be (±), by the share of answers
        that changed.
    """

    verb: ClassVar[str] = "shift"

    calls: int
    cost: float
    seconds: float
    strata: int
    half_widths: dict[str, float]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per share of changed answers."""
        return [
            {"if answers change by": share, "accuracy is known to ±": w}
            for share, w in self.half_widths.items()
        ]


def forecast(items: Items, how: Run, *, latency: float = 1.0) -> Forecast:
    """Forecast a run; nothing is asked.

    Parameters
    ----------
    items
        What is known.
    how
        The run as planned; a budget that is too small is refused here, too.
    latency
        Seconds that one call takes.

    Examples
    --------
    >>> items = Items.of(["a"] * 500 + ["b"] * 500, old=["a"] * 500 + ["b"] * 500)
    >>> forecast(items, Run(budget=200)).calls
    200
    """
    plan = how.plan(items)
    calls = min(how.affordable(), plan.calls + how.most_repeats(items))
    slots = min(how.wire.concurrency, plan.in_flight)
    seconds = calls * max(latency / slots, 0.0 if how.wire.rate is None else 1 / how.wire.rate)
    left = 1 - plan.calls / len(items)

    # Half of the flips gain, half lose: the change of accuracy then has the variance of the flip
    # rate.
    widths = {f"{100 * f:g} %": float(1.96 * np.sqrt(left * f / plan.calls)) for f in FLIPS}
    cost = calls * how.wire.price
    return Forecast(
        verdict=forecast_verdict(calls=calls, cost=cost, seconds=seconds, latency=latency),
        n_items=len(items),
        assumptions=forecast_assumptions(latency),
        seed=how.seed,
        calls=calls,
        cost=cost,
        seconds=float(seconds),
        strata=len(plan.strata),
        half_widths=widths,
    )
