"""The labelling page: one item, its keys, how many are left, and nothing else."""

from __future__ import annotations

from typing import Any

import msgspec
from starlette.responses import Response

from tallystick.serve.auth import HttpProblem
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.pages.site import call, go, may, render
from tallystick.serve.queue_turns import (
    LabelAnswer,
    Turn,
    TurnProgress,
    label_choices,
    next_turn,
    person_of,
    progress,
)
from tallystick.serve.routes import Incoming, page
from tallystick.serve.streams import StreamRecord, find_stream, names_of

ASK = "What is the right answer?"

NOTHING: dict[str, Any] = {
    "beside": [],
    "mine": [],
    "cells": [],
    "hidden": {},
    "scale": None,
    "offer_estimate": False,
    **dict.fromkeys(("was", "estimate", "problem", "buys", "home", "csrf"), ""),
}
"""What the page leaves out unless it is told: a session shows other parts than a stream."""


@page("GET", "/streams/{stream}/label", "label")
async def get_label(incoming: Incoming) -> Response:
    """Show the next item."""
    return await _page(incoming)


async def _page(incoming: Incoming, problem: str = "", status: int = 200) -> Response:
    from tallystick.verbs.label.shown import blindness, telling_cells  # with the first item

    service, name, who = incoming.service, incoming.path["stream"], incoming.who
    person = person_of(who)

    def work(transaction: Transaction) -> tuple[StreamRecord, Turn | None, TurnProgress]:
        stream, now = find_stream(transaction, name), service.clock()
        turn = next_turn(transaction, stream, person, now=now)
        return stream, turn, progress(transaction, stream, person, now=now)

    stream, turn, at = await service.commit(work)
    labels = [] if turn is None else turn.labels
    return await render(
        incoming,
        "label.html",
        here="Label",
        status=status,
        **{
            **NOTHING,
            "asking": turn is not None,
            "ask": turn.ask if turn is not None else "",
            "number": at.done + 1,
            "done": at.done,
            "total": at.done + at.left,
            "reader": person,
            "question": stream.settings.question or ASK,
            "instructions": stream.settings.instructions,
            "cells": _cells(turn),
            "classes": labels,
            "last": at.last,
            "problem": problem,
            "closing": "There is nothing for you to read now.",
            "buys": _buys(at.left),
            "home": f"/streams/{name}" if may(who, "read") else "/label",
            "blindness": blindness([] if turn is None else telling_cells(turn.show, labels)),
        },
    )


def _cells(turn: Turn | None) -> list[tuple[str, str]]:
    """Return what to read; the item's own name only where there is nothing else."""
    if turn is None:
        return []
    return list(turn.show.items()) or [
        ("Item", turn.item),
        ("To read", "Nothing was sent with this item. Look it up by its name, or skip it."),
    ]


def _buys(left: int) -> str:
    """Say what the labels are for, without a number that would invite peeking.

    >>> _buys(0), _buys(1)
    ('', 'The last one completes this draw.')
    """
    if not left:
        return ""
    return "The last one completes this draw." if left == 1 else f"{left} complete this draw."


@page("POST", "/streams/{stream}/label", "label")
async def post_label_form(incoming: Incoming) -> Response:
    """Take one form: an answer, a skip, or an undo."""
    service, name, form = incoming.service, incoming.path["stream"], incoming.body
    choice, ask = form.get("answer", ""), form.get("ask", "")
    note = form.get("note", "").strip()
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        seconds = -1.0
    given = LabelAnswer(ask=ask, note=note, seconds=seconds if seconds >= 0 else None)
    if choice == "undo":
        given = LabelAnswer(undo=True)
    elif choice == "skip":
        given.skip = note or "no reason"
    elif choice.isdecimal():
        labels = await service.reading(lambda r: label_choices(r, find_stream(r, name)))
        given.value = labels[int(choice)] if int(choice) < len(labels) else None
    try:
        await call(incoming, "POST", "/v1/streams/{stream}/labels", msgspec.to_builtins(given))
    except HttpProblem as problem:
        if problem.status >= 500:
            raise
        if "answered this already" in problem.detail:
            return go(f"/streams/{name}/label")  # sent twice: it is saved
        return await _page(incoming, problem=f"Not saved: {problem.detail}.", status=409)
    return go(f"/streams/{name}/label")


@page("GET", "/label", "label")
async def get_queues(incoming: Incoming) -> Response:
    """Show which streams have something to label."""
    service, who = incoming.service, incoming.who
    person = person_of(who)

    def look(reader: Reader) -> list[tuple[str, TurnProgress]]:
        return [
            (one, progress(reader, find_stream(reader, one), person, now=service.clock()))
            for one in names_of(reader, who.streams)
        ]

    found = await service.reading(look)
    waiting = [(name, at) for name, at in found if at.left]
    if len(waiting) == 1:
        return go(f"/streams/{waiting[0][0]}/label")
    return await render(incoming, "queues.html", here="Label", waiting=waiting, every=found)
