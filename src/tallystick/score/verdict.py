"""The sentences of ``score``: verdicts, next steps, warnings and assumptions are made only here."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.results import (
    Interval,
    Needed,
    Sentences,
    Unknown,
    about,
    count,
    percent,
    percent_interval,
)
from tallystick.score.needed import SettlePlan
from tallystick.score.outputs import Outputs
from tallystick.score.preferences import Swaps
from tallystick.score.question import ScoreQuestion
from tallystick.score.result import CovariateRow, JudgeBreakdown, Partial, SystemPairRow, SystemRow
from tallystick.score.units import Units

__all__ = [
    "ASSUMED_DRAW",
    "DRAWN_BY_LABEL",
    "NO_LABELS",
    "assumptions",
    "basis",
    "covariate_text",
    "criteria_verdict",
    "gate_hint",
    "needed_of",
    "sentences",
    "swap_note",
    "warnings_of",
    "without_labels",
    "without_preferences",
]

NO_LABELS = "there are no human grades of this system"
ASSUMED_DRAW = "the graded outputs are like a random draw"
DRAWN_BY_LABEL = (
    "labels of a session were not drawn at random among the votes: ask tallystick judge, with a"
    " session of its own"
)

MOST_NAMED = 4


# -- the answer


def sentences(
    rows: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    contenders: Sequence[str],
    units: Units,
    *,
    plan: tuple[SystemPairRow, SettlePlan] | None,
    unit: str = "item",
    preferences: bool = False,
) -> Sentences:
    """Say which system is best, what the judges alone would have said, and what stays open."""
    scored = [row for row in rows if not isinstance(row.score, Unknown)]
    if preferences:
        return Sentences(
            answer=_win_rates(scored, units),
            contrast=_win_contrast(scored),
            open=_open_pairs(pairs),
            next=_next(plan, unit, preferences=True),
        )
    if len(scored) == 1:
        return _one_system(scored[0], rows, units, unit)
    return Sentences(
        answer=_best(scored, pairs, contenders, units),
        contrast=_contrast(rows, scored, pairs, units),
        open=_open(scored, pairs, contenders, units) or _ungraded(rows),
        next=_next(plan, unit),
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
            f"{leader.name} is the best of {_number(len(scored))} systems: {_text(leader, units)}."
            f" The next best, {scored[1].name}, scores {_text(scored[1], units)}."
        )
    if beaten:
        return (
            f"{leader.name} is better than {_names([row.name for row in beaten])}:"
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
        return f"Not settled: whether {leader} is also better than {_names(rest)}."
    if len(scored) == 2:
        row = pairs[0]
        return f"Not settled: the difference is {units.difference(row.difference, row.interval)}."
    return f"Not settled: whether {leader} is better than {_names(rest)}."


def _ungraded(rows: Sequence[SystemRow]) -> str:
    missing = [row.name for row in rows if isinstance(row.score, Unknown)]
    if not missing:
        return ""
    return f"Not settled: how good {_names(missing)} {_is(missing)}, without human grades."


def _one_system(row: SystemRow, rows: Sequence[SystemRow], units: Units, unit: str) -> Sentences:
    others = [other.name for other in rows if other.name != row.name]
    answer = f"{row.name} scores {_text(row, units)}."
    more = ""
    if others:
        answer = f"Only {row.name} has human grades: it scores {_text(row, units)}."
        more = f"Not settled: how good {_names(others)} {_is(others)}, and which system is best."
    grade = f"Next: grade the same {unit}s for {_names(others)} too." if others else ""
    return Sentences(answer=answer, contrast=_off(row, units), open=more, next=grade)


def _win_rates(scored: Sequence[SystemRow], units: Units) -> str:
    """Say the win rates of preferences."""
    parts = []
    for row in scored[:MOST_NAMED]:
        first, _, second = row.name.partition(" over ")
        if isinstance(row.interval, Interval) and isinstance(row.score, float):
            ahead = row.score > 0.5
            value = row.score if ahead else 1 - row.score
            ends = row.interval if ahead else _mirrored(row.interval)
            win, lose = (first, second) if ahead else (second, first)
            sure = "wins" if ends.low > 0.5 else "may win"
            parts.append(f"{win} {sure} against {lose}: {percent_interval(value, ends)}")
    if not parts:
        return "There are no human preferences."
    return "; ".join(parts) + " (a tie counts half)."


def _win_contrast(scored: Sequence[SystemRow]) -> str:
    for row in scored:
        if isinstance(row.judge_only, Unknown) or isinstance(row.score, Unknown):
            continue
        if (row.judge_only - 0.5) * (row.score - 0.5) < 0:
            first, _, second = row.name.partition(" over ")
            win = first if row.judge_only > 0.5 else second
            share = max(row.judge_only, 1 - row.judge_only)
            return f"Your judges alone say the opposite: {win} would win {percent(share)}."
    return ""


def _open_pairs(pairs: Sequence[SystemPairRow]) -> str:
    left = [f"{row.a} against {row.b}" for row in pairs if not row.settled]
    return f"Not settled: {_names(left)}." if left else ""


def _mirrored(interval: Interval) -> Interval:
    return Interval(
        1 - interval.high,
        1 - interval.low,
        interval.level,
        interval.guarantee,
        interval.assumption,
        interval.method,
    )


# -- the next step


def _next(
    plan: tuple[SystemPairRow, SettlePlan] | None, unit: str, *, preferences: bool = False
) -> str:
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
            f" {_span(low, high)} are plausible."
        )
    return (
        f"Next: grade {about(2 * more)} more outputs ({count(more)} {_plural(unit, more)},"
        f" {row.a} and {row.b}). {_span(2 * low, 2 * high)} are plausible."
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
        return Needed(20 * systems, f"human grades, on 20 random {unit}s for every system")
    return None


# -- without labels


def without_labels(
    rows: Sequence[SystemRow], lost: Sequence[JudgeBreakdown], units: Units, unit: str
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
    answer = f"The judges {verb} {_names(parts, most=6)}."
    said = ""
    if lost and not lost[0].lead:
        said = f"The judges see no difference between {lost[0].a} and {lost[0].b}."
    elif lost:
        first = lost[0]
        lead = units.lead(first.lead, 0.0)
        said = (
            f"That is not a ranking: judges {lead} kinder to {first.a} would swap the first two"
            " places."
        )
    elif judged:
        said = "That is not a score: no human grade says how far the judges are off."
    items = min(20, max(row.n_outputs for row in rows))
    outputs = items * len(rows)
    whom = "" if len(rows) == 1 else f" for {'both' if len(rows) == 2 else 'all'} systems"
    if len(rows) > 2:
        whom = f" for all {_number(len(rows))} systems"
    return Sentences(
        answer=answer,
        contrast=said,
        next=f"Next: grade {items} random {unit}s{whom} ({outputs} outputs).",
    )


def without_preferences(rows: Sequence[SystemRow], unit: str) -> Sentences:
    """Say what the judges prefer, and that it is no win rate."""
    parts = [
        f"{row.name} in {percent(row.judge_only)}"
        for row in rows
        if not isinstance(row.judge_only, Unknown)
    ]
    return Sentences(
        answer=f"The judges prefer {_names(parts)} of the {unit}s (a tie counts half).",
        contrast="That is not a win rate: no human preference says how far the judges are off.",
        next=f"Next: let people compare 50 random {unit}s per pair.",
    )


# -- what it rests on


def assumptions(
    outputs: Outputs, question: ScoreQuestion, *, same_items: bool, session: bool = False
) -> tuple[str, ...]:
    """Return everything that the answer rests on."""
    if not outputs.n_labels:
        return ("nothing is assumed of the judges, so nothing is concluded from their grades",)
    found = []
    if session:
        found.append("outputs were drawn by label, with the probabilities that its session records")
    elif question.label_draw == "unknown":
        found.append(f"{ASSUMED_DRAW}, which nobody has said")
    elif outputs.probability is not None:
        found.append("outputs were graded with the probabilities given")
    elif question.label_draw == "random":
        found.append("the outputs that people graded were drawn at random")
    found.append("people grade rightly: their grades are the truth here")
    found.append(
        "scores are of these items, not of others"
        if question.population == "these"
        else "items are a random draw from those that matter"
    )
    if not question.certified:
        found.append(
            "intervals are approximate, whatever the judges' errors: their coverage is measured"
        )
    if same_items and not question.certified:
        found.append(
            "a difference is that of the two scores shown; its interval comes from the grades on"
            " common items and is centred there"
        )
    return tuple(found)


def basis(
    outputs: Outputs, question: ScoreQuestion, *, pairs: int, worth: float | Unknown, items: int
) -> str:
    """Say in one paragraph what the numbers in the tables are."""
    level = f"{100 * (1 - question.alpha):g} % intervals"
    kind = "exact" if question.certified else "approximate"
    where = f" on {count(items)} {_plural(outputs.unit, items)}" if items else ""
    text = f"{level}, {kind}, from {count(outputs.n_labels)} human grades{where}."
    if pairs > 1:
        text += f" Differences and p are adjusted for {_number(pairs)} pairs."
    if isinstance(worth, float) and outputs.n_labels and worth > 1.05 * outputs.n_labels:
        text += (
            f" The judges' grades make these {count(outputs.n_labels)} grades as informative as"
            f" {about(worth)} grades alone."
        )
    return text


def warnings_of(
    outputs: Outputs,
    question: ScoreQuestion,
    rows: Sequence[SystemRow],
    *,
    partial: Sequence[Partial],
    chosen: tuple[float, float] | None,
    complete: bool,
) -> tuple[str, ...]:
    """Return the warnings that change what a sensible reader would do."""
    import numpy as np

    found = []
    if question.label_draw == "unknown" and outputs.n_labels:
        found.append(
            "Nobody has said how the graded outputs were chosen. If they were complaints or hard"
            " cases, these scores are wrong, and no interval shows it."
        )
    if chosen is not None:
        found.append(
            f"The judges pass {percent(chosen[0])} of the graded outputs and {percent(chosen[1])}"
            " of all. A random draw does not do that: check how the outputs were chosen."
        )
    missing = [row.name for row in rows if row.n_labels == 0]
    if missing and outputs.n_labels:
        have = [row.name for row in rows if row.n_labels]
        found.append(
            f"People graded outputs of {_names(have)} only. What was learnt of"
            f" {_names(have)} does not carry over to {_names(missing)}."
        )
    for j, judge in enumerate(outputs.judges):
        graded = ~np.isnan(outputs.grades[:, j])
        never = [
            name for s, name in enumerate(outputs.systems) if not (graded & outputs.of(s)).any()
        ]
        if never and graded.any():
            found.append(f"{judge} never graded {_names(never)}. Its grades favour nobody there.")
        elif not graded.any():
            found.append(f"{judge} graded nothing.")
    # One line per judge: the strongest favour says it.
    first = {one.judge: one for one in reversed(partial)}
    found += [_partial(one) for one in partial if first[one.judge] is one][:MOST_NAMED]
    if not complete and len(rows) > 1 and outputs.n_labels:
        found.append(
            "The systems were not run on the same items, so a difference compares each on its own"
            " items."
        )
    return tuple(found)


def _partial(one: Partial) -> str:
    if not one.outputs:
        word = "kinder" if one.kinder else "stricter"
        return f"{one.judge} is {word} to {one.system} than to the others. Do not rank by it."
    return (
        f"{one.judge} passes {count(round(one.here * one.n_here))} of {count(one.n_here)}"
        f" {one.outputs} outputs of {one.system}, and"
        f" {count(round(one.elsewhere * one.n_elsewhere))} of {count(one.n_elsewhere)} of the"
        " others. Do not rank by it."
    )


def swap_note(swaps: Swaps) -> str | None:
    """Say how often judges changed their mind when the order was swapped."""
    if not swaps.items:
        return None
    parts = [f"{judge} {percent(share)}" for judge, share in swaps.changed.items()]
    return (
        f"{count(swaps.items)} items were shown in both orders and averaged; judges changed their"
        f" answer on {', '.join(parts)} of them"
    )


def covariate_text(row: CovariateRow, units: Units) -> str:
    """Say how a judge's error moves with a covariate."""
    if isinstance(row.slope, Unknown) or isinstance(row.interval, Unknown):
        return f"{row.judge}, {row.covariate}: not known"
    whom = f" of {row.system}" if row.system else ""
    return (
        f"{row.judge}: {units.difference(row.slope, row.interval)} per standard deviation of"
        f" {row.covariate}{whom}"
    )


