"""The log of a dynamic benchmark: items, the rounds they belong to, and which model got them right.

*path*: the same items were tried in every round, each time on that round's model. *panel*: several
models were tried on the same items, which may have been collected in rounds. *rounds*: each round
has items of its own, tried on that round's model only.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Interval, Unknown, names_of
from tallystick.table import Data
from tallystick.table.reading_cells import ask_about_placeholder
from tallystick.table.words import as_word, read_times
from tallystick.verbs.dynamic.columns import (
    FIRST_WORDS,
    HELD_OUT,
    Columns,
    label,
    meaning,
    plain,
    read_marks,
    texts,
)

LogKind: TypeAlias = Literal["panel", "path", "rounds"]

ONE_ROUND = "all items"
"""What the only round of a log without rounds is called."""

_FEWEST_COMMON = 20
"""Items tried in every round from which on the others may be left out."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RoundLog:
    """A log in one of three shapes.

    Parameters
    ----------
    items
        One name per item.
    rounds, round_names
        Panel and rounds: the place of each item's round among *round_names*. Path: all zeros, and
        the names of the rounds in the order of *models*.
    models
        Panel: the models, the latest last. Path and rounds: one per round.
    errors, answered
        (models, items); an error only where the model answered.
    predictions, labels
        What the models said ("" for nothing), and what is true, where the log has it.
    held_out
        Whether the log says that its items are a random set that no round trained on.
    ordered
        Whether the rounds' names say their order.
    built_as
        Path: what the log calls the model of each round, without the round.
    """

    kind: LogKind
    items: tuple[str, ...]
    rounds: Array
    round_names: tuple[Any, ...]
    models: tuple[str, ...]
    errors: Array
    answered: Array
    predictions: Array | None = None
    labels: Array | None = None
    held_out: bool = False
    ordered: bool = True
    built_as: tuple[str, ...] = ()

    def items_of(self, place: int) -> Array:
        """Return which items the round at *place* was judged on."""
        return np.asarray((self.rounds == place) | (self.kind == "path"))

    def part(self, items: Array, models: Sequence[int] | None = None) -> RoundLog:
        """Return the log of some of its items, and of some of its models in this order."""
        rows = list(range(len(self.models))) if models is None else list(models)
        said = self.predictions
        return replace(
            self,
            items=tuple(np.array(self.items, dtype=object)[items].tolist()),
            rounds=self.rounds[items],
            models=tuple(self.models[k] for k in rows),
            errors=self.errors[rows][:, items],
            answered=self.answered[rows][:, items],
            predictions=None if said is None else said[rows][:, items],
            labels=None if self.labels is None else self.labels[items],
        )

    def together(self, where: Array) -> tuple[list[int], Array]:
        """Choose models and items among *where* such that each model answered each item.

        The models with the most answers are taken, as many answers as can be had together.
        """
        answered = self.answered[:, where]
        order = np.argsort(-answered.sum(axis=1), kind="stable").tolist()
        best = (0, 1)
        for many in range(1, len(order) + 1):
            full = int(answered[order[:many]].all(axis=0).sum())
            best = max(best, (many * full, many))
        chosen = sorted(order[: best[1]])
        here = where.copy()
        here[where] = answered[chosen].all(axis=0)
        return chosen, here


