"""From data and a question to an answer about systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import seed_of
from tallystick.errors import InputError, TallystickError
from tallystick.results import (
    Decision,
    Gate,
    GateEstimate,
    GateOutcome,
    Interval,
    Needed,
    Result,
    Slice,
    Unknown,
    check_gates,
    parse_gate,
)
from tallystick.results.numbers import count
from tallystick.sampling.label_differences import SessionOrder
from tallystick.table import Capability, Data, Door, Roles, Table, Tally, answered, slice_labels
from tallystick.table.weights import refuse_weight
from tallystick.verbs.score.adjust import check_draw, covariate_rows, with_mix
from tallystick.verbs.score.grades import Units
from tallystick.verbs.score.judges import (
    Scored,
    estimated,
    favours,
    grade_judges,
    item_columns,
    judge_rows,
)
from tallystick.verbs.score.labelling import (
    FirstGrades,
    SettlePlan,
    first_grades,
    labelling,
    rows_by_item,
    settle_plan,
    spreads,
)
from tallystick.verbs.score.pairs import Known, ranked, sign_of
from tallystick.verbs.score.preferences import read_preferences, score_preferences, swap_note
from tallystick.verbs.score.question import ScoreQuestion, cases_of, demo
from tallystick.verbs.score.reading import Floats, Graded, read_outputs
from tallystick.verbs.score.result import (
    NOT_SETTLED,
    CriteriaResult,
    ScoreResult,
    SystemPairRow,
    SystemRow,
)
from tallystick.verbs.score.sessions import SessionDraws, needed_draws, session_draws, with_session
from tallystick.verbs.score.systems import System, board_of, breakdown
from tallystick.verbs.score.verdict import (
    ASSUMED_DRAW,
    NO_LABELS,
    assumptions,
    basis,
    criteria_verdict,
    first_needed,
    gate_hint,
    needed_of,
    sentences,
    warnings_of,
    with_other_items,
    without_labels,
)

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
        Roles (*item*, *system* or *systems*, *judges*, *truth*, *probability*, *covariate*,
        *criterion*, *weight*, *by*), the fields of `ScoreQuestion`, and the options of reading
        (*missing*, *truth_file*, *separator*, …).

    Examples
    --------
    The judge passes 84 % of the old outputs and 87 % of the new ones. People graded 40 of each.

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
    if data.roles.criterion is not None:
        return score_criteria(data, question, _one)
    return _one(data, question)


def _one(data: Data, question: ScoreQuestion) -> ScoreResult:
    """Answer one question about every system."""
    if len(data.roles.systems) == 2:
        return _preferences(data.fetched(), question)
    mix = question.mix()
    if data.in_engine and _needs_rows(data, question):
        data = data.fetched()
    sliced = mix is not None or (data.session is not None and data.roles.by is not None)
    outputs = read_outputs(
        data,
        scale=question.scale,
        judge_scale=question.judge_scale,
        turned=question.lower_is_better,
        sliced=sliced,
    )
    # The draws of a session stay as they were drawn.
    kept = np.ones(len(outputs.counts), bool) if data.session is not None else is_graded(outputs)
    lost = ungraded(outputs, kept)
    outputs = outputs if kept.all() else outputs.part(kept)
    if mix is not None:
        outputs = with_mix(outputs, mix, str(data.roles.by))
    complete = bool(outputs.n_labels == outputs.n and data.session is None)
    told = COMPLETE if complete and question.population is None else ""
    question = question.about(complete=complete)
    # Gates are parsed before the work, so that a misspelt one costs nothing.
    for text in question.gates:
        parse_gate(text, known=outputs.systems, measures=MEASURES)
    draws = None if data.session is None else session_draws(data, outputs, question)
    covariates = {name: values[kept] for name, values in _covariates(data, outputs).items()}
    result = score_outputs(outputs, question, covariates=covariates, draws=draws)
    gates = checked(question.gates, result, outputs.systems, lost=lost)
    result = replace(result, gates=gates, warnings=(*left_out_note(lost), *result.warnings))
    if told:
        result = replace(result, notes=(*result.notes, told))
    if draws is None and outputs.n_labels and mix is None:
        result = with_other_items(result, outputs)
    if draws is None or data.roles.by is None:
        return result
    slice_labels(data)  # refuses more slices than anybody reads
    return replace(result, slices=session_slices(draws, question))


def _needs_rows(data: Data, question: ScoreQuestion) -> bool:
    """Say whether the question needs outputs one by one, and not only counts of patterns."""
    roles = data.roles
    named = roles.probability or roles.covariate or roles.count or question.target_mix
    return bool(named or question.certified or data.rules.coerce)


def _preferences(data: Data, question: ScoreQuestion) -> ScoreResult:
    outputs, swaps = read_preferences(data)
    question = question.about(complete=bool(outputs.n_labels == outputs.n))
    result = score_preferences(outputs, question)
    note = swap_note(swaps)
    names = tuple(dict.fromkeys(name for pair in outputs.preferences for name in pair))
    gates = checked(question.gates, result, (*outputs.systems, *names))
    return replace(result, gates=gates, notes=() if note is None else (note,))


def _check(data: Data, question: ScoreQuestion) -> None:
    """Refuse options that contradict each other or the data."""
    roles = data.roles
    if not roles.judges:
        raise InputError(f"{data.source}: name the columns of judges (--judges)")
    if len(roles.systems) == 2:
        for name in ("probability", "covariate", "criterion"):
            if getattr(roles, name):
                raise InputError(f"{name} is not read with preferences: leave it out")
        if question.scale is not None or question.target_mix is not None:
            raise InputError("scale and target_mix are for grades, and these are preferences")
        if isinstance(data.held, Tally):
            raise InputError("preferences need rows: give the table itself")
    if data.session is not None and (roles.covariate or roles.criterion or question.target_mix):
        raise InputError(
            "--covariate, --criterion and --target-mix need human grades drawn at random, and these"
            " come from a labelling session, which draws what tells most. Leave them out, or have"
            " outputs that were drawn at random graded in a column of the table (--truth)"
        )
    if question.certified and roles.probability is not None:
        raise InputError(
            "certified intervals need outputs that were drawn uniformly, not with probabilities:"
            " leave out one of the two"
        )
    if question.target_mix is not None:
        if roles.by is None:
            raise InputError("target_mix gives the shares of slices: name their column (--by)")
        if question.certified:
            raise InputError("target_mix has no certified intervals: leave out one of the two")
    for one, said in (
        (question.certified, "score --certified"),
        (question.target_mix is not None, "score --target-mix"),
        (data.session is not None, "score from a session"),
        (not isinstance(data.held, Table), "score from counts"),
    ):
        if one:
            refuse_weight(roles, said)


def _covariates(data: Data, outputs: Graded) -> dict[str, Floats]:
    """Return the covariates, row by row."""
    names = data.roles.covariate
    if not names:
        return {}
    if isinstance(data.held, Tally):
        raise InputError("covariates belong to single outputs: give the table itself")
    values = data.numbers(*names)
    return {name: values[:, j] for j, name in enumerate(names)}


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which score answers a table with these roles, None if it cannot."""
    if roles.system is None or not roles.judges:
        return None
    return {
        "system": roles.system,
        "judges": roles.judges,
        "truth": roles.truth,
        "item": roles.item,
        "count": roles.count,
        "weight": roles.weight,
    }


