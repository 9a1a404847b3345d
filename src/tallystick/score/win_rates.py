"""Corrected win rates: preferences of judges on every item, and of people on few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tallystick._rng import seed_of
from tallystick.results import Interval, Unknown
from tallystick.score.consensus import consensus
from tallystick.score.judges import grade_judges
from tallystick.score.label_draw import check_draw, draw_of
from tallystick.score.needed import SettlePlan, for_precision, settle_plan
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.ranking import ranked
from tallystick.score.result import NOT_SETTLED, Rate, ScoreResult, SystemPairRow, SystemRow
from tallystick.score.system_pair import Places, SystemPair, inverted
from tallystick.score.systems import System, estimate_systems, judge_only, score_levels
from tallystick.score.verdict import NO_LABELS
from tallystick.score.verdict_basis import assumptions, basis, warnings_of
from tallystick.score.verdict_next import needed_of
from tallystick.score.verdict_preferences import (
    first_preferences,
    preference_sentences,
    without_preferences,
)
from tallystick.stats.adverse import AdverseEstimate
from tallystick.stats.multiplicity import holm

__all__ = ["score_preferences"]

NO_CLASS = "preferences have no good and no bad outputs"


def score_preferences(outputs: Outputs, question: ScoreQuestion) -> ScoreResult:
    """Score every pair of systems by the win rate of its first system, against one half.

    The difference of a pair is twice the win rate minus one: wins minus losses. p-values invert the
    interval of the win rate, and Holm's rule adjusts them for the number of pairs.
    """
    check_draw(outputs, question.label_draw)
    values = consensus(outputs)
    found = estimate_systems(outputs, values, question)
    judges = judge_only(outputs)
    scored = [s for s, one in enumerate(found) if one.score is not None]
    pairs = _pairs(outputs, values, found, scored, question)
    names = tuple(dict.fromkeys(name for pair in outputs.preferences for name in pair))
    rows = tuple(_row(outputs, s, one, float(judges[s]), question) for s, one in enumerate(found))
    shown = _pair_rows(outputs, pairs, judges, question)
    plan = _plan(outputs, pairs, shown, question)
    said = (
        preference_sentences(rows, shown, plan=plan, unit=outputs.unit)
        if scored
        else without_preferences(rows, outputs.unit)
    )
    contenders, tiers = _order(outputs, names, pairs, question)
    judge_rows = tuple(
        replace(row, tpr=_none(), tnr=_none(), per_system={})
        for row in grade_judges(outputs, values, question)
    )
    undecided = not scored or any(not row.settled for row in shown)
    chosen = draw_of(outputs)
    worth = float(sum(one.found.worth for one in found if one.found is not None))
    return ScoreResult(
        verdict=said.verdict,
        decision="undecided" if undecided else "decided",
        needed=needed_of(plan, unit=outputs.unit, single=True)
        if scored
        else first_preferences(rows, outputs.unit),
        n_items=outputs.n,
        assumptions=assumptions(outputs, question, same_items=False),
        warnings=warnings_of(outputs, question, rows, partial=(), chosen=chosen, complete=True),
        seed=seed_of(question.seed),
        systems=rows,
        pairs=shown if scored else Unknown("there are no human preferences"),
        tiers=tiers,
        contenders=contenders,
        judges=judge_rows,
        n_labels=outputs.n_labels,
        labels_worth=worth,
        population=question.population or "these",
        alpha=question.alpha,
        sentences=said,
        basis=(basis(outputs, question, pairs=len(shown), worth=worth, items=0) if scored else ""),
    )


def _none() -> Rate:
    return Rate(Unknown(NO_CLASS), Unknown(NO_CLASS))


def _pairs(
    outputs: Outputs,
    values: Floats,
    found: list[System],
    scored: Sequence[int],
    question: ScoreQuestion,
) -> list[SystemPair]:
    """Test every win rate against one half."""
    if not scored:
        return []
    levels = [score for score in score_levels(outputs, values, question) if score is not None]

    def holds(rows: Places, alpha: Floats) -> NDArray[np.bool_]:
        ends = [levels[row](alpha[i : i + 1])[1:] for i, row in enumerate(rows)]
        low, high = np.array(ends).reshape(-1, 2).T
        return (low <= 0.5) & (high >= 0.5)

    p_values = inverted(holds, len(scored))
    adjusted = holm(p_values)
    level = question.alpha / len(scored)
    at_level = estimate_systems(outputs, values, question, alpha=level)
    pairs = []
    for s, p, step in zip(scored, p_values, adjusted, strict=True):
        one, interval = found[s], _interval(at_level[s])
        ends = 2 * interval.low - 1, 2 * interval.high - 1
        score = float(one.score or 0.0)
        held = one.outlook  # of the win rate, of which the difference is twice
        if held is not None:
            between = None if held.between is None else 4 * held.between
            held = replace(held, variance=4 * held.variance, between=between)
        pairs.append(
            SystemPair(
                first=s,
                second=s,
                difference=2 * score - 1,
                interval=Interval(
                    *ends, 1 - question.alpha, interval.guarantee, None, interval.method
                ),
                p_value=p,
                adjusted_p=float(step),
                outlook=held,
                common=one.n_labels,
            )
        )
    return pairs


def _interval(system: System) -> Interval:
    return system.found.interval if system.found is not None else Interval(0.0, 1.0)


def _row(
    outputs: Outputs, s: int, one: System, judged: float, question: ScoreQuestion
) -> SystemRow:
    none = Unknown(NO_LABELS)
    known: float | Unknown = judged if np.isfinite(judged) else Unknown("no judge answered")
    score: float | Unknown = none
    interval: Interval | Unknown = none
    bias: float | Unknown = none
    ends: Interval | Unknown = none
    if one.found is not None and one.score is not None:
        score, interval = one.score, one.found.interval
        if isinstance(known, float):
            bias = known - score
            ends = replace(interval, low=known - interval.high, high=known - interval.low)
    return SystemRow(
        name=one.name,
        score=score,
        interval=interval,
        judge_only=known,
        bias=bias,
        bias_interval=ends,
        n_outputs=one.n,
        n_labels=one.n_labels,
        labels_worth=none if one.found is None else one.found.worth,
        rank_interval=Unknown("a pair has no rank: see tiers"),
        by_judge={},
        needed=for_precision(one, question.precision, question.alpha),
    )


def _pair_rows(
    outputs: Outputs, pairs: Sequence[SystemPair], judges: Floats, question: ScoreQuestion
) -> tuple[SystemPairRow, ...]:
    rows = []
    for pair in pairs:
        first, second = outputs.preferences[pair.first]
        ahead = pair.difference >= 0
        a, b = (first, second) if ahead else (second, first)
        sign = 1.0 if ahead else -1.0
        ends = sorted((sign * pair.interval.low, sign * pair.interval.high))
        settled = pair.adjusted_p <= question.alpha and not ends[0] < 0 < ends[1]
        if not settled:
            ends = [min(ends[0], 0.0), max(ends[1], 0.0)]
        rows.append(
            SystemPairRow(
                a=a,
                b=b,
                difference=abs(pair.difference),
                interval=replace(pair.interval, low=ends[0], high=ends[1]),
                p_value=pair.p_value,
                adjusted_p=pair.adjusted_p,
                judge_only_difference=sign * (2 * float(judges[pair.first]) - 1),
                verdict=f"{a} is better" if settled else NOT_SETTLED,
                needed=Unknown("see the win rate of the pair"),
                common_labels=pair.common,
            )
        )
    rows.sort(key=lambda row: (not row.settled, row.adjusted_p, -row.difference))
    return tuple(rows)


def _plan(
    outputs: Outputs,
    pairs: Sequence[SystemPair],
    rows: Sequence[SystemPairRow],
    question: ScoreQuestion,
) -> tuple[SystemPairRow, SettlePlan] | None:
    """Return the open pair that is nearest to being settled."""
    by_names = {frozenset(outputs.preferences[pair.first]): pair for pair in pairs}
    for row in rows:
        if row.settled:
            continue
        pair = by_names[frozenset((row.a, row.b))]
        level = question.alpha / len(rows)
        ungraded = partial(_ungraded, pair.common)
        plan = settle_plan(pair, level, ungraded, certified=question.certified)
        if plan is not None:
            return row, plan
    return None


def _ungraded(graded: int, items: int) -> int:
    """Return how many grades are missing: an item of two systems has one."""
    return items - graded


def _order(
    outputs: Outputs, names: tuple[str, ...], pairs: Sequence[SystemPair], question: ScoreQuestion
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return contenders and tiers, if every pair of systems was compared."""
    if not pairs or len(pairs) < len(names) * (len(names) - 1) // 2:
        return (), ()
    place = {name: i for i, name in enumerate(names)}
    wins = np.zeros(len(names))
    held = []
    for pair in pairs:
        a, b = (place[name] for name in outputs.preferences[pair.first])
        wins[a] += pair.difference
        wins[b] -= pair.difference
        held.append(replace(pair, first=a, second=b))
    systems = [
        System(name=name, found=_placed(wins[i], len(names)), outlook=None, n=0, n_labels=0)
        for i, name in enumerate(names)
    ]
    known = ranked(systems, held, question.alpha)
    return known.contenders, known.tiers


def _placed(wins: float, count: int) -> AdverseEstimate:
    """Return a stand-in estimate whose value orders the systems by wins minus losses."""
    value = 0.5 + wins / (2 * count)
    interval = Interval(0.0, 1.0)
    return AdverseEstimate(
        estimate=float(value), interval=interval, labels_only=interval, n_labels=0, worth=0.0
    )