def log_of(data: Data, columns: Columns) -> tuple[RoundLog, tuple[str, ...]]:
    """Return the log that *data* holds, and notes on what was read into it.

    Examples
    --------
    >>> from tallystick.table import read
    >>> from tallystick.verbs.dynamic.columns import columns_of
    >>> from tallystick.verbs.dynamic.reading import DOOR
    >>> data = read({"item": list("xyxy"), "round": [1, 1, 2, 2], "correct": [1, 0, 0, 1]}, DOOR)
    >>> log, _ = log_of(data, columns_of(data))
    >>> log.kind, log.errors.tolist()
    ('path', [[False, True], [True, False]])
    """
    kept, notes = _rows(data, columns)
    order = rounds_of(data, columns.round, kept, ONE_ROUND)
    told = (_wide if columns.shape == "wide" else _long)(data, columns, kept, order.codes)
    if columns.truth is not None and told.truth is not None and told.said is not None:
        said = [one for one in told.said.tolist() if one]
        ask_about_placeholder(data.source, columns.truth, told.truth.tolist(), said, data.rules)
    kind: LogKind = "panel"
    if columns.shape == "long":
        notes += _copies(told, order)
        kind = _kind(told, len(order.names), declared=columns.held_out is not None)
    log = _spread(told, kind, order, columns)
    log, rest = _settled(log, in_rounds=columns.round is not None)
    return log, (*notes, *told.notes, *rest, *order.notes)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Answers:
    """One entry per answer: the item, the place of its round, who answered, and what.

    *right* is 1, 0, or -1 for no answer; *said* and *truth* are labels, where the log has them.
    """

    items: Array
    rounds: Array
    models: Array
    right: Array
    said: Array | None = None
    truth: Array | None = None
    notes: tuple[str, ...] = ()


# -- rows, and the cells of single columns


def _rows(data: Data, columns: Columns) -> tuple[Array, list[str]]:
    """Return the places of the rows that are used: with a true label, and held out."""
    notes = []
    if columns.truth is None:
        kept = np.arange(data.table.query("select count(*) from rows")[0][0])
    else:
        known = np.array([label(cell) is not None for cell in _cells(data, columns.truth)])
        kept = np.flatnonzero(known)
        if not kept.size:
            raise InputError("no item has a true label: name the column that holds them (--truth)")
        if kept.size < known.size:
            what = "items" if columns.shape == "wide" else "rows"
            blank = known.size - kept.size
            notes.append(f"{blank:,} of {known.size:,} {what} have no true label and are left out")
    if columns.held_out is not None:
        # Collected items were chosen because a model failed on them: they judge no round.
        held = _held_out(data, columns.held_out)[kept]
        if not held.any():
            raise InputError(f"column {columns.held_out!r} marks no item as held out")
        more = (
            f"{int(held.sum()):,} of {held.size:,} rows are held out by {columns.held_out!r}; the"
            " others judge no round and are not used"
        )
        notes += [] if held.all() else [more]
        kept = kept[held]
    return kept, notes


def _held_out(data: Data, column: str) -> Array:
    split = np.array([as_word(cell) in HELD_OUT for cell in _cells(data, column)])
    return split if split.any() else np.array(read_marks(data, column, "flag"), dtype=bool)


def _cells(data: Data, column: str) -> list[Any]:
    return data.cells(column)[column]


def _names(data: Data, column: str | None, kept: Array) -> list[str]:
    """Return names of items row by row; rows are numbered where no column names them."""
    if column is None:
        return [str(row + 1) for row in kept.tolist()]
    return texts(data, column, kept.tolist(), what="item")


def rounds_of(data: Data, column: str | None, kept: Array, one: str, **clock: Any) -> RoundOrder:
    """Return the rounds of rows in order; *one* is the name of the only round without a column."""
    if column is None:
        return RoundOrder(np.zeros(kept.size, dtype=np.int64), (one,))
    texts(data, column, kept.tolist(), what="round")
    cells = _cells(data, column)
    return order_rounds([cells[row] for row in kept.tolist()], **clock)


def _right(data: Data, column: str, kind: str) -> tuple[Array, str | None]:
    """Return 1 for right, 0 for wrong and -1 for nothing, row by row; and what was turned round."""
    told = read_marks(data, column, kind)
    # The words right and wrong mean themselves, also in a column that is called wrong.
    spoken = {label(cell) for cell in set(_cells(data, column))} - {None}
    plainly = all(meaning(one, "right") == (meaning(one, "wrong") is False) for one in spoken)
    turned = kind == "wrong"
    out = np.array([-1 if one is None else int(one != turned) for one in told])
    note = f"{column!r} says wrong: it is turned round, so that 0 is right"
    return out, note if turned and not plainly else None


