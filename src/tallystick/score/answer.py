"""From data and a question to an answer about systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.data import Capability, Data, Door, Roles, answered, slice_labels
from tallystick.errors import InputError
from tallystick.results import Result, parse_gate
from tallystick.score.assemble import score_outputs
from tallystick.score.cases import cases_of
from tallystick.score.criteria import score_criteria
from tallystick.score.demo import demo
from tallystick.score.from_session import session_draws
from tallystick.score.gates import MEASURES, checked
from tallystick.score.items import item_columns
from tallystick.score.label_draw import draw_of
from tallystick.score.labelling import labelling
from tallystick.score.mix import check_mix
from tallystick.score.no_verdict import with_chosen_grades, with_other_items
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.preferences import read_preferences
from tallystick.score.question import ScoreQuestion
from tallystick.score.reading import read_outputs
from tallystick.score.result import ScoreResult
from tallystick.score.session_slices import session_slices
from tallystick.score.ungraded import is_graded, left_out_note, ungraded
from tallystick.score.verdict_preferences import swap_note
from tallystick.score.win_rates import score_preferences
from tallystick.tally import Tally

__all__ = ["CAPABILITY", "answer", "evaluate"]


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
    [('old', 0.747, 0.84), ('new', 0.58, 0.87)]
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
        return _preferences(replace(data, held=data.table), question)
    mix = question.mix()
    if data.in_engine and _needs_rows(data, question):
        data = replace(data, held=data.table)
    sliced = mix is not None or (data.session is not None and data.roles.by is not None)
    outputs = read_outputs(
        data,
        scale=question.scale,
        judge_scale=question.judge_scale,
        turned=question.lower_is_better,
        sliced=sliced,
    )
    # Patterns of a tally, and the draws of a session, stay as they were counted.
    kept = np.ones(len(outputs.counts), bool)
    if outputs.grid is None and data.session is None:
        kept = is_graded(outputs)
    lost = ungraded(outputs, kept)
    outputs = outputs if kept.all() else outputs.part(kept)
    complete = bool(outputs.n_labels == outputs.n and data.session is None and mix is None)
    told = COMPLETE if complete and question.population is None else ""
    question = question.about(complete=complete)
    # Gates are parsed before the work, so that a misspelt one costs nothing.
    for text in question.gates:
        parse_gate(text, known=outputs.systems, measures=MEASURES)
    shares = None if mix is None else check_mix(outputs, mix, str(data.roles.by))
    draws = None if data.session is None else session_draws(data, outputs, question)
    covariates = {name: values[kept] for name, values in _covariates(data, outputs).items()}
    result = score_outputs(outputs, question, covariates=covariates, shares=shares, draws=draws)
    gates = checked(question.gates, result, outputs.systems, lost=lost)
    result = replace(result, gates=gates, warnings=(*left_out_note(lost), *result.warnings))
    if told:
        result = replace(result, notes=(*result.notes, told))
    if draws is None and outputs.n_labels and mix is None:
        result = with_other_items(with_chosen_grades(result, draw_of(outputs)), outputs)
    if draws is None or data.roles.by is None:
        return result
    slice_labels(data)  # refuses more slices than anybody reads
    return replace(result, slices=session_slices(draws, question))


def _needs_rows(data: Data, question: ScoreQuestion) -> bool:
    """Say whether the question needs outputs one by one, and not only counts of patterns."""
    roles = data.roles
    named = roles.probability or roles.covariate or roles.weight or question.target_mix
    return bool(named or question.certified or data.rules.coerce)


def _preferences(data: Data, question: ScoreQuestion) -> ScoreResult:
    outputs, swaps = read_preferences(data)
    question = question.about(complete=False)
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
        for name in ("probability", "weight", "covariate", "criterion"):
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
    if roles.weight is not None and roles.probability is not None:
        raise InputError("a row with a probability is one output: leave out weight")


def _covariates(data: Data, outputs: Outputs) -> dict[str, Floats]:
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
        "weight",
        "by",
    ),
    door=Door(want="judges", pivots=False, repeats=True, outputs=True),
    applies=applies,
    items=item_columns,
    cases=cases_of,
    demo=demo,
    labelling=labelling,
)