CAPABILITY = Capability(
    verb="score",
    summary="How good are my systems, when judges grade every output and people only few?",
    question=ScoreQuestion,
    answer=answer,
    reads=(
        "system",
        "systems",
        "judges",
        "truth",
        "item",
        "probability",
        "covariate",
        "criterion",
        "count",
        "weight",
        "by",
    ),
    door=Door(verb="score", want="judges", repeats=True, outputs=True),
    applies=applies,
    items=item_columns,
    cases=cases_of,
    demo=demo,
    labelling=labelling,
)

# Outputs that neither a judge nor a person graded: most often there was nothing to grade.
#
# A score speaks of the graded outputs. A system that fails on its hard items has no grade there,
# and its score rises. So a gate that these outputs could turn stays open.


def is_graded(outputs: Graded) -> NDArray[np.bool_]:
    """Return which entries a score speaks of: all but those without any grade.

    Where people graded outputs of a system that no judge graded, labels speak for such outputs too,
    and they stay.

    Examples
    --------
    >>> none = np.nan
    >>> outputs = Graded(systems=("a",), judges=("x",), system=np.zeros(3, np.int64),
    ...     grades=np.array([[1.0], [0.0], [none]]), truth=np.array([1.0, none, none]),
    ...     counts=np.ones(3), pass_fail=True, votes=True)
    >>> is_graded(outputs).tolist(), ungraded(outputs, is_graded(outputs))
    ([True, True, False], {'a': (1, 3)})
    """
    unjudged = np.asarray(np.isnan(outputs.grades).all(axis=1))
    kept = np.ones(len(unjudged), np.bool_)
    for system in range(len(outputs.systems)):
        own = outputs.of(system)
        silent = own & unjudged
        if not outputs.known[silent].any() and not unjudged[own].all():
            kept = kept & ~silent
    return kept