# -- from cells to answers


def _wide(data: Data, columns: Columns, kept: Array, rounds: Array) -> _Answers:
    """Read one row per item and one column per model."""
    items = _names(data, columns.item, kept)
    if len(set(items)) < len(items):
        twice = next(name for k, name in enumerate(items) if name in items[:k])
        raise InputError(
            f"item {twice!r} has two rows: a wide log has one row per item. If each row is one"
            " answer, name the column that says right or wrong (--correct COLUMN)"
        )
    many = len(columns.models)
    known = _Answers(
        items=np.tile(np.array(items), many),
        rounds=np.tile(rounds, many),
        models=np.repeat(np.array(columns.models), kept.size),
        right=np.empty(0),
    )
    if columns.marks:
        kind = "wrong" if columns.turned else "right"
        read = [_right(data, name, kind) for name in columns.models]
        notes = tuple(note for _, note in read[:1] if note)
        return replace(known, right=np.concatenate([one[kept] for one, _ in read]), notes=notes)
    truth = np.tile(np.array(_labels(data, columns.truth or "", kept)), many)
    said = np.concatenate([_labels(data, name, kept) for name in columns.models])
    return replace(known, right=np.where(said == "", -1, said == truth), said=said, truth=truth)


def _long(data: Data, columns: Columns, kept: Array, rounds: Array) -> _Answers:
    """Read one row per item and model, or per item and round."""
    right, notes, said = _outcomes(data, columns, kept)
    models = ["the model"] * kept.size
    if columns.model is not None:
        models = texts(data, columns.model, kept.tolist(), what="model")
    return _Answers(
        items=np.array(_names(data, columns.item, kept)),
        rounds=rounds,
        models=np.array(models),
        right=right,
        truth=None if said is None else said[0],
        said=None if said is None else said[1],
        notes=notes,
    )


def _labels(data: Data, column: str, kept: Array) -> list[str]:
    """Return labels row by row, case and blanks aside; "" for no answer."""
    silent = {str(token) for token in data.rules.missing}
    cells = _cells(data, column)
    return ["" if str(cells[k]) in silent else label(cells[k]) or "" for k in kept.tolist()]


# -- from answers to a log


def _spread(told: _Answers, kind: LogKind, order: RoundOrder, columns: Columns) -> RoundLog:
    """Lay answers out as models x items."""
    names = list(dict.fromkeys(told.models.tolist()))
    heads, column = len(names), np.array([names.index(name) for name in told.models.tolist()])
    if kind != "panel":
        heads, column = len(order.names), told.rounds
    items = list(dict.fromkeys(told.items.tolist()))
    at = {name: k for k, name in enumerate(items)}
    grid = np.full((heads, len(items)), -1, dtype=np.int64)
    grid[column, [at[name] for name in told.items.tolist()]] = np.arange(told.items.size)
    first = np.array([places[places >= 0][0] for places in grid.T], dtype=np.int64)

    def laid(values: Array, nothing: Any) -> Array:
        return np.where(grid >= 0, values[grid], nothing)

    true = None
    if told.truth is not None:
        true = told.truth[first]
        if (laid(told.truth, "") != np.where(grid >= 0, true, "")).any():
            raise InputError("an item has different true labels in two of its rows: it has one")
    right = laid(told.right, -1)
    built = tuple(
        ", ".join(dict.fromkeys(told.models[told.rounds == k].tolist()))
        for k in range(len(order.names))
    )
    models = tuple(names) if kind == "panel" else _heads(built, order, columns.model is not None)
    return RoundLog(
        kind=kind,
        items=tuple(items),
        rounds=np.zeros(len(items), dtype=np.int64) if kind == "path" else told.rounds[first],
        round_names=order.names,
        models=models,
        errors=right == 0,
        answered=right >= 0,
        predictions=None if told.said is None else laid(told.said, ""),
        labels=true,
        held_out=columns.held_out is not None,
        ordered=order.ordered,
        built_as=built if kind == "path" else (),
    )


