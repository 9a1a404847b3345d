"""One person's turn: take an item, answer it, skip it, or take the last answer back.

What is shown is blind: no field of `Turn` depends on a vote, a label, a
stratum or another reader. A draw is leased to one person at a time; after
that it goes to whoever asks next.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from statistics import median
from typing import Any

import msgspec
from starlette.responses import Response

from tallystick.errors import unknown
from tallystick.serve.auth import Fix, HttpProblem, Principal
from tallystick.serve.database import Reader, Store, Transaction
from tallystick.serve.ingest import LabelRecord, RowPlaces, VoteRecord, unpacked_body, word_of
from tallystick.serve.ingest_write import Source, apply, truth_of
from tallystick.serve.jobs import Service
from tallystick.serve.routes import Incoming, route, writes
from tallystick.serve.streams import Codebook, StreamRecord, find_stream, new_version

LEASE = 600.0
"""Seconds for which an item is one person's."""

UNDO = 300.0
"""Seconds for which an answer can be taken back."""

_ASK = re.compile(r"(\d{1,18})\.(\d{1,18})")

_MINE = (
    "exists (select 1 from label l where l.row_id = d.row_id and l.annotator = ? and l.current = 1"
    " and (l.value is not null or l.reason is not null))"
)
"""Whether a person has read the row of a draw: answered or skipped, and not taken back."""


class Turn(msgspec.Struct):
    """One item to label, and nothing that could sway the person.

    Parameters
    ----------
    ask
        The number of this question; it comes back with the answer.
    item
        What the sender calls it.
    show
        What to read, name to text; empty if the sender gave nothing.
    labels
        The answers that can be given.
    done, left
        How many this person has answered in open draws, and how many wait for them.
    """

    ask: str
    item: str
    show: dict[str, str]
    labels: list[str]
    done: int
    left: int


class TurnProgress(msgspec.Struct):
    """How far one person is in the open draws of a stream."""

    done: int
    left: int
    last: str = ""
    """What an undo would take back; empty if nothing."""


def label_choices(reader: Reader, stream: StreamRecord) -> list[str]:
    """Return the answers that a person can give: those of the settings, or all that votes use."""
    known = stream.settings.labels or Codebook(reader, stream).classes(stream)
    return list(known[:64])


def progress(reader: Reader, stream: StreamRecord, person: str, *, now: float) -> TurnProgress:
    """Return how far a person is."""
    counts = reader.one(
        f"select sum(case when {_MINE} then 1 else 0 end),"
        f" sum(case when d.state in ('open', 'disagreed') and not {_MINE} then 1 else 0 end)"
        " from draw d join frame f on f.id = d.frame where f.stream = ? and f.state = 'open'",
        (person, person, stream.id),
    )
    last = _last(reader, stream, person, now)
    done, left = counts if counts is not None else (0, 0)
    said = "" if last is None else last[2] if last[2] is not None else "skip"
    return TurnProgress(done=int(done or 0), left=int(left or 0), last=said)


def next_turn(
    transaction: Transaction, stream: StreamRecord, person: str, *, now: float
) -> Turn | None:
    """Lease the next item to a person; None if nothing waits for them.

    Asking again gives the same item until it is answered, so a page may be loaded twice.
    """
    found = transaction.one(
        "select d.frame, d.row_id from draw d join frame f on f.id = d.frame"
        " where f.stream = ? and f.state = 'open' and d.state in ('open', 'disagreed')"
        f" and not {_MINE} and (d.lease_by is null or d.lease_by = ? or d.lease_until <= ?)"
        " order by case when d.lease_by = ? and d.lease_until > ? then 0 else 1 end,"
        " d.frame, d.place limit 1",
        (stream.id, person, person, now, person, now),
    )
    if found is None:
        return None
    frame, row = found
    transaction.run(
        "update draw set lease_by = ?, lease_until = ? where frame = ? and row_id = ?",
        (person, now + LEASE, frame, row),
    )
    named = _named(transaction, stream, row)
    if named is None:  # retention has dropped the row: nobody can read it any more
        transaction.run(
            "update draw set state = 'skipped' where frame = ? and row_id = ?", (frame, row)
        )
        return next_turn(transaction, stream, person, now=now)
    at = progress(transaction, stream, person, now=now)
    return Turn(
        ask=f"{frame}.{row}",
        item=named[0],
        show=_shown(transaction, stream, row, named[1]),
        labels=label_choices(transaction, stream),
        done=at.done,
        left=at.left,
    )