def ungraded(outputs: Graded, kept: NDArray[np.bool_]) -> Mapping[str, tuple[int, int]]:
    """Return by system how many outputs nobody graded, and how many it has, where there are any."""
    lost, all_ = (outputs.by_system(outputs.counts * part) for part in (~kept, kept | ~kept))
    return {name: (int(lost[j]), int(all_[j])) for j, name in enumerate(outputs.systems) if lost[j]}


def left_out_note(lost: Mapping[str, tuple[int, int]]) -> tuple[str, ...]:
    """Say how many outputs are left out because nobody graded them."""
    if not lost:
        return ()
    whose = ", ".join(f"{count(n)} of {name}" for name, (n, _) in lost.items())
    return (
        f"outputs without any grade are left out: {whose}. If they failed, write the lowest grade"
        " there",
    )


# From outputs to the finished result: what was estimated, put into rows and words.


def score_outputs(
    outputs: Graded,
    question: ScoreQuestion,
    *,
    covariates: Mapping[str, Floats] | None = None,
    draws: SessionDraws | None = None,
) -> ScoreResult:
    """Score systems from their outputs.

    Parameters
    ----------
    outputs
        Grades and human grades.
    question
        What is asked.
    covariates
        Numbers per entry on which the judges' errors may depend.
    draws
        How the labels were drawn, where they come from a labelling session.
    """
    if draws is None:
        check_draw(outputs, question.label_draw)
    scored = estimated(outputs, question, draws=draws)
    if not any(one.score is not None for one in scored.systems):
        return _without_labels(scored, question)
    rows = covariate_rows(outputs, covariates or {}, scored.units, question.alpha)
    return replace(_with_labels(scored, question), covariates=rows)


def _with_labels(scored: Scored, question: ScoreQuestion) -> ScoreResult:
    outputs, units = scored.outputs, scored.units
    session = None if scored.draws is None else scored.draws.order
    known = ranked(scored.systems, scored.pairs, question.alpha, session)
    systems = system_rows(scored, question, known)
    pairs = pair_rows(scored, question)
    board = board_of(outputs, tuple(range(len(outputs.systems))))
    same = board is not None and board.complete
    graded = [one for one in scored.systems if one.score is not None]
    items = _graded_items(outputs)
    # Labels that favour some votes over others say nothing of how often a judge is right.
    partial = favours(outputs, question.alpha) if scored.draws is None else ()
    plan = open_pair(scored, pairs, known.contenders, question)
    only_one = len(outputs.systems) == 1
    settled = only_one or (len(graded) == len(outputs.systems) and len(known.contenders) == 1)
    settled = settled or (session is not None and session.winner is not None)
    first = None if settled else first_grades(outputs, board)
    said = sentences(
        systems, pairs, known.contenders, units, plan=plan, first=first, unit=outputs.unit
    )
    if session is not None:
        said = with_session(said, session, systems, pairs, units, question.alpha)
    worth = float(sum(one.worth for one in graded))
    told: tuple[SystemPairRow, ...] | Unknown = pairs
    if not pairs and len(outputs.systems) > 1 and len(graded) > 1:
        told = Unknown(outputs.no_items or "no pair of systems has human grades")
    graders, enough = judge_rows(scored, question)
    decision: Decision = "decided" if settled else "undecided"
    return ScoreResult(
        verdict=said.verdict,
        decision=decision,
        needed=None if settled else _needed(scored, plan, first),
        n_items=outputs.n,
        assumptions=assumptions(
            outputs, question, same_items=bool(pairs) and same, session=scored.draws is not None
        ),
        warnings=warnings_of(
            outputs,
            question,
            systems,
            partial=partial,
            complete=same or board is None,
        ),
        seed=seed_of(question.seed),
        systems=systems,
        pairs=told,
        tiers=known.tiers,
        contenders=known.contenders,
        judges=graders,
        partial=partial,
        enough=enough,
        n_labels=outputs.n_labels,
        labels_worth=worth,
        population=question.population or "these",
        scale=outputs.scale,
        judge_scale=outputs.judge_scale,
        turned=outputs.turned,
        alpha=question.alpha,
        sentences=said,
        basis=basis(outputs, question, pairs=len(pairs), worth=worth, items=items),
        label_goal=None
        if settled or session is not None or outputs.turned
        else _label_goal(outputs),
    )


