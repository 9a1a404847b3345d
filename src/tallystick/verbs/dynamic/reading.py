"""The log of a dynamic benchmark, from data behind the one door: wide or long."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.designs import Array
from tallystick.results import Unknown
from tallystick.table import (
    Capability,
    Cases,
    Data,
    Door,
    Found,
    ItemTable,
    Roles,
    Tally,
    answered,
    gather,
    is_missing,
    is_no_answer,
)
from tallystick.table.capability import MOST_ROWS
from tallystick.table.weights import refuse_weight
from tallystick.table.words import as_word
from tallystick.verbs.dynamic.analyse import LogResult, analyse
from tallystick.verbs.dynamic.attempt_reading import attempts_in, attempts_of, is_attempt_table
from tallystick.verbs.dynamic.attempt_result import AttemptResult, analyse_attempts
from tallystick.verbs.dynamic.log import LongGrid, RoundLog, arrange
from tallystick.verbs.dynamic.question import AnalyseQuestion, TheoryQuestion, demo
from tallystick.verbs.dynamic.result import TheoryResult
from tallystick.verbs.dynamic.rounds import RoundOrder, order_rounds, round_name
from tallystick.verbs.dynamic.theory import theory
from tallystick.verbs.dynamic.validators import agreements, random_labels, spelled_votes

DOOR = Door(verb="dynamic", want="models", pivots=False, repeats=True, as_it_is=is_attempt_table)
"""A log is long if it has a column that names the model and one that says whether it was right. A
table of attempts is read by the names of its columns."""

ONE_ROUND = "all items"
"""What the only round of a log without rounds is called."""


def log_of(data: Data) -> tuple[RoundLog, tuple[str, ...]]:
    """Return the log that *data* holds, and notes on what was read into it.

    Items without a true label are left out and counted in a note: nobody can say who was wrong on
    them.

    Examples
    --------
    >>> from tallystick.table import read
    >>> wide = {"round": [1, 1, 2], "gold": list("aba"), "m": list("aab"), "n": list("abb")}
    >>> log_of(read(wide, DOOR, truth="gold"))[0].errors.sum(axis=1).tolist()
    [2, 1]
    >>> long = {"item": list("xyxy"), "round": [1, 1, 2, 2], "model": ["h", "h", "i", "i"]}
    >>> path, _ = log_of(read({**long, "correct": [1, 0, 0, 1]}, DOOR))
    >>> path.kind, path.errors.tolist()
    ('path', [[False, True], [True, False]])
    """
    roles = data.roles
    if roles.model is not None and roles.correct is not None:
        # In a long log the models are names that stand in rows, not columns.
        data = replace(data, roles=replace(roles, models=()))
        log, out = _long(data)
        log = log.select(roles.models) if roles.models else log
    else:
        log, out = _wide(data)
    return log, (*data.meaning_notes, *out)


def _left_out(blank: int, items: int) -> tuple[str, ...]:
    if blank == items:
        raise InputError("no item has a true label: name the column that holds them (--truth)")
    verbs = ("has", "is") if blank == 1 else ("have", "are")
    note = f"{blank:,} of {items:,} items {verbs[0]} no true label and {verbs[1]} left out"
    return (note,) if blank else ()


# -- wide logs


def _wide(data: Data) -> tuple[RoundLog, tuple[str, ...]]:
    """Read a panel with one row per item and one column of answers per model."""
    roles = data.roles
    for role in ("model", "correct", "prediction"):
        if getattr(roles, role):
            raise InputError(
                f"{role} is a role of long logs, which also have a column that names the model and"
                " one that says whether it was right: name both (--model, --correct)"
            )
    if roles.truth is None:
        return _wide_marks(data)
    coded = data.labels(roles.truth, *roles.models)
    rows = coded.codes[:, 0] >= 0
    notes = _left_out(int((~rows).sum()), rows.size)
    held = _held_out(data, rows)
    if held is not None:
        rows, note = _only_held_out(data, rows, held)
        notes += (note,)

    words = np.array([*(str(label) for label in coded.labels), ""])
    labels, calls = words[coded.codes[rows, 0]], words[coded.codes[rows, 1:].T]
    answered = calls != ""
    for name, said in zip(roles.models, calls, strict=True):
        if not np.isin(said, labels).any():  # it would count as a model that is always wrong
            raise InputError(
                f"column {name!r} never gives one of the true labels (its first value is"
                f" {str(said[0])!r}), so it is not a model. Name the models (--models), or name"
                " this column as what the validators said (--validators)"
            )
    items = _item_names(data, rows)
    twice = [name for name, rows_of in Counter(items).items() if rows_of > 1]
    if twice:
        raise InputError(f"item {twice[0]!r} has two rows: a wide log has one row per item")
    order = _rounds(data, rows)
    notes += _gaps_note(answered)
    return RoundLog(
        kind="panel",
        items=items,
        rounds=order.codes,
        round_names=order.names,
        models=roles.models,
        errors=(calls != labels) & answered,
        answered=None if answered.all() else answered,
        predictions=calls,
        labels=labels,
        validators=_validators(data, rows, labels),
        cost=_costs(data, rows),
    ), (*notes, *order.notes)


def _wide_marks(data: Data) -> tuple[RoundLog, tuple[str, ...]]:
    """Read a panel whose columns say whether each model was right."""
    roles = data.roles
    if not roles.models:
        raise InputError(
            f"{data.source} has no columns model and correct, so it is wide: name the true label"
            " (--truth)"
        )
    right = data.numbers(*roles.models)
    rows = np.ones(len(right), dtype=bool)
    bad = ~(np.isnan(right) | (right == 0) | (right == 1))
    if bad.any():
        name = roles.models[int(np.argwhere(bad)[0][1])]
        raise InputError(
            f"{data.source}: column {name!r} says neither right nor wrong: name the true label"
            " (--truth), or the models (--models)"
        )
    notes: tuple[str, ...] = ()
    held = _held_out(data, rows)
    if held is not None:
        rows, note = _only_held_out(data, rows, held)
        notes = (note,)
    answered = ~np.isnan(right[rows]).T
    order = _rounds(data, rows)
    return RoundLog(
        kind="panel",
        items=_item_names(data, rows),
        rounds=order.codes,
        round_names=order.names,
        models=roles.models,
        errors=(right[rows].T == 0) & answered,
        answered=None if answered.all() else answered,
        cost=_costs(data, rows),
    ), (*notes, *_gaps_note(answered), *order.notes)


def _gaps_note(answered: Array) -> tuple[str, ...]:
    blank = int((~answered).sum())
    text = f"{blank:,} of {answered.size:,} answers are missing: a vote is looked at on the items"
    return (f"{text} that the same models answered",) if blank else ()


def _refuse_blanks(data: Data, codes: Array, rows: Array, columns: Sequence[str]) -> None:
    gaps = np.argwhere((codes < 0) & rows[:, None])
    if gaps.size:
        row, column = gaps[0]
        raise InputError(
            f"{data.place(int(row) + 1)}: column {columns[column]!r} is blank: a long"
            " log has one answer in every row"
        )


# -- long logs


def _long(data: Data) -> tuple[RoundLog, tuple[str, ...]]:
    """Read one row per item and model, and find out which of the two shapes the log has."""
    roles = data.roles
    if roles.item is None:
        raise InputError(f"{data.source} is a long log: name the column of items (--item)")
    if len(roles.prediction) > 1:
        raise InputError(f"a long log has one column of answers, got {', '.join(roles.prediction)}")
    if not data.n_rows:
        raise InputError("the log is empty")

    names = np.array(_item_names(data, np.ones(data.n_rows, dtype=bool)))
    truth, calls, rows = _answers(data)
    blank = set(names[~rows].tolist())
    half = blank & set(names[rows].tolist())
    if half:
        raise InputError(f"item {min(half)!r} has a true label in one row and none in another")
    notes = _left_out(len(blank), np.unique(names).size)
    held = _held_out(data, rows)
    if held is not None:
        kept = held[rows]
        truth, calls = (None if v is None else v[kept] for v in (truth, calls))
        rows, note = _only_held_out(data, rows, held)
        notes += (note,)

    order = _rounds(data, rows)
    whose = _model_names(data, rows)
    wrong = _wrong(data, rows)
    if truth is not None and calls is not None:
        _check_correct(data, rows, truth, calls, wrong)
    # Without rounds there is no path: the models are compared on the items that are held out.
    path = True if held is not None and roles.round is not None else None
    if held is not None and roles.round is None:
        notes += (
            "there is no column of rounds, so the models are compared on the held-out items as one"
            f" round. If each model is a round, copy {roles.model!r} into a column called round",
        )
    grid = arrange(names[rows].tolist(), order.codes.tolist(), whose, path=path)
    if grid.dropped:
        notes += (f"{grid.dropped:,} items were not tried in every round and are left out",)

    labels = None if truth is None else grid.of_item(truth, "true label")
    said = _validators(data, rows, truth)
    if said is not None:
        told = grid.of_item(np.array([cell or "" for cell in said]), "validators' labels")
        said = tuple(cell or None for cell in told.tolist())
    cost = _costs(data, rows)
    answered = grid.cells >= 0
    notes += () if grid.on_path else _gaps_note(answered)
    return RoundLog(
        kind="path" if grid.on_path else "panel",
        items=grid.items,
        rounds=_item_rounds(grid, order),
        round_names=order.names,
        models=_heads(grid, whose, order),
        built_as=tuple(whose[int(row[0])] for row in grid.cells) if grid.on_path else (),
        errors=wrong[grid.cells] & answered,
        answered=None if answered.all() else answered,
        predictions=None if calls is None else np.where(answered, calls[grid.cells], ""),
        labels=labels,
        validators=said,
        cost=None if cost is None else grid.of_item(cost, "cost"),
        held_out=bool(path),
    ), (*notes, *order.notes)


def _item_rounds(grid: LongGrid, order: RoundOrder) -> Array:
    if grid.on_path:
        return np.zeros(len(grid.items), dtype=np.int64)
    return np.array([order.codes[column[column >= 0][0]] for column in grid.cells.T])


def _heads(grid: LongGrid, whose: Sequence[str], order: RoundOrder) -> tuple[str, ...]:
    """Return the models of a panel, or the model and the round of each step of a path."""
    if not grid.on_path:
        return tuple(map(str, grid.heads))
    return tuple(
        f"{whose[int(row[0])]} ({round_name(name)})"
        for row, name in zip(grid.cells, order.names, strict=True)
    )


def _held_out(data: Data, rows: Array) -> Array | None:
    column = data.roles.held_out
    if column is None:
        return None
    words = {"held out": 1.0, "heldout": 1.0, "test": 1.0, "eval": 1.0, "dev": 1.0}
    cells = data.cells(column)[column]
    if any(as_word(cell) in words for cell in cells):
        held = np.array([as_word(cell) in words for cell in cells])
    else:
        values = data.numbers(column)[:, 0]
        bad = rows & ~((values == 0) | (values == 1) | np.isnan(values))
        _refuse(data, column, bad, values, "it needs 0 or 1 (or true and false)")
        held = values == 1
    if not (held & rows).any():
        raise InputError(f"column {column!r} marks no item as held out")
    return np.asarray(held)


def _only_held_out(data: Data, rows: Array, held: Array) -> tuple[Array, str]:
    """Return the rows that are held out, and a note.

    Collected items were chosen because a model failed on them: they judge no round.
    """
    column = data.roles.held_out
    note = (
        f"{int((rows & held).sum()):,} of {int(rows.sum()):,} rows are held out by {column!r}; the"
        f" others are not used (--ignore {column} uses all)"
    )
    return rows & held, note


def _answers(data: Data) -> tuple[Array | None, Array | None, Array]:
    """Return true labels and answers of the rows that are kept, and which rows those are."""
    columns = data.roles.columns("truth", "prediction")
    rows = np.ones(data.n_rows, dtype=bool)
    if not columns:
        return None, None, rows
    coded = data.labels(*columns)
    words = np.array([str(label) for label in coded.labels] or [""])
    place = {name: k for k, name in enumerate(columns)}
    if data.roles.truth is not None:
        rows = coded.codes[:, place[data.roles.truth]] >= 0
    if data.roles.prediction:
        _refuse_blanks(data, coded.codes[:, -1:], rows, data.roles.prediction)
    found = {name: words[coded.codes[rows, k]] for name, k in place.items()}
    return (
        found.get(data.roles.truth or ""),
        found[data.roles.prediction[0]] if data.roles.prediction else None,
        rows,
    )


def _check_correct(data: Data, rows: Array, truth: Array, calls: Array, wrong: Array) -> None:
    """Refuse a row that is called right though its answer is not the true label, or the reverse."""
    against = np.flatnonzero((truth != calls) != wrong)
    if against.size:
        k = int(against[0])
        raise InputError(
            f"{data.place(int(np.flatnonzero(rows)[k]) + 1)}: the answer {str(calls[k])!r} to a"
            f" true {str(truth[k])!r} is called {'wrong' if wrong[k] else 'right'} (so in"
            f" {against.size} of the rows): correct them, or leave out the predictions"
        )


# -- the columns of both


def _item_names(data: Data, rows: Array) -> tuple[str, ...]:
    kept = np.flatnonzero(rows).tolist()
    if data.roles.item is None:
        return tuple(str(k + 1) for k in kept)
    cells = data.cells(data.roles.item)[data.roles.item]
    return tuple(str(cells[k]) for k in kept)


def _model_names(data: Data, rows: Array) -> list[str]:
    column = data.roles.model or ""
    cells = data.cells(column)[column]
    for k in np.flatnonzero(rows).tolist():
        if is_missing(cells[k]):
            raise InputError(
                f"{data.place(k + 1)}: column {column!r} is blank: name every model, or remove the"
                " row"
            )
    return [str(cells[k]) for k in np.flatnonzero(rows).tolist()]


def _refuse(data: Data, column: str, bad: Array, values: Array, wanted: str) -> None:
    """Refuse the first bad cell of a column with its place and value."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        got = "is blank" if np.isnan(values[row]) else f"is {values[row]:.15g}"
        raise InputError(f"{data.place(row + 1)}: column {column!r} {got}: {wanted}")


