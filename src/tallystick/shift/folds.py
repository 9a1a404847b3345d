"""What a page of ``shift`` unfolds: what changed, which answers moved where, and what was asked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tallystick.results import Section

if TYPE_CHECKING:
    from tallystick.shift.result import ShiftResult

__all__ = ["folds_of"]


def folds_of(result: ShiftResult) -> tuple[Section, ...]:
    """Return the sections of a result, the changes first."""
    figures = result.figures()[1:]
    found = [
        Section(
            title="What changed",
            line=_line(result),
            rows=result.rows(),
            units=result.units(),
        ),
        Section(
            title="Answers",
            line="Which answers moved where, as a share of all items.",
            figures=tuple(one for one in figures if one.kind == "matrix"),
        ),
    ]
    if result.strata:
        asked = sum(one.asked for one in result.strata)
        found.append(
            Section(
                title="Questions",
                line=f"{result.calls:,} calls on {asked:,} items in {len(result.strata):,} strata.",
                rows=[
                    {
                        "stratum": one.name,
                        "items": one.items,
                        "asked": one.asked,
                        "answered": one.answered,
                        "changed": one.flips,
                        "the optimum would ask": round(one.optimal, 1),
                    }
                    for one in result.strata
                ],
                figures=tuple(one for one in figures if one.kind == "curve"),
            )
        )
    return tuple(found)


def _line(result: ShiftResult) -> str:
    proved = [f"{one.true} → {one.answered}" for one in result.top_cells if one.survives]
    if not proved:
        return "No single cell of the matrix changed beyond chance."
    more = "" if len(proved) == 1 else f" and {len(proved) - 1} more"
    return f"Beyond chance: {proved[0]}{more}."