def _shown(reader: Reader, stream: StreamRecord, row: int, system: str) -> dict[str, str]:
    """Return what the sender gives to read, but for what judges say and the name of the system."""
    kept = reader.value("select body from payload where row_id = ?", (row,))
    if kept is None:
        return {}
    body: Any = msgspec.json.decode(unpacked_body(bytes(kept)))
    if isinstance(body, str):
        return {"": body}
    from tallystick.verbs.label.shown import (
        called_after,  # loads what computes, with the first item
    )

    judges = [name for _, name, kind in reader.columns(stream.id) if kind in ("vote", "grade")]
    return {
        str(title): str(text)
        for title, text in body.items()
        if str(text) != (system or None) and not called_after(str(title), judges)
    }


@dataclass(frozen=True)
class Hand:
    """A person at a stream, inside one transaction: what they may do with an item.

    Parameters
    ----------
    service, transaction, stream
        Where the answer is kept.
    person
        Who answers.
    """

    service: Service
    transaction: Transaction
    stream: StreamRecord
    person: str

    def answer(self, given: LabelAnswer) -> None:
        """Keep a label: row, counts and version change in the same transaction."""
        frame, row = self._asked(given.ask)
        word = word_of(given.value if given.value is not None else "")
        choices = label_choices(self.transaction, self.stream)
        if word not in choices:
            raise HttpProblem(
                422,
                f"{word[:80]!r} is not one of the answers here",
                Fix(f"use {', '.join(choices)[:300]}", column="value", value=word[:80]),
            )
        seconds = given.seconds
        timed = seconds if seconds is not None and 0 <= seconds < 86_400 else None
        self.label(self._names(row), word, Source(self.person, "draw", None, None, frame, timed))
        if given.note:
            self.transaction.run(
                "update label set note = ? where row_id = ? and annotator = ? and current = 1",
                (given.note[:4_000], row, self.person),
            )
        settle(self.transaction, frame, row)

    def label(self, name: tuple[str, str], value: Any, source: Source) -> None:
        """Set this person's label of a row, or take it back."""
        label = LabelRecord(value=value, by=self.person)
        record = VoteRecord(item=name[0], system=name[1], label=label, replace=True)
        apply(self.service, self.transaction, self.stream, [record], source)

    def skip(self, ask: str, reason: str) -> None:
        """Keep that a person could not answer, and why. A skipped row is never drawn again."""
        frame, row = self._asked(ask)
        self.transaction.run(
            "update label set current = 0 where row_id = ? and annotator = ? and current = 1"
            " and value is null",
            (row, self.person),
        )
        self.transaction.put(
            "label",
            row_id=row,
            stream=self.stream.id,
            annotator=self.person,
            reason=reason.strip()[:4_000] or "no reason",
            at=self.service.clock(),
            origin="draw",
            frame=frame,
            current=1,
        )
        settle(self.transaction, frame, row)
        new_version(self.transaction, self.stream)

    def undo(self) -> None:
        """Take a person's last answer back, within five minutes; the item is theirs again."""
        now = self.service.clock()
        last = _last(self.transaction, self.stream, self.person, now)
        if last is None:
            raise HttpProblem(409, "there is no answer of the last five minutes to take back")
        ident, row, value, frame = last
        if value is None:
            self.transaction.run("update label set current = 0 where id = ?", (ident,))
            new_version(self.transaction, self.stream)
        else:
            self.label(self._names(row), None, Source(self.person, "draw", frame=frame))
        settle(self.transaction, frame, row)
        # Whatever else was leased waits behind the item that came back.
        self.transaction.run(
            "update draw set lease_by = null, lease_until = null where lease_by = ?",
            (self.person,),
        )
        self.transaction.run(
            "update draw set lease_by = ?, lease_until = ? where frame = ? and row_id = ?",
            (self.person, now + LEASE, frame, row),
        )

    def volunteer(self, given: LabelAnswer) -> None:
        """Keep a label for an item that nobody drew."""
        row = (given.item, given.system)
        _, known = self.transaction.find(self.stream.id, [], [row], RowPlaces(self.stream.salt))
        if not known:
            raise HttpProblem(404, unknown("row", f"{given.item} {given.system}".strip()))
        self.label(row, given.value, Source(self.person, "volunteered", seconds=given.seconds))

    def _asked(self, ask: str) -> tuple[int, int]:
        """Return frame and row of a question; one that is not this person's is refused."""
        parts = _ASK.fullmatch(ask)
        found = None
        if parts is not None:
            found = self.transaction.one(
                f"select d.frame, d.row_id, d.state, d.lease_by, {_MINE} from draw d"
                " join frame f on f.id = d.frame"
                " where d.frame = ? and d.row_id = ? and f.stream = ?",
                (self.person, int(parts[1]), int(parts[2]), self.stream.id),
            )
        if found is None:
            raise HttpProblem(404, unknown("question", ask))
        frame, row, state, lease_by, mine = found
        if mine:
            raise HttpProblem(409, "you have answered this already")
        if state not in ("open", "disagreed") or lease_by not in (None, self.person):
            raise HttpProblem(409, "somebody else has this item now: the time for it was over")
        return frame, row

    def _names(self, row: int) -> tuple[str, str]:
        """Return item and system of a row that must be there."""
        found = _named(self.transaction, self.stream, row)
        if found is None:
            raise HttpProblem(409, "this row is gone: retention has dropped it")
        return found


