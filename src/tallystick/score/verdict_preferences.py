"""The sentences of ``score`` about preferences: who wins against whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tallystick.results import (
    Interval,
    Needed,
    Sentences,
    Unknown,
    count,
    percent,
    percent_interval,
)
from tallystick.score.needed import SettlePlan
from tallystick.score.preferences import Swaps
from tallystick.score.result import SystemPairRow, SystemRow
from tallystick.score.verdict_next import next_step
from tallystick.score.verdict_words import MOST_NAMED, names_of

__all__ = ["first_preferences", "preference_sentences", "swap_note", "without_preferences"]

FIRST = 50
"""Random items that people should compare for each pair before anything can be forecast."""


def preference_sentences(
    rows: Sequence[SystemRow],
    pairs: Sequence[SystemPairRow],
    *,
    plan: tuple[SystemPairRow, SettlePlan] | None,
    unit: str = "item",
) -> Sentences:
    """Say who wins, what the judges alone would have said, and what stays open."""
    scored = [row for row in rows if not isinstance(row.score, Unknown)]
    return Sentences(
        answer=_win_rates(scored),
        contrast=_win_contrast(scored),
        open=_open_pairs(pairs),
        next=next_step(plan, unit, preferences=True),
    )


def _win_rates(scored: Sequence[SystemRow]) -> str:
    """Say the win rates of preferences."""
    parts = []
    for row in scored[:MOST_NAMED]:
        first, _, second = row.name.partition(" over ")
        if isinstance(row.interval, Interval) and isinstance(row.score, float):
            ahead = row.score > 0.5
            value = row.score if ahead else 1 - row.score
            ends = (
                row.interval
                if ahead
                else replace(row.interval, low=1 - row.interval.high, high=1 - row.interval.low)
            )
            win, lose = (first, second) if ahead else (second, first)
            sure = "wins" if ends.low > 0.5 else "may win"
            parts.append(f"{win} {sure} against {lose}: {percent_interval(value, ends)}")
    if not parts:
        return "There are no human preferences."
    return "; ".join(parts) + " (a tie counts half)."


def _win_contrast(scored: Sequence[SystemRow]) -> str:
    for row in scored:
        if isinstance(row.judge_only, Unknown) or isinstance(row.score, Unknown):
            continue
        if (row.judge_only - 0.5) * (row.score - 0.5) < 0:
            first, _, second = row.name.partition(" over ")
            win = first if row.judge_only > 0.5 else second
            share = max(row.judge_only, 1 - row.judge_only)
            return f"Your judges alone say the opposite: {win} would win {percent(share)}."
    return ""


def _open_pairs(pairs: Sequence[SystemPairRow]) -> str:
    left = [f"{row.a} against {row.b}" for row in pairs if not row.settled]
    return f"Not settled: {names_of(left)}." if left else ""


def without_preferences(rows: Sequence[SystemRow], unit: str) -> Sentences:
    """Say what the judges prefer, and that it is no win rate."""
    parts = [
        f"{row.name} in {percent(row.judge_only)}"
        for row in rows
        if not isinstance(row.judge_only, Unknown)
    ]
    return Sentences(
        answer=f"The judges prefer {names_of(parts)} of the {unit}s (a tie counts half).",
        contrast="That is not a win rate: no human preference says how far the judges are off.",
        next=f"Next: let people compare {_first(rows)} random {unit}s per pair.",
    )


def first_preferences(rows: Sequence[SystemRow], unit: str) -> Needed:
    """Return the same for the field *needed*."""
    grades = sum(min(FIRST, row.n_outputs) for row in rows)
    return Needed(grades, f"human grades, on {_first(rows)} random {unit}s per pair")


def _first(rows: Sequence[SystemRow]) -> int:
    return min(FIRST, max(row.n_outputs for row in rows))


def swap_note(swaps: Swaps) -> str | None:
    """Say how often judges changed their mind when the order was swapped."""
    if not swaps.items:
        return None
    parts = [f"{judge} {percent(share)}" for judge, share in swaps.changed.items()]
    return (
        f"{count(swaps.items)} items were shown in both orders and averaged; judges changed their"
        f" answer on {', '.join(parts)} of them"
    )