def _rounds(data: Data, rows: Array) -> RoundOrder:
    """Return the rounds in order; a log without a column of rounds has one."""
    column, kept = data.roles.round, np.flatnonzero(rows).tolist()
    if column is None:
        note = "there is no column of rounds, so all items are read as one round (--round COLUMN)"
        return RoundOrder(np.zeros(len(kept), dtype=np.int64), (ONE_ROUND,), (note,))
    cells = data.cells(column)[column]
    for k in kept:
        if is_missing(cells[k]):
            raise InputError(
                f"{data.place(k + 1)}: column {column!r} is blank: every row needs its round"
            )
    return order_rounds([cells[k] for k in kept])


def _wrong(data: Data, rows: Array) -> Array:
    column = data.roles.correct or ""
    values = data.numbers(column)[:, 0]
    bad = rows & ~((values == 0) | (values == 1))
    _refuse(data, column, bad, values, "it needs 0 or 1 (or true and false, right and wrong)")
    return np.asarray(values[rows] == 0)


def _costs(data: Data, rows: Array) -> Array | None:
    column = data.roles.cost
    if column is None:
        return None
    values = data.numbers(column, low=0.0)[:, 0]
    _refuse(data, column, rows & np.isnan(values), values, "every row needs its cost")
    return np.asarray(values[rows])