def _needed(
    scored: Scored,
    plan: tuple[SystemPairRow, SettlePlan] | None,
    first: FirstGrades | None,
) -> Needed | None:
    """Return what would settle the order: of a session, the draws that it forecasts itself."""
    if scored.draws is not None and scored.draws.order is not None:
        return needed_draws(scored.draws.order)
    unit = scored.outputs.unit
    return needed_of(plan, unit=unit, single=False) or first_needed(first, unit)


def _without_labels(scored: Scored, question: ScoreQuestion) -> ScoreResult:
    """Say what the judges say, and claim no rank."""
    outputs, units = scored.outputs, scored.units
    systems = system_rows(scored, question, None)
    lost = breakdown(outputs.systems, scored.judges, units)
    board = board_of(outputs, tuple(range(len(outputs.systems))))
    first = first_grades(outputs, board)
    said = without_labels(systems, lost, units, first=first, unit=outputs.unit)
    none = Unknown("there are no human grades, and judges alone show no difference")
    return ScoreResult(
        verdict=said.verdict,
        decision="undecided",
        needed=first_needed(first, outputs.unit),
        n_items=outputs.n,
        assumptions=assumptions(outputs, question, same_items=False),
        warnings=warnings_of(outputs, question, systems, partial=(), complete=True),
        seed=seed_of(question.seed),
        systems=systems,
        pairs=none,
        tiers=(),
        contenders=(),
        judges=grade_judges(outputs, question),
        breakdown=lost,
        n_labels=0,
        labels_worth=Unknown("there are no human grades"),
        population=question.population or "these",
        scale=outputs.scale,
        judge_scale=outputs.judge_scale,
        turned=outputs.turned,
        alpha=question.alpha,
        sentences=said,
        basis="",
        label_goal=None if outputs.turned else "mean",
    )


def _label_goal(outputs: Graded) -> str:
    """Return what labels should aim at: the order where it can be drawn for, else the means."""
    if not outputs.pass_fail or outputs.item is None or outputs.coding is not None:
        return "mean"
    return "difference" if len(outputs.systems) == 2 else "best"


def _graded_items(outputs: Graded) -> int:
    """Return how many items have a human grade; 0 where items are not known."""
    if outputs.item is None:
        return 0
    _, first = np.unique(outputs.item[outputs.known], return_index=True)
    return round(float(outputs.counts[outputs.known][first].sum()))


# The number that a gate compares with its bar: a corrected score, or a difference of two.


MEASURES = ("score",)
"""What ``MEASURE(SYSTEM)`` may say."""


def checked(
    texts: Sequence[str],
    result: ScoreResult,
    names: Sequence[str],
    *,
    measures: Sequence[str] = MEASURES,
    lost: Mapping[str, tuple[int, int]] | None = None,
) -> tuple[GateOutcome, ...]:
    """Check every gate against a result; *lost* is what `ungraded` returns."""
    if not texts:
        return ()
    outcomes = check_gates(
        texts,
        margin=lambda gate: _with_ungraded(gate, result, lost or {}),
        known=names,
        measures=measures,
    )
    found = []
    for outcome in outcomes:
        one = [row for row in result.systems if f"score({row.name})" in outcome.expression]
        # More grades do not help where outputs are missing.
        if outcome.passed is None and one and one[0].name not in (lost or {}):
            outcome = replace(outcome, text=gate_hint(outcome.text, one[0]))
        found.append(outcome)
    return tuple(found)


