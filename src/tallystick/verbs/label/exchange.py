"""Batches out and answers in: as a table, or as the JSON of Label Studio, Argilla or Prodigy.

Everything that leaves keeps the number of its ask, so nothing depends on the order in which a tool
returns it. What comes back is told apart by its shape:

- Label Studio, JSON: ``{"data": {…}, "annotations": [{"result": [{"value": {"choices": […]}}]}]}``
- Label Studio, JSON-MIN: data and answer side by side, ``{"tallystick_ask": 1, "answer": …}``
- Argilla: ``{"fields": {…}, "metadata": {…}, "responses": {"label": [{"value": …}]}}``, or a list
- Prodigy: one object per line, ``{"text": …, "meta": {…}, "accept": […], "answer": "accept"}``
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

from tallystick.errors import FileError, InputError
from tallystick.results import Json
from tallystick.table import NUMBER, atomic, is_missing, scan, unescape, write_csv
from tallystick.table.session import IN_FILE, Answer, Ask, Session
from tallystick.verbs.label.work import Work

Tool: TypeAlias = Literal["label-studio", "argilla", "prodigy"]

Row: TypeAlias = tuple[str, int, Any, str]
"""Place for messages, ask, answer (None: left open), note."""
SKIP = "skip"
SKIPS = (SKIP, "skipped", "?")
"""What stands for "I cannot say"."""
ORDER, NOTE, ANSWER = "order", "note", "answer"
"""Our own columns: the number of the ask comes first, the answer last."""
_KEY, _SESSION = "tallystick_ask", "tallystick_session"


def write_asks(
    path: str | Path,
    work: Work,
    asks: Sequence[Ask],
    *,
    tool: Tool | None = None,
    reader: str | None = None,
) -> None:
    """Write asks in draw order and without votes, with the answers that they have.

    Parameters
    ----------
    path
        The file.
    work, asks
        The session, and what to write of it.
    tool
        The tool that shall read the file; None writes a table with an empty column of answers.
    reader
        Whose answers stand in the table; by default those of the first reader.
    """
    shown = work.shown(asks)
    head = work.session.head
    if tool is None:
        who = reader or head.readers[0]
        said = [work.session.answers.get((ask.number, who)) for ask in asks]
        table: dict[str, list[Any]] = {ORDER: [ask.number + 1 for ask in asks]}
        for place, name in enumerate(head.show):
            table[_shown_name(name)] = [row[place] for row in shown]
        table[NOTE] = [None if one is None else one.note or None for one in said]
        table[ANSWER] = [None if one is None else _word(one) for one in said]
        write_csv(path, table)
        return
    made = [
        record
        for ask, cells in zip(asks, shown, strict=True)
        for record in _as_in(
            tool, work, ask, dict(zip(map(_shown_name, head.show), cells, strict=True))
        )
    ]
    if tool == "prodigy":
        text = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in made)
    else:
        text = json.dumps(made, ensure_ascii=False, indent=1)
    with atomic(Path(path)) as stream:
        stream.write(text.encode("utf-8"))


def read_answers_of(
    path: str | Path, work: Work, *, reader: str, replace: bool = False
) -> list[Mapping[str, Json]]:
    """Return the lines of a table or export that was filled in; blank answers are left open.

    Everything is checked before anything is written. An answer that a reader gave before, and gives
    again, is not written twice; another one is refused unless *replace* is set. Answers that name a
    reader of this session keep it; those of one other person are *reader*'s.
    """
    records = _records(path)
    if records is None:
        return checked_events(_batch_rows(path, work), work, reader, replace=replace)
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
        for event in checked_events(rows, work, who, replace=replace)
    ]


def checked_events(
    rows: Sequence[Row], work: Work, reader: str, *, replace: bool = False
) -> list[Mapping[str, Json]]:
    """Return the lines of answers; all of them are checked before any is written."""
    events: list[Mapping[str, Json]] = []
    _check_once(rows)
    for place, ask, answer, note in rows:
        text = "" if answer is None else unescape(str(answer)).strip()
        if is_missing(text):
            continue
        try:
            label = None if text.lower() in SKIPS else work.label_of(text)
            in_file = work.session.answers.get((ask, IN_FILE))
            before = in_file or work.session.answers.get((ask, reader))
            if before is not None and (before.label, before.skipped) == (label, label is None):
                continue
            if before is not None and (in_file is not None or not replace):
                who = "the table" if in_file is not None else f"reader {reader}"
                way = "" if in_file is not None else ": add --replace to correct it"
                raise InputError(f"answers {text!r}, but {who} said {_word(before)!r} before{way}")
            events.append(work.event(ask, label, reader=reader, note=note))
        except InputError as error:
            raise InputError(f"{place}: {error}. Nothing was added") from error
    return events


def _word(answer: Answer) -> str:
    return SKIP if answer.skipped else str(answer.label)


def _check_once(rows: Iterable[Row]) -> None:
    """Refuse two answers to one ask."""
    seen: dict[int, str] = {}
    for place, ask, answer, _ in rows:
        if answer is None or is_missing(str(answer)):
            continue
        if ask in seen:
            raise InputError(f"{place} answers ask {ask + 1} again, after {seen[ask]}: keep one")
        seen[ask] = place


# A batch as a table.


def _batch_rows(path: str | Path, work: Work) -> list[Row]:
    """Return the rows of a table that `write_asks` wrote."""
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
    found: list[Row] = []
    for place, row in zip(places, rows, strict=True):
        number = _number(row[names[ORDER]], place, work.session)
        note = row.get(names.get(NOTE, ""))
        written = "" if note is None else unescape(str(note))
        found.append((place, number, row[names[ANSWER]], written))
    _check_once(found)
    _check_shown(work, found, [{name: row[held] for name, held in names.items()} for row in rows])
    return found


def _check_shown(work: Work, rows: Sequence[Row], shown: Sequence[Mapping[str, Any]]) -> None:
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
    if NUMBER.fullmatch(one) and NUMBER.fullmatch(two.replace(",", ".")):
        return float(one) == float(two.replace(",", "."))
    return one == two


def _shown_name(name: str) -> str:
    """Return what a column is called in a batch: our own names are taken."""
    return name if name not in (ORDER, NOTE, ANSWER) else f"{name}_shown"


def _number(order: Any, place: str, session: Session) -> int:
    text = str(order).strip()
    if text.isdecimal() and 1 <= int(text) <= len(session.asks):
        return int(text) - 1
    raise InputError(
        f"{place}: order is {order!r}, and asks go from 1 to {len(session.asks)}: keep the column"
        " as --next wrote it. Nothing was added"
    )


# Other tools.


def _as_in(tool: Tool, work: Work, ask: Ask, fields: dict[str, Any]) -> list[dict[str, Any]]:
    """Return an ask as a task of a tool, with its answers as the tool itself would export them."""
    own = {_KEY: ask.number + 1, _SESSION: work.session.key}
    # What the table held already stays in the table; a tool would give it back as a person's.
    said = [one for one in work.session.said(ask.number) if one.reader != IN_FILE]
    if tool == "label-studio":
        record: dict[str, Any] = {"id": ask.number + 1, "data": {**fields, **own}}
        return [record | ({"annotations": [_annotation(one) for one in said]} if said else {})]
    if tool == "argilla":
        record = {"id": f"ask-{ask.number + 1}", "fields": fields, "metadata": own}
        given = {"responses": {"label": [_response(one) for one in said]}} if said else {}
        return [record | given]
    text = "\n\n".join(f"{name}:\n{cell}" for name, cell in fields.items())
    options = [{"id": str(one), "text": str(one)} for one in work.task.classes]
    record = {"text": text, "meta": own, "options": options}
    return [record | _line(one) for one in said] or [record]  # one line per person


def _line(answer: Answer) -> dict[str, Any]:
    accepted = {"answer": "accept", "accept": [_word(answer)]}
    chosen = {"answer": "ignore"} if answer.skipped else accepted
    return chosen | {"_annotator_id": answer.reader, "note": answer.note}


def _annotation(answer: Answer) -> dict[str, Any]:
    def part(name: str, kind: str, value: Any) -> dict[str, Any]:
        return {"from_name": name, "to_name": "t0", "type": kind, "value": value}

    result = [] if answer.skipped else [part("answer", "choices", {"choices": [_word(answer)]})]
    if answer.note:
        result.append(part("note", "textarea", {"text": [answer.note]}))
    return {"completed_by": answer.reader, "was_cancelled": answer.skipped, "result": result}


def _response(answer: Answer) -> dict[str, Any]:
    status = "discarded" if answer.skipped else "submitted"
    value = None if answer.skipped else _word(answer)
    return {"value": value, "user_id": answer.reader, "status": status, "note": answer.note}


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
    if not isinstance(record, Mapping):
        raise InputError(f"{where} is not an object: export JSON from the tool")
    for holder in (record.get("data"), record.get("metadata"), record.get("meta"), record):
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
        f"{where} has no {_KEY!r}: load the file that --out wrote into the tool, so that each task"
        " keeps its number"
    )


def _answers(record: Mapping[str, Any], where: str) -> list[tuple[str, Any, str]]:
    """Return (who, label or "skip", note) of every answer of a record."""
    if "annotations" in record:
        return [one for a in record["annotations"] for one in _of_annotation(a, where)]
    if "responses" in record:
        return _of_responses(record["responses"] or ())
    if record.get("answer") in ("accept", "ignore", "reject") and "meta" in record:
        who = str(record.get("_annotator_id") or record.get("_session_id") or "")
        chosen = record.get("accept", record.get("label"))
        if record["answer"] == "reject":
            raise InputError(
                f"{where} was rejected: accept it with an answer, or ignore it to skip"
            )
        label = SKIP if record["answer"] == "ignore" else _only(chosen, where)
        return [] if label is None else [(who, label, str(record.get("note") or ""))]
    if _KEY in record:  # JSON-MIN
        value = record.get("answer")
        chosen = value.get("choices") if isinstance(value, Mapping) else value
        label = _only(chosen, where)
        who = str(record.get("annotator", ""))
        return [] if label is None else [(who, label, str(record.get("note") or ""))]
    return []


def _only(chosen: Any, where: str) -> Any:
    """Return the one choice that was made, None for none."""
    if not isinstance(chosen, list):
        return chosen
    if len(chosen) > 1:
        raise InputError(f"{where} has {len(chosen)} choices: one is needed")
    return chosen[0] if chosen else None


def _of_responses(responses: Any) -> list[tuple[str, Any, str]]:
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
            SKIP if one.get("status") == "discarded" else one.get("value"),
            str(one.get("note") or ""),
        )
        for one in flat
        if one.get("status", "submitted") != "draft"
    ]


def _of_annotation(annotation: Mapping[str, Any], where: str) -> list[tuple[str, Any, str]]:
    """Return the answer of one annotation of Label Studio, if it holds one."""
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
    if annotation.get("was_cancelled"):
        label = SKIP
    return [] if label is None else [(who, label, note)]
