"""Other labelling tools: Label Studio and Argilla, as JSON files out and in.

*Label Studio.* A task is ``{"data": {…}, "meta": {"tallystick": ask}}``; an export carries
``annotations[].result[].value.choices``. *Argilla.* A record is ``{"id": …, "fields": {…},
"metadata": {"tallystick_ask": ask}}``; an export carries ``responses``, in the shape of version 2
(``{question: [{"value": …, "user_id": …}]}``) or of a flat list.

Both keep the number of the ask, so nothing depends on the order in which the tool returns them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.results import Json
from tallystick.table import NUMBER, atomic, is_missing, scan, unescape, write_csv
from tallystick.table.session import IN_FILE, Ask, Session
from tallystick.verbs.label.begin import Work

Tool: TypeAlias = Literal["label-studio", "argilla"]
TOOLS: tuple[Tool, ...] = ("label-studio", "argilla")

_KEY, _SESSION = "tallystick_ask", "tallystick_session"


def export_asks(path: str | Path, work: Work, asks: Sequence[Ask], tool: Tool) -> None:
    """Write asks as tasks (or records) of a tool, in draw order and without votes."""
    show = work.session.head.show
    made = [
        _made(dict(zip(show, cells, strict=True)), ask, tool, work.session.key)
        for ask, cells in zip(asks, work.shown(asks), strict=True)
    ]
    _write(path, made)


def export_session(path: str | Path, work: Work, tool: Tool) -> None:
    """Write all asks with the answers that they have, as the tool itself would export them."""
    session = work.session
    show = session.head.show
    made = []
    for ask, cells in zip(session.asks, work.shown(session.asks), strict=True):
        record = _made(dict(zip(show, cells, strict=True)), ask, tool, session.key)
        # What the table held already stays in the table; a tool would give it back as a person's.
        said = [one for one in session.said(ask.number) if one.reader != IN_FILE]
        answers = [(one.reader, None if one.skipped else one.label, one.note) for one in said]
        if tool == "label-studio":
            record["annotations"] = [_annotation(*one) for one in answers]
        else:
            record["responses"] = {"label": [_response(*one) for one in answers]}
        made.append(record)
    _write(path, made)


def import_answers(path: str | Path, work: Work, *, reader: str) -> int:
    """Add the answers of an export, told apart by its shape; return how many are new.

    Answers that name a reader of this session keep it; those of one other person are *reader*'s.
    Several other people become the readers of the session, in the order in which they appear.
    """
    try:
        body = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise FileError(f"{path} is not JSON ({error})") from error
    records = body if isinstance(body, list) else body.get("records", [])
    by_person: dict[str, list[tuple[str, int, Any, str]]] = {}
    for place, record in enumerate(records, start=1):
        where = f"record {place} of {path}"
        ask = _ask(record, where, work.session)
        for who, label, note in _answers(record, where):
            by_person.setdefault(who, []).append((where, ask, label, note))
    by_reader: dict[str, list[tuple[str, int, Any, str]]] = {}
    for who, name in _readers(list(by_person), work.session.head.readers, reader, path).items():
        by_reader.setdefault(name, []).extend(by_person[who])
    # Everything is checked before the first reader's answers are written.
    events = [e for who, rows in by_reader.items() for e in checked_events(rows, work, who)]
    work.write(events)
    return len(events)


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


def label_config(work: Work) -> str:
    """Return the labelling interface for Label Studio: the columns as text, one choice each."""
    from html import escape

    texts = "".join(
        f'<Header value="{escape(name)}"/><Text name="t{k}" value="${escape(name)}"/>'
        for k, name in enumerate(work.session.head.show)
    )
    choices = "".join(f'<Choice value="{escape(str(one))}"/>' for one in work.task.classes)
    ask = escape(work.session.head.ask)
    return (
        f'<View>{texts}<Header value="{ask}"/><Choices name="answer" toName="t0"'
        f' choice="single" required="true">{choices}</Choices></View>'
    )


def _made(shown: Mapping[str, str], ask: Ask, tool: Tool, session: str) -> dict[str, Any]:
    fields: dict[str, Any] = dict(shown)
    own = {_KEY: ask.number + 1, _SESSION: session}
    if tool == "label-studio":
        return {"id": ask.number + 1, "data": {**fields, **own}}
    return {"id": f"ask-{ask.number + 1}", "fields": fields, "metadata": own}


def _annotation(reader: str, label: Any, note: str) -> dict[str, Any]:
    result = (
        []
        if label is None
        else [
            {
                "from_name": "answer",
                "to_name": "t0",
                "type": "choices",
                "value": {"choices": [str(label)]},
            }
        ]
    )
    if note:
        result.append(
            {"from_name": "note", "to_name": "t0", "type": "textarea", "value": {"text": [note]}}
        )
    return {"completed_by": reader, "was_cancelled": label is None, "result": result}


def _response(reader: str, label: Any, note: str) -> dict[str, Any]:
    status = "discarded" if label is None else "submitted"
    value = None if label is None else str(label)
    return {"value": value, "user_id": reader, "status": status, "note": note}


def _ask(record: Any, where: str, session: Session) -> int:
    if not isinstance(record, Mapping):
        raise InputError(f"{where} is not an object: export JSON from Label Studio or Argilla")
    for holder in (record.get("data"), record.get("metadata"), record.get("meta")):
        if isinstance(holder, Mapping) and _KEY in holder:
            number, asked = holder[_KEY], len(session.asks)
            if holder.get(_SESSION, session.key) != session.key:
                raise InputError(
                    f"{where} belongs to another session than {session.path}. Nothing was added"
                )
            if str(number).isdecimal() and 1 <= int(number) <= asked:
                return int(number) - 1
            raise InputError(f"{where} is ask {number!r}, and asks go from 1 to {asked}")
    raise InputError(
        f"{where} has no {_KEY!r}: import the file that --export wrote into the tool, so that each"
        " task keeps its number"
    )


def _answers(record: Mapping[str, Any], where: str) -> list[tuple[str, Any, str]]:
    """Return (who, label or "skip", note) of every answer of a record."""
    if "annotations" in record:
        return [one for a in record["annotations"] for one in _of_annotation(a, where)]
    responses = record.get("responses") or ()
    if isinstance(responses, Mapping):
        flat = [one for answers in responses.values() for one in answers]
    else:
        flat = [
            {**one, "value": value.get("value") if isinstance(value, Mapping) else value}
            for one in responses
            for value in (one.get("values") or {"label": one.get("value")}).values()
        ]
    found = []
    for one in flat:
        status = one.get("status", "submitted")
        if status == "draft":
            continue
        label = "skip" if status == "discarded" else one.get("value")
        found.append((str(one.get("user_id", "")), label, str(one.get("note") or "")))
    return found


def _of_annotation(annotation: Mapping[str, Any], where: str) -> list[tuple[str, Any, str]]:
    who = annotation.get("completed_by", "")
    who = str(who.get("email", who.get("id", ""))) if isinstance(who, Mapping) else str(who)
    note = label = None
    for part in annotation.get("result", ()):
        value = part.get("value", {})
        if "choices" in value:
            if len(value["choices"]) != 1:
                raise InputError(f"{where} has {len(value['choices'])} choices: one is needed")
            label = value["choices"][0]
        elif "rating" in value or "number" in value:
            label = value.get("rating", value.get("number"))
        elif "text" in value:
            text = value["text"]
            note = text if isinstance(text, str) else " ".join(map(str, text))
    if annotation.get("was_cancelled"):
        label = "skip"
    return [] if label is None else [(who, label, note or "")]


def _write(path: str | Path, records: Sequence[Any]) -> None:
    text = json.dumps(records, ensure_ascii=False, indent=1)
    with atomic(Path(path)) as stream:
        stream.write(text.encode("utf-8"))


# A batch as a table: handed out with an empty column of answers, taken back partly filled.


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
