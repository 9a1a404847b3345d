"""Batches out and answers in: as a table, or as the JSON of Label Studio, Argilla or Prodigy.

Everything that leaves keeps the number of its ask, so nothing depends on the order in which a tool
returns it. What comes back is told apart by its shape:

- Label Studio, JSON: ``{"data": {…}, "annotations": [{"result": [{"value": {"choices": […]}}]}]}``
- Label Studio, JSON-MIN: data and answer side by side, ``{"tallystick_ask": 1, "answer": …}``
- Argilla: ``{"fields": {…}, "metadata": {…}, "responses": {"label": [{"value": …}]}}``, or a list
- Prodigy: one object per line, ``{"text": …, "meta": {…}, "accept": […], "answer": "accept"}``

A table in which somebody fills in answers may be an old one, so it corrects nothing: answers are
corrected in the list of them that ``--out`` writes, in a column of its own. A tool exports what
stands there now, so what it has changed is a correction.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.results import Json
from tallystick.table import NUMBER, atomic, is_missing, scan, unescape, write_csv
from tallystick.table.session import IN_FILE, Answer, Ask, Session
from tallystick.verbs.label.work import Work

Tool: TypeAlias = Literal["label-studio", "argilla", "prodigy"]

Said: TypeAlias = tuple[str, Any, str]
"""Who answered, what (None: left open), and a note."""
Row: TypeAlias = tuple[str, int, Any, str]
"""Place for messages, ask, answer (None: left open), note."""
SKIPS = ("skip", "skipped", "?")
"""What stands for "I cannot say"; the first is how it is written."""
ORDER, NOTE, ANSWER, CORRECTION = "order", "note", "answer", "correction"
"""Our own columns: the number of the ask comes first; the last one is filled in."""
_KEY, _SESSION = "tallystick_ask", "tallystick_session"


def write_asks(
    path: str | Path, work: Work, asks: Sequence[Ask], *, tool: Tool | None = None
) -> None:
    """Write asks in draw order and without votes: a table to fill in, or tasks for a tool."""
    names = [_shown_name(name) for name in work.session.head.show]
    cells = work.shown(asks)
    if tool is None:
        write_csv(path, {**_columns(names, asks, cells), NOTE: _blank(asks), ANSWER: _blank(asks)})
        return
    made = [
        _task(tool, work, ask, dict(zip(names, row, strict=True)))
        for ask, row in zip(asks, cells, strict=True)
    ]
    if tool == "prodigy":
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in made)
    else:
        text = json.dumps(made, ensure_ascii=False, indent=1)
    with atomic(Path(path)) as stream:
        stream.write(text.encode("utf-8"))


def write_answers(path: str | Path, work: Work, *, reader: str) -> None:
    """Write what a reader has answered so far, with an empty column for corrections."""
    given = work.given(reader)
    asks = [ask for ask, _ in given]
    table = _columns(map(_shown_name, work.session.head.show), asks, work.shown(asks))
    table[NOTE] = [answer.note or None for _, answer in given]
    table[ANSWER] = [_word(answer) for _, answer in given]
    write_csv(path, {**table, CORRECTION: _blank(asks)})


def _columns(names: Any, asks: Sequence[Ask], cells: Sequence[Any]) -> dict[str, list[Any]]:
    shown = {name: [row[place] for row in cells] for place, name in enumerate(names)}
    return {ORDER: [ask.number + 1 for ask in asks], **shown}


def _blank(asks: Sequence[Ask]) -> list[Any]:
    return [None] * len(asks)


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
    records = _records(path)
    if records is None:
        rows, corrects = _batch_rows(path, work)
        return _events(rows, work, reader, corrects=corrects)
    people: dict[str, list[Row]] = {}
    for place, record in enumerate(records, start=1):
        where = f"record {place} of {path}"
        ask = _ask(record, where, work.session)
        for who, label, note in _answers(record, where):
            people.setdefault(who, []).append((where, ask, label, note))
    by_reader: dict[str, list[Row]] = {}
    for who, name in _readers(list(people), work.session.head.readers, reader, path).items():
        by_reader.setdefault(name, []).extend(people[who])
    return [
        event
        for who, rows in by_reader.items()
        for event in _events(rows, work, who, corrects=True)
    ]


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
                way = ": correct it on the page, or in the list that --out FILE writes"
                raise InputError(
                    f"answers {text!r}, but {who} said {_word(before)!r} before"
                    f"{'' if in_file is not None else way}"
                )
            events.append(work.event(ask, label, reader=reader, note=note))
        except InputError as error:
            raise InputError(f"{place}: {error}. Nothing was added") from error
    return events


def _word(answer: Answer) -> str:
    return SKIPS[0] if answer.skipped else str(answer.label)


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
    numbers = [
        _number(row[names[ORDER]], place, work.session)
        for place, row in zip(places, rows, strict=True)
    ]
    shown = work.shown([work.session.asks[number] for number in numbers])
    found: list[Row] = []
    for place, number, row, own in zip(places, numbers, rows, shown, strict=True):
        _check_shown(work, place, number, {name: row[held] for name, held in names.items()}, own)
        note = row.get(names.get(NOTE, ""))
        filled_in = row[names[CORRECTION if corrects else ANSWER]]
        found.append((place, number, filled_in, "" if note is None else unescape(str(note))))
    return found, corrects


def _check_shown(
    work: Work, place: str, number: int, row: Mapping[str, Any], own: Sequence[str]
) -> None:
    """Refuse a row of another session: what it shows is not what this one asked about.

    A spreadsheet may write numbers and dates in its own way, so one cell that agrees is enough;
    but the item has to agree if it is shown.
    """
    same: dict[str, bool] = {}
    head = work.session.head
    for name, cell in zip(head.show, own, strict=True):
        given = row.get(_shown_name(name).strip().lower())
        if cell.strip() and given is not None:
            same[name] = _alike(cell, unescape(str(given)))
    if not same.get(head.item or "", True) or not (not same or any(same.values())):
        raise InputError(
            f"{place}: this is not what order {number + 1} of {work.session.path} showed. It is a"
            " batch of another session, or its rows were numbered again. Nothing was added"
        )


def _alike(cell: str, given: str) -> bool:
    """Say whether two texts are the same but for blanks, or are one number."""
    one, two = " ".join(cell.split()), " ".join(given.split())
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(two.replace(",", ".")):
        return float(one) == float(two.replace(",", "."))
    return one == two


def _shown_name(name: str) -> str:
    """Return what a column is called in a batch: our own names are taken."""
    return name if name not in (ORDER, NOTE, ANSWER, CORRECTION) else f"{name}_shown"


def _number(order: Any, place: str, session: Session) -> int:
    """Return the ask that a number stands for."""
    text = str(order).strip()
    if text.isdecimal() and 1 <= int(text) <= len(session.asks):
        return int(text) - 1
    raise InputError(
        f"{place}: order is {order!r}, and asks go from 1 to {len(session.asks)}: keep the number"
        " that was written. Nothing was added"
    )


# Other tools.


def _records(path: str | Path) -> list[Any] | None:
    """Return the records of a JSON file, one object or many; None for a table."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        return None
    except OSError as error:
        raise FileError(f"{path} cannot be read: {error.strerror}") from error
    if not text.lstrip().startswith(("[", "{")):
        return None
    try:
        try:
            body = json.loads(text)
        except ValueError:  # one object per line
            body = [json.loads(line) for line in text.splitlines() if line.strip()]
    except ValueError as error:
        raise FileError(f"{path} is not JSON ({error})") from error
    return body if isinstance(body, list) else body.get("records", [body])


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