def margin(gate: Gate, result: ScoreResult) -> GateEstimate:
    """Return what is known of ``left - right``, or of ``left``, with the interval that is shown.

    Grades that were turned round, because less is better, are turned back: a gate speaks of what
    the table holds.
    """
    found = _margin(gate, result)
    if not result.turned or isinstance(found.estimate, Unknown):
        return found
    low, high = result.scale or (0.0, 1.0)
    whole = low + high if gate.right is None else 0.0
    interval = found.interval
    if isinstance(interval, Interval):
        interval = replace(interval, low=whole - interval.high, high=whole - interval.low)
    return replace(found, estimate=whole - found.estimate, interval=interval)


def _with_ungraded(
    gate: Gate, result: ScoreResult, lost: Mapping[str, tuple[int, int]]
) -> GateEstimate:
    """Return what a gate compares, and what it would be if all missing outputs had one grade."""
    found = margin(gate, result)
    gone = [name for name in (gate.left, gate.right) if name is not None and name in lost]
    scores = [margin(Gate(name, ">=", None, 0.0), result).estimate for name in gone]
    known = [score for score in scores if not isinstance(score, Unknown)]
    if not gone or len(known) < len(gone) or isinstance(found.interval, Unknown):
        return found

    # A share f of missing outputs with the grade u moves a score s by f (u - s).
    shares = [lost[name][0] / lost[name][1] for name in gone]
    extremes = []
    worst, best = result.scale or (0.0, 1.0)
    for mine, theirs in ((worst, best), (best, worst)):
        shift = sum(
            share * (mine - score if name == gate.left else score - theirs)
            for name, share, score in zip(gone, shares, known, strict=True)
        )
        moved = replace(
            found.interval, low=found.interval.low + shift, high=found.interval.high + shift
        )
        estimate = found.estimate
        if not isinstance(estimate, Unknown):
            estimate += shift
        extremes.append(replace(found, estimate=estimate, interval=moved))
    shown = [f"{lost[name][0]:,} of {lost[name][1]:,} outputs of {name}" for name in gone]
    return replace(
        found,
        extremes=tuple(extremes),
        missing=f"{' and '.join(shown)} have no grade",
        way_out="if they failed, write the lowest grade there",
    )


def _margin(gate: Gate, result: ScoreResult) -> GateEstimate:
    """Return the same of the grades as they are scored."""
    units = Units(result.scale)
    single = result.scale or (0.0, 1.0)
    within = single if gate.right is None else (-units.width, units.width)

    def known(estimate: float | Unknown, interval: Interval | Unknown) -> GateEstimate:
        unit: Literal["share", "number"] = "share" if units.share else "number"
        return GateEstimate(estimate, interval, unit, within=within)

    if gate.right is None:
        row = result.system(gate.left)
        return known(row.score, row.interval)
    if isinstance(result.pairs, Unknown):
        return known(result.pairs, result.pairs)
    for pair in result.pairs:
        if (pair.a, pair.b) == (gate.left, gate.right):
            return known(pair.difference, pair.interval)
        if (pair.b, pair.a) == (gate.left, gate.right):
            turned = replace(pair.interval, low=-pair.interval.high, high=-pair.interval.low)
            return known(-pair.difference, turned)
    if gate.left == gate.right:
        return known(0.0, Interval(0.0, 0.0))
    none = Unknown(f"{gate.left} and {gate.right} do not both have human grades")
    return known(none, none)


# Several criteria per output, such as helpful, correct and safe: one answer for each.


