"""A batch as a table: handed out with an empty column of answers, taken back partly filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tallystick.data.session import IN_FILE, Ask
from tallystick.errors import InputError
from tallystick.io import scan, unescape, write_csv
from tallystick.label.work import Work
from tallystick.results import Json
from tallystick.values import NUMBER, is_missing

__all__ = ["ANSWER", "NOTE", "ORDER", "SKIPS", "checked_events", "read_batch", "write_batch"]

ORDER, NOTE, ANSWER = "order", "note", "answer"
"""Our own columns: the number of the ask comes first, the answer last."""

SKIPS = ("skip", "skipped", "?")
"""What stands for "I cannot say"."""


def write_batch(path: str | Path, work: Work, asks: Sequence[Ask]) -> None:
    """Write asks in draw order: their number, the columns to show, and an empty answer."""
    show = work.session.head.show
    cells = work.shown(asks)
    table: dict[str, list[Any]] = {ORDER: [ask.number + 1 for ask in asks]}
    for place, name in enumerate(show):
        table[_shown_name(name)] = [row[place] for row in cells]
    table[NOTE] = [None for _ in asks]
    table[ANSWER] = [None for _ in asks]
    write_csv(path, table)


def read_batch(path: str | Path, work: Work, *, reader: str) -> list[Mapping[str, Json]]:
    """Return the lines of a table that was filled in; blank answers are left open.

    Everything is checked before anything is written. A wrong answer is refused with its row. An
    answer that this reader gave before, and gives again, is not written twice.
    """
    with scan([str(path)]) as table:
        names = {name.strip().lower(): name for name in table.columns}
        for name in (ORDER, ANSWER):
            if name not in names:
                raise InputError(
                    f"{path} has no column {name!r}: fill in the table that --next wrote, and keep"
                    " its columns"
                )
        rows = table.arrow("select * from rows").to_pylist()
        places = [str(table.place(k + 1)) for k in range(len(rows))]
    found, shown = [], []
    for place, row in zip(places, rows, strict=True):
        number = _number(row[names[ORDER]], place, len(work.session.asks))
        note = row.get(names.get(NOTE, ""))
        found.append(
            (place, number, row[names[ANSWER]], "" if note is None else unescape(str(note)))
        )
        shown.append({name: row[held] for name, held in names.items()})
    _check_once(found)
    _check_shown(work, found, shown)
    return checked_events(found, work, reader)


def _check_once(rows: Sequence[tuple[str, int, Any, str]]) -> None:
    """Refuse two answers to one ask."""
    seen: dict[int, str] = {}
    for place, ask, answer, _ in rows:
        if answer is None or is_missing(str(answer)):
            continue
        if ask in seen:
            raise InputError(f"{place} answers ask {ask + 1} again, after {seen[ask]}: keep one")
        seen[ask] = place


def _check_shown(
    work: Work, rows: Sequence[tuple[str, int, Any, str]], shown: Sequence[Mapping[str, Any]]
) -> None:
    """Refuse a batch of another session: what its rows show is not what this one asked about.

    A spreadsheet may write numbers and dates in its own way, so one cell that agrees is enough;
    but the item has to agree if it is shown.
    """
    asks = [work.session.asks[number] for _, number, _, _ in rows]
    head = work.session.head
    for (place, number, _, _), row, own in zip(rows, shown, work.shown(asks), strict=True):
        same: dict[str, bool] = {}
        for name, cell in zip(head.show, own, strict=True):
            given = row.get(_shown_name(name).strip().lower())
            if cell.strip() and given is not None:
                same[name] = _alike(cell, unescape(str(given)))
        if same.get(head.item or "", True) and (not same or any(same.values())):
            continue
        name = next(name for name, alike in same.items() if not alike)
        cell = own[head.show.index(name)]
        raise InputError(
            f"{place}: order {number + 1} of {work.session.path} has {name} {cell[:60]!r}, and this"
            f" table says {str(row[_shown_name(name).strip().lower()])[:60]!r}. It is a batch of"
            " another session, or its rows were numbered again. Nothing was added"
        )


def _alike(cell: str, given: str) -> bool:
    """Say whether two texts are the same but for blanks, or are one number."""
    one, two = " ".join(cell.split()), " ".join(given.split())
    if one == two:
        return True
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(two.replace(",", ".")):
        return float(one) == float(two.replace(",", "."))
    return False


def _shown_name(name: str) -> str:
    """Return what a column is called in a batch: our own names are taken."""
    return name if name not in (ORDER, NOTE, ANSWER) else f"{name} (shown)"


def checked_events(
    rows: Sequence[tuple[str, int, Any, str]], work: Work, reader: str
) -> list[Mapping[str, Json]]:
    """Return the lines of answers: (place for messages, ask, answer or None, note) each.

    All of them are checked before any is written.
    """
    events: list[Mapping[str, Json]] = []
    _check_once(rows)
    for place, ask, answer, note in rows:
        text = "" if answer is None else unescape(str(answer)).strip()
        if is_missing(text):
            continue
        try:
            label = None if text.lower() in SKIPS else work.label_of(text)
        except InputError as error:
            raise InputError(f"{place}: {error}. Nothing was added") from error
        before = work.session.answers.get((ask, IN_FILE)) or work.session.answers.get((ask, reader))
        if before is not None and before.label == label and before.skipped == (label is None):
            continue
        if before is not None:
            was = "a skip" if before.skipped else repr(before.label)
            who = "the table" if before.reader == IN_FILE else f"reader {before.reader}"
            raise InputError(
                f"{place} answers {text!r}, but {who} said {was} before, and a label is not changed"
                " by adding a table: take it back with --terminal (u) or on the page. Nothing was"
                " added"
            )
        events.append(work.event(ask, label, reader=reader, note=note))
    return events


def _number(order: Any, place: str, asked: int) -> int:
    text = str(order).strip()
    number = int(text) - 1 if text.isdecimal() else -1
    if not 0 <= number < asked:
        raise InputError(
            f"{place}: order is {order!r}, and asks go from 1 to {asked}: keep the column as --next"
            " wrote it. Nothing was added"
        )
    return number
