"""From a table of attempts to its log: who tried, what happened, what validators said."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from tallystick.data import Data
from tallystick.dynamic.attempt_columns import AttemptColumns, attempts_in, unused_validation
from tallystick.dynamic.attempt_verdict import ONE_ROUND
from tallystick.dynamic.attempt_words import (
    FOOLED,
    INVALID,
    NO,
    NOT_FOOLED,
    OPEN,
    RIGHT,
    VALID,
    YES,
)
from tallystick.dynamic.attempts import Attempts
from tallystick.dynamic.population import Array
from tallystick.dynamic.rounds import RoundOrder, order_rounds
from tallystick.errors import InputError
from tallystick.values import is_missing
from tallystick.values.times import read_times
from tallystick.values.words import as_word, is_no_answer

__all__ = ["NOBODY", "attempts_of"]

NOBODY = "(nobody is named)"
"""The annotator of a log that names none."""


_CLOCK = re.compile(r"(?:(\d+) days?,? )?(\d+):(\d{1,2}):(\d{1,2}(?:\.\d+)?)")


def attempts_of(data: Data) -> tuple[Attempts, dict[str, Array], AttemptColumns, tuple[str, ...]]:
    """Return the attempts that *data* holds, which of them fooled other models, the columns that
    were taken, and notes.

    Attempts without an outcome are left out and counted in a note.
    """
    columns = attempts_in(data.table, data.roles)
    fooled, known = _outcome(data, columns)
    kept = np.flatnonzero(known).tolist()
    if not kept:
        raise InputError(f"no attempt says whether the model was fooled ({columns.outcome!r})")
    taken = ", ".join(f"{column} ({role})" for role, column in columns.found().items())
    notes = [f"read as a log of attempts: {taken}"]
    blank = len(known) - len(kept)
    if blank:
        notes.append(f"{blank:,} of {len(known):,} attempts have no outcome and are left out")

    def texts(column: str | None) -> Array | None:
        if column is None:
            return None
        cells = data.cells(column)[column]
        return np.array(["" if is_missing(cells[k]) else str(cells[k]) for k in kept])

    unused = unused_validation(data.table, columns)
    if unused:
        notes.append(
            f"{', '.join(map(repr, unused))} may say which labels were found valid and"
            f" {'is' if len(unused) == 1 else 'are'} not used: name one (--validated {unused[0]})"
        )
    times = _times(data, columns.time, kept, notes)
    order = _rounds(data, columns, kept, times, notes)
    annotator = _annotators(data, columns.annotator, kept)
    if columns.annotator is None:
        notes.append("no column names who made the attempts (--annotator COLUMN)")
    yes, no, valid = _validity(data, columns, kept)
    retracted = _flags(data, columns.retracted, kept)
    log = Attempts(
        annotator=annotator,
        round=order.codes,
        fooled=fooled[kept],
        model=texts(columns.model),
        item=texts(columns.item),
        yes=yes,
        no=no,
        valid=valid,
        retracted=retracted,
        cost=_costs(data, columns.cost, kept, notes),
        order=None if times is None else np.unique(times, return_inverse=True)[1],
        round_names=order.names,
    )
    return log, _others(data, columns, kept), columns, (*notes, *order.notes)


def _rounds(
    data: Data,
    columns: AttemptColumns,
    kept: Sequence[int],
    times: Array | None,
    notes: list[str],
) -> RoundOrder:
    column = columns.round
    if column is None:
        way = f"--round {columns.time}: one round per day" if columns.time else "--round COLUMN"
        notes.append(f"there is no column of rounds, so all attempts are one round ({way})")
        return RoundOrder(np.zeros(len(kept), dtype=np.int64), (ONE_ROUND,))
    cells = data.cells(column)[column]
    gap = next((k for k in kept if is_missing(cells[k])), None)
    if gap is not None:
        raise InputError(
            f"{data.place(gap + 1)}: column {column!r} is blank: every attempt needs its round"
        )
    return order_rounds(
        [cells[k] for k in kept],
        when=None if times is None else times.tolist(),
        clock=columns.time or "time",
    )


def _annotators(data: Data, column: str | None, kept: Sequence[int]) -> Array:
    if column is None:
        return np.full(len(kept), NOBODY)
    cells = data.cells(column)[column]
    gap = next((k for k in kept if is_missing(cells[k])), None)
    if gap is not None:
        raise InputError(
            f"{data.place(gap + 1)}: column {column!r} is blank: name the annotator of every"
            " attempt, because intervals rest on who made it"
        )
    return np.array([str(cells[k]) for k in kept])


def _outcome(data: Data, columns: AttemptColumns) -> tuple[Array, Array]:
    """Return which attempts fooled the model, and which say so at all."""
    if columns.fooled or columns.correct:
        name = columns.fooled or columns.correct or ""
        yes, no = (FOOLED, NOT_FOOLED) if columns.fooled else (RIGHT, INVALID)
        read = _reader(data, name, yes, no)
        values = [read(k, cell) for k, cell in enumerate(data.cells(name)[name])]
        known = np.array([value is not None for value in values])
        said = np.array([bool(value) for value in values])
        return (said if columns.fooled else ~said), known
    if columns.prediction is None or columns.truth is None:
        raise InputError(
            "no column says how the model fared: name one (--fooled COLUMN or --correct COLUMN), or"
            " the model's answer and the right one (--prediction COLUMN --truth COLUMN)"
        )
    return _compared(data, columns.truth, columns.prediction)


def _compared(data: Data, truth: str, answers: str) -> tuple[Array, Array]:
    """Return where an answer is not the truth, and where both are given; case does not matter."""
    cells = data.cells(truth, answers)
    pairs = [tuple(map(_label, pair)) for pair in zip(cells[truth], cells[answers], strict=True)]
    known = np.array([right is not None and said is not None for right, said in pairs])
    return np.array([right != said for right, said in pairs]), known


def _label(cell: Any) -> str | None:
    if is_missing(cell) or is_no_answer(cell):
        return None
    return as_word(cell) or str(cell)


def _reader(
    data: Data, name: str, yes: frozenset[str], no: frozenset[str]
) -> Callable[[int, Any], bool | None]:
    """Return a function that reads a cell as yes, no or nothing, and refuses what is neither."""

    def read(k: int, cell: Any) -> bool | None:
        if is_missing(cell) or is_no_answer(cell):
            return None
        word = as_word(cell) or str(cell)
        if word in yes:
            return True
        if word in no:
            return False
        if word in OPEN:
            return None
        raise InputError(
            f"{data.place(k + 1)}: column {name!r} is {cell!r}, which says neither yes nor no:"
            " write 1 and 0 (or true and false), or name another column"
        )

    return read


def _flags(data: Data, column: str | None, kept: Sequence[int]) -> Array | None:
    if column is None:
        return None
    read = _reader(data, column, YES, NO)
    cells = data.cells(column)[column]
    return np.array([bool(read(k, cells[k])) for k in kept])


def _validity(
    data: Data, columns: AttemptColumns, kept: Sequence[int]
) -> tuple[Array | None, Array | None, Array | None]:
    """Return votes for, votes against, or whether labels were found valid."""
    if columns.yes and columns.no:
        votes = data.numbers(columns.yes, columns.no, low=0.0)[kept]
        votes = np.nan_to_num(votes).astype(int)
        return votes[:, 0], votes[:, 1], None
    if columns.validators:
        yes, no = _votes(data, columns, kept)
        return yes, no, None
    if columns.validated:
        read = _reader(data, columns.validated, VALID, INVALID)
        cells = data.cells(columns.validated)[columns.validated]
        found = [read(k, cells[k]) for k in kept]
        return None, None, np.array(found, dtype=object)
    return None, None, None


def _votes(data: Data, columns: AttemptColumns, kept: Sequence[int]) -> tuple[Array, Array]:
    """Count each cell's votes: words for valid and invalid, or labels held against the truth."""
    column = columns.validators or ""
    cells = data.cells(column)[column]
    truth = data.cells(columns.truth)[columns.truth] if columns.truth else None
    yes, no = np.zeros(len(kept), dtype=int), np.zeros(len(kept), dtype=int)
    for place, k in enumerate(kept):
        if is_missing(cells[k]):
            continue
        for word in re.split(r"[,;|\s]+", str(cells[k]).strip("[] ").replace("'", "")):
            if not word or (as_word(word) or "") in OPEN or is_no_answer(word):
                continue  # a flag is no vote
            if (as_word(word) or word) in VALID or (truth is not None and word == str(truth[k])):
                yes[place] += 1
            elif (as_word(word) or word) in INVALID or truth is not None:
                no[place] += 1
            else:
                raise InputError(
                    f"{data.place(k + 1)}: column {column!r} holds the vote {word!r}: write valid"
                    " and invalid (or the labels, with --truth)"
                )
    return yes, no


