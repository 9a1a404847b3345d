"""One row per judge, and the judge that would be enough alone."""

from __future__ import annotations

from dataclasses import replace

from tallystick.results import Unknown
from tallystick.score import verdict as words
from tallystick.score.judges import alone, grade_judges, judges_unknown
from tallystick.score.question import ScoreQuestion
from tallystick.score.result import JudgeRow, Rate
from tallystick.score.scored import Scored
from tallystick.score.units import Units

__all__ = ["judge_rows"]


def judge_rows(scored: Scored, question: ScoreQuestion) -> tuple[tuple[JudgeRow, ...], str | None]:
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