def settle(transaction: Transaction, frame: int, row: int) -> None:
    """Say what a draw is now: open, answered, disagreed (a third decides) or skipped."""
    draw = transaction.one("select readers from draw where frame = ? and row_id = ?", (frame, row))
    if draw is None:
        return
    said = transaction.all(
        "select value from label where row_id = ? and current = 1"
        " and (value is not null or reason is not null)",
        (row,),
    )
    words = [value for (value,) in said if value is not None]
    state = "open"
    if len(said) >= draw[0]:
        state = "answered" if truth_of(words) else "disagreed" if words else "skipped"
    transaction.run(
        "update draw set state = ?, lease_by = null, lease_until = null"
        " where frame = ? and row_id = ?",
        (state, frame, row),
    )


def _named(reader: Reader, stream: StreamRecord, row: int) -> tuple[str, str] | None:
    found = reader.one(
        f"select r.item, r.system from rows r where r.stream = ? and {reader.row_is('=', row)}",
        (stream.id,),
    )
    return None if found is None else (found[0], found[1])


def _last(reader: Reader, stream: StreamRecord, person: str, now: float) -> tuple[Any, ...] | None:
    """Return (label, row, value, frame) of a person's last answer that can be taken back."""
    return reader.one(
        "select id, row_id, value, frame from label where stream = ? and annotator = ?"
        " and current = 1 and frame is not null and at >= ?"
        " and (value is not null or reason is not null) order by at desc, id desc limit 1",
        (stream.id, person, now - UNDO),
    )


# Routes of the queue: take the next item, send an answer.


class LabelAnswer(msgspec.Struct, forbid_unknown_fields=True):
    """One answer: a value, a skip with its reason, an undo, or a label for an item of your choice.

    Parameters
    ----------
    ask
        The question that is answered, from ``next``.
    value
        The label.
    skip
        Why it cannot be answered, in place of a value.
    undo
        Take the last answer back.
    item, system
        In place of *ask*: a label that nobody drew. It is kept as volunteered.
    seconds, note
        How long it took, and what colleagues should know.
    """

    ask: str = ""
    value: str | int | bool | None = None
    skip: str | None = None
    undo: bool = False
    item: str = ""
    system: str = ""
    seconds: float | None = None
    note: str = ""


class LabelKept(msgspec.Struct):
    """The answer is on the disk."""

    kept: str


def person_of(who: Principal) -> str:
    """Return the annotator behind a key: people of one name are one person."""
    return who.name or who.id