def _costs(data: Data, column: str | None, kept: Sequence[int], notes: list[str]) -> Array | None:
    """Return what each attempt cost; times such as 0:01:30 become seconds."""
    if column is None:
        return None
    cells = data.cells(column)[column]
    clocks = [_CLOCK.fullmatch(str(cells[k]).strip()) for k in kept]
    if any(clocks):
        parts = [c.groups(default="0") if c else ("0",) * 4 for c in clocks]
        values = np.array(
            [86400 * int(d) + 3600 * int(h) + 60 * int(m) + float(s) for d, h, m, s in parts]
        )
        values[[c is None for c in clocks]] = np.nan
    else:
        values = data.numbers(column, low=0.0)[kept, 0]
    blank = int(np.isnan(values).sum())
    if blank:
        notes.append(f"{blank:,} attempts have no {column}: no cost per success is given")
        return None
    return np.asarray(values)


def _times(data: Data, column: str | None, kept: Sequence[int], notes: list[str]) -> Array | None:
    """Return when each attempt was made; None, with a note, where the column cannot be read."""
    if column is None:
        return None
    cells = data.cells(column)[column]
    found = read_times(["" if is_missing(cells[k]) else str(cells[k]) for k in kept])
    if found.seconds is None:
        notes.append(
            f"column {column!r} gives no order in time ({found.note}), so the attempts are taken in"
            " the order of the rows"
        )
        return None
    if found.note:
        notes.append(f"column {column!r}: {found.note}")
    return np.array(found.seconds)


def _others(data: Data, columns: AttemptColumns, kept: Sequence[int]) -> dict[str, Array]:
    """Return for each further model which attempts it gets wrong: 1, 0, or -1 unanswered."""
    found: dict[str, Array] = {}
    for name in data.roles.models:
        if columns.truth is not None:
            differs, known = _compared(data, columns.truth, name)
            wrong = np.where(known, differs, -1)[kept]
        else:
            read = _reader(data, name, VALID, INVALID)
            cells: Mapping[str, list[Any]] = data.cells(name)
            said = [read(k, cells[name][k]) for k in kept]
            wrong = np.array([-1 if value is None else int(not value) for value in said])
        found[name] = np.asarray(wrong)
    return found