def _settled(log: RoundLog, *, in_rounds: bool) -> tuple[RoundLog, tuple[str, ...]]:
    """Return a path on the items answered in every round; a panel as it is, or as a path if its
    models are rounds by their names, on items of no round.
    """
    whole = np.asarray(log.answered.all(axis=0))
    lost = int((~whole).sum())
    if log.kind == "path":
        if not whole.any():
            raise InputError(
                "no item was answered in every round: rounds can only be compared on items that all"
                " of them were tried on"
            )
        note = f"{lost:,} items were not answered in every round and are left out"
        return log.part(whole), (note,) * (lost > 0)
    blank = int((~log.answered).sum())
    note = f"{blank:,} of {log.answered.size:,} answers are missing: models are compared on the"
    notes = (f"{note} items that they all answered",) * (blank > 0 and log.kind == "panel")
    keys = as_rounds(log.models) if log.kind == "panel" else None
    if keys is None:
        return log, notes
    names = tuple(sorted(log.models, key=lambda name: keys[name]))
    in_order = [log.models.index(name) for name in names]
    log = log.part(np.ones(whole.size, dtype=bool), in_order)
    if in_rounds or not whole.any():
        return log, notes  # items of rounds stay a panel; its latest model is the last round's
    log = replace(log.part(whole), kind="path", round_names=names, built_as=names)
    text = f"the models are taken for the rounds, in the order of their numbers: {', '.join(names)}"
    return replace(log, rounds=np.zeros(len(log.items), dtype=np.int64)), (*notes, text)


_ROUND_WORD = re.compile(
    "r(ound)?|v(ersion)?|iter(ation)?|step|checkpoint|ckpt|gen(eration)?|t|cycle|phase|wave"
)


def as_rounds(models: Sequence[str]) -> dict[str, tuple[int, ...]] | None:
    """Return the place of each model if the models are rounds by their names; None otherwise.

    >>> as_rounds(["base", "model_r10", "model_r2"])
    {'base': (-1,), 'model_r10': (10,), 'model_r2': (2,)}
    >>> as_rounds(["gpt4", "llama3"]), as_rounds(["m1", "m2"])
    (None, None)
    """
    first = [name for name in models if plain(name) in FIRST_WORDS]
    rest = [name for name in models if name not in first]
    alike = len({re.sub(r"\d+", "#", plain(name)) for name in rest}) == 1
    words = re.findall(r"[^\W\d_]+", plain(rest[0])) if rest else []
    keys = (
        numbered(rest)
        if alike and len(rest) > 1 and any(map(_ROUND_WORD.fullmatch, words))
        else None
    )
    return None if keys is None or len(first) > 1 else {**dict.fromkeys(first, (-1,)), **keys}


def _outcomes(
    data: Data, columns: Columns, kept: Array
) -> tuple[Array, tuple[str, ...], tuple[Array, Array] | None]:
    """Return who was right, notes, and the true labels with the answers where the log has both."""
    said = None
    if columns.truth is not None and columns.prediction is not None:
        true, told = (_labels(data, name, kept) for name in (columns.truth, columns.prediction))
        said = np.array(true), np.array(told)
    name = columns.wrong or columns.correct
    if name is None:
        if said is None:
            raise InputError("no column says right or wrong: name it (--correct COLUMN)")
        return np.where(said[1] == "", -1, said[0] == said[1]), (), said
    right, note = _right(data, name, "wrong" if columns.wrong else "right")
    right = right[kept]
    notes = (note,) if note else ()
    if said is None:
        return right, notes, said
    against = np.flatnonzero((right >= 0) & (said[1] != "") & ((said[0] == said[1]) != right))
    if against.size:
        k = int(against[0])
        raise InputError(
            f"{data.place(int(kept[k]) + 1)}: the answer {said[1][k]!r} to a true {said[0][k]!r}"
            f" is called {'right' if right[k] else 'wrong'} (so in {against.size:,} rows):"
            " correct them, or leave a column out (--ignore COLUMN)"
        )
    return right, notes, said


