"""Streams: make one, look at it, change its settings, delete it."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Collection
from typing import Any

import msgspec

from tallystick.serve.known_label import known_label
from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.settings import StreamRecord, StreamSettings, find_stream
from tallystick.serve.store import Reader, Transaction

__all__ = [
    "RESERVED",
    "ROUTES",
    "StreamBody",
    "StreamColumn",
    "StreamList",
    "name_problem",
]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

RESERVED = ("item", "row", "system", "label", "at", "probability")
"""Names that rows use for themselves; a column may not have them."""


def name_problem(name: str, others: Collection[str]) -> str | None:
    """Return why a column cannot be called *name*, None if it can.

    Names go to the command line, where commas and globs mean several columns, and to engines that
    do not tell capitals from small letters.

    >>> name_problem("gpt-4*", ())
    'a name has none of , * ? [ ] and no blank at its ends'
    """
    if name.lower() in RESERVED:
        return f"{name!r} is a column of every row: use another name"
    if not 0 < len(name.encode()) <= 256 or not name.isprintable():
        return "a name has 1 to 256 bytes, all printable"
    if name != name.strip() or set(name) & set(",*?[]"):
        return "a name has none of , * ? [ ] and no blank at its ends"
    same = [one for one in others if one != name and one.casefold() == name.casefold()]
    if same:
        return f"there is {same[0]!r} already, which differs in capitals only"
    return None


class StreamColumn(msgspec.Struct):
    """A column of a stream and what it holds."""

    name: str
    kind: str


class StreamBody(msgspec.Struct):
    """A stream as it is shown."""

    name: str
    settings: StreamSettings
    version: int
    rows: int
    created: float
    columns: list[StreamColumn]


class StreamList(msgspec.Struct):
    """The streams that a key may see."""

    streams: list[StreamBody]


def shown(reader: Reader, stream: StreamRecord) -> StreamBody:
    """Return what a caller sees of a stream."""
    columns = reader.all(
        "select name, kind from stream_column where stream = ? order by id", (stream.id,)
    )
    return StreamBody(
        name=stream.name,
        settings=stream.settings,
        version=stream.version,
        rows=stream.rows,
        created=stream.created,
        columns=[StreamColumn(*one) for one in columns],
    )


async def list_streams(incoming: Incoming) -> StreamList:
    """List the streams that this key may see."""
    mine = incoming.who.streams

    def work(reader: Reader) -> list[StreamBody]:
        names = [one for (one,) in reader.all("select name from stream order by name")]
        return [shown(reader, find_stream(reader, one)) for one in names if not mine or one in mine]

    return StreamList(await incoming.service.reading(work))


async def put_stream(incoming: Incoming) -> StreamBody:
    """Make a stream, or change the settings that the body names; the others stay as they are."""
    name = incoming.path["stream"]
    if not _NAME.fullmatch(name):
        raise HttpProblem(
            422,
            f"a stream cannot be called {name[:80]!r}",
            [Fix(way_out="use up to 64 letters, digits, dots, dashes and underscores")],
        )
    check_settings(incoming.body)
    service = incoming.service
    named = msgspec.json.decode(incoming.raw)

    def work(transaction: Transaction) -> StreamBody:
        settings: StreamSettings = incoming.body
        before = transaction.one("select settings from stream where name = ?", (name,))
        if before is not None:
            whole = {**msgspec.json.decode(before[0]), **named}
            settings = msgspec.convert(whole, StreamSettings)
            check_settings(settings)
        text = msgspec.json.encode(settings).decode()
        transaction.run(
            "insert into stream (name, settings, salt, version, rows, created)"
            " values (?, ?, ?, 0, 0, ?) on conflict (name) do update set"
            " settings = excluded.settings, version = stream.version + 1",
            (name, text, secrets.token_bytes(16), service.clock()),
        )
        stream = find_stream(transaction, name)
        for column, kind in settings.columns.items():
            transaction.run(
                "insert into stream_column (stream, name, kind) values (?, ?, ?)"
                " on conflict (stream, name) do nothing",
                (stream.id, column, kind),
            )
        service.forget()  # here, in the writer's thread: the next batch must see the new settings
        return shown(transaction, stream)

    return await service.commit(work)


def check_settings(settings: StreamSettings) -> None:
    """Refuse settings that contradict themselves."""
    wrong: list[Fix] = []
    for name, kind in settings.columns.items():
        if kind not in ("vote", "grade", "slice"):
            wrong.append(Fix(column=name, value=kind, way_out="use vote, grade or slice"))
        why = name_problem(name, settings.columns)
        if why is not None:
            wrong.append(Fix(column=name[:64], way_out=why))
    for name, (low, high) in settings.scales.items():
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            way = "write the least and then the greatest grade, such as [1, 5]"
            wrong.append(Fix(column="scales", value=name, way_out=way))
        if settings.columns.get(name, "grade") != "grade":
            wrong.append(Fix(column="scales", value=name, way_out="only grades have a scale"))
    if settings.window < 1:
        wrong.append(Fix(column="window", value=str(settings.window), way_out="at least 1 row"))
    if not settings.settle >= 0:
        wrong.append(Fix(column="settle", value=str(settings.settle), way_out="0 or more seconds"))
    if settings.retention_days is not None and not settings.retention_days > 0:
        wrong.append(Fix(column="retention_days", way_out="more than 0, or null to keep all"))
    if not 0 <= settings.overlap <= 1:
        wrong.append(Fix(column="overlap", way_out="a share between 0 and 1"))
    if len(settings.labels) > 64:
        wrong.append(Fix(column="labels", way_out="at most 64 labels"))
    for place, label in enumerate(settings.labels):
        twin = known_label(label, settings.labels[:place])
        if twin is not None or not label.strip():
            why = f"this spells {twin!r} again" if twin is not None else "a label is not blank"
            wrong.append(Fix(column="labels", value=label, way_out=f"{why}: leave it out"))
    if wrong:
        raise HttpProblem(422, "these settings cannot be used", wrong)


async def get_stream(incoming: Incoming) -> StreamBody:
    """Return a stream with its settings and columns."""
    name = incoming.path["stream"]
    return await incoming.service.reading(lambda reader: shown(reader, find_stream(reader, name)))


async def delete_stream(incoming: Incoming) -> Any:
    """Delete a stream with everything in it."""
    name = incoming.path["stream"]

    def work(transaction: Transaction) -> None:
        stream = find_stream(transaction, name)
        mine = "(select id from rows where stream = ?)"
        transaction.run("delete from fact where name = ?", (f"drift:{stream.id}",))
        for sql in (
            f"delete from payload where row_id in {mine}",
            "delete from draw where frame in (select id from frame where stream = ?)",
            "delete from frame where stream = ?",
            "delete from label where stream = ?",
            "delete from rows where stream = ?",
            "delete from tally where stream = ?",
            "delete from windows where stream = ?",
            "delete from seen where stream = ?",
            "delete from pattern where stream = ?",
            "delete from slice where stream = ?",
            "delete from label_code where stream_column in"
            " (select id from stream_column where stream = ?)",
            "delete from stream_column where stream = ?",
            "delete from batch where stream = ?",
            "delete from alert where stream = ?",
            "delete from stream where id = ?",
        ):
            transaction.run(sql, (stream.id,))
        incoming.service.forget()  # here, in the writer's thread: nothing may be kept for it now

    await incoming.service.commit(work)
    return {"deleted": name}


ROUTES = (
    Route(
        method="GET",
        path="/v1/streams",
        role="read",
        work=list_streams,
        summary="List streams.",
        answer=StreamList,
    ),
    Route(
        method="PUT",
        path="/v1/streams/{stream}",
        role="admin",
        work=put_stream,
        summary="Make a stream, or change the settings that are named; the others stay.",
        body=StreamSettings,
        answer=StreamBody,
    ),
    Route(
        method="GET",
        path="/v1/streams/{stream}",
        role="read",
        work=get_stream,
        summary="A stream, its settings and its columns.",
        answer=StreamBody,
    ),
    Route(
        method="DELETE",
        path="/v1/streams/{stream}",
        role="admin",
        work=delete_stream,
        summary="Delete a stream with everything in it.",
        answer=dict[str, str],
    ),
)
"""Routes of this file."""
