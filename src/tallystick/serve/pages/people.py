"""Labels: how far people agree, what they disagree on, how fast they are, and the draws."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from tallystick.serve.pages.home import PART
from tallystick.serve.pages.site import render
from tallystick.serve.queue.agreement import People
from tallystick.serve.queue.frames import FrameBody, frames_of
from tallystick.serve.results import computed
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.span import Span
from tallystick.serve.store import Reader

__all__ = ["ROUTES"]


async def get_people(incoming: Incoming) -> Response:
    """Show the labels of a stream and who gave them."""
    service, name = incoming.service, incoming.path["stream"]

    def look(reader: Reader) -> tuple[StreamRecord, list[FrameBody], list[Any]]:
        stream = find_stream(reader, name)
        reasons = reader.all(
            "select r.item, l.annotator, l.reason from label l join rows r"
            f" on r.stream = l.stream and {reader.row_is('=', 'l.row_id')}"
            " where l.stream = ? and l.current = 1 and l.reason is not null"
            " order by l.id desc limit 20",
            (stream.id,),
        )
        return stream, frames_of(reader, stream), reasons

    stream, frames, reasons = await service.reading(look)
    kind = "tallystick.serve.queue.agreement:people"
    found, _ = await service.waiting(
        lambda: computed(service, kind, stream, "people", {}, Span(), name=name)
    )
    people = msgspec.json.decode(found.body, type=People)
    return await render(
        incoming,
        "labels.html",
        here="Streams",
        stream=stream,
        people=people,
        frames=frames,
        reasons=reasons,
        headline=_headline(people),
    )


def _headline(people: People) -> str:
    """Say how far people agree."""
    if not people.people:
        return "Nobody has labelled anything yet."
    if not people.twice:
        return "No row was read by two people yet, so nobody knows how often they err."
    share = 100 * people.agreed / people.twice
    rows = "row" if people.twice == 1 else "rows"
    return f"Two people agree on {share:.1f} % of the {people.twice} {rows} that both read."


ROUTES = (
    Route(
        method="GET",
        path="/streams/{stream}/labels",
        role="read",
        work=get_people,
        summary="Labels and people.",
        query=PART,
        page=True,
    ),
)
"""Routes of this file."""
