"""From data and a question to an answer about systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import seed_of
from tallystick.errors import InputError, TallystickError
from tallystick.results import GateOutcome, Needed, Result, Sentences, Slice, Unknown, parse_gate
from tallystick.table import Capability, Data, Door, Roles, Table, Tally, answered, slice_labels
from tallystick.table.panel_grades import GradePanel, read_outputs, read_preferences
from tallystick.table.weights import refuse_weight
from tallystick.verbs.score.judges import (
    DRAWN_BY_LABEL,
    favours,
    item_columns,
    judge_rows,
    judges_unknown,
)
from tallystick.verbs.score.pairs import first_grades
from tallystick.verbs.score.question import ScoreQuestion, demo
from tallystick.verbs.score.result import (
    MEASURES,
    CriteriaResult,
    ScoreResult,
    SystemPairRow,
    SystemRow,
    checked,
)
from tallystick.verbs.score.scored import NO_LABELS, Scored, estimated
from tallystick.verbs.score.systems import with_mix
from tallystick.verbs.score.verdict import (
    FROM_ENDS,
    assumptions,
    basis,
    grade_next,
    left_out_note,
    preference_sentences,
    sentences,
    swap_note,
    warnings_of,
    with_other_items,
    without_labels,
    without_preferences,
)

if TYPE_CHECKING:
    from tallystick.verbs.score.sessions import SessionDraws

COMPLETE = (
    "every output has a human grade: the doubt is about new items like these (--population these"
    " asks about these alone)"
)


def evaluate(source: Any, **options: Any) -> ScoreResult:
    """Say how good systems are when judges grade every output and people only few.

    Parameters
    ----------
    source
        A path, a frame, a mapping of columns, a Tally, …
    **options
        Roles (*item*, *system* or *systems*, *judges*, *truth*, *probability*,
        *criterion*, *weight*, *by*), the fields of `ScoreQuestion`, and the options of reading
        (*missing*, *truth_file*, *separator*, …).

    Examples
    --------
    The judge passes 84% of the old outputs and 87% of the new ones. People graded 40 of each.

    >>> rows = [
    ...     {"id": i, "system": system, "gpt": int(i % 100 < kind), "human": human}
    ...     for system, kind, good in (("old", 84, 80), ("new", 87, 60))
    ...     for i in range(400)
    ...     for human in [int(i % 100 < good) if i % 10 == 3 else None]
    ... ]
    >>> table = {name: [row[name] for row in rows] for name in rows[0]}
    >>> result = evaluate(table, system="system", judges="gpt", truth="human", item="id")
    >>> [(row.name, round(row.score, 3), round(row.judge_only, 3)) for row in result.systems]
    [('old', 0.756, 0.84), ('new', 0.578, 0.87)]
    """
    return answered(CAPABILITY, source, options)  # type: ignore[return-value]  # its own result


def answer(data: Data, question: ScoreQuestion) -> Result:
    """Answer from data that was read."""
    _check(data, question)
    return _one(data, question) if data.roles.criterion is None else _criteria(data, question)


def _one(data: Data, question: ScoreQuestion) -> ScoreResult:
    """Answer one question about every system."""
    certified = question.certified  # exact for a number of labels that was fixed beforehand
    if data.session and not certified:
        from tallystick.sampling.tasks import random_sample

        if random_sample(data.session, by_system=True):
            data = replace(data, session=None)  # labels like any others
    notes: tuple[str, ...] = ()
    lost: Mapping[str, tuple[int, int]] = {}
    mix = question.mix()
    if len(data.roles.systems) == 2:
        outputs, swaps = read_preferences(data)
        kept = np.ones(len(outputs.counts), np.bool_)
        notes = swap_note(swaps)
    else:
        outputs = read_outputs(
            data,
            scale=question.scale,
            judge_scale=question.judge_scale,
            turned=bool(question.lower_is_better),
            sliced=mix is not None,
            by_row=certified,
        )
        # The draws of a session stay as they were drawn.
        kept = np.ones(len(outputs.counts), bool) if data.session else is_graded(outputs)
        lost = ungraded(outputs, kept)
        outputs = outputs if kept.all() else outputs.part(kept)
    if mix is not None:
        outputs = with_mix(outputs, mix, str(data.roles.by))
    complete = bool(outputs.n_labels == outputs.n and data.session is None)
    if complete and question.population is None and not outputs.preferences:
        notes = (*notes, COMPLETE)
    question = question.about(complete=complete)

    # Gates are parsed before the work, so that a misspelt one costs nothing.
    competitors = dict.fromkeys(name for pair in outputs.preferences for name in pair)
    known = (*outputs.systems, *competitors)
    for text in question.gates:
        parse_gate(text, known=known, measures=MEASURES)
    draws = None
    if data.session is not None:
        from tallystick.verbs.score.sessions import session_draws

        draws = session_draws(data, outputs, question)
    result = score_outputs(outputs, question, draws)
    result = replace(
        result,
        gates=checked(question.gates, result, known, lost=lost),
        warnings=(*left_out_note(lost), *result.warnings),
        notes=notes,
    )
    judged = outputs.n_labels and draws is None and mix is None and not outputs.preferences
    return with_other_items(result, outputs) if judged else result


def _check(data: Data, question: ScoreQuestion) -> None:
    """Refuse options that contradict each other or the data."""
    roles, mix = data.roles, question.target_mix is not None
    preferences = len(roles.systems) == 2
    for_grades = roles.probability or roles.criterion or mix or question.scale is not None
    for wrong, text in (
        (
            preferences and (for_grades or isinstance(data.held, Tally)),
            "preferences are read from the rows of a table, without --probability, --criterion,"
            " --scale and --target-mix: leave these out",
        ),
        (
            data.session is not None and (roles.criterion or mix),
            "--criterion and --target-mix need human grades drawn at random, and these come from"
            " a labelling session, which draws what tells most. Leave them out, or have"
            " outputs that were drawn at random graded in a column of the table (--truth)",
        ),
        (
            question.certified and (mix or roles.probability is not None),
            "certified intervals need outputs drawn uniformly from the mix of the table: leave out"
            " --certified, or --probability and --target-mix",
        ),
        (
            mix and roles.by is None,
            "target_mix gives the shares of slices: name their column (--by)",
        ),
    ):
        if wrong:
            raise InputError(text)
    if question.certified or mix or data.session is not None or not isinstance(data.held, Table):
        refuse_weight(roles, "this score")


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which score answers a table with these roles, None if it cannot."""
    if roles.system is None or not roles.judges:
        return None
    named = ("system", "judges", "truth", "item", "count", "weight")
    return {name: getattr(roles, name) for name in named}