def _validators(data: Data, rows: Array, labels: Array | None) -> tuple[str | None, ...] | None:
    """Return what validators said, in the spelling of the true labels where there are any."""
    column = data.roles.validators
    if column is None:
        return None
    known = set() if labels is None else set(labels.tolist())
    tokens = frozenset(data.rules.missing)
    cells = data.cells(column)[column]

    def kept(cell: Any) -> str | None:
        silent = is_missing(cell, tokens) or (is_no_answer(cell) and str(cell) not in known)
        return None if silent else str(cell)

    said = [kept(cells[k]) for k in np.flatnonzero(rows).tolist()]
    if labels is None:
        return tuple(said)
    return spelled_votes(
        said,
        labels.tolist(),
        name=column,
        truth=data.roles.truth or "",
        coerce=data.rules.coerce,
    )


# The items on which the vote hangs, and those that every model gets wrong.


_KINDS = {
    "all wrong": "every model wrong",
    "could be repaired": "the next models could repair it",
    "tied": "a tie",
    "could break": "the next models could break it",
}
"""What is listed, in this order; items that nothing can move are not."""


def cases_of(result: Any, data: Data, *, texts: bool = True) -> Cases | None:
    """Return the items to check first: those that all models get wrong, then those that hang."""
    if isinstance(data.held, Tally) or not isinstance(result, LogResult):
        return None
    if data.n_rows > MOST_ROWS:
        return None
    rows = item_rows(log_of(data)[0], result).columns
    place, said = _places(data), _said(data)
    listed = []
    for k, (item, hangs) in enumerate(zip(rows["item"], rows["vote_hangs"], strict=True)):
        if hangs not in _KINDS or str(item) not in place:
            continue
        row = place[str(item)]
        summary = f"{rows['wrong'][k]} of {rows['answered'][k]} models wrong"
        one = Found(row=row, kind=_KINDS[hangs], summary=summary, votes=said(row))
        listed.append((list(_KINDS).index(hangs), rows["check_order"][k] or 0, one))
    listed.sort(key=lambda one: one[:2])
    found = [one for _, _, one in listed]
    every = sum(one.kind == _KINDS["all wrong"] for one in found)
    line = (
        f"Every model gets {every:,} items wrong: they are hard or mislabelled. On"
        f" {len(found) - every:,} more the next models could turn the vote."
    )
    return gather(data, found, title="Items", line=line, texts=texts)


