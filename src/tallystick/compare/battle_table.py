"""What a table of battles says: who met, who won, on which prompt, and who was asked.

The winner is written as a side (``model_a``, ``left``, ``1``), as a tie, or as the name of the
model that won. A battle without an answer is left out and counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tallystick.data import Data, Roles
from tallystick.data.detect.names import VOTER_NAMES, plain
from tallystick.errors import InputError
from tallystick.io import Table
from tallystick.values import is_missing, is_no_answer

__all__ = ["BattleTable", "is_battle_table", "is_battles", "read_battles"]

_FIRST = frozenset({"model_a", "left", "model_1", "player_a", "generator_1"})
_SECOND = frozenset({"model_b", "right", "model_2", "player_b", "generator_2"})
_WINNER = frozenset({"winner", "won", "outcome", "preference", "preferred", "choice", "chosen"})
_PROMPTS = frozenset({"question_id", "item", "item_id", "prompt_id", "prompt", "instruction"})
_PEOPLE = (VOTER_NAMES - {"model"}) | {"user", "user_id", "evaluator", "evaluator_id", "judge_hash"}

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
    >>> from tallystick.io import scan
    >>> row = {"model_a": ["x"], "model_b": ["y"], "winner": ["model_a"]}
    >>> is_battle_table(scan(pa.table(row)))
    True
    """
    del given  # battles are told by their columns alone
    return _columns(table) is not None


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
