"""Routes of the queue: order a draw, take the next item, send an answer."""

from __future__ import annotations

import msgspec
from starlette.responses import Response

from tallystick.serve.auth import Principal
from tallystick.serve.ingest import LabelRecord, Source, VoteRecord, apply
from tallystick.serve.ingest.places import RowPlaces
from tallystick.serve.problem import Fix, HttpProblem
from tallystick.serve.queue.frames import FrameBody, FrameOrder, frames_of, make_frame
from tallystick.serve.queue.turns import Turn, answer_turn, next_turn, skip_turn, undo_turn
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.service import Service
from tallystick.serve.settings import find_stream
from tallystick.serve.store import Reader, Transaction

__all__ = ["ROUTES", "FrameList", "LabelAnswer", "LabelKept", "person_of", "take_answer"]


class FrameList(msgspec.Struct):
    """The draws of a stream."""

    frames: list[FrameBody]


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


async def post_frame(incoming: Incoming) -> FrameBody:
    """Draw rows to label, with known probabilities."""
    return await make_frame(incoming.service, incoming.path["stream"], incoming.body)


async def get_frames(incoming: Incoming) -> FrameList:
    """List the draws of a stream."""

    def work(reader: Reader) -> list[FrameBody]:
        return frames_of(reader, find_stream(reader, incoming.path["stream"]))

    return FrameList(await incoming.service.reading(work))


async def get_next(incoming: Incoming) -> Response | Turn:
    """Give the next item to whoever asks: never a vote, a label or a stratum."""
    service, name = incoming.service, incoming.path["stream"]
    person = person_of(incoming.who)

    def work(transaction: Transaction) -> Turn | None:
        stream = find_stream(transaction, name)
        return next_turn(transaction, stream, person, now=service.clock())

    return await service.commit(work) or Response(status_code=204)


async def post_label(incoming: Incoming) -> LabelKept:
    """Keep an answer."""
    given: LabelAnswer = incoming.body
    name = incoming.path["stream"]
    return await take_answer(incoming.service, name, person_of(incoming.who), given)


async def take_answer(service: Service, name: str, person: str, given: LabelAnswer) -> LabelKept:
    """Keep an answer of a person: for the route and for the page."""

    def work(transaction: Transaction) -> str:
        stream = find_stream(transaction, name)
        if given.undo:
            undo_turn(service, transaction, stream, person)
            return "undone"
        if given.ask and given.skip is not None:
            skip_turn(service, transaction, stream, person, given.ask, given.skip)
            return "skipped"
        if given.value is None:
            raise HttpProblem(
                422,
                "there is no answer in this body",
                [Fix(column="value", way_out="send a value, a skip with its reason, or undo")],
            )
        if given.ask:
            answer_turn(
                service,
                transaction,
                stream,
                person,
                given.ask,
                given.value,
                seconds=given.seconds,
                note=given.note,
            )
            return "label"
        if not given.item:
            raise HttpProblem(
                422,
                "the label names no item",
                [Fix(column="ask", way_out="send the ask of GET next, or an item")],
            )
        row = (given.item, given.system)
        _, known = transaction.find(stream.id, [], [row], RowPlaces(stream.salt))
        if not known:
            raise HttpProblem(404, f"there is no row {given.item[:80]!r} {given.system[:80]!r}")
        record = VoteRecord(
            item=given.item,
            system=given.system,
            label=LabelRecord(value=given.value, by=person),
            replace=True,
        )
        source = Source(by=person, origin="volunteered", seconds=given.seconds)
        apply(service, transaction, stream, [record], source)
        return "volunteered"

    return LabelKept(await service.commit(work))


ROUTES = (
    Route(
        method="POST",
        path="/v1/streams/{stream}/frames",
        role="admin",
        work=post_frame,
        summary="Draw rows to label, each with a known probability.",
        body=FrameOrder,
        answer=FrameBody,
        status=201,
    ),
    Route(
        method="GET",
        path="/v1/streams/{stream}/frames",
        role="read",
        work=get_frames,
        summary="The draws of a stream, and how far they are labelled.",
        answer=FrameList,
    ),
    Route(
        method="GET",
        path="/v1/streams/{stream}/next",
        role="label",
        work=get_next,
        summary="The next item to label, shown blind; 204 if nothing waits.",
        answer=Turn,
    ),
    Route(
        method="POST",
        path="/v1/streams/{stream}/labels",
        role="label",
        work=post_label,
        summary="A label, a skip with its reason, or an undo within five minutes.",
        body=LabelAnswer,
        answer=LabelKept,
    ),
)
"""Routes of this file."""
