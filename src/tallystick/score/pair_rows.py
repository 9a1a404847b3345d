"""One row per pair of systems, and the pair that keeps the first place open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from tallystick.results import Unknown
from tallystick.score.board import board_of
from tallystick.score.needed import SettlePlan, pair_range, settle_plan
from tallystick.score.question import ScoreQuestion
from tallystick.score.ranking import sign_of
from tallystick.score.result import NOT_SETTLED, SystemPairRow
from tallystick.score.scored import Scored
from tallystick.score.system_rows import promised

__all__ = ["open_pair", "pair_rows"]


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
            level = question.alpha / max(1, len(rows))
            board = board_of(scored.outputs, scored.values, (pair.first, pair.second))
            if board is None:
                continue
            ungraded = partial(board.ungraded, (0, 1))
            plan = settle_plan(pair, level, ungraded, certified=question.certified)
            if plan is not None:
                return row, plan
    return None
