"""The sentences of ``score``: which system is best, what judges alone would have said, what is open
and what to grade next; and on what an answer rests.

Who is better is claimed by `tallystick.results.Claims` alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from tallystick.results import (
    Claims,
    Interval,
    Needed,
    Sentences,
    Unknown,
    about,
    count,
    names_of,
    number_word,
    parse_gate,
    percent,
    percent_interval,
    plural,
)
from tallystick.table.doubts import Doubt, with_doubt
from tallystick.table.panel_grades import ALONE, GradePanel, Swaps
from tallystick.table.session import DRAWN
from tallystick.verbs.score.pairs import NextGrades
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.result import (
    Partial,
    ScoreResult,
    SystemPairRow,
    SystemRow,
    Units,
)

MOST_NAMED = 4
FIRST_PREFERENCES = 50
"""Random items that people should compare for each pair before anything can be forecast."""


def sentences(
    rows: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    claims: Claims,
    units: Units,
    *,
    following: str,
) -> Sentences:
    """Say which system is best, what the judges alone would have said, and what stays open.

    *following* says what to grade next.
    """
    scored = {row.name: row for row in rows if not isinstance(row.score, Unknown)}
    rest = [row.name for row in rows if row.name not in scored]

    def text(name: str) -> str:
        return written(scored[name], units)

    are = "is" if len(rest) == 1 else "are"
    ungraded = (
        f"Not settled: how good {names_of(rest)} {are}, without human grades." if rest else ""
    )
    if len(scored) == 1:
        [row] = scored.values()
        # A table without a column of systems speaks of its outputs.
        who = "The outputs score" if row.name == ALONE else f"{row.name} scores"
        answer = f"{who} {text(row.name)}."
        return Sentences(answer=answer, contrast=_off(row, units), open=ungraded, next=following)

    left = claims.left()
    if not left and claims.rivals and pairs:
        pair = next(row for row in pairs if {row.a, row.b} == {*claims.names[:2]})
        gap = units.difference(pair.difference, pair.interval)
        left = f"Not settled: the difference is {gap}."
    return Sentences(
        answer=claims.answer(text),
        contrast=_contrast(rows, scored[claims.leader], units),
        open=left or ungraded,
        next=following,
    )


def written(row: SystemRow, units: Units) -> str:
    """Write the score of a system with its interval."""
    if isinstance(row.score, Unknown):
        return "unknown"
    return units.score(row.score, row.interval if isinstance(row.interval, Interval) else None)


def _contrast(rows: Sequence[SystemRow], leader: SystemRow, units: Units) -> str:
    """Say when the judges alone would have named another winner, or are far off."""
    judged = {row.name: row.judge_only for row in rows if isinstance(row.judge_only, float)}
    top = max(judged, key=judged.__getitem__, default=leader.name)
    tied = next(row.score for row in rows if row.name == top) == leader.score
    if top == leader.name or tied:
        return _off(leader, units)
    return f"Your judges alone put {top} first, at {units.score(judged[top])}."


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


def without_labels(rows: Sequence[SystemRow], units: Units, *, following: str) -> Sentences:
    """Say what the judges say, that it is no ranking, and what to grade first."""
    judged = [
        (row.name, units.score(row.judge_only))
        for row in rows
        if not isinstance(row.judge_only, Unknown)
    ]
    votes = units.scale is None
    parts = [f"{value} of {name}" if votes else f"{name} {value}" for name, value in judged]
    word = "ranking" if len(judged) > 1 else "score"
    return Sentences(
        answer=f"The judges {'pass' if votes else 'give'} {names_of(parts, most=6)}.",
        contrast=_no_proof(word, "grade"),
        next=following,
    )


def _no_proof(word: str, label: str) -> str:
    return f"That is not a {word}: no human {label} says how far the judges are off."


# What an answer of ``score`` rests on: assumptions, one line on the numbers, and warnings.


UNEQUAL = 4
"""How many times as much one graded output may count as another: coverage was measured up to it."""
ASSUMED_DRAW = "the outputs that people graded were drawn at random"


def assumptions(
    outputs: GradePanel, question: ScoreQuestion, *, session: bool = False
) -> tuple[str, ...]:
    """Return everything that the answer rests on."""
    if not outputs.n_labels:
        return ()
    found = []
    if session:
        found.append(DRAWN)
    elif outputs.probability is not None and question.label_draw != "unknown":
        found.append("outputs were graded with the probabilities given")
    elif question.label_draw != "all":
        found.append(ASSUMED_DRAW)
    found.append("the grades of people are the truth here")
    found.append(
        "scores are of these items, not of others"
        if question.population == "these"
        else "items are a random draw from those that matter"
    )
    unmatched = len(outputs.systems) > 1 and outputs.item is None and outputs.coding is None
    if unmatched and not question.certified:
        found.append(
            "items are not known, so systems are compared as if they were run on different ones"
        )
    return tuple(found)


def basis(
    outputs: GradePanel,
    question: ScoreQuestion,
    *,
    pairs: int,
    worth: float,
    items: int,
) -> str:
    """Say in one paragraph what the numbers in the tables are."""
    kind = "exact" if question.certified else "approximate"
    where = f" on {count(items)} {plural(outputs.unit, items)}" if items else ""
    level = f"{100 * (1 - question.alpha):g}% intervals"
    text = f"{level}, {kind}, from {count(outputs.n_labels)} human grades{where}."
    if outputs.turned:
        low, high = outputs.scale or (0.0, 1.0)
        whole = f"{low + high:g}" if outputs.scale else "100%"
        text += f" Lower is better in the table: these scores are {whole} minus what it says."
    if question.target_mix is not None:
        text += " Scores are those of the target mix."
    if pairs > 1:
        text += f" Differences and p are adjusted for {number_word(pairs)} pairs."
    if outputs.n_labels and worth > 1.05 * outputs.n_labels:
        text += (
            f" The judges' grades make these {count(outputs.n_labels)} grades as informative as"
            f" {about(worth)} grades alone."
        )
    return text


FROM_ENDS = (
    "a system is called better only where intervals of the scores that hold for all systems at once"
    " do not overlap"
)


def warnings_of(
    outputs: GradePanel,
    question: ScoreQuestion,
    rows: Sequence[SystemRow],
    *,
    partial: Sequence[Partial],
) -> tuple[str, ...]:
    """Return the warnings that change what a sensible reader would do."""
    found = []
    if question.label_draw == "unknown" and outputs.n_labels:
        found.append(
            "Nobody has said how the graded outputs were chosen. If they were complaints or hard"
            " cases, these scores are wrong, and no interval shows it."
        )
    if (apart := _unequal(outputs)) > UNEQUAL:
        found.append(
            f"Not reliable here: one graded output counts {apart:.0f} times as much as another."
            f" Intervals were measured up to {UNEQUAL} times. At 16 times, 95% intervals of grades"
            " held the truth as rarely as 88%."
        )
    missing = [row.name for row in rows if row.n_labels == 0]
    if missing and outputs.n_labels:
        have = names_of([row.name for row in rows if row.n_labels])
        found.append(
            f"People graded outputs of {have} only. What was learnt of {have} does not carry over"
            f" to {names_of(missing)}."
        )
    for j, judge in enumerate(outputs.judges):
        graded = outputs.by_system(~np.isnan(outputs.grades[:, j]) * outputs.counts) > 0
        never = [name for name, some in zip(outputs.systems, graded, strict=True) if not some]
        if not graded.any():
            found.append(f"{judge} graded nothing.")
        elif never:
            found.append(
                f"{judge} never graded {names_of(never)}. Do not compare the judges' score there"
                " with that of the others."
            )
    # One line per judge: the strongest favour says it.
    first = {one.judge: one for one in reversed(partial)}
    found += [_partial(one) for one in partial if first[one.judge] is one][:MOST_NAMED]
    return tuple(found)


def _unequal(outputs: GradePanel) -> float:
    """Return how many times as much one graded output counts as another."""
    heavy = np.ones(outputs.truth.size)
    if outputs.weight is not None and outputs.slice is None:  # a target mix weighs slices
        heavy = outputs.weight
    if outputs.probability is not None:
        heavy = heavy / outputs.probability
    some = heavy[outputs.known & (heavy > 0)]
    return float(some.max() / some.min()) if some.size else 1.0


def _partial(one: Partial) -> str:
    word = "kinder" if one.kinder else "stricter"
    of = f"{one.outputs} outputs of {one.system}" if one.outputs else one.system
    shown = f" ({percent(one.here)} against {percent(one.elsewhere)})" if one.outputs else ""
    return f"{one.judge} is {word} to {of} than to the others{shown}. Do not rank by it."


def left_out_note(lost: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """Say how many outputs are left out because nobody graded them."""
    if not lost:
        return ()
    whose = ", ".join(f"{count(n)} of {name}" for name, (n, _) in lost.items())
    return (
        f"outputs without any grade are left out: {whose}. If they failed, write the lowest grade"
        " there",
    )


# What to grade next, as a sentence and for the field *needed*.


Next = tuple[str, Needed | None]


def grade_next(found: NextGrades | None, systems: int, unit: str) -> Next:
    """Say what to grade next: the first outputs of all systems, or what would settle a pair.

    >>> grade_next(NextGrades(items=20, grades=57), 4, "item")[0]
    'Next: grade 20 random items for every system (57 outputs without a grade yet).'
    """
    if found is None:
        return "", None
    items, outputs = f"{count(found.items)} {plural(unit, found.items)}", count(found.grades)
    if found.pair is None:
        every = " for every system" if systems > 1 else ""
        drawn = plural(unit if found.shared else "output", found.items)
        what = f"{found.items} random {drawn}{every}"
        left = f"{outputs} {plural('output', found.grades)} without a grade yet"
        return f"Next: grade {what} ({left}).", Needed(found.grades, f"human grades, on {what}")

    a, b = found.pair
    if not found.enough:
        all_ = f"all {count(found.most)} {plural(unit, found.most)}"
        return (
            f"Next: even {all_} may not settle {a} against {b}.",
            Needed(None, f"items than {all_}"),
        )
    low, high = count(found.low), count(found.high)
    return (
        f"Next: grade {about(found.grades)} more outputs ({items}, {a} and {b})."
        f" {low if low == high else f'{low} to {high}'} are plausible.",
        Needed(found.grades, f"human grades, on {items} for {a} and {b}"),
    )


# The sentences about preferences: who wins against whom.


def preference_sentences(
    rows: Sequence[SystemRow], pairs: Sequence[SystemPairRow], following: str
) -> Sentences:
    """Say who wins, what the judges alone would have said, and what stays open."""
    parts, contrast = [], ""
    for row in rows:
        if isinstance(row.score, Unknown) or isinstance(row.interval, Unknown):
            continue
        win, _, lose = row.name.partition(" over ")
        value, ends = row.score, row.interval
        if value <= 0.5:
            win, lose, value = lose, win, 1 - value
            ends = replace(ends, low=1 - ends.high, high=1 - ends.low)
        sure = "wins" if any(p.settled and (p.a, p.b) == (win, lose) for p in pairs) else "may win"
        parts.append(f"{win} {sure} against {lose}: {percent_interval(value, ends)}")
        judged = 0.5 if isinstance(row.judge_only, Unknown) else row.judge_only
        if (judged - 0.5) * (row.score - 0.5) < 0 and not contrast:
            share = percent(max(judged, 1 - judged))
            contrast = f"Your judges alone say the opposite: {lose} would win {share}."
    left = [f"{row.a} against {row.b}" for row in pairs if not row.settled]
    return Sentences(
        answer="; ".join(parts[:MOST_NAMED]) + " (a tie counts half).",
        contrast=contrast,
        open=f"Not settled: {names_of(left)}." if left else "",
        next=following,
    )


def without_preferences(rows: Sequence[SystemRow], unit: str) -> tuple[Sentences, Needed]:
    """Say what the judges prefer, that it is no win rate, and what people should compare."""
    parts = [
        f"{row.name} in {percent(row.judge_only)}"
        for row in rows
        if not isinstance(row.judge_only, Unknown)
    ]
    grades = sum(min(FIRST_PREFERENCES, row.n_outputs) for row in rows)
    what = f"{min(FIRST_PREFERENCES, max(row.n_outputs for row in rows))} random {unit}s per pair"
    said = Sentences(
        answer=f"The judges prefer {names_of(parts)} of the {unit}s (a tie counts half).",
        contrast=_no_proof("win rate", "preference"),
        next=f"Next: let people compare {what}.",
    )
    return said, Needed(grades, f"human grades, on {what}")


def swap_note(swaps: Swaps) -> tuple[str, ...]:
    """Say how often judges changed their mind when the order was swapped."""
    if not swaps.items:
        return ()
    parts = [f"{judge} {percent(share)}" for judge, share in swaps.changed.items()]
    return (
        f"{count(swaps.items)} items were shown in both orders and averaged; judges changed their"
        f" answer on {', '.join(parts)} of them",
    )


# Where figures stand and still decide nothing: systems on other items.
#
# A system that was run on the easy questions only has an exact interval around the wrong number.


_ALIKE = 0.9
"""Share of the items of two systems that both were run on, from which they are compared."""


def with_other_items(result: ScoreResult, outputs: GradePanel) -> ScoreResult:
    """Return the result; if two systems were run on different items, neither is called better.

    What one system scores on its own items is known all the same: gates on one score stay.
    """
    least = (
        common_share(outputs) if not isinstance(result.pairs, Unknown) and result.pairs else None
    )
    if least is None or least >= _ALIKE:
        return result
    items, names = plural(outputs.unit, 2), [row.name for row in result.systems]
    doubted = with_doubt(
        replace(result, label_goal=None),
        Doubt(
            what="rows",
            why=f"show the systems on different {items}",
            seen=f"two of them have {percent(least)} in common",
            way_out=f"Run every system on the same {items}",
            assumption=f"the {items} of all systems are alike",
            needed=f"outputs of every system on the same {items}",
        ),
    )
    gates = tuple(
        before if parse_gate(before.expression, known=names).right is None else after
        for before, after in zip(result.gates, doubted.gates, strict=True)
    )
    return replace(doubted, gates=gates)


def common_share(outputs: GradePanel) -> float | None:
    """Return the smallest share of the items of two systems that both were run on.

    None where the items are not known row by row.
    """
    if outputs.item is None or len(outputs.systems) < 2:
        return None
    held = np.zeros((int(outputs.item.max(initial=-1)) + 1, len(outputs.systems)))
    held[outputs.item, outputs.system] = 1.0
    both = held.T @ held
    each, pairs = np.diag(both), np.triu_indices(len(both), 1)
    union = (each[:, None] + each[None, :] - both)[pairs]
    return float((both[pairs] / np.maximum(union, 1.0)).min())