def _copies(told: _Answers, order: RoundOrder) -> list[str]:
    """Refuse two different rows of one answer; exact copies count once, and a note says so."""
    seen: dict[tuple[str, int, str], int] = {}
    keys = zip(told.items.tolist(), told.rounds.tolist(), told.models.tolist(), strict=True)
    for k, (item, number, model) in enumerate(keys):
        before = seen.setdefault((item, number, model), k)
        same = told.right[before] == told.right[k]
        if not same or (told.said is not None and told.said[before] != told.said[k]):
            of = "" if model == "the model" else f" for model {model!r}"
            raise InputError(
                f"item {item!r} has two rows{of} in {order.names[number]!r} that say different"
                " things: keep one. If two models are in one round, name their column (--models C)"
            )
    copies = told.items.size - len(seen)
    return [f"{copies:,} rows say the same as a row before and are left out"] if copies else []


def _kind(told: _Answers, rounds: int, *, declared: bool) -> LogKind:
    """Say whether items were tried in every round, in one of them, or by several models.

    A log that marks its held-out items is a path. Where only some items were tried in every round,
    the others are left out if enough are left.
    """
    items, places, models = told.items.tolist(), told.rounds.tolist(), told.models.tolist()
    homes = Counter(item for item, _ in set(zip(items, places, strict=True)))
    several = len(set(zip(items, models, strict=True))) > len(homes)
    if rounds == 1 or not (declared or max(homes.values()) > 1):
        return "panel" if several or rounds == 1 else "rounds"
    if len(set(zip(places, models, strict=True))) > rounds:
        raise InputError(
            "several models were tried on the same items in every round, and each has a history of"
            " its own: keep the rows of one model, or name the column of models (--by COLUMN)"
        )
    common = sum(many == rounds for many in homes.values())
    if not declared and 0 < common < min(_FEWEST_COMMON, len(homes) - common):
        raise InputError(
            f"only {common} of {len(homes):,} items were tried in every round. If some items are a"
            " fixed held-out set, mark them in a column (--held-out COLUMN)"
        )
    return "path"


def _heads(built: Sequence[str], order: RoundOrder, named: bool) -> tuple[str, ...]:
    """Return what the model of each round is called."""
    rounds = [round_name(name) for name in order.names]
    if not named:
        return tuple(f"the model of {one}" for one in rounds)
    if len(set(built)) == len(built):
        return tuple(built)
    return tuple(f"{who} ({one})" for who, one in zip(built, rounds, strict=True))


def round_name(name: Any) -> str:
    """Return what a round is called in a sentence.

    >>> round_name(3), round_name("Round 12"), round_name("pilot"), round_name("all items")
    ('round 3', 'Round 12', 'round pilot', 'all items')
    """
    text = str(name)
    return text if text.lower().startswith(("round", ONE_ROUND)) else f"round {text}"


def ends_of(intervals: Sequence[Interval | Unknown]) -> dict[str, list[float | None]]:
    """Return the columns *low* and *high* of a chart.

    >>> ends_of([Unknown("why")])
    {'low': [None], 'high': [None]}
    """
    ends = [tuple(one) if isinstance(one, Interval) else (None, None) for one in intervals]
    return {"low": [low for low, _ in ends], "high": [high for _, high in ends]}


# In which order rounds come, whatever people call them: numbers, dates or names.

_DIGITS = re.compile(r"\d+")
_YEAR = re.compile(r"(19|20)\d\d")


@dataclass(frozen=True, eq=False)
class RoundOrder:
    """The rounds in order, and the place in it of every row.

    Parameters
    ----------
    codes
        One place per row, from 0.
    names
        What each round is called: a number, a day or month, or a name.
    notes
        What was read into the cells.
    ordered
        Whether the names, or the times of their rows, say the order.
    """

    codes: Array
    names: tuple[Any, ...]
    notes: tuple[str, ...] = ()
    ordered: bool = True


