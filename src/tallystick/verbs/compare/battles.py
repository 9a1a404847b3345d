"""Battles: two models answer the same prompt and somebody names the winner, or a tie.

A table of battles has one row per battle: who met, who won, and, if it says so, on which prompt.
The winner is one column (arenas), three of 0 and 1 (Kaggle), or a number from 1 to 2 (AlpacaEval).
Each pair of models gets its win rate with an interval. No rating model is fitted: a rating assumes
that strength is one number, which battles need not show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from tallystick.errors import InputError, NotIdentifiable
from tallystick.results import Claims, Figure, Interval, Result, Sentences
from tallystick.results.numbers import Unit, count, p_value, percent, percent_interval
from tallystick.stats.battles import (
    Battles,
    battles,
    battles_by_item,
    battles_crossed,
    battles_of_pairs,
    shares,
)
from tallystick.stats.clusters import fewest_clusters
from tallystick.stats.intervals import Intervals
from tallystick.stats.maxt import holm
from tallystick.stats.pairs import agreeing
from tallystick.stats.signs import sign_p_value
from tallystick.table import Data, Roles, Table, is_missing, is_no_answer
from tallystick.table.panel_grades import preferred_side
from tallystick.table.reading_names import ROLE_NAMES, plain
from tallystick.verbs.compare.question import CompareQuestion
from tallystick.verbs.compare.result import EACH_ONCE, INDEPENDENT, NOT_TOLD

Sample: TypeAlias = Literal["battles", "prompts", "people", "both"]
"""What a new draw would change."""


@dataclass(frozen=True, slots=True)
class BattlePair:
    """Two models that met: how often *a* won, and how surely it is ahead.

    *win_rate* counts a tie by half. *a* is the model that won more often. A graded preference
    counts as won by the side that it leans to.
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
    first_place
        The share of decided battles that the model in the first place won; None if none was.
    """

    verb: ClassVar[str] = "compare"

    pairs: tuple[BattlePair, ...]
    models: tuple[str, ...]
    prompts: int | None
    alpha: float
    first_place: float | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Return the pairs."""
        listed = [field.name for field in fields(BattlePair) if field.name != "p_value"]
        return [{name: getattr(row, name) for name in listed} for row in self.pairs]

    def units(self) -> Mapping[str, Unit]:
        """Return what the columns of `rows` measure."""
        return {"win_rate": "share", "adjusted_p": "p"}

    def figures(self) -> tuple[Figure, ...]:
        """Return the win rates."""
        columns: dict[str, Sequence[Any]] = {
            "pair": [f"{row.a} against {row.b}" for row in self.pairs],
            "win_rate": [row.win_rate for row in self.pairs],
        }
        ends = [row.interval for row in self.pairs]
        return (Figure.forest("Win rates", columns, ends, unit="share"),)


def answer_battles(data: Data, question: CompareQuestion) -> BattlesResult:
    """Return the win rate of every pair that met.

    One battle per prompt: Tango's interval (the exact score under 20 battles) and the exact sign
    test, adjusted by Holm. Several per prompt: the prompts are the sample, with sign-flips. Where a
    column says who judged, and they judged several battles each, they are a sample too.
    """
    if question.gates or question.stop_early or question.metric:
        raise InputError("a table of battles takes no --metric, --gate or --stop-early")
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
    return _result(rows, table, question, sample)


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
    if sample == "battles":
        if not np.isin(d, (-1.0, 0.0, 1.0)).all():
            return shares(d, alpha=alpha)
        wins, losses = int((d > 0).sum()), int((d < 0).sum())
        return battles(wins, len(d) - wins - losses, losses, alpha=alpha)
    groups = table.people if sample == "people" else table.prompts
    assert groups is not None  # that is what the sample says
    try:
        if sample == "both" and table.people is not None:
            people = table.people[own]
            return battles_crossed(d, groups[own], people, rng=question.seed, alpha=alpha)
        return battles_by_item(d, groups[own], rng=question.seed, alpha=alpha)
    except NotIdentifiable:
        # Too few prompts: nothing is known of new ones, and nothing is claimed.
        rate, items = 0.5 + float(d.mean()) / 2, len(set(groups[own]))
        return Battles(win_rate=rate, low=0.0, high=1.0, p_value=1.0, items=items)


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
    wins, losses, rate = int((d > 0).sum()), int((d < 0).sum()), found.win_rate
    # The interval of a pair alone says what the sign test of the pair says.
    lead, p = np.array([rate - 0.5]), np.array([found.p_value])
    low, high = np.array([found.low - 0.5]), np.array([found.high - 0.5])
    ends = Intervals(low, high, level=1 - question.alpha, method="battles")
    shown = agreeing(ends, lead, p, question.alpha)[0]
    interval = replace(shown, low=0.5 + shown.low, high=0.5 + shown.high)
    if rate < 0.5:
        a, b, wins, losses, rate = b, a, losses, wins, 1 - rate
        interval = replace(interval, low=1 - interval.high, high=1 - interval.low)
    told = adjusted <= question.alpha
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