def _said(data: Data) -> Callable[[int], tuple[tuple[str, str], ...]]:
    """Return what says who answered what in a row; nothing for long logs."""
    truth = data.roles.truth
    names = [name for name in data.roles.models if name in data.table.columns]
    if truth is None or not names:
        return lambda row: ()
    labels = data.label_lists(truth, *names)

    def votes(row: int) -> tuple[tuple[str, str], ...]:
        answers = ((name, labels[name][row]) for name in names)
        shown = tuple((name, str(said)) for name, said in answers if said is not None)
        return (("true", str(labels[truth][row])), *shown)

    return votes


def _places(data: Data) -> dict[str, int]:
    """Return the first row of each item; rows are items where no column names them."""
    item = data.roles.item
    if item is None:
        return {str(row + 1): row for row in range(data.n_rows)}
    found: dict[str, int] = {}
    for row, name in enumerate(data.cells(item)[item]):
        found.setdefault(str(name), row)
    return found


# What a log says of each of its items, and which of them to have checked first.


_TIED = " | "


def item_rows(log: RoundLog, result: LogResult) -> ItemTable:
    """Say of each item who errs on it, what its vote says, and when to have its label checked.

    An item that all models get wrong is hard or mislabelled, and only a look at it can tell. So
    items are ordered by how many models err; among equals by how many of those give one and the
    same answer (if the label is wrong, models that are right agree on another one), by the share of
    validators who disagree with the label, and last by their place in the log. Nothing
    is drawn, so the order is the same each time.

    The columns, None where there is nothing to say: *item*; *round* (not on a path, where each item
    is tried in every round); *truth*, if the log has it; *answered* and *wrong*,
    numbers of models; *vote*, what most models answer (without answers, whether the majority is
    right or wrong), tied ones with bars between them; *tie*; *vote_error*, 1 if more than half of
    the models are wrong and 1/2 if half of them are, so that its mean over a round is the round's
    risk; *vote_hangs*: all wrong, could be repaired, could break, tied, or settled; with validators
    *validators*, *validators_disagree* (numbers of them) and *random_label*, the probability that
    the label is a coin toss; *check_order*, 1 for the item to have checked first.

    Parameters
    ----------
    log
        The log itself.
    result
        What `analyse` said of it.

    Examples
    --------
    >>> from tallystick.table import read
    >>> from tallystick.verbs.dynamic.analyse import analyse
    >>> table = {"round": [1, 1, 2, 2], "gold": ["a"] * 4, "m": list("abab"), "n": list("abba"), "o": list("acaa")}
    >>> log, _ = log_of(read(table, DOOR, truth="gold", models=["m", "n", "o"]))
    >>> found = item_rows(log, analyse(log)).columns
    >>> found["wrong"], found["vote"], found["check_order"]
    ([0, 3, 1, 1], ['a', 'b', 'a', 'a'], [4, 1, 2, 3])
    >>> found["vote_hangs"]
    ['settled', 'all wrong', 'could break', 'could break']
    """
    items, on_path = len(log.items), log.kind == "path"
    wrong = log.errors.sum(axis=0)
    answered = np.full(items, len(log.models)) if log.answered is None else log.answered.sum(axis=0)
    vote, tie, alike = _votes(log, wrong, answered)
    columns: dict[str, list[Any]] = {
        "item": list(log.items),
        "round": [None] * items if on_path else [log.round_names[code] for code in log.rounds],
    }
    if log.labels is not None:
        columns["truth"] = log.labels.tolist()
    columns |= {
        "answered": answered.tolist(),
        "wrong": wrong.tolist(),
        "vote": vote,
        "tie": tie.tolist(),
        "vote_error": [
            float(value) if many else None for value, many in zip(log.vote(), answered, strict=True)
        ],
        "vote_hangs": _hangs(wrong, answered),
    }
    dissent = np.zeros(items)
    if log.validators is not None and log.labels is not None:
        agree, count = agreements(log.validators, log.labels.tolist())
        dissent = 1 - agree / np.maximum(count, 1)
        dissent[count == 0] = 0.0
        columns |= {"validators": count.tolist(), "validators_disagree": (count - agree).tolist()}
        columns["random_label"] = _random(log, result, agree, count)
    order = np.lexsort((-dissent, -alike, -wrong))
    ranks = np.empty(items, dtype=np.int64)
    ranks[order] = np.arange(1, items + 1)
    columns["check_order"] = ranks.tolist()
    return ItemTable(columns, tuple(_notes(log, result)))