def _ask(record: Any, where: str, session: Session) -> int:
    held = record if isinstance(record, Mapping) else {}
    for holder in (held.get("data"), held.get("metadata"), held.get("meta"), held):
        if isinstance(holder, Mapping) and _KEY in holder:
            if holder.get(_SESSION, session.key) != session.key:
                raise InputError(
                    f"{where} belongs to another session than {session.path}. Nothing was added"
                )
            return _number(holder[_KEY], where, session)
    raise InputError(
        f"{where} has no {_KEY!r}: load the file that --out wrote into the tool, so that each task"
        " keeps its number"
    )


def _answers(record: Mapping[str, Any], where: str) -> list[Said]:
    """Return every answer of a record."""
    if "annotations" in record:
        return [_of_annotation(one, where) for one in record["annotations"]]
    if "responses" in record:
        return _of_responses(record["responses"] or ())
    note = str(record.get("note") or "")
    if record.get("answer") in ("accept", "ignore", "reject") and "meta" in record:
        who = str(record.get("_annotator_id") or record.get("_session_id") or "")
        if record["answer"] == "ignore":
            return [(who, SKIPS[0], note)]
        if record["answer"] == "reject":
            raise InputError(
                f"{where} was rejected: accept it with an answer, or ignore it to skip"
            )
        return [(who, _only(record.get("accept", record.get("label")), where), note)]
    if _KEY in record:  # JSON-MIN
        value = record.get("answer")
        chosen = value.get("choices") if isinstance(value, Mapping) else value
        return [(str(record.get("annotator", "")), _only(chosen, where), note)]
    return []


def _only(chosen: Any, where: str) -> Any:
    """Return the one choice that was made, None for none."""
    if not isinstance(chosen, list):
        return chosen
    if len(chosen) > 1:
        raise InputError(f"{where} has {len(chosen)} choices: one is needed")
    return chosen[0] if chosen else None


def _of_responses(responses: Any) -> list[Said]:
    """Return the answers of an Argilla record: by question, or as a flat list."""
    if isinstance(responses, Mapping):
        flat = [one for answers in responses.values() for one in answers]
    else:
        flat = [
            {**one, "value": value.get("value") if isinstance(value, Mapping) else value}
            for one in responses
            for value in (one.get("values") or {"label": one.get("value")}).values()
        ]
    return [
        (
            str(one.get("user_id", "")),
            SKIPS[0] if one.get("status") == "discarded" else one.get("value"),
            str(one.get("note") or ""),
        )
        for one in flat
        if one.get("status", "submitted") != "draft"
    ]


def _of_annotation(annotation: Mapping[str, Any], where: str) -> Said:
    """Return the answer of one annotation of Label Studio."""
    who = annotation.get("completed_by", "")
    who = str(who.get("email", who.get("id", ""))) if isinstance(who, Mapping) else str(who)
    note = ""
    given: dict[Any, Any] = {}
    for place, part in enumerate(annotation.get("result", ())):
        value, name = part.get("value", {}), part.get("from_name", place)
        if "choices" in value:
            given[name] = _only(value["choices"], where)
        elif "rating" in value or "number" in value:
            given[name] = value.get("rating", value.get("number"))
        elif "text" in value:
            text = value["text"]
            note = text if isinstance(text, str) else " ".join(map(str, text))
    if len(given) > 1 and ANSWER not in given:
        named = ", ".join(map(str, given))
        raise InputError(
            f"{where} has answers to {named}: call the control with the label 'answer'"
        )
    label = given.get(ANSWER, next(iter(given.values()), None))
    return who, SKIPS[0] if annotation.get("was_cancelled") else label, note
