"""From outputs to the finished result: estimates, pairs, ranks, judges, and the words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tallystick._rng import seed_of
from tallystick.results import Decision, Interval, Needed, Unknown
from tallystick.score import verdict as words
from tallystick.score.board import board_of
from tallystick.score.consensus import consensus
from tallystick.score.covariate import covariate_rows
from tallystick.score.from_session import SessionDraws
from tallystick.score.judges import alone, favours, grade_judges, judges_unknown
from tallystick.score.label_draw import check_draw, chosen_by_consensus
from tallystick.score.mix import mixed_judges, mixed_systems
from tallystick.score.needed import SettlePlan, for_precision, pair_range, settle_plan
from tallystick.score.no_labels import breakdown
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.pairs import compare_pairs
from tallystick.score.question import ScoreQuestion
from tallystick.score.ranking import Known, ranked, sign_of
from tallystick.score.result import (
    NOT_SETTLED,
    JudgeRow,
    Rate,
    ScoreResult,
    SystemPairRow,
    SystemRow,
)
from tallystick.score.session_pairs import session_pairs
from tallystick.score.system_pair import SystemPair
from tallystick.score.systems import System, estimate_systems, judge_means, judge_only
from tallystick.score.units import Units
from tallystick.score.verdict_basis import ASSUMED_DRAW, assumptions, basis, warnings_of
from tallystick.score.verdict_next import first_grades, first_of, needed_of
from tallystick.score.verdict_session import needed_draws, with_session

__all__ = ["score_outputs"]

MOST_PAIRS = 5_000
"""Beyond 100 systems only the pairs of the leader and of neighbours are listed."""


@dataclass(frozen=True, eq=False)
class _Scored:
    """Everything that was estimated, before it is put into words."""

    outputs: Outputs
    values: Floats
    judges: Floats
    means: Floats
    systems: list[System]
    pairs: list[SystemPair]
    units: Units
    draws: SessionDraws | None = None


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
    values = consensus(outputs)
    if draws is None:
        check_draw(outputs, question.label_draw)
    if draws is not None:
        systems, judges = draws.systems(question.alpha), judge_only(outputs)
        pairs = session_pairs(draws, systems, question)
    elif shares is None:
        systems = estimate_systems(outputs, values, question)
        judges = judge_only(outputs)
        pairs = compare_pairs(outputs, values, systems, question)
    else:

        def mixed(alpha: float) -> list[System]:
            return mixed_systems(outputs, values, question, shares, alpha)

        systems, judges = mixed(question.alpha), mixed_judges(outputs, shares)
        pairs = compare_pairs(outputs, values, systems, question, estimates=mixed)
    units = Units(outputs.scale if not outputs.pass_fail else None)
    scored = _Scored(outputs, values, judges, judge_means(outputs), systems, pairs, units, draws)
    if not any(one.score is not None for one in systems):
        return _without_labels(scored, question)
    rows = covariate_rows(outputs, covariates or {}, units, question.alpha)
    return replace(_with_labels(scored, question), covariates=rows)


def _with_labels(scored: _Scored, question: ScoreQuestion) -> ScoreResult:
    outputs, units = scored.outputs, scored.units
    session = None if scored.draws is None else scored.draws.order
    known = ranked(scored.systems, scored.pairs, question.alpha, session)
    systems = _system_rows(scored, question, known)
    pairs = _pair_rows(scored, question)
    board = board_of(outputs, scored.values, tuple(range(len(outputs.systems))))
    same = board is not None and board.complete
    graded = [one for one in scored.systems if one.score is not None]
    items = _graded_items(outputs)
    # Labels that favour some votes over others say nothing of how often a judge is right.
    partial = favours(outputs, question.alpha) if scored.draws is None else ()
    plan = _plan(scored, pairs, known.contenders, question)
    said = words.sentences(systems, pairs, known.contenders, units, plan=plan, unit=outputs.unit)
    if session is not None:
        said = with_session(said, session, systems, pairs, units, question.alpha)
    worth = float(sum(one.found.worth for one in graded if one.found is not None))
    only_one = len(outputs.systems) == 1
    settled = only_one or (len(graded) == len(outputs.systems) and len(known.contenders) == 1)
    settled = settled or (session is not None and session.winner is not None)
    told: tuple[SystemPairRow, ...] | Unknown = pairs
    if not pairs and len(outputs.systems) > 1 and len(graded) > 1:
        told = Unknown(outputs.no_items or "no pair of systems has human grades")
    judge_rows, enough = _judges(scored, question)
    decision: Decision = "decided" if settled else "undecided"
    return ScoreResult(
        verdict=said.verdict,
        decision=decision,
        needed=_needed(scored, systems, None if settled else plan, settled=settled),
        n_items=outputs.n,
        assumptions=assumptions(
            outputs, question, same_items=bool(pairs) and same, session=scored.draws is not None
        ),
        warnings=warnings_of(
            outputs,
            question,
            systems,
            partial=partial,
            chosen=None
            if scored.draws is not None
            else chosen_by_consensus(outputs, scored.values),
            complete=same or board is None,
        ),
        seed=seed_of(question.seed),
        systems=systems,
        pairs=told,
        tiers=known.tiers,
        contenders=known.contenders,
        judges=judge_rows,
        partial=partial,
        enough=enough,
        n_labels=outputs.n_labels,
        labels_worth=worth,
        population=question.population,
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
    scored: _Scored,
    rows: Sequence[SystemRow],
    plan: tuple[SystemPairRow, SettlePlan] | None,
    *,
    settled: bool,
) -> Needed | None:
    """Return what would settle the order: of a session, the draws that it forecasts itself."""
    if scored.draws is not None and scored.draws.order is not None:
        return None if settled else needed_draws(scored.draws.order)
    outputs = scored.outputs
    few = first_grades(rows)
    if plan is None and few and not settled:
        return Needed(few, first_of(outputs.unit))
    return needed_of(
        plan,
        labels=outputs.n_labels,
        systems=len(outputs.systems),
        unit=outputs.unit,
        single=False,
    )


def _without_labels(scored: _Scored, question: ScoreQuestion) -> ScoreResult:
    """Say what the judges say, and claim no rank."""
    outputs, units = scored.outputs, scored.units
    systems = _system_rows(scored, question, None)
    lost = breakdown(outputs.systems, scored.judges, units)
    said = words.without_labels(systems, lost, units, outputs.unit)
    none = Unknown("there are no human grades, and judges alone show no difference")
    return ScoreResult(
        verdict=said.verdict,
        decision="undecided",
        needed=needed_of(
            None, labels=0, systems=len(outputs.systems), unit=outputs.unit, single=False
        ),
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
        population=question.population,
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


def _system_rows(
    scored: _Scored, question: ScoreQuestion, known: Known | None
) -> tuple[SystemRow, ...]:
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
    scored: _Scored,
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
    if one.found is None or one.score is None:
        none = Unknown(words.NO_LABELS)
        held = {"score": none, "interval": none, "bias": none, "bias_interval": none}
        held["labels_worth"] = none
    else:
        interval = _promised(units.interval(one.found.interval), question)
        score = units.value(one.score)
        held = {"score": score, "interval": interval, "labels_worth": one.found.worth}
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
        needed=for_precision(one, question.precision, question.alpha),
        **held,
    )


def _by_judge(outputs: Outputs, s: int, means: Floats, units: Units) -> dict[str, float | Unknown]:
    return {
        judge: (
            units.value(float(means[s, j]))
            if np.isfinite(means[s, j])
            else Unknown(f"{judge} never graded {outputs.systems[s]}")
        )
        for j, judge in enumerate(outputs.judges)
    }


def _promised(interval: Interval, question: ScoreQuestion) -> Interval:
    """Return the interval with what it assumes, where nobody said how outputs were chosen."""
    if question.label_draw != "unknown":
        return interval
    return replace(interval, guarantee="under", assumption=ASSUMED_DRAW)


def _pair_rows(scored: _Scored, question: ScoreQuestion) -> tuple[SystemPairRow, ...]:
    systems, units = scored.systems, scored.units
    rows = []
    for pair in scored.pairs:
        decided = sign_of(pair, question.alpha)
        ahead = decided > 0 if decided else pair.difference >= 0
        a, b = (pair.first, pair.second) if ahead else (pair.second, pair.first)
        sign = 1.0 if ahead else -1.0
        ends = sorted((sign * pair.interval.low, sign * pair.interval.high))
        interval = _promised(
            units.sizes(replace(pair.interval, low=ends[0], high=ends[1])), question
        )
        gap = float(scored.judges[a] - scored.judges[b])
        count = len(scored.pairs)
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
                needed=pair_range(pair, question.alpha / count),
                common_labels=pair.common,
            )
        )
    rows.sort(key=lambda row: (not row.settled, row.adjusted_p, -row.difference))
    return tuple(rows)


def _plan(
    scored: _Scored,
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
            level = question.alpha / max(1, len(rows))
            plan = settle_plan(pair, level, certified=question.certified)
            if plan is not None:
                return row, plan
    return None


def _judges(scored: _Scored, question: ScoreQuestion) -> tuple[tuple[JudgeRow, ...], str | None]:
    """Return every judge, and the one that would be enough alone."""
    if scored.draws is not None:
        return judges_unknown(scored.outputs, words.DRAWN_BY_LABEL), None
    rows = tuple(
        replace(row, bias=_in_units(row.bias, scored.units))
        for row in grade_judges(scored.outputs, scored.values, question)
    )
    single = {one.judge: one for one in alone(scored.outputs, scored.systems, question)}
    if not single:
        return rows, None
    rows = tuple(replace(row, wider=single[row.name].wider) for row in rows)
    best = min(single.values(), key=lambda one: one.wider)
    return rows, best.judge if best.enough else None


def _in_units(rate: Rate, units: Units) -> Rate:
    """Return a bias on the scale of the grades."""
    if isinstance(rate.estimate, Unknown) or isinstance(rate.interval, Unknown):
        return rate
    return Rate(units.size(rate.estimate), units.sizes(rate.interval))


def _graded_items(outputs: Outputs) -> int:
    """Return how many items have a human grade; 0 where items are not known."""
    if outputs.grid is not None:
        graded = np.append(outputs.known, False)[outputs.grid.entries].any(axis=1)
        return round(float(outputs.grid.counts[graded].sum()))
    if outputs.item is None:
        return 0
    return int(np.unique(outputs.item[outputs.known]).size)