_FEWEST_IN_ORDER = 20
"""Battles from which on an order, or a place that wins, is no accident."""
_BIASED = 0.001
"""The p-value below which the first place (or the second) is said to win more often."""


def _order_of_places(table: BattleTable, first_place: float | None) -> tuple[str, ...]:
    """Warn of pairs in which one model always stood first, and of a place that wins more often."""
    uneven = []
    for i, (a, b) in enumerate(table.met):
        turned = table.turned[table.pairs == i]
        share = float(turned.mean())
        before, after = (b, a) if share > 0.5 else (a, b)
        if len(turned) < _FEWEST_IN_ORDER or abs(share - 0.5) <= 0.1:
            continue
        if share in (0.0, 1.0):
            return (
                f"{before} always stands before {after}. If the judge saw them in that order, one"
                " that prefers a place would give the same result: ask half of the battles in the"
                " other order",
            )
        uneven.append((before, after))

    wins, losses = table.by_place
    few = wins + losses < _FEWEST_IN_ORDER
    if first_place is None or few or not uneven or sign_p_value(wins, losses) > _BIASED:
        return ()
    place, share = ("first", first_place) if first_place > 0.5 else ("second", 1 - first_place)
    gains = uneven[0][0 if place == "first" else 1]
    return (
        f"the {place} place wins {percent(share)} of {count(wins + losses)} decided battles, and"
        f" {gains} stood there more often: ask as many battles in the other order",
    )


def _in_order(rows: Sequence[BattlePair]) -> tuple[str, ...]:
    """Return the models by their mean win rate over the others that they met, the best first."""
    rates: dict[str, list[float]] = {}
    for row in rows:
        rates.setdefault(row.a, []).append(row.win_rate)
        rates.setdefault(row.b, []).append(1 - row.win_rate)
    return tuple(sorted(rates, key=lambda name: (-float(np.mean(rates[name])), name)))


