"""Battles: two models answer the same prompt and somebody names the winner, or a tie.

A table of battles has one row per battle: who met, who won, and, if it says so, on which prompt.
Each pair of models gets its win rate with an interval. No rating model is fitted: a rating assumes
that strength is one number, which battles need not show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from tallystick.compare.exact_pair import exact_score
from tallystick.compare.pairs import tango
from tallystick.compare.question import CompareQuestion
from tallystick.compare.result import NOT_TOLD
from tallystick.data import Data
from tallystick.data.detect.names import plain
from tallystick.errors import InputError, NotIdentifiable
from tallystick.io import Table
from tallystick.results import Figure, Interval, Result
from tallystick.results.numbers import count, p_value, percent_interval
from tallystick.stats.battles import Battles, battles, battles_by_item, battles_of_pairs
from tallystick.stats.multiplicity import holm

__all__ = ["BattlePair", "BattlesResult", "answer_battles", "is_battle_table", "is_battles"]

_FIRST = frozenset({"model_a", "left", "model_1", "player_a", "generator_1"})
_SECOND = frozenset({"model_b", "right", "model_2", "player_b", "generator_2"})
_WINNER = frozenset({"winner", "won", "outcome", "preference"})
_PROMPTS = frozenset({"question_id", "item", "item_id", "prompt_id", "prompt", "instruction"})

FIRST_WINS = frozenset({"model_a", "a", "left", "1", "model_1", "win"})
SECOND_WINS = frozenset({"model_b", "b", "right", "2", "model_2", "loss"})
TIES = frozenset({"tie", "tie (bothbad)", "both_bad", "bothbad", "both", "draw", "0", "none"})


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


@dataclass(frozen=True, eq=False)
class _Columns:
    first: str
    second: str
    winner: str
    prompt: str | None


def is_battles(data: Data) -> bool:
    """Say whether the data has one row per battle."""
    return isinstance(data.held, Table) and is_battle_table(data.held)


def is_battle_table(table: Table) -> bool:
    """Say whether a table has one row per battle: two models and a winner.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from tallystick.io import scan
    >>> row = {"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"]}
    >>> is_battle_table(scan(pa.table(row)))
    True
    """
    return _columns(table) is not None


def answer_battles(data: Data, question: CompareQuestion) -> BattlesResult:
    """Return the win rate of every pair that met.

    One battle per prompt: Tango's interval (the exact score under 20 battles) and the exact sign
    test, adjusted by Holm. Several per prompt: the prompts are the sample, with sign-flips.
    """
    columns = _columns(data.table)
    if columns is None:
        raise InputError(f"{data.source} is not a table of battles")
    if question.gates or question.stop_early:
        raise InputError("a table of battles takes no --gate and no --stop-early")
    cells = data.cells(*(name for name in columns.__dict__.values() if name is not None))
    outcomes = _outcomes(cells[columns.winner], data, columns.winner)
    first, second = (
        [str(cell) for cell in cells[name]] for name in (columns.first, columns.second)
    )
    prompts = None if columns.prompt is None else np.array([str(c) for c in cells[columns.prompt]])

    # Each pair is put in one order, so that A against B and B against A are one question.
    keys = [tuple(sorted(pair)) for pair in zip(first, second, strict=True)]
    turned = np.array([one != key[0] for one, key in zip(first, keys, strict=True)])
    outcomes = np.where(turned, -outcomes, outcomes)
    met = sorted(set(keys))
    if any(a == b for a, b in met):
        raise InputError(f"{data.source}: a model meets itself in a battle: correct the table")
    numbers = {key: i for i, key in enumerate(met)}
    pairs = np.array([numbers[key] for key in keys])

    repeated = prompts is not None and len(set(zip(prompts, pairs, strict=True))) < len(pairs)
    found = [
        _pair(outcomes, pairs == i, prompts if repeated else None, question)
        for i in range(len(met))
    ]
    own = np.array([one.p_value for one in found])
    adjusted = _adjusted(outcomes, prompts, pairs, own, question, repeated=repeated)
    rows = [
        _row(met[i], outcomes[pairs == i], found[i], float(adjusted[i]), question)
        for i in range(len(met))
    ]
    rows.sort(key=lambda row: (row.adjusted_p, row.p_value, row.a))
    return _result(rows, len(outcomes), prompts, question, repeated=repeated)


def _columns(table: Table) -> _Columns | None:
    def one(names: frozenset[str]) -> str | None:
        return next((name for name in table.columns if plain(name) in names), None)

    first, second, winner = one(_FIRST), one(_SECOND), one(_WINNER)
    if first is None or second is None or winner is None:
        return None
    return _Columns(first, second, winner, one(_PROMPTS))


def _outcomes(cells: list[Any], data: Data, column: str) -> npt.NDArray[np.float64]:
    found = np.empty(len(cells))
    for row, cell in enumerate(cells):
        word = str(cell).strip().lower()
        if word in FIRST_WINS:
            found[row] = 1.0
        elif word in SECOND_WINS:
            found[row] = -1.0
        elif word in TIES:
            found[row] = 0.0
        else:
            raise InputError(
                f"{data.place(row + 1)}, column {column!r}: {cell!r} names no winner. Write"
                " model_a, model_b or tie"
            )
    return found


def _pair(
    outcomes: npt.NDArray[np.float64],
    own: npt.NDArray[np.bool_],
    prompts: npt.NDArray[Any] | None,
    question: CompareQuestion,
) -> Battles:
    d, alpha = outcomes[own], question.alpha
    if prompts is not None:
        try:
            return battles_by_item(d, prompts[own], rng=question.seed, alpha=alpha)
        except NotIdentifiable:
            # Too few prompts: nothing is known of new ones, and nothing is claimed.
            rate = 0.5 + float(d.mean()) / 2
            return Battles(
                win_rate=rate, low=0.0, high=1.0, p_value=1.0, items=len(set(prompts[own]))
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
    outcomes: npt.NDArray[np.float64],
    prompts: npt.NDArray[Any] | None,
    pairs: npt.NDArray[np.int64],
    own: npt.NDArray[np.float64],
    question: CompareQuestion,
    *,
    repeated: bool,
) -> npt.NDArray[np.float64]:
    """Adjust for all pairs: sign-flips over prompts that pairs share, else Holm."""
    if own.size == 1:
        return own
    if repeated and prompts is not None:
        try:
            found = battles_of_pairs(
                outcomes, prompts, pairs, rng=question.seed, alpha=question.alpha
            )
            return np.maximum(found.adjusted_p, own)
        except NotIdentifiable:
            return np.ones_like(own)
    return holm(own)


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


def _result(
    rows: list[BattlePair],
    n: int,
    prompts: npt.NDArray[Any] | None,
    question: CompareQuestion,
    *,
    repeated: bool,
) -> BattlesResult:
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
    unit = (
        "prompts are independent draws, and each counts once"
        if repeated
        else ("battles are independent of each other")
    )
    return BattlesResult(
        verdict=verb,
        decision="decided" if len(told) == len(rows) else "undecided",
        n_items=n,
        assumptions=(
            unit,
            "no rating model is fitted: each pair is compared by its own battles, and no order of"
            " all models is claimed",
        ),
        seed=None
        if not repeated
        else int(question.seed)
        if isinstance(question.seed, int)
        else None,
        pairs=tuple(rows),
        models=tuple(sorted({name for row in rows for name in (row.a, row.b)})),
        prompts=None if prompts is None else len(set(prompts)),
        alpha=question.alpha,
    )