def _labelling(data: Data, *asked: Any) -> Any:
    """Return what a person should label: the engine of labels loads where it is asked for."""
    from tallystick.verbs.score.labelling import labelling

    return labelling(data, *asked)


CAPABILITY = Capability(
    verb="score",
    question=ScoreQuestion,
    answer=answer,
    reads=(
        "system",
        "systems",
        "judges",
        "truth",
        "item",
        "probability",
        "criterion",
        "count",
        "weight",
        "by",
    ),
    door=Door(verb="score", want="judges", repeats=True, outputs=True),
    applies=applies,
    items=item_columns,
    demo=demo,
    labelling=_labelling,
)


# Outputs that neither a judge nor a person graded: most often there was nothing to grade.
#
# A score speaks of the graded outputs. A system that fails on its hard items has no grade there,
# and its score rises. So a gate that these outputs could turn stays open.


def is_graded(outputs: GradePanel) -> NDArray[np.bool_]:
    """Return which entries a score speaks of: all but those without any grade.

    Where people graded outputs of a system that no judge graded, labels speak for such outputs too,
    and they stay.

    Examples
    --------
    >>> none = np.nan
    >>> outputs = GradePanel(systems=("a",), judges=("x",), system=np.zeros(3, np.int64),
    ...     grades=np.array([[1.0], [0.0], [none]]), truth=np.array([1.0, none, none]),
    ...     counts=np.ones(3), pass_fail=True, votes=True)
    >>> is_graded(outputs).tolist(), ungraded(outputs, is_graded(outputs))
    ([True, True, False], {'a': (1, 3)})
    """
    unjudged = np.isnan(outputs.mean_grade)
    kept = np.ones(len(unjudged), np.bool_)
    for system in np.unique(outputs.system[unjudged]).tolist():
        own = outputs.of(system)
        silent = own & unjudged
        if not outputs.known[silent].any() and not unjudged[own].all():
            kept = kept & ~silent
    return kept