def _result(
    rows: list[BattlePair], table: BattleTable, question: CompareQuestion, sample: Sample
) -> BattlesResult:
    n, top = len(table.outcomes), rows[0]
    told = {(row.a, row.b) for row in rows if row.verdict != NOT_TOLD}
    rate = percent_interval(top.win_rate, top.interval)
    tail = f"{p_value(top.adjusted_p, alpha=question.alpha)}; a tie counts half"
    claims = Claims(_in_order(rows), told, what="model")
    if len(rows) == 1:
        why = f"{top.a} wins {rate} of {count(n)} battles ({tail})"
        said = Sentences(answer=claims.answer(why=why))
    else:
        said = Sentences(
            answer=claims.answer(),
            contrast=f"{count(len(told))} of {count(len(rows))} pairs are settled in {count(n)}"
            f" battles. The surest: {top.a} wins {rate} against {top.b} ({tail}).",
            open=claims.left() if told else "",
        )
    rests_on = [INDEPENDENT.format("prompts and people" if sample == "both" else sample)]
    people = () if table.people is None else set(table.people)
    if sample == "both" and len(people) < fewest_clusters(question.alpha):
        rests_on = [INDEPENDENT.format("prompts"), "others judge as these people do"]
    elif sample in ("prompts", "people"):
        rests_on.append(EACH_ONCE.format(sample))
    lost = table.unanswered
    blank = (f"{count(lost)} battles without a winner are left out",) if lost else ()
    wins, losses = table.by_place
    first_place = wins / (wins + losses) if wins + losses else None
    return BattlesResult(
        verdict=said.verdict,
        sentences=said,
        decision="decided" if len(told) == len(rows) else "undecided",
        n_items=n,
        assumptions=(
            *rests_on,
            "no rating model is fitted: each pair is compared by its own battles",
        ),
        warnings=(*blank, *_order_of_places(table, first_place)),
        seed=question.seed if sample != "battles" and isinstance(question.seed, int) else None,
        pairs=tuple(rows),
        models=tuple(sorted({name for row in rows for name in (row.a, row.b)})),
        prompts=None if table.prompts is None else len(set(table.prompts)),
        alpha=question.alpha,
        first_place=first_place,
    )


# What a table of battles says: who met, who won, on which prompt, and who was asked.
#
# The winner is written as a side (``model_a``, ``left``, ``1``), as a tie, as the name of the model
# that won, as a number from 1 (the first) to 2 (the second), or as three columns of 0 and 1. A
# battle without an answer is left out and counted.


_FIRST = frozenset({"model_a", "left", "model_1", "player_a", "generator_1"})
_SECOND = frozenset({"model_b", "right", "model_2", "player_b", "generator_2"})
_WINNER = frozenset({"winner", "won", "outcome", "preference", "preferred", "choice", "chosen"})
_PROMPTS = frozenset({"question_id", "item", "item_id", "prompt_id", "prompt", "instruction"})
_PEOPLE = frozenset(
    {*ROLE_NAMES["judge"], "user", "user_id", "evaluator", "evaluator_id", "judge_hash"}
)

_THREE = (
    frozenset({"winner_model_a", "winner_a"}),
    frozenset({"winner_model_b", "winner_b"}),
    frozenset({"winner_tie", "winner_draw"}),
)
"""Kaggle's columns: one is 1, the others are 0."""


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

    @property
    def by_place(self) -> tuple[int, int]:
        """How many battles the model in the first place won, and how many the other."""
        shown = np.where(self.turned, -self.outcomes, self.outcomes)
        return int((shown > 0).sum()), int((shown < 0).sum())


@dataclass(frozen=True)
class _Columns:
    """Who met, the one or three columns of the winner, the prompt and who judged."""

    first: str
    second: str
    winner: tuple[str, ...]
    prompt: str | None
    person: str | None

    @property
    def names(self) -> tuple[str, ...]:
        """All of them."""
        others = (name for name in (self.prompt, self.person) if name is not None)
        return (self.first, self.second, *self.winner, *others)


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
    own: dict[str, Any] = {"pair": (columns.first, columns.second), "vote": columns.winner[0]}
    if len(columns.winner) > 1:
        own = {"pair": (columns.first, columns.second, *columns.winner)}
    beside = {"item": columns.prompt, "annotator": columns.person}
    return {**own, **{role: name for role, name in beside.items() if name is not None}}


