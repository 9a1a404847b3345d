"""What the way in which labels were chosen leaves open, said with every result of a stream.

The command line sees rows and cannot know who chose them. The service knows: which labels it drew
itself, which rows came after the draw, which draws people skipped or disagree on, and which labels
somebody gave to rows of their own choice. Each of these is an assumption, and is named as one.
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from tallystick.results import count
from tallystick.serve.auth import Span, span_of
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.jobs import Service
from tallystick.serve.queue import MOST_ROWS, FramePlan
from tallystick.serve.rows import StreamBook
from tallystick.serve.streams import Share, StreamRecord, find_stream, new_version

GRAVE = 0.05
"""Share of rows, or of draws, from which a doubt leaves the decision open."""


@dataclass(frozen=True, kw_only=True)
class DrawDoubt:
    """Something that labels cannot tell, and what a result takes for granted because of it.

    A *grave* one leaves open what the figures seem to decide.
    """

    warning: str
    assumption: str
    grave: bool


def label_doubts(book: StreamBook) -> list[DrawDoubt]:
    """Return what a result about the span of a book takes for granted.

    Where no drawn row of it has a label, every label counts as it came.
    """
    if book.counted is None:
        return _as_they_came(book)
    found = []
    # Rows that no draw could take: those that came later, above all.
    later = _later(book)
    if later:
        rows = "row was" if later == 1 else "rows were"
        found.append(
            DrawDoubt(
                warning=f"{count(later)} {rows} in no draw: they came after it or lie outside its"
                " window, and count as if they were like the others. Draw again to know",
                assumption="rows that were in no draw are like those that labels were drawn from",
                grave=later > GRAVE * book.stream.rows,
            )
        )
    apart, skipped, read = _unlabelled(book)
    if apart + skipped:
        found.append(
            DrawDoubt(
                warning=f"{count(apart + skipped)} of {count(read)} drawn rows that were read have"
                f" no label (people disagree on {count(apart)}, {count(skipped)} skipped), and are"
                " left out: these are often the hard ones"
                + (". A third person can decide (open the label page)" if apart else ""),
                assumption="drawn rows without a label are like those with one",
                grave=apart + skipped > GRAVE * read,
            )
        )
    return found


def _later(book: StreamBook) -> int:
    """Return how many rows of a span were in no draw."""
    reader, stream, span = book.reader, book.stream, book.span
    frames = book.chances.frames
    whole = [frame.as_of for frame in frames if frame.span == Span()]
    if whole:
        # Batches know how many rows they brought: the rows need not be read.
        sql = "select coalesce(sum(new), 0) from batch where stream = ? and seq > ?"
        after = int(reader.value(sql, (stream.id, max(whole))))
        if not after or span == Span(label_draw=span.label_draw):
            return after
    where, values = span.condition()
    reach = []
    limits: list[Any] = []
    for frame in frames:
        inside, more = frame.span.condition()
        reach.append(f"(seq_first <= ?{inside})")
        limits += [frame.as_of, *more]
    rows = f"select seq_first, bucket from rows where stream = ?{where}"
    rows += f" and slice in ({', '.join(map(str, book.inside)) or '-1'})"
    if span.last is not None:
        rows, values = f"{rows} order by id desc limit ?", [*values, span.last]
    sql = f"select count(*) from ({rows}) t where not ({' or '.join(reach)})"
    return int(reader.value(sql, (stream.id, *values, *limits)))


def _unlabelled(book: StreamBook) -> tuple[int, int, int]:
    """Return on how many drawn rows people disagree, how many they skipped, and how many read."""
    where, values = book.span.condition("r")
    states = dict(
        book.reader.all(
            "select d.state, count(*) from draw d join frame f on f.id = d.frame"
            f" join rows r on r.stream = f.stream and {book.reader.row_is('=', 'd.row_id')}"
            f" where f.stream = ?{where} group by d.state",
            (book.stream.id, *values),
        )
    )
    apart, skipped = states.get("disagreed", 0), states.get("skipped", 0)
    return apart, skipped, apart + skipped + states.get("answered", 0)


def _as_they_came(book: StreamBook) -> list[DrawDoubt]:
    """Return the doubts about labels that nobody drew."""
    where, values = book.span.condition("r")
    chosen = book.reader.value(
        "select count(distinct l.row_id) from label l join rows r on r.stream = l.stream"
        f" and {book.reader.row_is('=', 'l.row_id')}"
        " where l.stream = ? and l.current = 1 and l.value is not null"
        f" and l.origin = 'volunteered'{where}",
        (book.stream.id, *values),
    )
    if not chosen:
        return []
    noun = "label was" if chosen == 1 else "labels were"
    return [
        DrawDoubt(
            warning=f"{count(chosen)} {noun} given to rows that somebody chose. They count as if"
            " the rows had been drawn at random. Let the service draw rows to know",
            assumption="rows that people chose to label are like the others",
            grave=True,
        )
    ]


# Frames: a draw is ordered, made in the worker, and kept with everything that made it.


BUDGET = 40
"""Rows of a draw if nobody says how many: about half an hour of reading."""


class FrameOrder(msgspec.Struct, forbid_unknown_fields=True):
    """What is asked for.

    Parameters
    ----------
    budget
        How many rows to draw.
    window
        Which rows: ``24h``, ``7d`` or ``FROM..TO``; all if empty.
    overlap
        The share that two people read; by default that of the stream.
    name
        What people call it.
    """

    budget: Annotated[int, Meta(ge=1, le=MOST_ROWS)] = BUDGET
    window: str = ""
    overlap: Share | None = None
    name: Annotated[str, Meta(max_length=200)] = ""


class FrameStratum(msgspec.Struct):
    """How many rows of a stratum there were, how many were drawn, and with which probability."""

    size: int
    drawn: int
    probability: float


class FrameBody(msgspec.Struct):
    """A draw as the admin sees it."""

    id: int
    name: str
    state: str
    as_of: int
    seed: int
    budget: int
    strata: list[FrameStratum]
    created: float
    answered: int = 0
    open: int = 0
    disagreed: int = 0
    skipped: int = 0


async def make_frame(service: Service, name: str, order: FrameOrder) -> FrameBody:
    """Draw rows and keep them, ready to be labelled."""
    stream = await service.reading(lambda reader: find_stream(reader, name))
    span = span_of(order.window, [], now=service.clock())
    overlap = stream.settings.overlap if order.overlap is None else order.overlap
    given = (order.budget, overlap, span, secrets.randbits(62))
    # The scan and its mathematics belong into the worker, so that the server stays quick and small.
    plan: FramePlan = await service.waiting(
        lambda: service.worker.ask("queue:planned", name, *given, patience=120.0)
    )

    def work(transaction: Transaction) -> FrameBody:
        frame = transaction.made(
            "frame",
            stream=stream.id,
            name=order.name,
            question='{"verb": "score"}',
            span=order.window or None,
            as_of=plan.as_of,
            seed=plan.seed,
            budget=order.budget,
            overlap=overlap,
            strata=json.dumps([one.kept() for one in plan.strata]),
            state="open",
            created=service.clock(),
        )
        transaction.many(
            "insert into draw (frame, row_id, stratum, probability, place, readers, state)"
            " values (?, ?, ?, ?, ?, ?, 'open')",
            [
                (frame, one.row, one.stratum, one.probability, place, one.readers)
                for place, one in enumerate(plan.rows)
            ],
        )
        # Results depend on which rows were drawn: the version makes them be asked again.
        new_version(transaction, stream)
        return next(one for one in frames_of(transaction, stream) if one.id == frame)

    return await service.commit(work)


def frames_of(reader: Reader, stream: StreamRecord) -> list[FrameBody]:
    """Return the draws of a stream, the newest first."""
    states: dict[int, dict[str, int]] = {}
    for frame, state, n in reader.all(
        "select d.frame, d.state, count(*) from draw d join frame f on f.id = d.frame"
        " where f.stream = ? group by d.frame, d.state",
        (stream.id,),
    ):
        states.setdefault(frame, {})[state] = n
    return [
        FrameBody(
            id=ident,
            name=name,
            state=state,
            as_of=as_of,
            seed=seed,
            budget=budget,
            strata=[FrameStratum(one["N"], one["n"], one["rate"]) for one in json.loads(strata)],
            created=created,
            **states.get(ident, {}),
        )
        for ident, name, state, as_of, seed, budget, strata, created in reader.all(
            "select id, name, state, as_of, seed, budget, strata, created from frame"
            " where stream = ? order by id desc limit 200",
            (stream.id,),
        )
    ]