def item_columns(result: Any, data: Data) -> ItemTable:
    """Return what ``--items-out`` writes: the rows of `item_rows` for the log that *data* holds."""
    if is_attempt_table(data.table, data.roles):
        raise InputError("--items-out is for panels and paths: a log of attempts has no vote")
    return item_rows(log_of(data)[0], result)


def _votes(log: RoundLog, wrong: Array, answered: Array) -> tuple[list[str], Array, Array]:
    """Return what the vote says of each item, whether it is tied, and the votes of its most common
    wrong answer.
    """
    if log.predictions is None or log.labels is None:
        words = np.array(["right", "wrong"])
        counts = np.stack([answered - wrong, wrong], axis=1)
        own = np.zeros(wrong.size, dtype=np.int64)
    else:
        words = np.unique(np.concatenate([log.predictions.reshape(-1), log.labels]))
        words = words[words != ""]
        counts = np.stack([(log.predictions == word).sum(axis=0) for word in words], axis=1)
        own = np.searchsorted(words, log.labels)
    top = (counts == counts.max(axis=1, keepdims=True)) & (counts > 0)
    said = [_TIED.join(words[row].tolist()) for row in top]
    alike = counts.copy()
    alike[np.arange(own.size), own] = 0
    return said, top.sum(axis=1) > 1, alike.max(axis=1)


