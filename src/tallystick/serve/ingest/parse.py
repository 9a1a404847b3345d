"""From a body to records: NDJSON or one JSON array, checked before anything is written."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec

from tallystick.serve.problem import Fix, HttpProblem

__all__ = [
    "MOST_BODY",
    "MOST_RECORDS",
    "LabelRecord",
    "VoteRecord",
    "hour_of",
    "parse",
]

MOST_BODY = 8 * 1024 * 1024
MOST_RECORDS = 10_000
_MOST_LINE = 64 * 1024
_MOST_SHOW = 256 * 1024
_MOST_NAME = 256


class LabelRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What a person says is true; null with ``replace`` takes it back."""

    value: str | int | bool | None
    by: str = ""


class VoteRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What is known of one item (of one system): any part of it, in any order."""

    item: str | int
    system: str = ""
    at: str | float | None = None
    votes: dict[str, str | int | bool | None] | None = None
    grades: dict[str, float | None] | None = None
    label: LabelRecord | None = None
    slice: dict[str, str | int | bool] | None = None
    show: str | dict[str, str] | None = None
    replace: bool = False


_ONE = msgspec.json.Decoder(VoteRecord)
_ARRAY = msgspec.json.Decoder(list[VoteRecord])


def parse(body: bytes, *, now: float) -> list[VoteRecord]:
    r"""Return the records of a body; every refusal names the line and the way out.

    >>> [one.item for one in parse(b'{"item": "a"}\n{"item": "b"}', now=0.0)]
    ['a', 'b']
    """
    if b"\\u0000" in body:
        # PostgreSQL keeps no such text, and both stores must keep the same.
        raise HttpProblem(422, "the body has a NUL character (\\u0000): leave it out")
    records = _array(body) if body.lstrip()[:1] == b"[" else _lines(body)
    if not records:
        raise HttpProblem(
            422, "the body has no record", [Fix(way_out='send {"item": …, "votes": {…}} lines')]
        )
    if len(records) > MOST_RECORDS:
        raise HttpProblem(
            413, f"{len(records):,} records in one request: send at most {MOST_RECORDS:,}"
        )
    wrong: list[Fix] = []
    latest = now + 86_400.0
    for line, record in enumerate(records, start=1):
        item = record.item
        if item.__class__ is not str:
            item = record.item = str(item)
        if (
            not 0 < len(item) <= 64  # longer ones, and the rare parts, are looked at one by one
            or not item.isascii()
            or record.system
            or record.at is not None
            or record.show is not None
            or record.label is not None
        ):
            wrong += _wrong(record, line, latest)
    if wrong:
        raise HttpProblem(422, f"{len(wrong)} things cannot be used; nothing was kept", wrong)
    return records


def _lines(body: bytes) -> list[VoteRecord]:
    """Read NDJSON: all lines at once, and one by one only where that fails, to name the line."""
    if len(body) > _MOST_LINE:
        _check_lines(body)
    try:
        return _ONE.decode_lines(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    wrong: list[Fix] = []
    status = 422
    for number, line in enumerate(body.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            _ONE.decode(line)
        except msgspec.ValidationError as error:
            wrong.append(_fix(str(error), number))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            status = 400
            wrong.append(Fix(line=number, way_out=f"this line is not JSON: {error}"))
    detail = f"{len(wrong)} lines cannot be read; nothing was kept"
    raise HttpProblem(status, detail, wrong or [Fix(way_out="the body is not NDJSON")])


def _check_lines(body: bytes) -> None:
    """Refuse a line that is too long, unless it carries what a labeller sees."""
    for number, line in enumerate(body.split(b"\n"), start=1):
        most = _MOST_LINE + (_MOST_SHOW * 2 if b'"show"' in line else 0)
        if len(line) > most:
            raise HttpProblem(
                413,
                f"line {number} has {len(line):,} bytes",
                [Fix(line=number, way_out=f"a line may have {_MOST_LINE:,} bytes without show")],
            )


def _array(body: bytes) -> list[VoteRecord]:
    try:
        return _ARRAY.decode(body)
    except msgspec.ValidationError as error:
        message = str(error)
        place = message.rpartition("`$[")[2].partition("]")[0]
        line = int(place) + 1 if place.isdecimal() else None
        raise HttpProblem(422, "a record cannot be read", [_fix(message, line)]) from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise HttpProblem(400, f"the body is not JSON: {error}") from error


def _fix(message: str, line: int | None) -> Fix:
    what, _, place = message.partition(" - at ")
    if ".votes" in place and "got `float`" in what:
        what = "votes are words: send numbers as grades, or as text"
    elif ".votes" in place:
        what += ": a vote is a word, such as {'gpt': 'pass'}"
    return Fix(line=line, column=place.strip("`") or None, way_out=what)


def _wrong(record: VoteRecord, line: int, latest: float) -> list[Fix]:
    """Return what is wrong with the parts of a record that few records have."""
    wrong: list[Fix] = []
    item, system = str(record.item), record.system
    for name, text in (("item", item), ("system", system)):
        if len(text.encode()) > _MOST_NAME:
            wrong.append(
                Fix(line=line, column=name, value=text[:64], way_out="use at most 256 bytes")
            )
    if not item.strip():
        wrong.append(Fix(line=line, column="item", way_out="name the item: it is blank"))
    if record.at is not None:
        try:
            when = _seconds(record.at)
        except ValueError:
            when = None
        if when is None or not -1e11 < when < 1e12:
            way = "write seconds since 1970, or 2026-07-31T12:00:00Z"
            wrong.append(Fix(line=line, column="at", value=str(record.at)[:64], way_out=way))
        elif when > latest:
            way = "this is more than a day ahead: check the sender's clock"
            wrong.append(Fix(line=line, column="at", value=str(record.at)[:64], way_out=way))
    if record.show is not None and len(msgspec.json.encode(record.show)) > _MOST_SHOW:
        wrong.append(Fix(line=line, column="show", way_out=f"use at most {_MOST_SHOW:,} bytes"))
    if record.label is not None:
        if len(record.label.by.encode()) > _MOST_NAME:
            wrong.append(Fix(line=line, column="label.by", way_out="use at most 256 bytes"))
        if record.label.value is None and not record.replace:
            way = "null takes a label back: say so with 'replace': true"
            wrong.append(Fix(line=line, column="label", way_out=way))
    return wrong


def _seconds(at: str | float) -> float:
    if isinstance(at, int | float):
        return float(at)
    when = datetime.fromisoformat(at)
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()


def hour_of(at: Any, now: float) -> int:
    """Return the bucket of a row: hours since 1970 of its *at*, or of its arrival.

    >>> hour_of("1970-01-01T02:30:00Z", 0.0), hour_of(None, 3600.0)
    (2, 1)
    """
    return int((now if at is None else _seconds(at)) // 3600)