def ungraded(outputs: GradePanel, kept: NDArray[np.bool_]) -> Mapping[str, tuple[int, int]]:
    """Return by system how many outputs nobody graded, and how many it has, where there are any."""
    lost = outputs.by_system(outputs.counts * ~kept)
    return {
        name: (int(n), int(size))
        for name, n, size in zip(outputs.systems, lost, outputs.sizes, strict=True)
        if n
    }


# From outputs to the finished result: what was estimated, put into rows and words.


def score_outputs(
    outputs: GradePanel, question: ScoreQuestion, draws: SessionDraws | None = None
) -> ScoreResult:
    """Score systems, or the win rates of preferences, from their outputs.

    Parameters
    ----------
    outputs
        Grades and human grades.
    question
        What is asked.
    draws
        How the labels were drawn, where they come from a labelling session.
    """
    blank = outputs.n - outputs.n_labels
    if draws is None and question.label_draw == "all" and blank:
        raise InputError(
            f"label_draw all says that every output has a human grade, and {blank:,} of"
            f" {outputs.n:,} have none: fill them in, or say how they were chosen"
            " (--label-draw random or unknown)"
        )
    scored = estimated(outputs, question, draws)
    rows, pairs, units = scored.system_rows(), scored.pair_rows(), scored.units
    said, needed, settled = _spoken(scored, rows, pairs)
    # Labels that favour some votes over others say nothing of how often a judge is right.
    partial = favours(outputs, question.alpha) if draws is None and not outputs.preferences else ()
    judges, enough = (
        judge_rows(outputs, scored.systems, question, units)
        if draws is None
        else (judges_unknown(outputs, DRAWN_BY_LABEL), None)
    )
    known, worth = scored.known, float(sum(one.worth for one in scored.systems))
    assumed = assumptions(outputs, question, session=draws is not None)
    if scored.joint:
        assumed = (*assumed, FROM_ENDS)
    return ScoreResult(
        verdict=said.verdict,
        decision="decided" if settled else "undecided",
        needed=needed,
        n_items=outputs.n,
        assumptions=assumed,
        warnings=warnings_of(outputs, question, rows, partial=partial),
        seed=seed_of(question.seed),
        systems=rows,
        pairs=pairs or _no_pairs(scored),
        tiers=() if known is None else known.tiers,
        contenders=() if known is None else known.contenders,
        judges=judges,
        partial=partial,
        enough=enough,
        n_labels=outputs.n_labels,
        labels_worth=worth if scored.labelled else Unknown(NO_LABELS),
        population=question.population or "these",
        scale=outputs.scale,
        judge_scale=outputs.judge_scale,
        turned=outputs.turned,
        alpha=question.alpha,
        sentences=said,
        basis=basis(
            outputs,
            question,
            pairs=len(pairs),
            worth=worth,
            items=scored.graded_items,
        )
        if scored.labelled
        else "",
        label_goal=None if settled else scored.label_goal,
    )


def _no_pairs(scored: Scored) -> tuple[SystemPairRow, ...] | Unknown:
    """Return why there are no pairs; none are missed where fewer than two systems are graded."""
    if not scored.labelled:
        return Unknown(NO_LABELS)
    if sum(one.score is not None for one in scored.systems) < 2:
        return ()
    return Unknown(scored.outputs.no_items or "no pair of systems has human grades")


