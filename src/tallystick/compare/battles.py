"""Battles: two models answer the same prompt and somebody names the winner, or a tie.

A table of battles has one row per battle: who met, who won, and, if it says so, on which prompt.
Each pair of models gets its win rate with an interval. No rating model is fitted: a rating assumes
that strength is one number, which battles need not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.compare.battle_table import BattleTable, read_battles
from tallystick.compare.exact_pair import exact_score
from tallystick.compare.pairs import tango
from tallystick.compare.question import CompareQuestion
from tallystick.compare.result import NOT_TOLD
from tallystick.data import Data
from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Figure, Interval, Result
from tallystick.results.numbers import count, p_value, percent_interval
from tallystick.stats.battles import (
    Battles,
    battles,
    battles_by_item,
    battles_of_pairs,
    crossed_test,
)
from tallystick.stats.clusters import fewest_clusters
from tallystick.stats.multiplicity import holm

__all__ = ["BattlePair", "BattlesResult", "answer_battles"]

Sample: TypeAlias = Literal["battles", "prompts", "people", "both"]
"""What a new draw would change."""


@dataclass(frozen=True, slots=True)
class BattlePair:
    """Two models that met: how often *a* won, and how surely it is ahead.

    *win_rate* counts a tie by half. *a* is the model that won more often.
    """

    a: str
    b: str
    wins: int
    ties: int
    losses: int
    win_rate: float
    interval: Interval
    p_value: float
    adjusted_p: float
    verdict: str


@dataclass(frozen=True, kw_only=True)
class BattlesResult(Result):
    """Who wins against whom; the verb ``compare`` on a table of battles.

    Parameters
    ----------
    pairs
        Every pair of models that met, the surest first.
    models
        All models, in the order of their names.
    prompts
        How many prompts there are; None where the table does not say.
    alpha
        One minus the level.
    """

    verb: ClassVar[str] = "compare"

    pairs: tuple[BattlePair, ...]
    models: tuple[str, ...]
    prompts: int | None
    alpha: float

    def rows(self) -> list[dict[str, Any]]:
        """Return the pairs."""
        return [
            {
                "a": row.a,
                "b": row.b,
                "wins": row.wins,
                "ties": row.ties,
                "losses": row.losses,
                "win_rate": row.win_rate,
                "interval": row.interval,
                "adjusted_p": row.adjusted_p,
                "verdict": row.verdict,
            }
            for row in self.pairs
        ]

    def figures(self) -> tuple[Figure, ...]:
        """Return the win rates."""
        return (
            Figure(
                kind="forest",
                title="Win rates, a tie counting half",
                columns={
                    "pair": [f"{row.a} against {row.b}" for row in self.pairs],
                    "win_rate": [row.win_rate for row in self.pairs],
                    "low": [row.interval.low for row in self.pairs],
                    "high": [row.interval.high for row in self.pairs],
                },
                roles={"name": "pair", "x": "win_rate", "low": "low", "high": "high"},
                unit="share",
            ),
        )


def answer_battles(data: Data, question: CompareQuestion) -> BattlesResult:
    """Return the win rate of every pair that met.

    One battle per prompt: Tango's interval (the exact score under 20 battles) and the exact sign
    test, adjusted by Holm. Several per prompt: the prompts are the sample, with sign-flips. Where a
    column says who judged, and they judged several battles each, they are a sample too.
    """
    if question.gates or question.stop_early:
        raise InputError("a table of battles takes no --gate and no --stop-early")
    table = read_battles(data)
    sample = _sample(table)
    found = [_pair(table, table.pairs == i, sample, question) for i in range(len(table.met))]
    own = np.array([one.p_value for one in found])
    adjusted = _adjusted(table, own, sample, question)
    rows = [
        _row(table.met[i], table.outcomes[table.pairs == i], one, float(adjusted[i]), question)
        for i, one in enumerate(found)
    ]
    rows.sort(key=lambda row: (row.adjusted_p, row.p_value, row.a))
    few = table.people is not None and len(set(table.people)) < fewest_clusters(question.alpha)
    return _result(rows, table, question, sample=sample, few=few)


def _sample(table: BattleTable) -> Sample:
    """Return what a new draw would change: battles, prompts, people, or prompts and people."""
    if table.people is not None:
        return "people" if table.prompts is None else "both"
    if table.prompts is None:
        return "battles"
    several = len(set(zip(table.prompts, table.pairs, strict=True))) < len(table.pairs)
    return "prompts" if several else "battles"


def _pair(
    table: BattleTable, own: npt.NDArray[np.bool_], sample: Sample, question: CompareQuestion
) -> Battles:
    d, alpha = table.outcomes[own], question.alpha
    if sample != "battles":
        groups = table.people if sample == "people" else table.prompts
        assert groups is not None  # that is what the sample says
        try:
            if sample == "both" and table.people is not None:
                return crossed_test(
                    d, groups[own], table.people[own], rng=question.seed, alpha=alpha
                )
            return battles_by_item(d, groups[own], rng=question.seed, alpha=alpha)
        except NotIdentifiable:
            # Too few prompts: nothing is known of new ones, and nothing is claimed.
            rate = 0.5 + float(d.mean()) / 2
            return Battles(
                win_rate=rate, low=0.0, high=1.0, p_value=1.0, items=len(set(groups[own]))
            )

    def score(b: int, c: int, n: int) -> tuple[float, float]:
        one = tango(b, c, n, alpha=alpha)[0]
        return one.low, one.high

    def exact(b: int, c: int, n: int) -> tuple[float, float]:
        one = exact_score(b, c, n, alpha=alpha)
        return one.low, one.high

    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    return battles(wins, len(d) - wins - losses, losses, paired=score, exact=exact)


def _adjusted(
    table: BattleTable, own: npt.NDArray[np.float64], sample: Sample, question: CompareQuestion
) -> npt.NDArray[np.float64]:
    """Adjust for all pairs: sign-flips over prompts that pairs share, else Holm."""
    if own.size == 1 or sample != "prompts" or table.prompts is None:
        return own if own.size == 1 else holm(own)
    try:
        found = battles_of_pairs(
            table.outcomes, table.prompts, table.pairs, rng=question.seed, alpha=question.alpha
        )
        return np.maximum(found.adjusted_p, own)
    except NotIdentifiable:
        return np.ones_like(own)


def _row(
    names: tuple[str, ...],
    d: npt.NDArray[np.float64],
    found: Battles,
    adjusted: float,
    question: CompareQuestion,
) -> BattlePair:
    a, b = names
    wins, losses = int((d > 0).sum()), int((d < 0).sum())
    rate, low, high = found.win_rate, found.low, found.high
    if rate < 0.5:
        a, b, wins, losses = b, a, losses, wins
        rate, low, high = 1 - rate, 1 - high, 1 - low
    interval = Interval(
        low, high, level=1 - question.alpha, guarantee="approximate", method="battles"
    )
    told = adjusted <= question.alpha and 0.5 not in interval
    return BattlePair(
        a=a,
        b=b,
        wins=wins,
        ties=len(d) - wins - losses,
        losses=losses,
        win_rate=rate,
        interval=interval,
        p_value=found.p_value,
        adjusted_p=adjusted,
        verdict=f"{a} is better" if told else NOT_TOLD,
    )


_RESTS_ON: dict[Sample, str] = {
    "battles": "battles are independent of each other",
    "prompts": "prompts are independent draws, and each counts once",
    "people": "the people who judged are independent draws, and each counts once",
    "both": "prompts and the people who judged are independent draws",
}


_FEWEST_IN_ORDER = 20
"""Battles of a pair from which on one order is no accident."""


def _one_order(table: BattleTable) -> tuple[str, ...]:
    """Warn of pairs in which one model always stood first: the place may have won."""
    fixed = []
    for i, (a, b) in enumerate(table.met):
        turned = table.turned[table.pairs == i]
        if len(turned) >= _FEWEST_IN_ORDER and turned.all() | ~turned.any():
            fixed.append((b, a) if turned[0] else (a, b))
    if not fixed:
        return ()
    first, second = fixed[0]
    more = "" if len(fixed) == 1 else f", and so in {count(len(fixed) - 1)} more pairs"
    return (
        f"{first} always stands before {second}{more}. If the judge saw them in that order, one"
        " that prefers a place would give the same result: ask half of the battles in the other"
        " order",
    )


def _result(
    rows: list[BattlePair],
    table: BattleTable,
    question: CompareQuestion,
    *,
    sample: Sample,
    few: bool,
) -> BattlesResult:
    n = len(table.outcomes)
    top = rows[0]
    told = [row for row in rows if row.verdict != NOT_TOLD]
    rate = percent_interval(top.win_rate, top.interval)
    tail = f"{p_value(top.adjusted_p, alpha=question.alpha)}; a tie counts half"
    if len(rows) == 1:
        head = (
            f"{top.a} beats {top.b}"
            if told
            else f"{top.a} and {top.b} cannot be told apart: {top.a} wins"
        )
        verb = f"{head} in {rate} of {count(n)} battles ({tail})."
    else:
        verb = (
            f"{count(len(told))} of {count(len(rows))} pairs of models are told apart in"
            f" {count(n)} battles. The surest: {top.a} wins {rate} against {top.b} ({tail})."
        )
    unit = _RESTS_ON[sample]
    if sample == "both" and few:
        unit = "prompts are independent draws; these people judged, and others may judge otherwise"
    lost = table.unanswered
    blank = (f"{count(lost)} battles without a winner are left out",) if lost else ()
    warnings = (*blank, *_one_order(table))
    return BattlesResult(
        verdict=verb,
        decision="decided" if len(told) == len(rows) else "undecided",
        n_items=n,
        assumptions=(
            unit,
            "no rating model is fitted: each pair is compared by its own battles, and no order of"
            " all models is claimed",
        ),
        warnings=warnings,
        seed=question.seed if sample != "battles" and isinstance(question.seed, int) else None,
        pairs=tuple(rows),
        models=tuple(sorted({name for row in rows for name in (row.a, row.b)})),
        prompts=None if table.prompts is None else len(set(table.prompts)),
        alpha=question.alpha,
    )
