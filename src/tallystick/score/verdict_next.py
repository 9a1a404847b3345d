"""What to grade next, in the sentences of ``score`` and in its field *needed*."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.results import Needed, Unknown, about, count
from tallystick.score.needed import SettlePlan
from tallystick.score.result import SystemPairRow, SystemRow
from tallystick.score.verdict_words import number_word, plural, span

__all__ = ["first_grades", "first_of", "first_step", "gate_hint", "needed_of", "next_step"]


FIRST = 20
"""Random items that every system should have grades on before anything can be forecast."""


def first_grades(rows: Sequence[SystemRow]) -> int:
    """Return how many human grades are missing until every system has the first few."""
    return sum(max(0, min(FIRST, row.n_outputs) - row.n_labels) for row in rows)


def first_step(rows: Sequence[SystemRow], unit: str) -> str:
    """Say to grade the first few items, where too few are graded for a forecast."""
    more = first_grades(rows)
    if not more:
        return ""
    all_ = "both" if len(rows) == 2 else f"all {number_word(len(rows))}"
    return f"Next: grade {FIRST} random {unit}s for {all_} systems ({count(more)} more outputs)."


def next_step(
    plan: tuple[SystemPairRow, SettlePlan] | None, unit: str, *, preferences: bool = False
) -> str:
    """Say what to grade next in order to settle a pair."""
    if plan is None:
        return ""
    row, found = plan
    more, low, high = (
        max(1, items - row.common_labels) for items in (found.items, found.low, found.high)
    )
    left = found.most - row.common_labels
    if left <= 0:
        return ""
    if not found.enough:
        return (
            f"Next: even all {count(found.most)} {unit}s may not settle {row.a} against {row.b},"
            " unless they differ by more than it looks."
        )
    if preferences:
        return (
            f"Next: grade {about(more)} more {unit}s of {row.a} against {row.b}."
            f" {span(low, high)} are plausible."
        )
    return (
        f"Next: grade {about(2 * more)} more outputs ({count(more)} {plural(unit, more)},"
        f" {row.a} and {row.b}). {span(2 * low, 2 * high)} are plausible."
    )


def needed_of(
    plan: tuple[SystemPairRow, SettlePlan] | None,
    *,
    labels: int,
    systems: int,
    unit: str,
    single: bool,
) -> Needed | None:
    """Return what would settle the order, for the field *needed*."""
    if plan is not None:
        row, found = plan
        more = max(1, found.items - row.common_labels)
        if found.most <= row.common_labels:
            return None
        each = 1 if single else 2
        of = (
            f"human grades of {row.a} against {row.b}"
            if single
            else f"human grades, on {count(more)} {unit}s for {row.a} and {row.b}"
        )
        return Needed(each * more, of)
    if not labels:
        return Needed(FIRST * systems, first_of(unit))
    return None


def first_of(unit: str) -> str:
    """Return what the first grades are grades of."""
    return f"human grades, on {FIRST} random {unit}s for every system"


def gate_hint(text: str, row: SystemRow) -> str:
    """Add to an undecided gate how many grades would help."""
    if isinstance(row.needed, Unknown):
        return text
    more = max(1, row.needed.low - row.n_labels)
    if row.n_labels >= row.n_outputs:
        return text
    return f"{text}; grade {about(more)} more of {row.name}"