def gate_hint(text: str, row: SystemRow) -> str:
    """Add to an undecided gate how many grades would help."""
    if isinstance(row.needed, Unknown):
        return text
    more = max(1, row.needed.low - row.n_labels)
    if row.n_labels >= row.n_outputs:
        return text
    return f"{text}; grade {about(more)} more of {row.name}"


def criteria_verdict(parts: Sequence[tuple[str, str]]) -> str:
    """Put the verdicts of several criteria into one paragraph."""
    return " ".join(f"{name}: {text}" for name, text in parts)


# -- small words


def _settled(pairs: Sequence[SystemPairRow], a: str, b: str) -> bool:
    return any(row.settled and (row.a, row.b) == (a, b) for row in pairs)


def _names(names: Sequence[str], *, most: int = MOST_NAMED) -> str:
    # "and 1 others" is longer than the name itself.
    shown = list(names if len(names) == most + 1 else names[:most])
    if len(names) > len(shown):
        shown.append(f"{len(names) - most} others")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def _is(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"


def _number(n: int) -> str:
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[n] if n < len(words) else count(n)


def _plural(unit: str, n: int) -> str:
    return unit if n == 1 else f"{unit}s"


def _span(low: int, high: int) -> str:
    return count(low) if low == high else f"{count(low)} to {count(high)}"
