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

from tallystick.data.session import IN_FILE, Ask, Session
from tallystick.errors import FileError, InputError
from tallystick.io import atomic
from tallystick.label.batch_file import checked_events
from tallystick.label.work import Work

__all__ = ["TOOLS", "Tool", "export_asks", "export_session", "import_answers", "label_config"]

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