def score_criteria(
    data: Data, question: ScoreQuestion, ask: Callable[[Data, ScoreQuestion], ScoreResult]
) -> Result:
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
            parts.append(Slice(label, ask(held, replace(question, alpha=level, gates=own))))
        except TallystickError as error:
            parts.append(Slice(label, str(error)))
    answers = [part.answer for part in parts if isinstance(part.answer, ScoreResult)]
    if not answers:
        raise InputError(str(parts[0].answer))
    said = [
        (str(part.label), part.answer if isinstance(part.answer, str) else part.answer.answer_line)
        for part in parts
    ]
    decided = all(one.decision == "decided" for one in answers) and len(answers) == len(parts)
    return CriteriaResult(
        verdict=criteria_verdict(said),
        decision="decided" if decided else "undecided",
        needed=next((one.needed for one in answers if one.needed is not None), None),
        n_items=sum(one.n_items for one in answers),
        assumptions=tuple(dict.fromkeys(text for one in answers for text in one.assumptions)),
        warnings=tuple(
            f"{part.label}: {text}"
            for part in parts
            if isinstance(part.answer, ScoreResult)
            for text in part.answer.warnings
        ),
        seed=answers[0].seed,
        criteria=tuple(parts),
        alpha=question.alpha,
        gates=_outcomes(question.gates, gates, parts),
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


def _outcomes(
    texts: Sequence[str], gates: Mapping[str, Mapping[str, str]], parts: Sequence[Slice]
) -> tuple[GateOutcome, ...]:
    """Return how each gate went, in the order typed."""
    found: dict[str, GateOutcome] = {}
    for part in parts:
        own = gates[str(part.label)]
        if own and not isinstance(part.answer, ScoreResult):
            raise InputError(f"gate {next(iter(own))!r}: {part.answer}")
        if isinstance(part.answer, ScoreResult):
            pairs = zip(own, part.answer.gates, strict=True)
            found |= {text: replace(gate, expression=text.strip()) for text, gate in pairs}
    return tuple(found[text] for text in texts)


# Slices of a labelling session: the same draws, read inside each slice.
#
# A session was drawn without looking at slices. Inside a stratum every output (or item) was equally
# likely, so those that fall into a slice are a uniform draw from that part of the stratum, whatever
# their number. Each slice is therefore scored on the strata cut by the slice, at alpha divided by
# the number of slices. Its rule of stopping speaks for all items together: inside a slice a session
# of the goals difference and best orders nobody, and shows how large the differences may be.


def session_slices(draws: SessionDraws, question: ScoreQuestion) -> tuple[Slice, ...]:
    """Answer for every slice of the outputs; blank ones come last, as one slice."""
    outputs = draws.outputs
    if outputs.slice is None:
        return ()
    codes = [code for code in range(len(outputs.slices)) if (outputs.slice == code).any()]
    codes += [-1] if (outputs.slice < 0).any() else []
    asked = replace(question, alpha=question.alpha / max(1, len(codes)))
    found = []
    for code in codes:
        label = None if code < 0 else outputs.slices[code]
        try:
            part = _part(draws, np.asarray(outputs.slice == code))
            found.append(Slice(label, score_outputs(part.outputs, asked, draws=part)))
        except TallystickError as error:
            found.append(Slice(label, str(error)))
    return tuple(found)


def _part(draws: SessionDraws, chosen: NDArray[np.bool_]) -> SessionDraws:
    """Return the draws inside a slice, with no evidence on who is better there."""
    outputs = draws.outputs.part(chosen)
    return replace(
        draws,
        outputs=outputs,
        stratum=draws.stratum[chosen],
        drawn=draws.drawn[chosen],
        apart=draws.apart[chosen],
        rows=None if draws.rows is None else rows_by_item(outputs),
        order=None if draws.order is None else _no_order(draws.order),
    )


def _no_order(order: SessionOrder) -> SessionOrder:
    return replace(
        order,
        winner=None,
        certain=False,
        live=np.ones_like(order.live),
        p_values=np.ones_like(order.p_values),
        left=0,
        missing=None,
        best=None,
    )


# One row per pair of systems, and the pair that keeps the first place open.


def pair_rows(scored: Scored, question: ScoreQuestion) -> tuple[SystemPairRow, ...]:
    """Return one row per pair, the one that is ahead first; settled pairs come first."""
    systems, units = scored.systems, scored.units
    rows = []
    for pair in scored.pairs:
        decided = sign_of(pair, question.alpha)
        ahead = decided > 0 if decided else pair.difference >= 0
        a, b = (pair.first, pair.second) if ahead else (pair.second, pair.first)
        sign = 1.0 if ahead else -1.0
        ends = sorted((sign * pair.interval.low, sign * pair.interval.high))
        interval = promised(
            units.sizes(replace(pair.interval, low=ends[0], high=ends[1])), question
        )
        gap = float(scored.judges[a] - scored.judges[b])
        rows.append(
            SystemPairRow(
                a=systems[a].name,
                b=systems[b].name,
                difference=units.size(sign * pair.difference),
                interval=interval,
                p_value=pair.p_value,
                adjusted_p=pair.adjusted_p,
                judge_only_difference=(
                    units.size(gap) if np.isfinite(gap) else Unknown("no judge graded one of them")
                ),
                verdict=f"{systems[a].name} is better" if decided else NOT_SETTLED,
                needed=pair.needed,
                common_labels=pair.common,
            )
        )
    rows.sort(key=lambda row: (not row.settled, row.adjusted_p, -row.difference))
    return tuple(rows)


def open_pair(
    scored: Scored,
    rows: Sequence[SystemPairRow],
    contenders: Sequence[str],
    question: ScoreQuestion,
) -> tuple[SystemPairRow, SettlePlan] | None:
    """Return the pair that keeps the first place open, and what would settle it."""
    leader = contenders[0] if contenders else None
    by_names = {
        frozenset((scored.systems[p.first].name, scored.systems[p.second].name)): p
        for p in scored.pairs
    }
    for row in sorted(rows, key=lambda row: row.difference):
        if not row.settled and leader in (row.a, row.b):
            pair = by_names[frozenset((row.a, row.b))]
            board = board_of(scored.outputs, (pair.first, pair.second))
            if board is None or scored.found is None or isinstance(pair.needed, Unknown):
                continue
            places = scored.found.place(pair.first), scored.found.place(pair.second)
            level = question.alpha / len(rows)
            sizes = [
                float(scored.found.few.forecast_pairs(*places, spread=spread, alpha=level)[0])
                for spread in spreads(question)
            ]
            plan = settle_plan(sizes, pair, pair.needed.items, partial(board.ungraded, (0, 1)))
            if plan is not None:
                return row, plan
    return None


# One row per system: its score, what judges alone would say, and how far they are off.


def system_rows(
    scored: Scored, question: ScoreQuestion, known: Known | None
) -> tuple[SystemRow, ...]:
    """Return one row per system: in the order of the ranking, or of the judges without labels."""
    count = len(scored.outputs.systems)
    if known is None:
        order = [int(s) for s in np.argsort(-np.nan_to_num(scored.judges, nan=-1.0), kind="stable")]
    else:
        order = [*known.order, *(s for s in range(count) if s not in known.rank)]
    rows = []
    for s in order:
        one = scored.systems[s]
        rank: tuple[int, int] | Unknown = Unknown("without human grades there is no ranking")
        if known is not None:
            rank = known.rank.get(s, (1, count))
        rows.append(_system_row(scored, s, one, question, rank))
    return tuple(rows)


def _system_row(
    scored: Scored,
    s: int,
    one: System,
    question: ScoreQuestion,
    rank: tuple[int, int] | Unknown,
) -> SystemRow:
    outputs, units = scored.outputs, scored.units
    raw = float(scored.judges[s])
    judged: float | Unknown = Unknown("no judge graded this system")
    if np.isfinite(raw):
        judged = units.value(raw)
    held: dict[str, Any]
    if one.score is None:
        none = Unknown(NO_LABELS)
        held = {"score": none, "interval": none, "bias": none, "bias_interval": none}
        held["labels_worth"] = none
    else:
        interval = promised(units.interval(one.interval), question)
        score = units.value(one.score)
        held = {"score": score, "interval": interval, "labels_worth": one.worth}
        # The bias is known as well as the score: the same interval, turned round.
        gap = judged if isinstance(judged, Unknown) else judged - score
        held["bias"] = gap
        held["bias_interval"] = (
            judged
            if isinstance(judged, Unknown)
            else replace(interval, low=judged - interval.high, high=judged - interval.low)
        )
    return SystemRow(
        name=one.name,
        judge_only=judged,
        n_outputs=one.n,
        n_labels=one.n_labels,
        rank_interval=rank,
        by_judge=_by_judge(outputs, s, scored.means, units),
        needed=one.needed,
        **held,
    )


def _by_judge(outputs: Graded, s: int, means: Floats, units: Units) -> dict[str, float | Unknown]:
    return {
        judge: (
            units.value(float(means[s, j]))
            if np.isfinite(means[s, j])
            else Unknown(f"{judge} never graded {outputs.systems[s]}")
        )
        for j, judge in enumerate(outputs.judges)
    }


def promised(interval: Interval, question: ScoreQuestion) -> Interval:
    """Return the interval with what it assumes, where nobody said how outputs were chosen."""
    if question.label_draw != "unknown":
        return interval
    return replace(interval, guarantee="under", assumption=ASSUMED_DRAW)