def _hangs(wrong: Array, answered: Array) -> list[str]:
    """Say which items the next one or two models could move."""
    margin = 2 * wrong - answered
    words = np.full(wrong.size, "settled", dtype="<U17")
    words[margin == 1] = "could be repaired"
    words[margin == -1] = "could break"
    words[margin == 0] = "tied"
    words[(wrong == answered) & (answered > 0)] = "all wrong"
    return [str(word) for word in words.tolist()]


def _random(log: RoundLog, result: LogResult, agree: Array, count: Array) -> list[float | None]:
    """Return the probability that each label is a coin toss; None where there is none."""
    found = np.full(len(log.items), np.nan)
    seen = [part for part in log.parts() if len(part.models) > 1 and part.where.any()]
    for part, noise in zip(seen, result.noise, strict=True):
        found[part.where] = random_labels(agree[part.where], count[part.where], noise)
    return [None if np.isnan(value) else float(value) for value in found]


def _notes(log: RoundLog, result: LogResult) -> Iterable[str]:
    if log.kind == "path":
        yield "round is blank: on a path every item is tried in every round"
    if log.validators is not None and log.labels is None:
        yield "validators are left out: the log has no true label to hold theirs against (--truth)"
    elif log.validators is not None:
        reasons = {each.share.reason for each in result.noise if isinstance(each.share, Unknown)}
        yield from (f"random_label is blank: {reason}" for reason in sorted(reasons))


