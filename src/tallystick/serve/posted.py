"""Results that cron or CI posted: what ``tallystick shift … --post STREAM`` said last night.

A result is the command line's own JSON. The stream's page shows the last
ones. One that says that an API changed is an alarm, until a later one says
that it is as it was.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from pathlib import Path
from typing import Any

import msgspec

from tallystick.errors import FileError, InputError
from tallystick.serve.alerts import AlertNote, raise_alert
from tallystick.serve.database import Reader, Store, Transaction
from tallystick.serve.routes import Incoming, reads, writes
from tallystick.serve.streams import find_stream, new_version


class PostedResult(msgspec.Struct):
    """A result as it is listed."""

    id: int
    verb: str
    about: str
    at: float
    by: str
    changed: bool
    result: dict[str, Any]


class PostedList(msgspec.Struct):
    """Results, the newest first."""

    posted: list[PostedResult]


class PostedKept(msgspec.Struct):
    """A result was kept; *again* if the same had come before."""

    id: int
    changed: bool
    again: bool = False


class PostedGate(msgspec.Struct):
    """Whether a gate passed; null where that is open."""

    passed: bool | None = None


class PostedBody(msgspec.Struct):
    """What is read of a result that the command line printed with --json; all of it is kept."""

    verb: str
    verdict: str
    api: str | None = None
    changed: bool | None = None
    gates: list[PostedGate] = []

    def has_changed(self) -> bool:
        """Say whether it says that something changed: by its gates where it has some."""
        said = [one.passed is False for one in self.gates] or [self.changed is True]
        return any(said)


@writes(
    *("POST", "/v1/streams/{stream}/posted", "write"),
    body=PostedBody,
    answer=PostedKept,
    limit=2 * 1024 * 1024,
)
def post_result(transaction: Transaction, incoming: Incoming) -> PostedKept:
    """Keep a result that the command line printed with --json; the same one counts once."""
    body, now = incoming.body, incoming.now
    stream = find_stream(transaction, incoming.path["stream"])
    about, changed = (body.api or body.verb)[:500], body.has_changed()
    digest = hashlib.sha256(incoming.raw).digest()
    known = transaction.one(
        "select id, changed from posted where stream = ? and sha256 = ?", (stream.id, digest)
    )
    if known is not None:
        return PostedKept(known[0], bool(known[1]), again=True)
    before = transaction.value(
        "select changed from posted where stream = ? and verb = ? and about = ?"
        " order by id desc limit 1",
        (stream.id, body.verb, about),
    )
    ident = transaction.made(
        "posted",
        stream=stream.id,
        sha256=digest,
        at=now,
        by=incoming.who.name,
        verb=body.verb,
        about=about,
        changed=int(changed),
        body=incoming.raw.decode(),
    )
    # A change that every later night finds again is one event.
    if changed and not before:
        note = AlertNote(
            name="posted",
            what=f"{stream.name}: {about[:200]} changed",
            proves=body.verdict,
            does_not_prove="why it changed, nor how it does on items of another kind",
            stream=stream.id,
            detail={"posted": ident, "verb": body.verb},
            muted=stream.settings.is_muted(now),
        )
        raise_alert(transaction, note, now=now)
    new_version(transaction, stream)
    return PostedKept(ident, changed)


def listed_posted(reader: Reader, stream: int, *, limit: int = 50) -> list[PostedResult]:
    """Return the last results that were posted to a stream."""
    rows = reader.all(
        "select id, verb, about, at, by, changed, body from posted where stream = ?"
        " order by id desc limit ?",
        (stream, limit),
    )
    return [PostedResult(*[*row[:5], bool(row[5]), json.loads(row[6])]) for row in rows]


@reads("/v1/streams/{stream}/posted", "read", answer=PostedList)
def get_posted(reader: Reader, incoming: Incoming) -> PostedList:
    """List the last results that were posted to a stream."""
    stream = find_stream(reader, incoming.path["stream"])
    return PostedList(listed_posted(reader, stream.id))


# The other side: what ``--post STREAM`` sends.


_TRIES = 4


def send_result(stream: str, body: str, *, wait: float = 1.0) -> None:
    """Post a result to a stream of a running service, and again while the service is away.

    Parameters
    ----------
    stream
        ``http://HOST:8765/v1/streams/NAME``. The key is that of the environment, TALLYSTICK_KEY; a
        service on this machine may need none.
    body
        The result as the command line prints it. The same bytes count once.
    wait
        Seconds before the second try; each later one waits twice as long.
    """
    import httpx

    if not re.search(r"^https?://.+/streams/[^/]+/?$", stream):
        raise InputError(
            f"--post takes the address of a stream, http://HOST:8765/v1/streams/NAME: {stream!r}"
        )
    key = os.environ.get("TALLYSTICK_KEY")
    headers = {"Content-Type": "application/json"}
    headers |= {} if key is None else {"Authorization": f"Bearer {key}"}
    why = ""
    for k in range(_TRIES):
        if k:
            time.sleep(wait * 2 ** (k - 1))
        try:
            answer = httpx.post(
                f"{stream.rstrip('/')}/posted", content=body, headers=headers, timeout=30.0
            )
        except httpx.TransportError as error:
            why = f"{type(error).__name__}: {error}"
            continue
        if answer.is_success:
            return
        why = f"it answered {answer.status_code}: {answer.text[:300]}"
        if answer.status_code < 500 and answer.status_code != 429:
            break
    raise FileError(f"the result was not posted to {stream} ({why})")


# Watches of the second version: their paid answers become tables that
# ``shift`` reads.


def export_watches(store: Store, folder: Path) -> list[Path]:
    """Write the baseline of every watch of an earlier version as a table; return new files.

    Each row is an item with what the API answered (``old``, ``old.2``, …), so that a nightly
    ``tallystick shift --data FILE --old old`` goes on where the watch stopped. The tables of the
    database stay as they are.
    """
    from tallystick.table import write_csv

    with store.read() as reader:
        if not reader.has_table("watch"):  # this version makes no such tables
            return []
        watches = reader.all("select name, spec, baseline from watch order by name")
        answers = {
            name: reader.all("select item, text from answer where run = ?", (baseline,))
            for name, _, baseline in watches
        }
    made = []
    for name, spec, _ in watches:
        path = folder / "watches" / f"{name}.csv"
        if path.exists():
            continue
        order = json.loads(spec)
        said = {item: json.loads(text) for item, text in answers[name]}
        columns = list(dict.fromkeys(key for one in order["items"] for key in one))
        table: dict[str, list[Any]] = {
            key: [one.get(key) for one in order["items"]] for key in columns
        }
        names = [str(one.get(order["item"])) for one in order["items"]]
        for k in range(max(map(len, said.values()), default=0)):
            draws = [said.get(one, ()) for one in names]
            column = "old" if k == 0 else f"old.{k + 1}"
            table[column] = [held[k] if len(held) > k else None for held in draws]
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_csv(path, table)
            rest = {key: value for key, value in order.items() if key != "items"}
            path.with_suffix(".json").write_text(json.dumps(rest, indent=1), encoding="utf-8")
        except OSError as error:
            raise FileError(f"{path} cannot be written ({error.strerror})") from error
        made.append(path)
    return made
