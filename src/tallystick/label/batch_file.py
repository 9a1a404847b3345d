"""A batch as a table: handed out with an empty column of answers, taken back partly filled."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tallystick.data.session import Ask
from tallystick.errors import InputError
from tallystick.io import scan, unescape, write_csv
from tallystick.label.work import Work
from tallystick.results import Json
from tallystick.values import is_missing

__all__ = ["ANSWER", "NOTE", "ORDER", "SKIPS", "checked_events", "read_batch", "write_batch"]

ORDER, NOTE, ANSWER = "order", "note", "answer"
"""Our own columns: the number of the ask comes first, the answer last."""

SKIPS = ("skip", "skipped", "?")
"""What stands for "I cannot say"."""


def write_batch(path: str | Path, work: Work, asks: Sequence[Ask]) -> None:
    """Write asks in draw order: their number, the columns to show, and an empty answer.

    No vote, system or guess is shown, so that whoever reads it is blind.
    """
    show = work.session.head.show
    cells = work.shown(asks)
    table: dict[str, list[Any]] = {ORDER: [ask.number + 1 for ask in asks]}
    for place, name in enumerate(show):
        shown = name if name not in (ORDER, NOTE, ANSWER) else f"{name} (shown)"
        table[shown] = [row[place] for row in cells]
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
        wanted = [names[name] for name in (ORDER, ANSWER, NOTE) if name in names]
        columns = ", ".join(
            f'cast("{name.replace(chr(34), chr(34) * 2)}" as varchar)' for name in wanted
        )
        rows = table.query(f"select {columns} from rows")
        places = [str(table.place(k + 1)) for k in range(len(rows))]
    found = []
    for place, (order, answer, *note) in zip(places, rows, strict=True):
        number = _number(order, place, len(work.session.asks))
        text = unescape(str(note[0])) if note and note[0] is not None else ""
        found.append((place, number, answer, text))
    return checked_events(found, work, reader)


def checked_events(
    rows: Sequence[tuple[str, int, Any, str]], work: Work, reader: str
) -> list[Mapping[str, Json]]:
    """Return the lines of answers: (place for messages, ask, answer or None, note) each.

    All of them are checked before any is written.
    """
    events: list[Mapping[str, Json]] = []
    seen: dict[int, str] = {}
    for place, ask, answer, note in rows:
        text = "" if answer is None else unescape(str(answer)).strip()
        if is_missing(text):
            continue
        if ask in seen:
            raise InputError(f"{place} answers ask {ask + 1} again, after {seen[ask]}: keep one")
        seen[ask] = place
        try:
            label = None if text.lower() in SKIPS else work.label_of(text)
        except InputError as error:
            raise InputError(f"{place}: {error}. Nothing was added") from error
        before = work.session.answers.get((ask, reader))
        if before is not None and before.label == label and before.skipped == (label is None):
            continue
        if before is not None:
            was = "a skip" if before.skipped else repr(before.label)
            raise InputError(
                f"{place} answers {text!r}, but {reader!r} answered {was} before: undo that first."
                " Nothing was added"
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