# From a question, and the log of a benchmark if there is one, to an answer.


def evaluate(source: Any, **options: Any) -> LogResult | AttemptResult:
    """Read the log of a real dynamic benchmark and say whether more of it is worth it.

    Parameters
    ----------
    source
        Whatever `tallystick.table.door` takes: a wide panel (one row per item, one column of
        answers
        per model, with *truth*), a long one (item, round, model, correct), the same items in every
        round (a path), or a log of attempts (annotator, round, model, fooled, validated, cost).
    **options
        Roles (*item*, *round*, *model*, *correct*, *fooled*, *annotator*, *validated*, *held_out*,
        …), the fields of `AnalyseQuestion`, and the options of reading.

    Examples
    --------
    >>> log = {"round": [1] * 4, "gold": list("aaaa"), "m": list("aabb"), "n": list("abab"), "o": list("aaab")}
    >>> found = evaluate(log, truth="gold")
    >>> found.advice.decision, found.rounds[0].risk
    ('not worth it', 0.25)
    >>> tries = {"annotator": list("xxyyzz"), "round": [1] * 6, "fooled": [1, 0, 1, 1, 0, 0]}
    >>> evaluate(tries).rounds[0].success.rate
    0.5
    """
    return answered(ANALYSE, source, options)


def answer(data: Data, question: AnalyseQuestion) -> LogResult | AttemptResult:
    """Answer from the log that *data* holds: a panel, a path, or attempts."""
    refuse_weight(data.roles, "dynamic analyse")
    if is_attempt_table(data.table, data.roles):
        attempts, wrong, columns, notes = attempts_of(data)
        found = analyse_attempts(
            attempts,
            wrong=wrong,
            named=columns.annotator is not None,
            cost_unit=columns.cost,
            alpha=question.alpha,
            rng=question.seed,
        )
        return replace(found, notes=notes)
    log, notes = log_of(data)
    return replace(analyse(log, question), notes=notes)


def _attempt_columns(data: Data) -> Mapping[str, Any] | None:
    """Return which column of a log of attempts has which role; None for any other log."""
    if not is_attempt_table(data.table, data.roles):
        return None
    found = attempts_in(data.table, data.roles).found()
    return {role: column for role, column in found.items() if role in Roles.__dataclass_fields__}


def theory_answer(data: None, question: TheoryQuestion) -> TheoryResult:
    """Say what is proved before anything is run."""
    del data  # theory reads no table
    if question.epsilon is None:
        raise InputError(
            "theory needs the risk of each model on its own data: add --epsilon, e.g. .1"
        )
    mixing: Any = question.mixing  # one of the choices
    return theory(
        question.epsilon,
        rounds=question.rounds,
        distance=question.distance,
        noise=question.noise,
        mixing=mixing,
    )


def applies(roles: Roles) -> Mapping[str, Any] | None:
    """Return the options with which analyse answers a table with these roles, None if it cannot."""
    models = (*roles.judges, *roles.prediction)
    if roles.round is None or len(models) < 2:
        return None
    beside = {"item": roles.item, "validators": roles.validators}
    beside |= {"count": roles.count, "weight": roles.weight}
    return {"round": roles.round, "truth": roles.truth, "models": models, **beside}


ANALYSE = Capability(
    verb="dynamic analyse",
    summary="Is another round worth it, judging by the log of the rounds or attempts so far?",
    question=AnalyseQuestion,
    answer=answer,
    reads=(
        "item",
        "round",
        "model",
        "correct",
        "prediction",
        "truth",
        "models",
        "held_out",
        "annotator",
        "fooled",
        "validated",
        "validators",
        "cost",
        "time",
        "count",
        "weight",
        "by",
    ),
    door=DOOR,
    applies=applies,
    columns=_attempt_columns,
    demo=demo,
    items=item_columns,
    cases=cases_of,
)

THEORY = Capability(
    verb="dynamic theory",
    summary="What is proved about a dynamic benchmark, before anything is run?",
    question=TheoryQuestion,
    answer=theory_answer,
    input="none",
)