def _spoken(
    scored: Scored, rows: Sequence[SystemRow], pairs: Sequence[SystemPairRow]
) -> tuple[Sentences, Needed | None, bool]:
    """Return the sentences, what would settle what is open, and whether nothing is."""
    outputs, units, unit = scored.outputs, scored.units, scored.outputs.unit
    preferences = bool(outputs.preferences)
    if not scored.labelled and preferences:
        return *without_preferences(rows, unit), False
    first, k = first_grades(outputs, scored.board) if not preferences else None, len(rows)
    if not scored.labelled:
        text, needed = grade_next(first, k, unit)
        return without_labels(rows, units, following=text), needed, False

    text, needed = grade_next(scored.next_grades(pairs), k, unit)
    if preferences:
        return (
            preference_sentences(rows, pairs, text),
            needed,
            all(row.settled for row in pairs),
        )
    known, order = scored.known, None if scored.draws is None else scored.draws.order
    assert known is not None
    settled = len(known.contenders) == 1 or (order is not None and order.winner is not None)
    if needed is None and not settled:
        text, needed = grade_next(first, k, unit)
    said = sentences(rows, pairs, known.claims, units, following=text)
    if order is not None:
        from tallystick.sampling.duels import needed_draws
        from tallystick.verbs.score.sessions import with_session

        said = with_session(said, order, rows, pairs, units, scored.question.alpha)
        needed = needed_draws(order.missing, order.left)
    return said, None if settled else needed, settled


# Several criteria per output, such as helpful, correct and safe: one answer for each.


def _criteria(data: Data, question: ScoreQuestion) -> CriteriaResult:
    """Ask about every criterion, each at alpha divided by their number.

    A criterion that cannot be answered says why; the others stand. A gate names the criterion as
    its measure: ``helpful(new) >= helpful(old) - 0.02``.
    """
    column = str(data.roles.criterion)
    labels = slice_labels(replace(data, roles=replace(data.roles, by=column)))
    if None in labels:
        raise InputError(f"{data.source}: the criterion {column!r} is blank in some rows: name it")
    level = question.alpha / len(labels)
    gates = _by_criterion(question.gates, [str(label) for label in labels])
    parts: list[Slice] = []
    for label in labels:
        held = data.where(column, label)
        held = replace(held, roles=replace(held.roles, criterion=None))
        own = tuple(gates[str(label)].values())
        try:
            parts.append(Slice(label, _one(held, replace(question, alpha=level, gates=own))))
        except TallystickError as error:
            parts.append(Slice(label, str(error)))
    found = {str(one.label): one.answer for one in parts}
    answers = {name: one for name, one in found.items() if isinstance(one, ScoreResult)}
    if not answers:
        raise InputError(str(parts[0].answer))

    outcomes: dict[str, GateOutcome] = {}
    for name, own_gates in gates.items():
        if own_gates and name not in answers:
            raise InputError(f"gate {next(iter(own_gates))!r}: {found[name]}")
        for text, gate in zip(own_gates, answers[name].gates if own_gates else (), strict=True):
            outcomes[text] = replace(gate, expression=text.strip())
    said = [
        f"{name}: {one.opening.answer if isinstance(one, ScoreResult) else one}"
        for name, one in found.items()
    ]
    every = list(answers.values())
    decided = len(every) == len(parts) and all(one.decision == "decided" for one in every)
    return CriteriaResult(
        verdict=" ".join(said),
        decision="decided" if decided else "undecided",
        needed=next((one.needed for one in every if one.needed is not None), None),
        n_items=sum(one.n_items for one in every),
        assumptions=tuple(dict.fromkeys(text for one in every for text in one.assumptions)),
        warnings=tuple(f"{name}: {text}" for name, one in answers.items() for text in one.warnings),
        seed=every[0].seed,
        criteria=tuple(parts),
        alpha=question.alpha,
        gates=tuple(outcomes[text] for text in question.gates),
    )


def _by_criterion(texts: Sequence[str], labels: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the gates of each criterion: as they were typed, and as the criterion is asked."""
    found: dict[str, dict[str, str]] = {label: {} for label in labels}
    for text in texts:
        gate = parse_gate(text)
        if gate.measure is None or gate.measure not in found:
            raise InputError(
                f"with several criteria a gate names one, such as '{labels[0]}(new) > 0.8', got"
                f" {text!r}"
            )
        found[gate.measure][text] = str(replace(gate, measure="score"))
    return found