def order_rounds(
    cells: Sequence[Any], *, when: Sequence[float] | None = None, clock: str = "time"
) -> RoundOrder:
    """Order rounds by number, by day, by the numbers in their names, or by time.

    Names that say no order stay as they appear, and no change over them is claimed.

    A date with a time counts as its day.

    Parameters
    ----------
    cells
        The round of each row.
    when, clock
        When each row was made, where that is known, and what that column is called: names without
        numbers are put in the order of the middle time of their rows.

    Examples
    --------
    >>> order_rounds(["10", "9", "9"]).names, order_rounds(["R10", "R9"]).names
    ((9, 10), ('R9', 'R10'))
    >>> order_rounds(["2024-03-02 10:00", "2024-03-01"]).names
    ('2024-03-01', '2024-03-02')
    """
    words = [str(cell).strip() for cell in cells]
    named: list[Any] | None = _numbers(cells) or _days(words)
    if named is not None:
        names = tuple(sorted(set(named)))
        return RoundOrder(_placed(named, names), names)

    seen = list(dict.fromkeys(words))
    keys = numbered(seen)
    if keys is not None:
        seen.sort(key=lambda word: keys[word])
        return RoundOrder(_placed(words, seen), tuple(seen))
    if when is not None:
        times = np.asarray(when, dtype=float)
        codes = _placed(words, seen)
        middle = {name: float(np.median(times[codes == k])) for k, name in enumerate(seen)}
        seen.sort(key=lambda word: middle[word])
        note = f"the rounds are in the order of {clock!r}: {names_of(seen, most=6)}"
        return RoundOrder(_placed(words, seen), tuple(seen), (note,))
    several = len(seen) > 1
    note = f"the names of the rounds do not say their order: {names_of(seen, most=6)}. Number them"
    return RoundOrder(_placed(words, seen), tuple(seen), (note,) * several, ordered=not several)


def numbered(names: Sequence[str]) -> dict[str, tuple[int, ...]] | None:
    """Return the numbers in names that differ by them alone (R9, v1.10, 2024-Q1); None otherwise.

    >>> numbered(["Q4 2023", "Q1 2024"])
    {'Q4 2023': (2023, 4), 'Q1 2024': (2024, 1)}
    """
    found: dict[str, tuple[int, ...]] = {}
    for name in names:
        digits = _DIGITS.findall(name)
        # The year comes first in time, wherever it stands in the name.
        digits.sort(key=lambda text: _YEAR.fullmatch(text) is None)
        found[name] = tuple(map(int, digits))
    lengths = {len(key) for key in found.values()}
    one_number = lengths == {1}
    alike = len({_DIGITS.sub("#", name) for name in names}) == 1
    # 03/02/2024: which is the day is not known, so its numbers are no order.
    dates = any(re.fullmatch(r"\d{1,2}([/.-])\d{1,2}\1\d{2,4}", name) for name in names)
    if not (one_number or (alike and 0 not in lengths)) or dates:
        return None
    return found if len(set(found.values())) == len(names) else None


def _numbers(cells: Sequence[Any]) -> list[int] | None:
    """Return the whole number of each cell, None where the rounds are not numbers."""
    try:
        values = [float(cell) for cell in cells]
    except (TypeError, ValueError):
        return None
    whole = all(value == value // 1 and abs(value) < 1e15 for value in values)
    return [int(value) for value in values] if whole else None


def _days(words: Sequence[str]) -> list[str] | None:
    """Return the day of each date, None where the rounds are not dates."""
    # A month or a quarter has no day: such names are ordered by their numbers.
    if not all(
        len(_DIGITS.findall(word)) >= 3 or re.search(r"[A-Za-z]{3}", word) for word in words
    ):
        return None
    found = read_times(words)
    if found.seconds is None or not found.dated:
        return None
    return [datetime.fromtimestamp(value, UTC).date().isoformat() for value in found.seconds]


def _placed(values: Sequence[Any], names: Sequence[Any]) -> Array:
    at = {name: place for place, name in enumerate(names)}
    return np.array([at[value] for value in values], dtype=np.int64)
