"""The sentences of ``score``: which system is best, what judges alone would have said, and what is
open. They are made here and in the files beside it, whose names begin with ``verdict``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tallystick.results import Interval, Sentences, Unknown
from tallystick.score.needed import FirstGrades, SettlePlan
from tallystick.score.reading import ALONE
from tallystick.score.result import CovariateRow, JudgeBreakdown, SystemPairRow, SystemRow
from tallystick.score.units import Units
from tallystick.score.verdict_next import first_step, next_step
from tallystick.score.verdict_words import is_are, names_of, number_word

__all__ = [
    "DRAWN_BY_LABEL",
    "NO_LABELS",
    "covariate_text",
    "criteria_verdict",
    "sentences",
    "without_labels",
]

NO_LABELS = "there are no human grades of this system"
DRAWN_BY_LABEL = (
    "labels of a session were not drawn at random among the votes: ask tallystick judge, with a"
    " session of its own"
)


def sentences(
    rows: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    contenders: Sequence[str],
    units: Units,
    *,
    plan: tuple[SystemPairRow, SettlePlan] | None,
    first: FirstGrades | None,
    unit: str = "item",
) -> Sentences:
    """Say which system is best, what the judges alone would have said, and what stays open.

    *plan* and *first* say what to grade next; the second counts where there is no plan.
    """
    scored = [row for row in rows if not isinstance(row.score, Unknown)]
    following = next_step(plan, unit) or first_step(first, len(rows), unit)
    if len(scored) == 1:
        return replace(_one_system(scored[0], rows, units), next=following)
    return Sentences(
        answer=_best(scored, pairs, contenders, units),
        contrast=_contrast(rows, scored, pairs, units),
        open=_open(scored, pairs, contenders, units) or _ungraded(rows),
        next=following,
    )


def _text(row: SystemRow, units: Units) -> str:
    """Write the score of a system with its interval."""
    if isinstance(row.score, Unknown):
        return "unknown"
    return units.score(row.score, row.interval if isinstance(row.interval, Interval) else None)


def _best(
    scored: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    contenders: Sequence[str],
    units: Units,
) -> str:
    leader = scored[0]
    beaten = [row for row in scored[1:] if _settled(pairs, leader.name, row.name)]
    if not pairs:
        return f"{leader.name} has the highest score: {_text(leader, units)}."
    if len(beaten) == len(scored) - 1:
        if len(scored) == 2:
            return (
                f"{leader.name} is better than {beaten[0].name}: {_text(leader, units)} against"
                f" {_text(beaten[0], units)}."
            )
        return (
            f"{leader.name} is the best of {number_word(len(scored))} systems:"
            f" {_text(leader, units)}. The next best, {scored[1].name}, scores"
            f" {_text(scored[1], units)}."
        )
    if beaten:
        return (
            f"{leader.name} is better than {names_of([row.name for row in beaten])}:"
            f" {_text(leader, units)} against {_text(beaten[0], units)}"
            + (f" for {beaten[0].name}." if len(beaten) > 1 else ".")
        )
    return (
        f"We cannot tell which system is best. {leader.name} scores {_text(leader, units)} and"
        f" {scored[1].name} {_text(scored[1], units)}."
    )


def _contrast(
    rows: Sequence[SystemRow],
    scored: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    units: Units,
) -> str:
    """Say when the judges alone would have named another winner, or are far off."""
    judged = [row for row in rows if not isinstance(row.judge_only, Unknown)]
    if not judged or not scored:
        return ""
    top = max(judged, key=lambda row: row.judge_only)  # type: ignore[arg-type,return-value]
    leader = scored[0]
    tied = top.score == leader.score
    if top.name != leader.name and isinstance(top.judge_only, float) and not tied:
        first = units.score(top.judge_only)
        # Where people have not settled it, there is nothing yet that judges could contradict.
        if not any(_settled(pairs, leader.name, row.name) for row in scored[1:]):
            return f"Your judges alone put {top.name} first, at {first}."
        if len(rows) == 2:
            return f"Your judges alone say the opposite: they put {top.name} first, at {first}."
        return f"Your judges alone name another winner: they put {top.name} first, at {first}."
    return _off(leader, units)


def _off(row: SystemRow, units: Units) -> str:
    """Say how far the judges are off, if their mean lies outside the interval."""
    if (
        isinstance(row.judge_only, Unknown)
        or isinstance(row.interval, Unknown)
        or isinstance(row.score, Unknown)
        or row.judge_only in row.interval
    ):
        return ""
    kind = "too kind" if row.judge_only > row.score else "too strict"
    return f"Your judges alone say {units.score(row.judge_only)}, which is {kind}."


def _open(
    scored: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    contenders: Sequence[str],
    units: Units,
) -> str:
    leader = scored[0].name
    rest = [name for name in contenders if name != leader]
    if not rest or not pairs:
        return ""
    some = any(row.settled and leader in (row.a, row.b) for row in pairs)
    if some:
        return f"Not settled: whether {leader} is also better than {names_of(rest)}."
    if len(scored) == 2:
        row = pairs[0]
        return f"Not settled: the difference is {units.difference(row.difference, row.interval)}."
    return f"Not settled: whether {leader} is better than {names_of(rest)}."


def _ungraded(rows: Sequence[SystemRow]) -> str:
    missing = [row.name for row in rows if isinstance(row.score, Unknown)]
    if not missing:
        return ""
    return f"Not settled: how good {names_of(missing)} {is_are(missing)}, without human grades."


def _one_system(row: SystemRow, rows: Sequence[SystemRow], units: Units) -> Sentences:
    others = [other.name for other in rows if other.name != row.name]
    answer = f"{row.name} scores {_text(row, units)}."
    if row.name == ALONE:  # a table without a column of systems
        answer = f"The outputs score {_text(row, units)}."
    more = ""
    if others:
        answer = f"Only {row.name} has human grades: it scores {_text(row, units)}."
        more = (
            f"Not settled: how good {names_of(others)} {is_are(others)}, and which system is best."
        )
    return Sentences(answer=answer, contrast=_off(row, units), open=more)


def _settled(pairs: Sequence[SystemPairRow], a: str, b: str) -> bool:
    return any(row.settled and (row.a, row.b) == (a, b) for row in pairs)


def without_labels(
    rows: Sequence[SystemRow],
    lost: Sequence[JudgeBreakdown],
    units: Units,
    *,
    first: FirstGrades | None,
    unit: str,
) -> Sentences:
    """Say what the judges say, how little would undo it, and what to grade first."""
    judged = [
        (row.name, units.score(row.judge_only))
        for row in rows
        if not isinstance(row.judge_only, Unknown)
    ]
    verb = "pass" if units.scale is None else "give"
    parts = [
        f"{value} of {name}" if verb == "pass" else f"{name} {value}" for name, value in judged
    ]
    answer = f"The judges {verb} {names_of(parts, most=6)}."
    said = ""
    if lost and not lost[0].lead:
        said = f"The judges see no difference between {lost[0].a} and {lost[0].b}."
    elif lost:
        lead = units.lead(lost[0].lead, 0.0)
        said = (
            f"That is not a ranking: judges {lead} kinder to {lost[0].a} would swap the first two"
            " places."
        )
    elif judged:
        said = "That is not a score: no human grade says how far the judges are off."
    return Sentences(answer=answer, contrast=said, next=first_step(first, len(rows), unit))


def covariate_text(row: CovariateRow, units: Units) -> str:
    """Say how a judge's error moves with a covariate."""
    if isinstance(row.slope, Unknown) or isinstance(row.interval, Unknown):
        return f"{row.judge}, {row.covariate}: not known"
    whom = f" of {row.system}" if row.system else ""
    return (
        f"{row.judge}: {units.difference(row.slope, row.interval)} per standard deviation of"
        f" {row.covariate}{whom}"
    )


def criteria_verdict(parts: Sequence[tuple[str, str]]) -> str:
    """Put the verdicts of several criteria into one paragraph."""
    return " ".join(f"{name}: {text}" for name, text in parts)
