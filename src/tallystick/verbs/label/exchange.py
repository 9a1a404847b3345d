"""Batches out and answers in: as a table, or as the JSON of Label Studio, Argilla or Prodigy.

Everything that leaves keeps the number of its ask, so nothing depends on the order in which a tool
returns it. What a tool wrote is told apart by a key of its records, and read by the paths of its
declaration (`_FORMS`).

A table in which somebody fills in answers may be an old one, so it corrects nothing: answers are
corrected in the list of them that ``--out`` writes, in a column of its own. A tool exports what
stands there now, so what it has changed is a correction.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tallystick.errors import InputError
from tallystick.results import Json
from tallystick.table import NUMBER, atomic, is_missing, scan, unescape, write_csv
from tallystick.table.log_rows import find, rows_of
from tallystick.table.session import IN_FILE, Answer, Ask
from tallystick.table.sources import File
from tallystick.verbs.label.work import Work

Tool: TypeAlias = Literal["label-studio", "argilla", "prodigy"]

Row: TypeAlias = tuple[str, int, Any, str]
"""Place for messages, ask, answer (None: left open), note."""
SKIPS = ("skip", "skipped", "?")
"""What stands for "I cannot say"; the first is how it is written."""
ORDER, NOTE, ANSWER, CORRECTION = "order", "note", "answer", "correction"
"""Our own columns: the number of the ask comes first; the last one is filled in."""
_KEY, _SESSION = "tallystick_ask", "tallystick_session"
_HOLDERS = ("data.", "metadata.", "meta.", "")
"""Where tools keep what a task was sent with."""


def write_asks(
    path: str | Path, work: Work, asks: Sequence[Ask], *, tool: Tool | None = None
) -> None:
    """Write asks in draw order and without votes: a table to fill in, or tasks for a tool."""
    if tool is None:
        blank = [None] * len(asks)
        write_csv(path, {**_columns(work, asks), NOTE: blank, ANSWER: blank})
        return
    names = [_shown_name(name) for name in work.session.head.show]
    tasks = [
        _task(tool, work, ask, dict(zip(names, cells, strict=True)))
        for ask, cells in zip(asks, work.shown(asks), strict=True)
    ]
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in tasks)
    text = lines if tool == "prodigy" else json.dumps(tasks, ensure_ascii=False, indent=1)
    with atomic(Path(path)) as stream:
        stream.write(text.encode("utf-8"))


def write_answers(path: str | Path, work: Work, *, reader: str) -> None:
    """Write what a reader has answered so far, with an empty column for corrections."""
    given = work.given(reader)
    table = _columns(work, [ask for ask, _ in given])
    table[NOTE] = [answer.note or None for _, answer in given]
    table[ANSWER] = [_word(answer) for _, answer in given]
    write_csv(path, {**table, CORRECTION: [None] * len(given)})


def _columns(work: Work, asks: Sequence[Ask]) -> dict[str, list[Any]]:
    cells = work.shown(asks)
    shown = {
        _shown_name(name): [row[place] for row in cells]
        for place, name in enumerate(work.session.head.show)
    }
    return {ORDER: [ask.number + 1 for ask in asks], **shown}


def _task(tool: Tool, work: Work, ask: Ask, fields: dict[str, Any]) -> dict[str, Any]:
    own = {_KEY: ask.number + 1, _SESSION: work.session.key}
    if tool == "label-studio":
        return {"id": ask.number + 1, "data": {**fields, **own}}
    if tool == "argilla":
        return {"id": f"ask-{ask.number + 1}", "fields": fields, "metadata": own}
    text = "\n\n".join(f"{name}:\n{cell}" for name, cell in fields.items())
    options = [{"id": str(one), "text": str(one)} for one in work.task.classes]
    return {"text": text, "meta": own, "options": options}


def read_answers_of(path: str | Path, work: Work, *, reader: str) -> list[Mapping[str, Json]]:
    """Return the lines of a table or export that was filled in; blank answers are left open.

    Everything is checked before anything is written, and an answer that a reader gives again is not
    written twice. Answers that name a reader of this session keep it; those of one other person are
    *reader*'s.
    """
    if Path(path).suffix.lower() not in (".json", ".jsonl"):
        rows, corrects = _batch_rows(path, work)
        return _events(rows, work, reader, corrects=corrects)
    people: dict[str, list[Row]] = {}
    for place, record in rows_of(File(Path(path), str(path)), ("records",))[1]:
        where = f"{place} of {path}"
        ask = _ask(record, where, work)
        for who, label, note in _answers(record, where):
            people.setdefault(who, []).append((where, ask, label, note))
    readers = _readers(list(people), work.session.head.readers, reader, path)
    by_reader: dict[str, list[Row]] = {}
    for who, name in readers.items():
        by_reader.setdefault(name, []).extend(people[who])
    found = (_events(rows, work, who, corrects=True) for who, rows in by_reader.items())
    return [event for events in found for event in events]


def _events(rows: Sequence[Row], work: Work, reader: str, *, corrects: bool) -> list[Any]:
    """Return the lines of answers; all of them are checked before any is written."""
    events: list[Mapping[str, Json]] = []
    seen: dict[int, str] = {}
    for place, ask, answer, note in rows:
        text = "" if answer is None else unescape(str(answer)).strip()
        if is_missing(text):
            continue
        try:
            if ask in seen:
                raise InputError(f"answers ask {ask + 1} again, after {seen[ask]}: keep one")
            seen[ask] = place
            label = None if text.lower() in SKIPS else work.label_of(text)
            in_file = work.session.answers.get((ask, IN_FILE))
            before = in_file or work.session.answers.get((ask, reader))
            if before is not None and (before.label, before.skipped) == (label, label is None):
                continue
            if before is not None and (in_file is not None or not corrects):
                who = "the table" if in_file is not None else f"reader {reader}"
                raise InputError(
                    f"answers {text!r}, but {who} said {_word(before)!r} before: only the list that"
                    " --out FILE writes takes corrections"
                )
            events.append(work.event(ask, label, reader=reader, note=note))
        except InputError as error:
            raise InputError(f"{place}: {error}. Nothing was added") from error
    return events


def _word(answer: Answer) -> str:
    return SKIPS[0] if answer.skipped else str(answer.label)


def _number(order: Any, place: str, work: Work) -> int:
    """Return the ask that a number stands for."""
    asks = len(work.session.asks)
    text = str(order).strip()
    if text.isdecimal() and 1 <= int(text) <= asks:
        return int(text) - 1
    raise InputError(
        f"{place}: {ORDER} is {order!r}, and asks go from 1 to {asks}: keep the number that was"
        " written. Nothing was added"
    )


# A batch as a table.


def _batch_rows(path: str | Path, work: Work) -> tuple[list[Row], bool]:
    """Return the rows of a table that we wrote, and whether it is a list of corrections."""
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
    corrects = CORRECTION in names
    filled = names[CORRECTION if corrects else ANSWER]
    asks = [_number(row[names[ORDER]], at, work) for at, row in zip(places, rows, strict=True)]
    shown = work.shown([work.session.asks[number] for number in asks])
    found: list[Row] = []
    for place, number, row, own in zip(places, asks, rows, shown, strict=True):
        cells = {name: row[held] for name, held in names.items()}
        if not _is_ours(work, cells, own):
            raise InputError(
                f"{place}: this is not what order {number + 1} of {work.session.path} showed. It is"
                " a batch of another session, or its rows were numbered again. Nothing was added"
            )
        note = cells.get(NOTE)
        found.append((place, number, row[filled], "" if note is None else unescape(str(note))))
    return found, corrects


def _is_ours(work: Work, row: Mapping[str, Any], own: Sequence[str]) -> bool:
    """Say whether a row shows what this session asked about.

    A spreadsheet may write numbers and dates in its own way, so one cell that agrees is enough;
    but the item has to agree if it is shown.
    """
    head, same = work.session.head, dict[str, bool]()
    for name, cell in zip(head.show, own, strict=True):
        given = row.get(_shown_name(name).strip().lower())
        if cell.strip() and given is not None:
            same[name] = _alike(cell, unescape(str(given)))
    return same.get(head.item or "", True) and (not same or any(same.values()))


def _alike(cell: str, given: str) -> bool:
    """Say whether two texts are the same but for blanks, or are one number."""
    one, two = " ".join(cell.split()), " ".join(given.split())
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(two.replace(",", ".")):
        return float(one) == float(two.replace(",", "."))
    return one == two


def _shown_name(name: str) -> str:
    """Return what a column is called in a batch: our own names are taken."""
    return name if name not in (ORDER, NOTE, ANSWER, CORRECTION) else f"{name}_shown"


# Other tools, as declarations.


@dataclass(frozen=True, kw_only=True)
class _Form:
    """Where a tool keeps answers, as paths of `tallystick.table.log_rows.find`.

    *key* tells its records, *answers* takes the answers out of one, and a field that holds one of
    *skips* says that a person passed the task over.
    """

    key: str
    who: str
    value: str
    skips: tuple[Any, ...]
    note: str = "note"
    answers: Callable[[Mapping[str, Any]], Iterable[Any]] = lambda record: [record]


def _responses(record: Mapping[str, Any]) -> Iterable[Any]:
    """Return the answers of an Argilla record: by question, or a list with values by question."""
    given = record["responses"] or ()
    if isinstance(given, Mapping):
        given = [one for answers in given.values() for one in answers]
    for one in given:
        if one.get("status") != "draft":
            values = (one.get("values") or {"": one}).values()
            yield from ({**one, "value": find(held, "value")} for held in values)


_FORMS = (
    _Form(  # Label Studio
        key="annotations",
        who="completed_by.email|completed_by.id|completed_by",
        value="value.choices|value.rating|value.number",
        skips=("was_cancelled", True),
        note="result.value.text",
        answers=lambda record: record["annotations"],
    ),
    _Form(  # Argilla
        key="responses",
        who="user_id",
        value="value",
        skips=("status", "discarded"),
        answers=_responses,
    ),
    _Form(  # Prodigy
        key="meta",
        who="_annotator_id|_session_id",
        value="accept|label",
        skips=("answer", "ignore", "reject"),
    ),
    _Form(  # Label Studio's JSON-MIN: what was sent and what was answered, side by side
        key=_KEY, who="annotator", value="answer.choices|answer", skips=("was_cancelled", True)
    ),
)


def _answers(record: Mapping[str, Any], where: str) -> Iterable[tuple[str, Any, str]]:
    """Return who answered, what (None: left open), and a note, for every answer of a record."""
    for form in [one for one in _FORMS if one.key in record][:1]:
        for one in form.answers(record):
            parts = one.get("result", [one])
            parts = [part for part in parts if part.get("from_name") == ANSWER] or parts
            chosen = [leaf for part in parts for leaf in _leaves(find(part, form.value))]
            if len(chosen) > 1:
                raise InputError(
                    f"{where} has the answers {', '.join(map(str, chosen))}, and one is needed: of"
                    f" several controls that is the one called {ANSWER!r}"
                )
            if find(one, form.skips[0]) in form.skips[1:]:
                chosen = [SKIPS[0]]
            note = " ".join(map(str, _leaves(find(one, form.note))))
            yield str(find(one, form.who) or ""), next(iter(chosen), None), note


def _leaves(held: Any) -> list[Any]:
    """Return what tools nest in lists, as one list."""
    if isinstance(held, list):
        return [leaf for one in held for leaf in _leaves(one)]
    return [] if held is None else [held]


def _readers(
    people: Sequence[str], readers: Sequence[str], reader: str, path: str | Path
) -> dict[str, str]:
    """Return whom each person of an export stands for."""
    named = {who: who for who in people if who in readers}
    others = [who for who in people if who not in readers]
    if len(others) == 1:
        return {**named, others[0]: reader}
    free = [who for who in readers if who not in named]
    if len(others) > len(free):
        raise InputError(
            f"{path} has answers of {len(people)} people ({', '.join(people[:4])}), and this"
            f" session has {len(readers)} reader{'s' if len(readers) > 1 else ''}: export the"
            " answers of one person, or begin a session with --readers 2. Nothing was added"
        )
    return {**named, **dict(zip(others, free, strict=False))}


def _ask(record: Mapping[str, Any], where: str, work: Work) -> int:
    number, session = (
        find(record, "|".join(holder + name for holder in _HOLDERS)) for name in (_KEY, _SESSION)
    )
    if number is None:
        raise InputError(
            f"{where} has no {_KEY!r}: load the file that --out wrote into the tool, so that each"
            " task keeps its number"
        )
    if session not in (None, work.session.key):
        raise InputError(
            f"{where} belongs to another session than {work.session.path}. Nothing was added"
        )
    return _number(number, where, work)
