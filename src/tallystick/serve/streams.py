"""Streams: what an operator says of one, and how it is made, changed and deleted."""

from __future__ import annotations

import math
import re
import secrets
import struct
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from tallystick.errors import meant, unknown
from tallystick.serve.auth import Fix, HttpProblem
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.routes import Incoming, reads, writes
from tallystick.table import spelling

Scale = tuple[float, float]
WHEN = "write seconds since 1970, or 2026-07-31T12:00:00Z"
Share = Annotated[float, Meta(ge=0, le=1)]


class StreamSettings(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """Settings of a stream.

    Parameters
    ----------
    columns
        Columns that are declared, name to kind: ``vote``, ``grade`` or ``slice``.
    open
        Whether records may bring new columns. Default: yes, unless columns are declared.
    labels
        All labels that votes and truths may have, the worst first; empty for any.
    labels_ranked
        Whether they are in that order. The second version knew no order, so for its streams it is
        false until their labels are set again.
    positive
        The label that counts as a hit, where a verb needs one.
    scale
        The least and the greatest grade, such as ``[1, 5]``, or an object with one such pair per
        column. A record with another grade is refused.
    missing
        Words that are no vote, besides blanks.
    reading
        What columns are for a verb, as in the file that ``look -o`` writes: ``{"prediction":
        "clf", "judges": ["gpt", "claude"]}``. Votes are judges where nothing is said.
    window, settle
        Rows per window of the drift test, and the seconds after its arrival within which votes on
        a row are seen by that test.
    season
        ``daily`` or ``weekly`` where votes follow the time of the day or the week: the drift test
        then compares whole days or weeks.
    smallest_change
        The least change of a share that is told, such as 0.05; smaller ones add up.
    mute_until
        No alarm of this stream is sent before this time; it is kept as seen.
    retention_days
        Rows and batches older than this are dropped; None keeps them.
    overlap
        The share of draws that two people label.
    question
        What a labeller is asked.
    instructions
        What a labeller reads first.
    """

    columns: dict[str, Literal["vote", "grade", "slice"]] = {}
    open: bool | None = None
    labels: Annotated[list[str], Meta(max_length=64)] = []
    labels_ranked: bool = True
    positive: str | None = None
    scale: Scale | dict[str, Scale] | None = None
    missing: list[str] = []
    reading: dict[str, str | list[str]] = {}
    window: Annotated[int, Meta(ge=1)] = 1_000
    settle: Annotated[float, Meta(ge=0)] = 3_600.0
    season: Literal["daily", "weekly"] | None = None
    smallest_change: Share = 0.0
    mute_until: str | float | None = None
    retention_days: Annotated[float, Meta(gt=0)] | None = None
    overlap: Share = 0.1
    question: str = ""
    instructions: str = ""

    @property
    def is_open(self) -> bool:
        """Whether a record may bring a new column."""
        return not self.columns if self.open is None else self.open

    def scale_of(self, column: str) -> Scale | None:
        """Return the ends of the grades of a column, None where any grade is taken."""
        return self.scale.get(column) if isinstance(self.scale, dict) else self.scale

    def named(self, role: str) -> list[str]:
        """Return the columns that the reading names for a role."""
        held = self.reading.get(role, [])
        return [held] if isinstance(held, str) else held

    def is_muted(self, now: float) -> bool:
        """Whether alarms are not to be sent now."""
        return self.mute_until is not None and now < seconds_of(self.mute_until)


def seconds_of(at: str | float) -> float:
    """Return a time as seconds since 1970; a time without a zone is UTC.

    >>> seconds_of("1970-01-01T02:30:00Z"), seconds_of(5)
    (9000.0, 5.0)
    """
    if isinstance(at, int | float):
        return float(at)
    when = datetime.fromisoformat(at)
    return (when if when.tzinfo is not None else when.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True)
class StreamRecord:
    """A stream as it is kept."""

    id: int
    name: str
    settings: StreamSettings
    salt: bytes
    version: int
    rows: int
    created: float


@lru_cache(maxsize=1024)
def settings_of(text: str) -> StreamSettings:
    """Read settings as they are kept.

    The second version called two of them otherwise, and its labels had no order.

    >>> settings_of('{"roles": {"prediction": ["clf"]}, "scales": {"gpt": [1, 5]}}').scale_of("gpt")
    (1.0, 5.0)
    """
    held = msgspec.json.decode(text)
    for old, new in (("roles", "reading"), ("scales", "scale")):
        if old in held:
            held[new] = held.pop(old)
    held.setdefault("labels_ranked", not held.get("labels"))
    return msgspec.convert(held, StreamSettings)


def kept_text(settings: StreamSettings) -> str:
    """Write settings as they are kept."""
    held = {**msgspec.to_builtins(settings), "labels_ranked": settings.labels_ranked}
    return msgspec.json.encode(held).decode()


def find_stream(reader: Reader, name: str) -> StreamRecord:
    """Return a stream by name; an unknown one is refused with the nearest name."""
    row = reader.one(
        "select id, name, settings, salt, version, rows, created from stream where name = ?",
        (name,),
    )
    if row is None:
        way = f"an admin makes it: PUT /v1/streams/{name} with the body {{}}"
        what = unknown("stream", name) + meant(name, names_of(reader))
        raise HttpProblem(404, what, Fix(way, value=name))
    return StreamRecord(row[0], row[1], settings_of(row[2]), bytes(row[3]), *row[4:])


def new_version(transaction: Transaction, stream: StreamRecord) -> None:
    """Give a stream a new version: what was answered about it is asked again."""
    transaction.run("update stream set version = version + 1 where id = ?", (stream.id,))


def names_of(reader: Reader, mine: Collection[str] = ()) -> list[str]:
    """Return the names of all streams, or of those among *mine*."""
    names = [one for (one,) in reader.all("select name from stream order by name limit 1000")]
    return [one for one in names if not mine or one in mine]


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

_OWNED = (
    *("frame", "label", "rows", "tally", "windows", "seen", "pattern", "slice", "posted", "alert"),
)
"""Tables whose rows belong to one stream, in an order in which they can be deleted."""

RESERVED = ("item", "row", "system", "label", "at", "probability")
"""Names that rows use for themselves; a column may not have them."""


def name_problem(name: str, others: Collection[str]) -> str | None:
    """Return why a column cannot be called *name*, None if it can.

    Names go to the command line, where commas and globs mean several columns, and to engines that
    do not tell capitals from small letters.

    >>> name_problem("gpt-4", ["GPT-4"])
    "there is 'GPT-4' already, which differs in capitals only"
    """
    plain = 0 < len(name.encode()) <= 256 and name.isprintable() and name == name.strip()
    if not plain or set(name) & set(",*?[]") or name.lower() in RESERVED:
        return (
            "a name has 1 to 256 printable bytes, none of , * ? [ ], no blank at its ends, and is"
            f" none of {', '.join(RESERVED)}"
        )
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
    of = (stream.name, stream.settings, stream.version, stream.rows, stream.created)
    return StreamBody(*of, [StreamColumn(*one) for _, *one in reader.columns(stream.id)])


@reads("/v1/streams", "read", answer=StreamList)
def list_streams(reader: Reader, incoming: Incoming) -> StreamList:
    """List the streams that this key may see."""
    names = names_of(reader, incoming.who.streams)
    return StreamList([shown(reader, find_stream(reader, one)) for one in names])


@writes("PUT", "/v1/streams/{stream}", "admin", body=StreamSettings, answer=StreamBody)
def put_stream(transaction: Transaction, incoming: Incoming) -> StreamBody:
    """Make a stream, or change the settings that the body names; the others stay as they are."""
    name, settings = incoming.path["stream"], incoming.body
    if not _NAME.fullmatch(name):
        way = Fix("use up to 64 letters, digits, dots, dashes and underscores")
        raise HttpProblem(422, f"a stream cannot be called {name[:80]!r}", way)
    before = transaction.one("select settings from stream where name = ?", (name,))
    if before is not None:
        named = msgspec.json.decode(incoming.raw)
        whole = {**msgspec.to_builtins(settings_of(before[0])), **named}
        if "labels" in named and "labels_ranked" not in named:
            whole.pop("labels_ranked", None)
        settings = msgspec.convert(whole, StreamSettings)
    check_settings(settings)
    transaction.put(
        "stream",
        " on conflict (name) do update set"
        " settings = excluded.settings, version = stream.version + 1",
        name=name,
        settings=kept_text(settings),
        salt=secrets.token_bytes(16),
        version=0,
        rows=0,
        created=incoming.now,
    )
    stream = find_stream(transaction, name)
    once = " on conflict (stream, name) do nothing"
    for column, kind in settings.columns.items():
        transaction.put("stream_column", once, stream=stream.id, name=column, kind=kind)
    incoming.service.forget()  # in the writer's thread: the next batch must see the new settings
    return shown(transaction, stream)


def check_settings(settings: StreamSettings) -> None:
    """Refuse settings that contradict themselves."""
    scales = settings.scale if isinstance(settings.scale, dict) else {"": settings.scale}
    labels, positive = settings.labels, settings.positive
    wrong = [
        *(
            (name, why)
            for name in settings.columns
            if (why := name_problem(name, settings.columns))
        ),
        *(
            ("scale", f"{name or 'a scale'}: write the least and the greatest grade, as [1, 5]")
            for name, ends in scales.items()
            if (ends is not None and not -math.inf < ends[0] < ends[1] < math.inf)
            or settings.columns.get(name, "grade") != "grade"  # only grades have one
        ),
        *(
            ("labels", f"{label!r} is blank or spells another one again: leave it out")
            for place, label in enumerate(labels)
            if not label.strip() or known_label(label, labels[:place]) is not None
        ),
    ]
    try:
        seconds_of(settings.mute_until or 0.0)
    except ValueError:
        wrong.append(("mute_until", WHEN))
    if positive is not None and labels and positive not in labels:
        wrong.append(("positive", f"use one of {', '.join(labels)}"))
    if wrong:
        fixes = [Fix(why, column=name[:64]) for name, why in wrong]
        raise HttpProblem(422, "these settings cannot be used", *fixes)


@reads("/v1/streams/{stream}", "read", answer=StreamBody)
def get_stream(reader: Reader, incoming: Incoming) -> StreamBody:
    """Return a stream with its settings and columns."""
    return shown(reader, find_stream(reader, incoming.path["stream"]))


@writes("DELETE", "/v1/streams/{stream}", "admin", answer=dict[str, str])
def delete_stream(transaction: Transaction, incoming: Incoming) -> dict[str, str]:
    """Delete a stream with everything in it."""
    name = incoming.path["stream"]
    stream = find_stream(transaction, name).id
    transaction.run("delete from fact where name = ?", (f"drift:{stream}",))
    for sql in (
        "delete from payload where row_id in (select id from rows where stream = ?)",
        "delete from draw where frame in (select id from frame where stream = ?)",
        *(f"delete from {table} where stream = ?" for table in _OWNED),
        "delete from label_code where stream_column in"
        " (select id from stream_column where stream = ?)",
        *(f"delete from {table} where stream = ?" for table in ("stream_column", "batch")),
        "delete from stream where id = ?",
    ):
        transaction.run(sql, (stream,))
    incoming.service.forget()  # in the writer's thread: nothing may be kept for it now
    return {"deleted": name}


# The words of a row: numbers of labels in increasing order, four bytes each,
# are a pattern.


TRUTH = "label"
"""The column of the truth."""

CODES = "select id, codes from pattern where id in ({})"
"""The codes of patterns, for `Reader.by_id`."""


def pack_codes(codes: Sequence[int]) -> bytes:
    """Write label codes as four bytes each."""
    return struct.pack(f"<{len(codes)}I", *codes)


def unpack_codes(packed: bytes) -> tuple[int, ...]:
    """Read label codes.

    >>> unpack_codes(pack_codes((3, 70_000)))
    (3, 70000)
    """
    return struct.unpack(f"<{len(packed) // 4}I", packed)


class Codebook:
    """The columns of a stream, and the words behind the codes of its patterns, as they are now."""

    def __init__(self, reader: Reader, stream: StreamRecord) -> None:
        self.columns: dict[str, dict[str, int]] = {
            kind: {} for kind in ("vote", "grade", "slice", "label")
        }
        for ident, name, kind in reader.columns(stream.id):
            self.columns[kind][name] = ident
        places = {ident: k for k, ident in enumerate(self.columns["vote"].values())}
        self._words = {
            code: (places.get(column), label)
            for code, column, _, _, label in reader.labels(stream.id)
        }

    def cells(self, codes: bytes) -> tuple[tuple[str | None, ...], str | None]:
        """Return the votes of a pattern, column by column, and its truth."""
        votes: list[str | None] = [None] * len(self.columns["vote"])
        truth: str | None = None
        for code in unpack_codes(codes):
            place, word = self._words[code]
            if place is None:
                truth = word
            else:
                votes[place] = word
        return tuple(votes), truth

    def parted(self, codes: bytes) -> tuple[bytes, str | None]:
        """Return the pattern of the votes alone, and the truth."""
        said = unpack_codes(codes)
        votes = pack_codes([one for one in said if self._words[one][0] is not None])
        return votes, self.cells(codes)[1]

    def classes(self, stream: StreamRecord) -> tuple[str, ...]:
        """Return the words of votes and truths: those of the settings in order, then others."""
        said = {word for _, word in self._words.values()}
        return tuple(dict.fromkeys([*stream.settings.labels, *sorted(said)]))


# Another spelling of a label that a column has: kept as that label, or
# refused.
#
# One program that writes ``1.0`` where the others write ``1`` would give a
# column two labels, and no question could be answered from it any more
# (`tallystick.table.check_vocabulary`).


_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,14})(\.0+)?")


def known_label(word: str, labels: Iterable[str]) -> str | None:
    """Return the label among *labels* that *word* spells, itself where it is there; None if none.

    >>> known_label("1.0", ["0", "1"]), known_label("PASS", ["Pass", "PASS"]), known_label("2", ["1"])
    ('1', 'PASS', None)
    """
    meaning = spelling(word)
    same = [one for one in labels if spelling(one) == meaning]
    if not same:
        return None
    return word if word in same else same[0]


def is_doubtful(word: str, label: str) -> bool:
    """Say whether two spellings of one number may be meant as two labels.

    Capitals, blanks and the ``.0`` that a program adds to a whole number are no difference.
    Versions (1.1 and 1.10), names (7 and 007), and true beside 1 may be one.

    >>> [is_doubtful(*pair) for pair in (("True", "true"), ("1.0", "1"), ("1.10", "1.1"), ("true", "1"))]
    [False, False, True, True]
    """
    if not isinstance(spelling(word), str) and word.casefold() != label.casefold():
        return not (_WHOLE.fullmatch(word) and _WHOLE.fullmatch(label))
    return False
