"""The words of an audit: what the sections say together, and what a reader could misread."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.audit.result import AuditResult, Skipped
from tallystick.data import Detection
from tallystick.errors import InputError
from tallystick.results import Decision, Interval, Needed, Result

__all__ = ["by_name_words", "concluded"]


def concluded(
    found: Detection,
    sections: Sequence[Result],
    skipped: Sequence[Skipped],
    *,
    seed: int | None = None,
) -> AuditResult:
    """Put the sections under one verdict; without any the reasons are the error."""
    if not sections:
        reasons = "; ".join(f"{part.verb}: {part.reason}" for part in skipped)
        raise InputError(
            f"nothing here can be answered ({reasons or 'no capability applies to these columns'})"
        )
    decisions = {part.decision for part in sections}
    # settled only if all of it is
    decision: Decision = decisions.pop() if len(decisions) == 1 else "undecided"
    needs = [part.needed for part in sections if part.needed is not None]
    return AuditResult(
        verdict=_verdict(sections, len(skipped)),
        decision=decision,
        needed=_most(needs) if decision == "undecided" else None,
        n_items=max(part.n_items for part in sections),
        assumptions=(
            *(f"columns: {part}" for part in found.taken if part.role not in ("not used", "text")),
            *_told(sections, "assumptions"),
        ),
        warnings=(*found.notes, *_limits(found, sections), *_told(sections, "warnings")),
        seed=seed,
        columns=found.taken,
        sections=tuple(sections),
        skipped=tuple(skipped),
    )


def by_name_words(verb: str, source: str, how: str, found: Detection) -> str:
    """Say which command reads this table by the names of its columns, how, and what else it could
    be.
    """
    asked = "; ".join(map(str, found.questions))
    read = f" ({how})" if how else ""
    return (
        f"{source}: this may be a table that {verb} reads{read}. Then type: tallystick {verb}"
        f" {source}. Otherwise, {asked}"
    )


_WEIGHED = ("compare", "judge", "bound")
"""The capabilities that take weights."""


def _limits(found: Detection, sections: Sequence[Result]) -> list[str]:
    """Say what a reader of several sections side by side could misread."""
    said = []
    plain = [part.verb for part in sections if part.verb not in _WEIGHED]
    if found.roles.weight is not None and plain:
        used = [part.verb for part in sections if part.verb in _WEIGHED]
        reach = f"is used by {' and '.join(used)} only" if used else "is not used"
        said.append(
            f"the weight {found.roles.weight!r} {reach}; every row counts once in"
            f" {' and '.join(plain)}"
        )
    counted = [part.verb for part in sections if _is_count(part)]
    if counted:
        said.append(
            f"every label is known, so the answer of {' and '.join(counted)} is exact for these"
            " items and says nothing about new ones"
            + (
                ". The intervals of compare are for new items like these"
                if sections[0].verb == "compare"
                else ""
            )
        )
    return said


def _is_count(part: Result) -> bool:
    """Whether no interval of the main table has any width: nothing was left to estimate."""
    intervals = [cell for row in part.rows() for cell in row.values() if isinstance(cell, Interval)]
    return bool(intervals) and all(interval.width < 1e-12 for interval in intervals)


def _verdict(sections: Sequence[Result], left: int) -> str:
    """Return what every section answers, one sentence each, and how many could not answer."""
    more = f" {left} more could not be answered." if left else ""
    return " ".join(part.answer_line for part in sections) + more


def _told(sections: Sequence[Result], field: str) -> tuple[str, ...]:
    return tuple(f"{part.verb}: {text}" for part in sections for text in getattr(part, field))


def _most(needs: Sequence[Needed]) -> Needed | None:
    """Return the largest need, since it settles the most; one without a number only if there is no
    other.
    """
    return max(needs, key=lambda need: -1 if need.count is None else need.count, default=None)
