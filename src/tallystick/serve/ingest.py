"""From a body to records: NDJSON or one JSON array, checked before anything is written."""

from __future__ import annotations

import codecs
import hashlib
import json
import math
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tallystick.errors import meant, unknown
from tallystick.serve.auth import Fix, HttpProblem, not_json, too_large, wrong_lines
from tallystick.serve.database import Transaction
from tallystick.serve.routes import misread
from tallystick.serve.streams import (
    CODES,
    TRUTH,
    WHEN,
    StreamRecord,
    is_doubtful,
    known_label,
    name_problem,
    pack_codes,
    seconds_of,
    unpack_codes,
)
from tallystick.table.words import is_gap, is_no_answer

MOST_BODY = 8 * 1024 * 1024
MOST_RECORDS = 10_000
_MOST_LINE = 64 * 1024
_MOST_SHOW = 256 * 1024
_MOST_NAME = 256


class LabelRecord(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """What a person says is true; null with ``replace`` takes it back."""

    value: str | int | bool | None
    by: Annotated[str, Meta(description="Who says it; the name of the key if left out.")] = ""


class VoteRecord(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """What is known of one item (of one system): any part of it, in any order."""

    item: Annotated[str | int, Meta(description="The name of the item, at most 256 bytes.")]
    system: Annotated[str, Meta(description="Which system made the output that is judged.")] = ""
    at: Annotated[
        str | float | None,
        Meta(
            description="When it happened: 2026-07-31T12:00:00Z, or seconds since 1970. The first"
            " time of a row stands; when it came in, if left out."
        ),
    ] = None
    votes: Annotated[
        dict[str, str | int | bool | None] | None,
        Meta(description="Judge to its vote, a word. null is no vote, or takes it back (replace)."),
    ] = None
    grades: Annotated[dict[str, float | None] | None, Meta(description="Column to a number.")] = (
        None
    )
    label: Annotated[
        LabelRecord | None, Meta(description="The true answer as a person sees it.")
    ] = None
    slice: Annotated[
        dict[str, str | int | bool] | None,
        Meta(description="What results are split by, such as the language."),
    ] = None
    show: Annotated[
        str | dict[str, str] | None,
        Meta(description="What a labeller sees: a text, or titles with their texts."),
    ] = None
    replace: Annotated[
        bool, Meta(description="Whether other values that are kept may be changed.")
    ] = False


_EXAMPLES = {
    "item": '"ticket-17"',
    "system": '"bot-7"',
    "at": '"2026-07-31T12:00:00Z"',
    "votes": '{"gpt": "pass"}',
    "grades": '{"helpfulness": 0.8}',
    "label": '{"value": "pass", "by": "ann"}',
    "slice": '{"lang": "en"}',
    "show": '{"Question": "…", "Answer": "…"}',
    "replace": "true",
}

_ONE = msgspec.json.Decoder(VoteRecord)
_ARRAY = msgspec.json.Decoder(list[VoteRecord])
_PARTS = msgspec.json.Decoder(list[msgspec.Raw])


def parse(body: bytes, *, now: float) -> list[VoteRecord]:
    r"""Return the records of a body; every refusal names the line and the way out.

    >>> [one.item for one in parse(b'{"item": "a"}\n{"item": "b"}', now=0.0)]
    ['a', 'b']
    """
    body = body.removeprefix(codecs.BOM_UTF8)  # as programs on Windows begin a file
    if b"\\u0000" in body:
        # PostgreSQL keeps no such text, and both stores must keep the same.
        raise HttpProblem(422, "the body has a NUL character (\\u0000): leave it out")
    records = _records(body)
    if not records:
        raise HttpProblem(422, 'the body has no record: send {"item": …, "votes": {…}} lines')
    if len(records) > MOST_RECORDS:
        raise too_large(f"{MOST_RECORDS:,} records")
    if len(body) > _MOST_LINE:
        _check_lines(records)
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
        raise wrong_lines(wrong)
    return records


def _check_lines(records: list[VoteRecord]) -> None:
    """Refuse a record that is too long, apart from what a labeller sees."""
    for line, record in enumerate(records, start=1):
        size = len(msgspec.json.encode(record))
        if size > _MOST_LINE:
            size -= len(msgspec.json.encode(record.show))
        if size > _MOST_LINE:
            raise wrong_lines([Fix(_at_most(_MOST_LINE), line=line)], status=413)


def _records(body: bytes) -> list[VoteRecord]:
    """Read all records at once, and one by one only where that fails, to name each wrong one."""
    is_array = body.lstrip()[:1] == b"["
    try:
        return _ARRAY.decode(body) if is_array else _ONE.decode_lines(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    wrong: list[Fix] = []
    status, pieces = 422, body.splitlines()
    if is_array:
        try:
            pieces = [bytes(one) for one in _PARTS.decode(body)]
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise not_json(error) from error
    for number, piece in enumerate(pieces, start=1):
        if not piece.strip():
            continue
        try:
            _ONE.decode(piece)
        except msgspec.ValidationError as error:
            wrong.append(_fix(str(error), number))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            status = 400
            wrong.append(Fix(str(error), line=number))
    raise wrong_lines(wrong or [Fix("the body is not NDJSON")], status=status)


def _fix(message: str, line: int | None) -> Fix:
    place, way = misread(message, list(_EXAMPLES), _EXAMPLES)
    if (place or "").startswith("votes") and "got `float`" in message:
        way = "votes are words: send numbers as grades, or as text"
    return Fix(way, line=line, column=place)


def _at_most(size: int) -> str:
    return f"use 1 to {size:,} bytes"


def _wrong(record: VoteRecord, line: int, latest: float) -> list[Fix]:
    """Return what is wrong with the parts of a record that few records have."""
    item, label, when = str(record.item), record.label, 0.0
    try:
        when = seconds_of(0.0 if record.at is None else record.at)
    except ValueError:
        when = math.inf
    shown = 0 if record.show is None else len(msgspec.json.encode(record.show))
    long = _at_most(_MOST_NAME)
    checks = (
        ("item", not item.strip() or len(item.encode()) > _MOST_NAME, long),
        ("system", len(record.system.encode()) > _MOST_NAME, long),
        ("at", not -1e11 < when < 1e12, WHEN),
        ("at", latest < when < 1e12, "this is more than a day ahead: check the sender's clock"),
        ("show", shown > _MOST_SHOW, _at_most(_MOST_SHOW)),
        ("label.by", label is not None and len(label.by.encode()) > _MOST_NAME, long),
        (
            "label",
            label is not None and label.value is None and not record.replace,
            "null takes a label back: say so with 'replace': true",
        ),
    )
    return [
        Fix(way, line=line, column=name, value=str(getattr(record, name, ""))[:64])
        for name, is_wrong, way in checks
        if is_wrong
    ]


def hour_of(at: Any, now: float) -> int:
    """Return the bucket of a row: hours since 1970 of its *at*, or of its arrival.

    >>> hour_of("1970-01-01T02:30:00Z", 0.0), hour_of(None, 3600.0)
    (2, 1)
    """
    return int((now if at is None else seconds_of(at)) // 3600)


# Bodies as they came, packed: the raw log of a stream.


_SMALL = 400
"""Bytes below which a body is kept as it is: packing it would cost more than the request."""


def packed_body(body: bytes) -> bytes:
    """Pack a body; a short one stays as it is, and the first byte tells (zlib begins with x)."""
    return body if len(body) < _SMALL else zlib.compress(body, 1)


def unpacked_body(kept: bytes) -> bytes:
    """Unpack a body.

    >>> unpacked_body(packed_body(b'{"item": 1}' * 100)) == b'{"item": 1}' * 100
    True
    """
    return zlib.decompress(kept) if kept[:1] == b"\x78" else kept


# What the writer remembers of a stream: columns, labels, patterns and slices
# by number.
#
# Everything here is in the database too; the memory is bounded, and dropped
# whenever something is undone, because a number that was rolled back was
# never given.


NO_VOTE = 0
"""The code of a vote that says nothing: databases number labels from 1."""

MOST_COLUMNS = 256
_NO_ANSWER = "this means that there is no answer: leave it out"
MOST_LABELS = 64
_MOST_KEPT = 100_000


class Refused(Exception):
    """A record cannot be kept: what is wrong, and with which status it is answered."""

    def __init__(self, status: int, fix: Fix) -> None:
        super().__init__(fix.way_out)
        self.status = status
        self.fix = fix


def contradiction(column: str, value: Any, held: Any) -> Refused:
    """Return what is said of a value beside another that is kept."""
    way = f"{held!r} is kept here: send 'replace': true to change it"
    return Refused(409, Fix(way, column=column, value=str(value)))


def word_of(value: str | int | bool) -> str:
    """Return a vote as the word that a table would hold.

    >>> word_of(True), word_of(1), word_of(" pass ")
    ('true', '1', 'pass')
    """
    if isinstance(value, str):
        return value.strip()
    return str(value).lower() if isinstance(value, bool) else str(value)


def _refuse_unlisted(name: str, word: str, declared: Sequence[str]) -> None:
    """Refuse a word that is not among the declared labels, and one that may or may not be one."""
    if declared:
        way = unknown("label", word, declared[:12])
        raise Refused(422, Fix(way, column=name, value=word))
    # Other words for no answer are kept, and every result reads them as the command line does.
    if word.casefold() == "none":
        way = (
            "this can be a label or mean no answer: leave the vote out, or list all labels in the"
            f' settings of the stream: {{"labels": [{json.dumps(word)}, …]}}'
        )
        raise Refused(422, Fix(way, column=name, value=word))


class Interned:
    """The numbers of one stream."""

    def __init__(self, stream: StreamRecord) -> None:
        self.places = RowPlaces(stream.salt)
        self.columns: dict[str, tuple[int, str]] = {}
        self._labels: dict[int, dict[str, int]] = {}
        self._said: dict[int, tuple[int, str]] = {}
        self._patterns: dict[bytes, int] = {}
        self._packed: dict[int, bytes] = {}
        # Both are asked once per record: the methods of the dictionaries themselves are quicker.
        self.pattern: Callable[[bytes], int] = self._patterns.__getitem__
        """Return the number of a pattern that `learn` or `packed` has learnt."""
        self.codes_of: Callable[[int], bytes] = self._packed.__getitem__
        """Return the codes of a pattern that `packed` has learnt."""
        self._slices: dict[str, int] = {}
        self._bodies: dict[int, dict[str, str]] = {}
        self.steps: dict[tuple[Any, ...], bytes] = {}
        """(pattern, column, kind of value, value) to the pattern with that vote: most repeat."""
        self.slice_steps: dict[tuple[Any, ...], int] = {}
        self.first_slices: dict[str, int] = {}
        """The slice that a new row of each system is in."""

    def begin(self, transaction: Transaction, stream: StreamRecord) -> None:
        """Work in a transaction from here on; columns and labels are read once."""
        self._transaction, self._stream = transaction, stream
        if not self.columns:
            for ident, name, kind in transaction.columns(stream.id):
                self.columns[name] = (ident, kind)
            self._load_labels()

    def _load_labels(self) -> None:
        for code, column, _, _, label in self._transaction.labels(self._stream.id):
            self._learn_label(column, label, code)

    def _meaning(self, code: int) -> tuple[int, str]:
        """Return the column and the word of a label."""
        if code not in self._said:  # another process gave this number
            self._load_labels()
        return self._said[code]

    # -- columns and labels

    def column(self, name: str, kind: str) -> int:
        """Return the number of a column, making it where the stream allows new ones."""
        known = self.columns.get(name)
        if known is None:
            known = self._new_column(name, kind)
        if known[1] != kind:
            way = f"column {name!r} holds {known[1]}s in this stream: use another name"
            raise Refused(422, Fix(way, column=name))
        return known[0]

    def _new_column(self, name: str, kind: str) -> tuple[int, str]:
        if kind != "label":
            why = name_problem(name, self.columns)
            if why is not None:
                raise Refused(422, Fix(why, column=name[:64]))
            if not self._stream.settings.is_open:
                way = f"declare it under columns, or set open to true{meant(name, self.columns)}"
                raise Refused(422, Fix(way, column=name, value=name))
            if len(self.columns) >= MOST_COLUMNS:
                raise Refused(422, Fix(f"at most {MOST_COLUMNS} columns", column=name))
        of = {"stream": self._stream.id, "name": name, "kind": kind}
        made = self.columns[name] = self._transaction.numbered("stream_column", **of), kind
        return made

    def code(self, name: str, value: Any, kind: str) -> int:
        """Return the number of a label in a column; `NO_VOTE` for what stands for an empty cell."""
        column = self.column(name, kind)
        word = word_of(value)
        code = self._labels.setdefault(column, {}).get(word)
        return self._new_label(name, word) if code is None else code

    def label(self, value: Any) -> str:
        """Return a true label as the stream spells it; refuse what is none."""
        code = self.code(TRUTH, value, "label")
        if code == NO_VOTE:
            raise Refused(422, Fix(_NO_ANSWER, column=TRUTH, value=word_of(value)))
        return self._meaning(code)[1]

    def _new_label(self, name: str, word: str) -> int:
        """Give a word that the column does not have its number, or that of the label it spells."""
        column = self.columns[name][0]
        labels, declared = self._labels[column], self._stream.settings.labels
        # Another process may have brought it, or another spelling of it.
        self._load_labels()
        if not word:
            raise Refused(422, Fix(_NO_ANSWER, column=name))
        if len(word.encode()) > _MOST_NAME:
            raise Refused(422, Fix(_at_most(_MOST_NAME), column=name, value=word[:64]))

        # A column spells each label in one way: the first that came, or the declared one.
        twin = known_label(word, labels) or known_label(word, declared)
        if twin is not None and twin != word:
            if is_doubtful(word, twin):
                way = (
                    f"this reads as the label {twin!r}, which the column has: send {twin!r}, or a"
                    f" word that cannot be read as it, such as {'v' + word!r}"
                )
                raise Refused(422, Fix(way, column=name, value=word))
            word = twin
        if word in labels:
            return labels[word]
        if word not in declared:
            if is_gap(word) or (declared and is_no_answer(word)):
                return NO_VOTE
            _refuse_unlisted(name, word, declared)
        if len(labels) >= MOST_LABELS:
            way = f"a column has at most {MOST_LABELS} labels: send numbers as grades"
            raise Refused(422, Fix(way, column=name, value=word))

        code = self._transaction.numbered("label_code", stream_column=column, label=word)
        self._learn_label(column, word, code)
        return code

    def _learn_label(self, column: int, label: str, code: int) -> None:
        self._labels.setdefault(column, {})[label] = code
        self._said[code] = (column, label)

    # -- patterns

    def step(
        self, pattern: bytes, name: str, value: Any, replace: bool, kind: str = "vote"
    ) -> bytes:
        """Return *pattern* with a vote set: a register, and another value needs leave."""
        key = (pattern, name, value.__class__, value)
        known = None if replace else self.steps.get(key)
        if known is not None:
            return known
        code = self.code(name, value, kind)
        if replace:
            pattern = self.without(pattern, name)
        if code != NO_VOTE:
            column = self.columns[name][0]
            codes = {self._meaning(held)[0]: held for held in unpack_codes(pattern)}
            if codes.get(column, code) != code:
                raise contradiction(name, word_of(value), self._meaning(codes[column])[1])
            pattern = pack_codes(sorted({**codes, column: code}.values()))
        if not replace:
            self.steps[key] = pattern
        return pattern

    def without(self, pattern: bytes, name: str) -> bytes:
        """Return *pattern* without the vote of a column."""
        known = self.columns.get(name)
        if known is None:
            return pattern
        codes = unpack_codes(pattern)
        return pack_codes([c for c in codes if self._meaning(c)[0] != known[0]])

    def packed(self, patterns: Iterable[int]) -> None:
        """Learn the codes of patterns that rows have, for `codes_of`."""
        absent = {one for one in patterns if one not in self._packed}
        for ident, codes in self._transaction.by_id(CODES, absent):
            self._keep(ident, bytes(codes))

    def learn(self, patterns: Iterable[bytes]) -> None:
        """Give patterns their numbers, for `pattern`."""
        absent = [one for one in set(patterns) if one not in self._patterns]
        if not absent:
            return
        # Another process may have been first, so the numbers are read and not returned.
        transaction, stream = self._transaction, self._stream.id
        once = "insert into pattern (stream, codes) values (?, ?) on conflict do nothing"
        transaction.many(once, [(stream, one) for one in sorted(absent)])
        numbers = "select id, codes from pattern where stream = ? and codes in ({})"
        for ident, codes in transaction.by_id(numbers, absent, [stream]):
            self._keep(ident, bytes(codes))

    def _keep(self, ident: int, codes: bytes) -> None:
        self._patterns[codes] = ident
        self._packed[ident] = codes

    def shrink(self) -> None:
        """Forget patterns when there are many: the memory is bounded, the database has them all."""
        if len(self._patterns) > _MOST_KEPT:
            self._patterns.clear()
            self._packed.clear()
        if len(self.places) > _MOST_KEPT // 2:
            self.places.clear()
        if len(self.steps) > _MOST_KEPT:
            self.steps.clear()
        if len(self._slices) > _MOST_KEPT or len(self.slice_steps) > _MOST_KEPT:
            for known in (self._slices, self._bodies, self.slice_steps, self.first_slices):
                known.clear()

    # -- slices

    def slice(self, body: Mapping[str, str]) -> int:
        """Return the number of a slice."""
        text = json.dumps(dict(sorted(body.items())), ensure_ascii=False, separators=(",", ":"))
        ident = self._slices.get(text)
        if ident is None:
            ident = self._transaction.numbered("slice", stream=self._stream.id, body=text)
            self._slices[text] = ident
            self._bodies[ident] = dict(body)
        return ident

    def slice_step(self, slice_: int, given: Mapping[str, Any], replace: bool) -> int:
        """Return the slice of a row after a record named some of its columns."""
        step = (slice_, *given.items())
        known = None if replace else self.slice_steps.get(step)
        if known is not None:
            return known
        body = self._bodies.get(slice_)
        if body is None:
            kept = self._transaction.value("select body from slice where id = ?", (slice_,))
            body = self._bodies[slice_] = json.loads(kept or "{}")
        after = dict(body)
        for name, value in given.items():
            self.column(name, "slice")
            word = word_of(value)
            if not word or len(word.encode()) > _MOST_NAME:
                raise Refused(422, Fix(_at_most(_MOST_NAME), column=name, value=word[:64]))
            if after.get(name, word) != word and not replace:
                raise contradiction(name, word, after[name])
            after[name] = word
        found = self.slice(after)
        if not replace:
            self.slice_steps[step] = found
        return found


# The place of a row in any random draw: a keyed hash of its name, which
# nobody can foretell.


class RowPlaces(dict[tuple[str, str], int]):
    """The places of the rows of a stream by (item, system), worked out when they are first asked.

    Parameters
    ----------
    salt
        The key of the stream.

    Examples
    --------
    >>> places = RowPlaces(b"salt")
    >>> places["a", ""] == RowPlaces(b"salt")["a", ""] != RowPlaces(b"pepper")["a", ""]
    True
    """

    def __init__(self, salt: bytes) -> None:
        self._keyed = hashlib.blake2b(digest_size=8, key=salt)

    def __missing__(self, name: tuple[str, str]) -> int:
        """Work out a place: a number of 63 bits."""
        hashed = self._keyed.copy()  # the key is mixed in once for all names
        hashed.update("\0".join(name).encode())
        found = self[name] = int.from_bytes(hashed.digest(), "big") >> 1
        return found
