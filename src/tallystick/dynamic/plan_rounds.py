"""How many rounds should a campaign have? Plan it from the price, do not react to single steps."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from tallystick.errors import InputError

__all__ = ["MEASURED_GAINS", "PathPlan", "plan_rounds"]

MEASURED_GAINS: dict[int, tuple[float, float, float]] = {
    3: (0.0, 0.0, 0.0),
    5: (0.145, 0.162, 0.079),
    7: (0.245, 0.230, 0.136),
    9: (0.302, 0.331, 0.178),
}
"""Share of the risk after three rounds that was gone after so many rounds, on three sets of
campaigns: 200 and 172 of real learners, and 240 simulated ones (docs/benchmarks/dynamic-plans.md).
Longer campaigns of real learners were not measured."""


@dataclass(frozen=True, kw_only=True)
class PathPlan:
    """How many rounds to run in all, decided beforehand.

    Parameters
    ----------
    rounds
        The length with the highest mean net gain over the measured sets.
    price
        Of one round, as a share of the risk after three rounds.
    net
        Length to net gain (gain minus price) on each of the measured sets.
    longest
        True if the best length is the longest that was measured: more might be better still.
    """

    rounds: int
    price: float
    net: dict[int, tuple[float, ...]]
    longest: bool


def plan_rounds(price: float) -> PathPlan:
    r"""Plan a fixed number of rounds from what one costs, instead of reacting to single steps.

    The net gain of T rounds is :math:`G_T - c\,(T-3)` in shares of the risk after three rounds,
    with the gains :math:`G_T` of :data:`MEASURED_GAINS` and c the price of a round. At c = .025
    and on real learners, the fixed lengths 7 and 9 gained .13 to .18, "while the last step gained"
    .06 to .10 and "while proved" .04 to .06. On the simulated campaigns all of them lay within .03
    to .05. Which fixed length is best was known only in hindsight, so take the number as a guide.

    Parameters
    ----------
    price
        What a round costs, divided by what it would be worth to bring the risk after three rounds
        to zero.

    Examples
    --------
    >>> plan_rounds(0.025).rounds, plan_rounds(0.05).rounds, plan_rounds(0.2).rounds
    (9, 5, 3)
    """
    if not (isfinite(price) and price >= 0):
        raise InputError(f"price must be finite and not negative, got {price!r}")
    net = {
        rounds: tuple(gain - price * (rounds - 3) for gain in gains)
        for rounds, gains in MEASURED_GAINS.items()
    }
    best = max(net, key=lambda rounds: sum(net[rounds]))
    return PathPlan(rounds=best, price=price, net=net, longest=best == max(net))
