r"""Will two more rounds lower the risk? A forecast for the rounds of a path.

It needs one held-out random set that no round trained on or collected from. On it, count for t
rounds the share :math:`f_w` of items that w models get wrong, with :math:`m = (t+1)/2`. The last
two rounds show how items at the edge of the vote move: of the :math:`n_w` items that were wrong by
one vote before them, u were repaired by both; of the :math:`n_r` that were right by one vote, d
were broken by both.

The forecast decides little: on real learners "does it help at all" could be decided in 3 to 9 % of
the cases. What was decided was wrong in at most 10 %. Planning a fixed number of rounds beats
reacting to single steps (:mod:`tallystick.dynamic.plan_rounds`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Literal, TypeAlias

import numpy as np

from tallystick.dynamic.panel import forecast_panel, majority_risk
from tallystick.dynamic.population import Array
from tallystick.errors import InputError
from tallystick.results import Interval, Unknown

__all__ = ["FEWEST_ITEMS", "PathDecision", "PathForecast", "forecast_path"]

PathDecision: TypeAlias = Literal["go on", "stop", "cannot tell"]

_LEVEL = 0.9
_Z = 1.6448536269514722
_FEWEST_ROUNDS = 3
FEWEST_ITEMS = 400
"""The smallest held-out set on which decisions were measured."""

_ONE_LEARNER = "the next two rounds retrain the same learner as the rounds so far"
_ANY_TEAM = "the next two rounds come from the same mixture of teams or model families"


@dataclass(frozen=True, kw_only=True)
class PathForecast:
    """What two more rounds would change, and whether that pays.

    Parameters
    ----------
    rounds, items
        t and n; an even number of rounds is forecast from the one before it.
    risk
        Share of held-out items that the majority of these rounds gets wrong.
    step
        The forecast from how the edge moved in the last two rounds (Q1); unknown below three.
    panel
        The forecast that takes the rounds for a panel of exchangeable models.
    variance
        v, the sampling variance of *step*.
    spread
        s, the panel's spread.
    interval
        The 90 % range of the gain in the population (Q3).
    pays
        The gain that pays, as the user stated it.
    decision
        ``go on``, ``stop`` or ``cannot tell``.
    reason
        Why it cannot be told, where that is not plain from the range.
    """

    rounds: int
    items: int
    risk: float
    step: float | Unknown
    panel: float | Unknown
    variance: float | Unknown
    spread: float | Unknown
    interval: Interval | Unknown
    pays: float
    decision: PathDecision
    reason: str | None = None


def forecast_path(errors: Array, *, pays: float = 0.0, one_learner: bool = True) -> PathForecast:
    r"""Forecast the gain in the population from two more rounds.

    With :math:`\hat u = (u+\frac12)/(n_w+1)`, :math:`\hat d = (d+\frac12)/(n_r+1)`, and the
    estimate eb and spread s of :func:`tallystick.dynamic.panel.forecast_panel`,

    .. math::
        \text{step} = f_m \hat u - f_{m-1} \hat d  \tag{Q1} \\
        v = \frac{f_m^2\, \hat u(1-\hat u)}{n_w+1} + \frac{f_{m-1}^2\, \hat d(1-\hat d)}{n_r+1}
            + \frac{f_m \hat u^2 + f_{m-1} \hat d^2}{n}  \tag{Q2} \\
        [\min(\text{step}, eb) - 1.645\,e,\; \min(\max(\text{step}, eb) + 1.645\,e,\;
            f_m + 1.645\sqrt{f_m/n})], \quad e = \sqrt{v + s^2/4}.  \tag{Q3}

    That holds for one learner that is retrained. Rounds of different teams or model families point
    in different directions: then :math:`e = \sqrt{v + s^2}` and :math:`t_{.95}(t-1)` replaces
    1.645 (at 1.7 to 2.6 times the width, usually "cannot tell").

    "Go on" is said for *pays* = 0 only: at .01 the few such decisions were wrong in up to all
    cases. "Stop" is said if the high end is below *pays*. Neither is said on fewer than 400 items,
    the smallest set on which it was measured.

    Parameters
    ----------
    errors
        Booleans of shape (rounds, items), one row per round in order, on the held-out set.
    pays
        The gain that two more rounds must bring to pay; 0 asks whether they help at all.
    one_learner
        False if the rounds were built by different teams or model families.

    Examples
    --------
    >>> seen = {"000": 60, "100": 6, "010": 5, "001": 9, "110": 4, "101": 3, "011": 3, "111": 10}
    >>> rows = [[int(digit) for digit in word] for word in seen for _ in range(seen[word])]
    >>> found = forecast_path(np.array(rows, dtype=bool).T)
    >>> round(found.step, 4), [round(end, 4) for end in found.interval]
    (0.0181, [-0.0258, 0.0436])
    >>> found.decision, found.reason
    ('cannot tell', 'the held-out set has 100 items, and at least 400 are needed')
    """
    wrong = np.asarray(errors, dtype=bool)
    if wrong.ndim != 2 or not wrong.size:
        raise InputError(f"errors need the shape (rounds, items), neither 0, got {wrong.shape}")
    if not 0 <= pays <= 1:
        raise InputError(f"pays, a fall of the risk, must be in [0, 1], got {pays!r}")

    # Even counts were not measured: ties make their last round nearly worthless anyway.
    rounds = len(wrong) - (1 - len(wrong) % 2)
    if rounds < _FEWEST_ROUNDS:
        return _too_short(wrong, pays)
    wrong = wrong[:rounds]
    items = wrong.shape[1]
    panel = forecast_panel(wrong)
    if isinstance(panel.gain, Unknown) or isinstance(panel.spread, Unknown):
        raise InputError(f"a path of {rounds} rounds has no panel forecast")  # excluded above

    step, variance, edge = _step(wrong)
    share, quantile = (0.25, _Z) if one_learner else (1.0, _student(rounds - 1))
    error = sqrt(variance + share * panel.spread**2)
    low = min(step, panel.gain) - quantile * error
    # No new round repairs more than the items at the edge, up to the sampling error of that share.
    high = min(max(step, panel.gain) + quantile * error, edge + _Z * sqrt(edge / items))  # (Q3)
    interval = Interval(
        min(low, high),
        high,
        level=_LEVEL,
        guarantee="under",
        assumption=_ONE_LEARNER if one_learner else _ANY_TEAM,
        method="last step and panel",
    )
    decision, reason = _decide(interval, pays, items)
    return PathForecast(
        rounds=rounds,
        items=items,
        risk=panel.risk,
        step=step,
        panel=panel.gain,
        variance=variance,
        spread=panel.spread,
        interval=interval,
        pays=pays,
        decision=decision,
        reason=reason,
    )


def _step(wrong: Array) -> tuple[float, float, float]:
    """Return (Q1), (Q2) and the share of items that are wrong by one vote."""
    rounds, items = wrong.shape
    m = (rounds + 1) // 2
    total = wrong.sum(axis=0)
    share = np.bincount(total, minlength=rounds + 1) / items
    earlier, later = wrong[:-2].sum(axis=0), wrong[-2:].sum(axis=0)

    # Before the last two rounds an item was wrong by one vote at (t-1)/2, right by one at (t-3)/2.
    just_wrong, just_right = earlier == m - 1, earlier == m - 2
    n_wrong, n_right = int(just_wrong.sum()), int(just_right.sum())
    up = ((just_wrong & (later == 0)).sum() + 0.5) / (n_wrong + 1)
    down = ((just_right & (later == 2)).sum() + 0.5) / (n_right + 1)

    high, low = share[m], share[m - 1]
    step = high * up - low * down  # (Q1)
    variance = (
        high**2 * up * (1 - up) / (n_wrong + 1)
        + low**2 * down * (1 - down) / (n_right + 1)
        + (high * up**2 + low * down**2) / items
    )  # (Q2)
    return float(step), float(variance), float(high)


def _decide(interval: Interval, pays: float, items: int) -> tuple[PathDecision, str | None]:
    if items < FEWEST_ITEMS:
        short = f"the held-out set has {items} items, and at least {FEWEST_ITEMS} are needed"
        return "cannot tell", short
    if interval.high < pays:
        return "stop", None
    if interval.low > pays:
        if pays == 0:
            return "go on", None
        return "cannot tell", "the range is above the gain that pays, but such ranges often failed"
    return "cannot tell", None


def _too_short(wrong: Array, pays: float) -> PathForecast:
    reason = f"a forecast needs at least {_FEWEST_ROUNDS} rounds, got {len(wrong)}"
    unknown = Unknown(reason)
    return PathForecast(
        rounds=len(wrong),
        items=wrong.shape[1],
        risk=majority_risk(wrong.sum(axis=0), len(wrong)),
        step=unknown,
        panel=unknown,
        variance=unknown,
        spread=unknown,
        interval=unknown,
        pays=pays,
        decision="cannot tell",
        reason=reason,
    )


def _student(free: int) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(free, 0.95))
