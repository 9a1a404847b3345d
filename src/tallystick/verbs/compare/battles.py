"""Battles: two models answer the same prompt and somebody names the winner, or a tie.

A table of battles has one row per battle: who met, who won, and, if it says so, on which prompt.
Each pair of models gets its win rate with an interval. No rating model is fitted: a rating assumes
that strength is one number, which battles need not show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

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
from tallystick.stats.maxt import holm
from tallystick.stats.two_accuracies import exact_score, tango
from tallystick.table import Data, Roles, Table, is_missing, is_no_answer
from tallystick.table.reading_names import ROLE_NAMES, plain
from tallystick.verbs.compare.question import CompareQuestion
from tallystick.verbs.compare.result import NOT_TOLD

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


# What a table of battles says: who met, who won, on which prompt, and who was asked.
#
# The winner is written as a side (``model_a``, ``left``, ``1``), as a tie, or as the name of the
# model that won. A battle without an answer is left out and counted.


_FIRST = frozenset({"model_a", "left", "model_1", "player_a", "generator_1"})
_SECOND = frozenset({"model_b", "right", "model_2", "player_b", "generator_2"})
_WINNER = frozenset({"winner", "won", "outcome", "preference", "preferred", "choice", "chosen"})
_PROMPTS = frozenset({"question_id", "item", "item_id", "prompt_id", "prompt", "instruction"})
_PEOPLE = frozenset(
    {*ROLE_NAMES["judge"], "user", "user_id", "evaluator", "evaluator_id", "judge_hash"}
)

FIRST_WINS = frozenset({"model_a", "a", "left", "1", "model_1", "win"})
SECOND_WINS = frozenset({"model_b", "b", "right", "2", "model_2", "loss"})
TIES = frozenset({"tie", "tie (bothbad)", "both_bad", "bothbad", "both", "draw", "0"})


@dataclass(frozen=True, eq=False, kw_only=True)
class BattleTable:
    """Battles with an outcome.

    Parameters
    ----------
    met
        The pairs of models that met, each in the order of its names.
    pairs
        The place in *met* of each battle.
    outcomes
        1 if the first of the pair won, -1 if the second did, 0 for a tie.
    prompts, people
        On what and by whom each battle was decided; None where the table does not say, or where
        nobody decided more than one.
    unanswered
        Battles without a winner, which are left out.
    turned
        Whether the second of the pair stood in the first place.
    """

    met: tuple[tuple[str, str], ...]
    pairs: npt.NDArray[np.intp]
    outcomes: npt.NDArray[np.float64]
    prompts: npt.NDArray[Any] | None
    people: npt.NDArray[Any] | None
    unanswered: int
    turned: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class _Columns:
    first: str
    second: str
    winner: str
    prompt: str | None
    person: str | None


def is_battles(data: Data) -> bool:
    """Say whether the data has one row per battle."""
    return isinstance(data.held, Table) and is_battle_table(data.held)


def is_battle_table(table: Table, given: Roles | None = None) -> bool:
    """Say whether a table has one row per battle: two models and a winner.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.table import scan
    >>> row = {"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"]}
    >>> is_battle_table(scan(pa.table(row)))
    True
    """
    del given  # battles are told by their columns alone
    return _columns(table) is not None


def battle_columns(data: Data) -> dict[str, Any] | None:
    """Return which column of a table of battles has which role; None for any other table."""
    columns = _columns(data.held) if isinstance(data.held, Table) else None
    if columns is None:
        return None
    own = {"pair": (columns.first, columns.second), "vote": columns.winner}
    beside = {"item": columns.prompt, "annotator": columns.person}
    return {**own, **{role: name for role, name in beside.items() if name is not None}}


def read_battles(data: Data) -> BattleTable:
    """Read the battles of a table; a winner that is neither side nor a tie is refused."""
    columns = _columns(data.table)
    if columns is None:
        raise InputError(f"{data.source} is not a table of battles")
    cells = data.cells(*(name for name in columns.__dict__.values() if name is not None))
    tokens = frozenset(data.rules.missing)
    kept = [
        row
        for row, cell in enumerate(cells[columns.winner])
        if not is_missing(cell, tokens) and not is_no_answer(cell)
    ]
    if not kept:
        raise InputError(f"{data.source}: column {columns.winner!r} names no winner")

    first, second = (
        [str(cells[name][row]) for row in kept] for name in (columns.first, columns.second)
    )
    if first_same := next((a for a, b in zip(first, second, strict=True) if a == b), None):
        raise InputError(
            f"{data.source}: model {first_same!r} meets itself in a battle: correct the table"
        )
    outcomes = np.array(
        [
            _outcome(cells[columns.winner][row], a, b, f"{data.place(row + 1)}")
            for row, a, b in zip(kept, first, second, strict=True)
        ]
    )

    # Each pair is put in one order, so that A against B and B against A are one question.
    keys = [(min(pair), max(pair)) for pair in zip(first, second, strict=True)]
    turned = np.array([one != key[0] for one, key in zip(first, keys, strict=True)])
    met = tuple(sorted(set(keys)))
    numbers = {key: i for i, key in enumerate(met)}
    return BattleTable(
        met=met,
        pairs=np.array([numbers[key] for key in keys], np.intp),
        outcomes=np.where(turned, -outcomes, outcomes),
        prompts=_named(cells, columns.prompt, kept),
        people=_repeated(_named(cells, columns.person, kept)),
        unanswered=len(cells[columns.winner]) - len(kept),
        turned=turned,
    )


def _columns(table: Table) -> _Columns | None:
    def one(names: frozenset[str]) -> str | None:
        return next((name for name in table.columns if plain(name) in names), None)

    first, second, winner = one(_FIRST), one(_SECOND), one(_WINNER)
    if first is None or second is None or winner is None:
        return None
    return _Columns(first, second, winner, one(_PROMPTS), one(_PEOPLE))


def _outcome(cell: Any, first: str, second: str, place: str) -> float:
    word = str(cell).strip()
    low = word.lower()
    if word in (first, second):
        return 1.0 if word == first else -1.0
    if low in FIRST_WINS:
        return 1.0
    if low in SECOND_WINS:
        return -1.0
    if low in TIES:
        return 0.0
    raise InputError(
        f"{place}: {cell!r} names no winner. Write model_a, model_b or tie, or the name of the"
        f" model that won ({first}, {second})"
    )


def _named(
    cells: dict[str, list[Any]], column: str | None, kept: Sequence[int]
) -> npt.NDArray[Any] | None:
    return None if column is None else np.array([str(cells[column][row]) for row in kept])


def _repeated(people: npt.NDArray[Any] | None) -> npt.NDArray[Any] | None:
    """Return who decided each battle, None where nobody decided two."""
    return None if people is None or len(set(people)) == len(people) else people