@route("GET", "/v1/streams/{stream}/next", "label", answer=Turn)
async def get_next(incoming: Incoming) -> Response | Turn:
    """Give the next item to whoever asks: never a vote, a label or a stratum."""
    name, person = incoming.path["stream"], person_of(incoming.who)

    def work(transaction: Transaction) -> Turn | None:
        return next_turn(transaction, find_stream(transaction, name), person, now=incoming.now)

    return await incoming.service.commit(work) or Response(status_code=204)


@writes("POST", "/v1/streams/{stream}/labels", "label", body=LabelAnswer, answer=LabelKept)
def post_label(transaction: Transaction, incoming: Incoming) -> LabelKept:
    """Keep an answer."""
    given: LabelAnswer = incoming.body
    stream = find_stream(transaction, incoming.path["stream"])
    hand = Hand(incoming.service, transaction, stream, person_of(incoming.who))
    if given.undo:
        hand.undo()
        return LabelKept("undone")
    if given.ask and given.skip is not None:
        hand.skip(given.ask, given.skip)
        return LabelKept("skipped")
    if given.value is None or not (given.ask or given.item):
        way = "send the ask of GET next or an item, with a value, a skip with its reason, or undo"
        raise HttpProblem(422, way, Fix(way))
    if given.ask:
        hand.answer(given)
        return LabelKept("label")
    hand.volunteer(given)
    return LabelKept("volunteered")


# What a stream's labels say of the people who gave them: agreement, pace,
# disagreements.


def people(store: Store, name: str) -> tuple[int, bytes]:
    """Return the version of a stream, and its people as JSON: what the worker does."""
    with store.snapshot() as reader:
        stream = find_stream(reader, name)
        return stream.version, msgspec.json.encode(people_of(reader, stream))


def people_of(reader: Reader, stream: StreamRecord) -> dict[str, Any]:
    """Return what the labels of a stream say of the people who gave them.

    Who labelled most comes first. ``share`` is the exact interval of the share of rows on which
    the first two people agree, ``kappa`` their agreement beyond chance; both are None where they
    cannot be told. ``open`` are rows on which people disagree and nobody has decided.
    """
    from tallystick.results import Interval
    from tallystick.stats.agreement import cohen_kappa
    from tallystick.stats.intervals import clopper_pearson

    by_person: dict[str, list[Any]] = defaultdict(list)
    by_row: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for row, person, *answer in reader.all(
        "select row_id, annotator, value, seconds, at from label where stream = ?"
        " and current = 1 and (value is not null or reason is not null) order by id",
        (stream.id,),
    ):
        by_person[person].append(answer)
        if answer[0] is not None:
            by_row[row].append((person, answer[0]))
    everybody = []
    for name, said in by_person.items():
        timed = [seconds for _, seconds, _ in said if seconds is not None]
        labels, last = sum(one[0] is not None for one in said), max(at for _, _, at in said)
        pace = median(timed) if timed else None
        skips = len(said) - labels
        everybody.append(
            {"name": name, "labels": labels, "skips": skips, "seconds": pace, "last": last}
        )

    pairs = [(said[0][1], said[1][1]) for said in by_row.values() if len(said) > 1]
    agreed = sum(a == b for a, b in pairs)
    share = clopper_pearson(agreed, len(pairs)) if pairs else None
    words = sorted({word for pair in pairs for word in pair})
    kappa, reach = None, None
    if len(pairs) > 1:
        found = cohen_kappa([[words.index(a), words.index(b)] for a, b in pairs])
        # Where everybody says the same, no agreement beyond chance can be told.
        if isinstance(found.estimate, float) and isinstance(found.interval, Interval):
            kappa, reach = found.estimate, (found.interval.low, found.interval.high)
    apart = reader.all(
        "select d.row_id, r.item, r.system from draw d join frame f on f.id = d.frame"
        f" join rows r on r.stream = f.stream and {reader.row_is('=', 'd.row_id')}"
        " where f.stream = ? and d.state = 'disagreed' order by d.frame, d.place limit 50",
        (stream.id,),
    )
    return {
        "people": sorted(everybody, key=lambda one: (-one["labels"], one["name"])),
        "twice": len(pairs),
        "agreed": agreed,
        "share": None if share is None else (share.low, share.high),
        "kappa": kappa,
        "kappa_interval": reach,
        "open": [
            {"item": item, "system": system, "said": by_row[row]} for row, item, system in apart
        ],
    }
