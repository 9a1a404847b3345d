"""What to grade next, in the sentences of ``score`` and in its field *needed*."""

from __future__ import annotations

from tallystick.results import Needed, Unknown, about, count
from tallystick.score.needed import FirstGrades, SettlePlan
from tallystick.score.result import SystemPairRow, SystemRow
from tallystick.score.verdict_words import number_word, plural, span

__all__ = ["first_needed", "first_step", "gate_hint", "needed_of", "next_step"]


def first_step(first: FirstGrades | None, systems: int, unit: str) -> str:
    """Say what to grade first, where too few outputs are graded for a forecast.

    >>> first_step(FirstGrades(items=20, grades=57, shared=True, begun=True), 4, "item")
    'Next: grade 20 random items for all four systems, graded ones first (57 more outputs).'
    """
    if first is None:
        return ""
    each = number_word(systems)
    whom = (
        "" if systems == 1 else " for both systems" if systems == 2 else f" for all {each} systems"
    )
    what = f"{first.items} random {plural(unit, first.items)}{whom}"
    if not first.shared and systems > 1:
        what = f"{_of_each(first)} of every system"
    graded = ", graded ones first" if first.begun and first.shared else ""
    more = "more " if first.begun else ""
    outputs = plural("output", first.grades)
    return f"Next: grade {what}{graded} ({count(first.grades)} {more}{outputs})."


def first_needed(first: FirstGrades | None, unit: str) -> Needed | None:
    """Return the same for the field *needed*."""
    if first is None:
        return None
    what = f"{first.items} random {plural(unit, first.items)} for" if first.shared else ""
    what = what or f"{_of_each(first)} of"
    return Needed(first.grades, f"human grades, on {what} every system")


def _of_each(first: FirstGrades) -> str:
    return f"{'up to ' if first.short else ''}{first.items} random outputs"


def next_step(
    plan: tuple[SystemPairRow, SettlePlan] | None, unit: str, *, preferences: bool = False
) -> str:
    """Say what to grade next in order to settle a pair."""
    if plan is None:
        return ""
    row, found = plan
    if not found.enough:
        return (
            f"Next: even all {count(found.most)} {unit}s may not settle {row.a} against {row.b},"
            " unless they differ by more than it looks."
        )
    plausible = f"{span(found.low, found.high)} are plausible."
    if preferences:
        return (
            f"Next: grade {about(found.grades)} more {plural(unit, found.grades)} of {row.a}"
            f" against {row.b}. {plausible}"
        )
    # Items with a grade of one of the two cost one grade, and are the first to take.
    graded = ", graded ones first" if found.grades < 2 * found.items else ""
    return (
        f"Next: grade {about(found.grades)} more outputs ({count(found.items)}"
        f" {plural(unit, found.items)}, {row.a} and {row.b}{graded}). {plausible}"
    )


def needed_of(
    plan: tuple[SystemPairRow, SettlePlan] | None, *, unit: str, single: bool
) -> Needed | None:
    """Return what would settle a pair, for the field *needed*."""
    if plan is None:
        return None
    row, found = plan
    whom = f"{row.a} against {row.b}" if single else f"{row.a} and {row.b}"
    if not found.enough:
        return Needed(
            None,
            f"items than the {count(found.most)} of the table, to settle {row.a} against {row.b}",
        )
    if single:
        return Needed(found.grades, f"human grades of {whom}")
    items = f"{count(found.items)} {plural(unit, found.items)}"
    return Needed(found.grades, f"human grades, on {items} for {whom}")


def gate_hint(text: str, row: SystemRow) -> str:
    """Add to an undecided gate how many grades would help."""
    if isinstance(row.needed, Unknown):
        return text
    more = max(1, row.needed.low - row.n_labels)
    if row.n_labels >= row.n_outputs:
        return text
    return f"{text}; grade {about(more)} more of {row.name}"
