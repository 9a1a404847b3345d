"""One row per system: its score, what judges alone would say, and how far they are off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.results import Interval, Unknown
from tallystick.score import verdict as words
from tallystick.score.needed import for_precision
from tallystick.score.outputs import Floats, Outputs
from tallystick.score.question import ScoreQuestion
from tallystick.score.ranking import Known
from tallystick.score.result import SystemRow
from tallystick.score.scored import Scored
from tallystick.score.systems import System
from tallystick.score.units import Units
from tallystick.score.verdict_basis import ASSUMED_DRAW

__all__ = ["promised", "system_rows"]


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
    if one.found is None or one.score is None:
        none = Unknown(words.NO_LABELS)
        held = {"score": none, "interval": none, "bias": none, "bias_interval": none}
        held["labels_worth"] = none
    else:
        interval = promised(units.interval(one.found.interval), question)
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


def promised(interval: Interval, question: ScoreQuestion) -> Interval:
    """Return the interval with what it assumes, where nobody said how outputs were chosen."""
    if question.label_draw != "unknown":
        return interval
    return replace(interval, guarantee="under", assumption=ASSUMED_DRAW)
