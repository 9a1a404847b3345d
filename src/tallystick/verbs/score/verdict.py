"""The sentences of ``score``: which system is best, what judges alone would have said, and what is
open. They are made here and in the files beside it, whose names begin with ``verdict``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tallystick.results import (
    Interval,
    Needed,
    Sentences,
    Unknown,
    about,
    count,
    parse_gate,
    percent,
)
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.labelling import FirstGrades, SettlePlan
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.reading import ALONE, Graded
from tallystick.verbs.score.result import (
    JudgeBreakdown,
    Partial,
    ScoreResult,
    SystemPairRow,
    SystemRow,
)

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


def criteria_verdict(parts: Sequence[tuple[str, str]]) -> str:
    """Put the verdicts of several criteria into one paragraph."""
    return " ".join(f"{name}: {text}" for name, text in parts)


# What an answer of ``score`` rests on: assumptions, one line on the numbers, and warnings.


ASSUMED_DRAW = "the graded outputs are like a random draw"


def assumptions(
    outputs: Graded, question: ScoreQuestion, *, same_items: bool, session: bool = False
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
    if len(outputs.systems) > 1 and outputs.item is None and not question.certified:
        found.append(
            "items are not known, so systems are compared as if they were run on different ones"
        )
    return tuple(found)


def basis(
    outputs: Graded, question: ScoreQuestion, *, pairs: int, worth: float | Unknown, items: int
) -> str:
    """Say in one paragraph what the numbers in the tables are."""
    level = f"{100 * (1 - question.alpha):g} % intervals"
    kind = "exact" if question.certified else "approximate"
    where = f" on {count(items)} {plural(outputs.unit, items)}" if items else ""
    text = f"{level}, {kind}, from {count(outputs.n_labels)} human grades{where}."
    if outputs.turned:
        low, high = outputs.scale or (0.0, 1.0)
        whole = f"{low + high:g}" if outputs.scale else "100 %"
        text += f" Lower is better in the table: these scores are {whole} minus what it says."
    if question.target_mix is not None:
        text += " Scores are those of the target mix, and not of the mix of this table."
    if pairs > 1:
        text += f" Differences and p are adjusted for {number_word(pairs)} pairs."
    if isinstance(worth, float) and outputs.n_labels and worth > 1.05 * outputs.n_labels:
        text += (
            f" The judges' grades make these {count(outputs.n_labels)} grades as informative as"
            f" {about(worth)} grades alone."
        )
    return text


def warnings_of(
    outputs: Graded,
    question: ScoreQuestion,
    rows: Sequence[SystemRow],
    *,
    partial: Sequence[Partial],
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
    missing = [row.name for row in rows if row.n_labels == 0]
    if missing and outputs.n_labels:
        have = [row.name for row in rows if row.n_labels]
        found.append(
            f"People graded outputs of {names_of(have)} only. What was learnt of"
            f" {names_of(have)} does not carry over to {names_of(missing)}."
        )
    for j, judge in enumerate(outputs.judges):
        graded = ~np.isnan(outputs.grades[:, j])
        never = [
            name for s, name in enumerate(outputs.systems) if not (graded & outputs.of(s)).any()
        ]
        if never and graded.any():
            whose = "the other judges" if len(outputs.judges) > 1 else "nobody"
            found.append(
                f"{judge} never graded {names_of(never)}, so the judges' score there comes from"
                f" {whose}. Do not compare it with the judges' score of the others."
            )
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


# What to grade next, in the sentences of ``score`` and in its field *needed*.


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


# Small words of the sentences of ``score``: lists of names, numbers, plurals, ranges.


MOST_NAMED = 4


def names_of(names: Sequence[str], *, most: int = MOST_NAMED) -> str:
    """List some names, and how many others there are."""
    # "and 1 others" is longer than the name itself.
    shown = list(names if len(names) == most + 1 else names[:most])
    if len(names) > len(shown):
        shown.append(f"{len(names) - most} others")
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def is_are(names: Sequence[str]) -> str:
    """Return the verb for some names."""
    return "is" if len(names) == 1 else "are"


def number_word(n: int) -> str:
    """Write a small number as a word."""
    words = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
    return words[n] if n < len(words) else count(n)


def plural(unit: str, n: int) -> str:
    """Return a unit for a number of it."""
    return unit if n == 1 else f"{unit}s"


def span(low: int, high: int) -> str:
    """Write two numbers as a range."""
    return count(low) if low == high else f"{count(low)} to {count(high)}"


# Where figures stand and still decide nothing: systems on other items.
#
# A system that was run on the easy questions only has an exact interval around the wrong number.
# The figures are shown, with what they would say; the decision and the gates stay open.


_ALIKE = 0.9
"""Share of the items of two systems that both were run on, from which they are compared."""


def with_other_items(result: ScoreResult, outputs: Graded) -> ScoreResult:
    """Return the result; if two systems were run on different items, none is called better."""
    if len(outputs.systems) < 2 or isinstance(result.pairs, Unknown) or not result.pairs:
        return result
    least = common_share(outputs)
    if least is None or least >= _ALIKE:
        return result
    items = plural(outputs.unit, 2)
    first = (
        f"The systems were run on different {items}: two of them have {percent(least)} in common."
        " So no system is called better."
    )
    needed = Needed(None, f"outputs of every system on the same {items}")
    found = _no_verdict_open(result, first, f"the systems were run on different {items}")
    return replace(found, needed=needed)


def common_share(outputs: Graded) -> float | None:
    """Return the smallest share of the items of two systems that both were run on.

    None where the items are not known row by row.
    """
    if outputs.item is None or len(outputs.systems) < 2:
        return None
    k = len(outputs.systems)
    held = np.zeros((int(outputs.item.max(initial=-1)) + 1, k), bool)
    held[outputs.item, outputs.system] = True
    both = held.T.astype(np.float64) @ held
    each = np.diag(both)
    union = each[:, None] + each[None, :] - both
    shares = both[np.triu_indices(k, 1)] / np.maximum(union[np.triu_indices(k, 1)], 1.0)
    return float(shares.min())


def _no_verdict_open(result: ScoreResult, first: str, why: str) -> ScoreResult:
    """Return the result with its decision, and its gates on two systems, left open."""
    told = f"As they stand: {result.verdict}"
    names = [row.name for row in result.systems]
    gates = tuple(
        gate
        if gate.passed is None or parse_gate(gate.expression, known=names).right is None
        else replace(gate, passed=None, text=f"{gate.text}, but {why}")
        for gate in result.gates
    )
    return replace(
        result,
        verdict=f"{first} {told}",
        sentences=Sentences(answer=first, open=told),
        decision="undecided",
        gates=gates,
    )
