"""What an answer of ``score`` rests on: assumptions, one line on the numbers, and warnings."""

from __future__ import annotations

from collections.abc import Sequence

from tallystick.results import Unknown, about, count
from tallystick.sampling.random_draw import OddDraw
from tallystick.score.outputs import Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.result import Partial, SystemRow
from tallystick.score.verdict_words import MOST_NAMED, names_of, number_word, plural

__all__ = ["ASSUMED_DRAW", "assumptions", "basis", "warnings_of"]

ASSUMED_DRAW = "the graded outputs are like a random draw"


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
    outputs: Outputs,
    question: ScoreQuestion,
    rows: Sequence[SystemRow],
    *,
    partial: Sequence[Partial],
    chosen: OddDraw | None,
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
        found.append(chosen.warning)
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