def read_battles(data: Data) -> BattleTable:
    """Read the battles of a table; a winner that is neither side nor a tie is refused."""
    columns = _columns(data.table)
    assert columns is not None  # `battle_columns` has said so
    cells = data.cells(*columns.names)
    first, second = ([str(one) for one in cells[name]] for name in (columns.first, columns.second))
    won = _outcomes(data, columns, cells, list(zip(first, second, strict=True)))
    kept = [row for row, one in enumerate(won) if one is not None]
    if not kept:
        raise InputError(f"{data.source}: column {columns.winner[0]!r} names no winner")
    if same := next((row for row in kept if first[row] == second[row]), None):
        raise InputError(f"{data.place(same + 1)}: model {first[same]!r} meets itself in a battle")

    # Each pair is put in one order, so that A against B and B against A are one question.
    keys = [(min(first[row], second[row]), max(first[row], second[row])) for row in kept]
    turned = np.array([first[row] != key[0] for row, key in zip(kept, keys, strict=True)])
    outcomes = np.array([won[row] for row in kept], dtype=np.float64)
    met = tuple(sorted(set(keys)))

    def named(column: str | None) -> npt.NDArray[Any] | None:
        return None if column is None else np.array([str(cells[column][row]) for row in kept])

    people = named(columns.person)
    return BattleTable(
        met=met,
        pairs=np.array([met.index(key) for key in keys], np.intp),
        outcomes=np.where(turned, -outcomes, outcomes),
        prompts=named(columns.prompt),
        people=None if people is None or len(set(people)) == len(people) else people,
        unanswered=len(won) - len(kept),
        turned=turned,
    )


def _columns(table: Table) -> _Columns | None:
    def one(names: frozenset[str]) -> str | None:
        return next((name for name in table.columns if plain(name) in names), None)

    first, second, winner = one(_FIRST), one(_SECOND), one(_WINNER)
    three = tuple(name for name in map(one, _THREE) if name is not None)
    if first is None or second is None or (winner is None and len(three) < len(_THREE)):
        return None
    return _Columns(
        first, second, three if winner is None else (winner,), one(_PROMPTS), one(_PEOPLE)
    )


def _outcomes(
    data: Data, columns: _Columns, cells: dict[str, list[Any]], met: Sequence[tuple[str, str]]
) -> list[float | None]:
    """Return 1 where the first won, -1 where the second did, a number between; None for no answer.

    A preference may be a number from 1 (the first) to 2 (the second), 0 for a tie. Zeros and ones
    alone do not say which side 0 is, so they are refused with all else that names no side.
    """
    rows = list(zip(*(cells[name] for name in columns.winner), strict=True))
    tokens = frozenset(data.rules.missing)
    blank = [any(is_missing(one, tokens) or is_no_answer(one) for one in row) for row in rows]
    given = [row for row, none in zip(rows, blank, strict=True) if not none]
    graded = len(columns.winner) == 1 and all(_is_grade(row[0]) for row in given)
    graded = graded and not {float(row[0]) for row in given} <= {0.0, 1.0}
    found: list[float | None] = []
    for place, (row, pair) in enumerate(zip(rows, met, strict=True)):
        if blank[place]:
            found.append(None)
        elif graded:
            found.append(3.0 - 2.0 * float(row[0]) if float(row[0]) else 0.0)
        else:
            side = _one_of_three(row) if len(row) > 1 else _side(row[0], pair)
            if side is None:
                raise InputError(
                    f"{data.place(place + 1)}: {', '.join(map(str, row))} names no winner. Write"
                    f" model_a, model_b or tie, or the name of the model that won ({pair[0]},"
                    f" {pair[1]})"
                )
            found.append(side)
    return found


def _is_grade(cell: Any) -> bool:
    try:
        return float(cell) == 0 or 1 <= float(cell) <= 2
    except (TypeError, ValueError):
        return False


def _one_of_three(marks: Sequence[Any]) -> float | None:
    """Return who won by the columns of the first, the second and the tie, of which one is 1."""
    words = [str(mark).strip().lower() for mark in marks]
    won = [word in _YES for word in words]
    if sum(won) != 1 or not set(words) <= _YES | _NO:
        return None
    return (1.0, -1.0, 0.0)[won.index(True)]


_YES, _NO = frozenset({"1", "1.0", "true"}), frozenset({"0", "0.0", "false"})


def _side(cell: Any, pair: tuple[str, str]) -> float | None:
    """Return who won by the name of a model or of a side."""
    word = str(cell).strip()
    if word in pair:
        return 1.0 if word == pair[0] else -1.0
    side = preferred_side(cell)
    return None if side is None else 2.0 * side - 1.0
