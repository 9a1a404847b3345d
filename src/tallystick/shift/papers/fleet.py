"""Several APIs on several data sets in one view: one signed matrix of accuracy changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tallystick.errors import InputError
from tallystick.results import Figure, Interval, Result, Unknown, points
from tallystick.shift.result import ShiftResult

__all__ = ["FleetCell", "FleetResult", "fleet"]


@dataclass(frozen=True, kw_only=True)
class FleetCell:
    """One API on one data set."""

    api: str
    data: str
    accuracy_change: float | Unknown
    interval: Interval | None
    flip_rate: float | Unknown
    calls: int
    verdict: str


@dataclass(frozen=True, kw_only=True)
class FleetResult(Result):
    """The fleet: a cell for each API and data set that was assessed."""

    verb: ClassVar[str] = "shift"

    cells: tuple[FleetCell, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per cell."""
        return [
            {
                "api": cell.api,
                "data": cell.data,
                "accuracy change": cell.accuracy_change,
                "interval": cell.interval,
                "answers changed": cell.flip_rate,
                "calls": cell.calls,
            }
            for cell in self.cells
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the signed matrix: figure 2 of [CZZ22]_ (api-shifts)."""
        known = [cell for cell in self.cells if isinstance(cell.accuracy_change, float)]
        columns: dict[str, list[Any]] = {
            "api": [cell.api for cell in known],
            "data": [cell.data for cell in known],
            "change": [cell.accuracy_change for cell in known],
            "text": [_signed(cell) for cell in known],
        }
        roles = {"row": "api", "column": "data", "value": "change", "text": "text"}
        return (Figure("matrix", "Change of accuracy by API and data set", columns, roles),)


def fleet(results: Mapping[tuple[str, str], ShiftResult], *, alpha: float = 0.05) -> FleetResult:
    """Put assessments side by side.

    A cell counts as changed where its interval excludes 0. With many cells some do by chance:
    assess each at alpha over their number if the whole family has to hold.

    Parameters
    ----------
    results
        (API, data set) to its assessment.
    alpha
        At which the family is meant to hold; a note says if the cells were assessed at a looser
        level.

    Examples
    --------
    >>> fleet({})
    Traceback (most recent call last):
    tallystick.errors.InputError: a fleet needs at least one assessment
    """
    if not results:
        raise InputError("a fleet needs at least one assessment")
    cells = tuple(
        FleetCell(
            api=api,
            data=data,
            accuracy_change=one.accuracy_change.estimate,
            interval=one.accuracy_change.interval,
            flip_rate=one.flip_rate.estimate,
            calls=one.calls,
            verdict=one.verdict,
        )
        for (api, data), one in results.items()
    )
    changed = [cell for cell in cells if cell.interval is not None and 0 not in cell.interval]
    loose = any(
        cell.interval is not None and 1 - cell.interval.level > alpha / len(cells) + 1e-12
        for cell in cells
    )
    names = ", ".join(f"{cell.api} on {cell.data} {_signed(cell)}" for cell in changed[:5])
    verdict = (
        f"{len(changed)} of {len(cells)} changed in accuracy"
        + (f": {names}" if names else "")
        + "."
    )
    open_ = sum(one.decision == "undecided" for one in results.values())
    return FleetResult(
        verdict=verdict,
        decision="undecided" if open_ else "decided",
        n_items=sum(one.n_items for one in results.values()),
        assumptions=next(iter(results.values())).assumptions,
        warnings=(
            (f"each cell has its own level: about {alpha:g} of unchanged ones look changed",)
            if loose
            else ()
        ),
        cells=cells,
    )


def _signed(cell: FleetCell) -> str:
    return points(cell.accuracy_change if isinstance(cell.accuracy_change, float) else None)
