"""Whether a prevalence that was given agrees with what the votes or labels say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tallystick.judge.ballots import Ballots, Ranges, check_ranges
from tallystick.judge.branch import Branch
from tallystick.judge.parts import Alarm, Solution
from tallystick.judge.refutation import plain
from tallystick.judge.result import JudgeResult
from tallystick.judge.verdict_methods import (
    logic_needs_range,
    maybe_chance,
    picks_no_branch,
    range_contradicted,
)
from tallystick.results import Interval

__all__ = ["held_to_range", "unpicked"]

_SLACK = 1e-9


def held_to_range(result: JudgeResult, ballots: Ballots, prevalence: Ranges | None) -> JudgeResult:
    """Return *result* with an alarm for every label whose share contradicts its given range, and a
    warning in words.

    It contradicts if its interval misses the range, or its estimate does and there is no interval.
    An estimate outside whose interval reaches into the range may be chance: that is a warning only.
    """
    alarms, warnings = [], []
    for c, (low, high) in check_ranges(prevalence, ballots).items():
        key = ballots.keys[c]
        share = result.prevalence.get(key)
        if (
            share is None
            or not isinstance(share.estimate, float)
            or _within(share.estimate, low, high)
        ):
            continue
        ends = share.interval
        given, alarm = range_contradicted(key, low, high, result.method, share)
        if isinstance(ends, Interval) and ends.low <= high + _SLACK and ends.high >= low - _SLACK:
            warnings.append(maybe_chance(given))
            continue
        alarms.append(alarm)
        warnings.append(logic_needs_range(alarm))
    return replace(result, alarms=(*result.alarms, *alarms), warnings=(*warnings, *result.warnings))


def unpicked(solutions: Sequence[Solution], branch: Branch, ballots: Ballots) -> tuple[Alarm, ...]:
    """Return an alarm if the range was to pick one of two mirror points, and neither lies in it."""
    if branch.name != "prevalence":
        return ()
    ranges = check_ranges(branch.prevalence, ballots)
    if not solutions or any(_fits(one.prevalence, ballots, ranges) for one in solutions):
        return ()
    shares = [plain(one.prevalence[ballots.keys[0]]) for one in solutions]
    return (picks_no_branch(shares, ballots.keys[0]),)


def _fits(
    shares: Mapping[str, object], ballots: Ballots, ranges: Mapping[int, tuple[float, float]]
) -> bool:
    return all(_within(shares[ballots.keys[c]], *ends) for c, ends in ranges.items())


def _within(value: object, low: float, high: float) -> bool:
    return isinstance(value, float) and low - _SLACK <= value <= high + _SLACK
