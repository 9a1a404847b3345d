"""From outputs to the finished result: what was estimated, put into rows and words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tallystick._rng import seed_of
from tallystick.results import Decision, Needed, Unknown
from tallystick.score import verdict as words
from tallystick.score.board import board_of
from tallystick.score.covariate import covariate_rows
from tallystick.score.from_session import SessionDraws
from tallystick.score.judge_rows import judge_rows
from tallystick.score.judges import favours, grade_judges
from tallystick.score.label_draw import check_draw, draw_of
from tallystick.score.needed import FirstGrades, SettlePlan, first_grades
from tallystick.score.no_labels import breakdown
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.pair_rows import open_pair, pair_rows
from tallystick.score.question import ScoreQuestion
from tallystick.score.ranking import ranked
from tallystick.score.result import ScoreResult, SystemPairRow
from tallystick.score.scored import Scored, estimated
from tallystick.score.system_rows import system_rows
from tallystick.score.verdict_basis import assumptions, basis, warnings_of
from tallystick.score.verdict_next import first_needed, needed_of
from tallystick.score.verdict_session import needed_draws, with_session

__all__ = ["score_outputs"]


def score_outputs(
    outputs: Outputs,
    question: ScoreQuestion,
    *,
    covariates: Mapping[str, Floats] | None = None,
    shares: Floats | None = None,
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
    shares
        The share of each slice in the target mix; None for the mix of the table.
    draws
        How the labels were drawn, where they come from a labelling session.
    """
    if draws is None:
        check_draw(outputs, question.label_draw)
    scored = estimated(outputs, question, shares=shares, draws=draws)
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
    board = board_of(outputs, scored.values, tuple(range(len(outputs.systems))))
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
    said = words.sentences(
        systems, pairs, known.contenders, units, plan=plan, first=first, unit=outputs.unit
    )
    if session is not None:
        said = with_session(said, session, systems, pairs, units, question.alpha)
    worth = float(sum(one.found.worth for one in graded if one.found is not None))
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
            chosen=None if scored.draws is not None else draw_of(outputs),
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
    board = board_of(outputs, scored.values, tuple(range(len(outputs.systems))))
    first = first_grades(outputs, board)
    said = words.without_labels(systems, lost, units, first=first, unit=outputs.unit)
    none = Unknown("there are no human grades, and judges alone show no difference")
    return ScoreResult(
        verdict=said.verdict,
        decision="undecided",
        needed=first_needed(first, outputs.unit),
        n_items=outputs.n,
        assumptions=assumptions(outputs, question, same_items=False),
        warnings=warnings_of(outputs, question, systems, partial=(), chosen=None, complete=True),
        seed=seed_of(question.seed),
        systems=systems,
        pairs=none,
        tiers=(),
        contenders=(),
        judges=grade_judges(outputs, scored.values, question),
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


def _label_goal(outputs: Outputs) -> str:
    """Return what labels should aim at: the order where it can be drawn for, else the means."""
    if not outputs.pass_fail or outputs.item is None or outputs.counted:
        return "mean"
    return "difference" if len(outputs.systems) == 2 else "best"


def _graded_items(outputs: Outputs) -> int:
    """Return how many items have a human grade; 0 where items are not known."""
    if outputs.grid is not None:
        graded = np.append(outputs.known, False)[outputs.grid.entries].any(axis=1)
        return round(float(outputs.grid.counts[graded].sum()))
    if outputs.item is None:
        return 0
    return int(np.unique(outputs.item[outputs.known]).size)
