"""Several APIs on the same items: one table, one budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from tallystick.results import Figure, Interval, Result, Unknown
from tallystick.shift.result import Change, ShiftResult
from tallystick.shift.verdict import several_verdict

__all__ = ["ApiChange", "SeveralResult", "several"]


@dataclass(frozen=True, kw_only=True)
class ApiChange:
    """One API: how it differs from the old answers, and what that cost."""

    api: str
    accuracy_change: Change
    grade_change: Change | None
    flip_rate: Change
    beyond: Change | None
    decision: str
    calls: int
    cost: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class SeveralResult(Result):
    """Every API against the same old answers; the intervals of all of them hold together."""

    verb: ClassVar[str] = "shift"

    apis: tuple[ApiChange, ...]
    calls: int
    cost: float

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per API."""
        rows = []
        for one in self.apis:
            change = one.grade_change or one.accuracy_change
            name = "grade change" if one.grade_change is not None else "accuracy change"
            rows.append(
                {
                    "api": one.api,
                    name: change.estimate,
                    "interval": change.interval,
                    "answers differ": one.flip_rate.estimate,
                    "beyond noise": Unknown("no repeats")
                    if one.beyond is None
                    else one.beyond.estimate,
                    "calls": one.calls,
                    "cost": one.cost,
                }
            )
        return rows

    def figures(self) -> tuple[Figure, ...]:
        """Return the changes with their intervals."""
        known = [
            (one.api, change)
            for one in self.apis
            if isinstance((change := one.grade_change or one.accuracy_change).interval, Interval)
        ]
        ends = [change.interval for _, change in known if change.interval is not None]
        columns: dict[str, list[Any]] = {
            "api": [api for api, _ in known],
            "change": [change.estimate for _, change in known],
            "low": [end.low for end in ends],
            "high": [end.high for end in ends],
        }
        roles = {"name": "api", "x": "change", "low": "low", "high": "high"}
        return (Figure("forest", "Change by API, in points", columns, roles, unit="points"),)


def several(names: Sequence[str], results: Sequence[ShiftResult]) -> SeveralResult:
    """Put the assessments of several APIs into one table.

    Parameters
    ----------
    names
        The address of each API, as it was given.
    results
        Each assessed at alpha over their number.
    """
    apis = tuple(
        ApiChange(
            api=name,
            accuracy_change=one.accuracy_change,
            grade_change=one.grade_change,
            flip_rate=one.flip_rate,
            beyond=None if one.noise is None else one.noise.beyond,
            decision=one.decision,
            calls=one.calls,
            cost=one.cost,
            verdict=one.verdict,
        )
        for name, one in zip(names, results, strict=True)
    )
    return SeveralResult(
        verdict=several_verdict(names, [one.verdict for one in results]),
        decision="decided" if all(one.decision == "decided" for one in results) else "undecided",
        n_items=max(one.n_items for one in results),
        assumptions=tuple(dict.fromkeys(text for one in results for text in one.assumptions)),
        warnings=tuple(
            f"{name}: {text}"
            for name, one in zip(names, results, strict=True)
            for text in one.warnings
        ),
        notes=tuple(
            f"{name}: {text}"
            for name, one in zip(names, results, strict=True)
            for text in one.notes
        ),
        seed=results[0].seed,
        apis=apis,
        calls=sum(one.calls for one in results),
        cost=sum(one.cost for one in results),
    )
