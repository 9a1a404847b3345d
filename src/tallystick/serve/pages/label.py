"""The labelling page: one item, its keys, how many are left, and nothing else.

It asks for a stream, whose readers have keys, or for a session of
``tallystick label --open``, whose readers have a link with a secret of their
own. An answer is a form that is posted, saved to the disk, and then
redirected, so reloading never answers twice. The page loads nothing from
elsewhere: its Content-Security-Policy allows its own style and script only,
and foreign text is always text.
"""

from __future__ import annotations

import secrets
import webbrowser
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

import msgspec
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route

from tallystick.errors import InputError, TallystickError
from tallystick.serve.auth import HttpProblem, check_origin
from tallystick.serve.database import Reader, Transaction
from tallystick.serve.pages.site import ASSETS, asset, call, go, may, render, templates
from tallystick.serve.queue_turns import (
    LabelAnswer,
    Turn,
    TurnProgress,
    label_choices,
    next_turn,
    person_of,
    progress,
)
from tallystick.serve.routes import HEADERS, Incoming, body_of, page
from tallystick.serve.streams import StreamRecord, find_stream, names_of

if TYPE_CHECKING:
    from tallystick.table.session import Answer, Ask
    from tallystick.verbs.label import Work

_MOST_BYTES = 64 * 1024
_ALL_READ = "There is nothing for you to read now."
"""An answer is a few words; a longer form is refused."""

_NOTHING: dict[str, Any] = {
    "beside": [],
    "mine": [],
    "cells": [],
    "hidden": {},
    "scale": None,
    "offer_estimate": False,
    **dict.fromkeys(("was", "estimate", "problem", "buys", "home", "csrf", "closing"), ""),
}
"""What the page leaves out unless it is told: a session shows other parts than a stream."""


def _seconds(form: Mapping[str, str]) -> float | None:
    """Return how long an answer took, None where the form does not say it."""
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < 86_400 else None


# The queue of a stream.


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
    cells: dict[str, str] = {} if turn is None else turn.show
    labels = [] if turn is None else turn.labels
    telling = telling_cells(cells, labels)
    if turn is not None and not cells:  # the item's own name only where there is nothing else
        to_read = "Nothing was sent with this item. Look it up by its name, or skip it."
        cells = {"Item": turn.item, "To read": to_read}
    shown = {
        **_NOTHING,
        "asking": turn is not None,
        "ask": turn.ask if turn is not None else "",
        "number": at.done + 1,
        "done": at.done,
        "total": at.done + at.left,
        "reader": person,
        "question": stream.settings.question or "What is the right answer?",
        "instructions": stream.settings.instructions,
        "cells": list(cells.items()),
        "classes": labels,
        "last": at.last,
        "problem": problem,
        "closing": _ALL_READ,
        "buys": f"{at.left} to complete this draw." if at.left else "",
        "home": f"/streams/{name}" if may(who, "read") else "/label",
        "blindness": blindness(telling),
    }
    return await render(incoming, "label.html", here="Label", status=status, **shown)


@page("POST", "/streams/{stream}/label", "label")
async def post_label_form(incoming: Incoming) -> Response:
    """Take one form: an answer, a skip, or an undo."""
    service, name, form = incoming.service, incoming.path["stream"], incoming.body
    choice, note = form.get("answer", ""), form.get("note", "").strip()
    given = LabelAnswer(ask=form.get("ask", ""), note=note, seconds=_seconds(form))
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
        if "answered this already" not in problem.detail:  # sent twice: it is saved
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


# A session on this machine.


def label_app(work: Work, tokens: Mapping[str, str]) -> Starlette:
    """Return the application of a session.

    Parameters
    ----------
    work
        The session, open for writing.
    tokens
        The secret in each reader's link, token to reader.
    """
    template = templates().get_template("label.html")

    def page(
        reader: str, query: Mapping[str, str], *, problem: str = "", status: int = 200
    ) -> Response:
        try:
            shown = _shown(work, reader, query, problem=problem)
        except TallystickError as error:  # the next batch could not be written
            return PlainTextResponse(f"Nothing can be drawn: {error}", 503, headers=HEADERS)
        return HTMLResponse(template.render(shown), status_code=status, headers=HEADERS)

    async def show(request: Request) -> Response:
        reader = tokens.get(request.path_params["token"])
        if reader is None:
            return PlainTextResponse("There is no such page.", 404, headers=HEADERS)
        if request.method != "POST":
            return page(reader, request.query_params)
        try:
            check_origin(request.headers)
            body = await body_of(request, _MOST_BYTES)
            form = {
                name: given[-1] for name, given in parse_qs(body.decode(errors="replace")).items()
            }
            _take(work, reader, form)
        except HttpProblem as problem:
            return PlainTextResponse(problem.detail, problem.status, headers=HEADERS)
        except TallystickError as error:
            return page(reader, {}, problem=f"Not saved: {error}", status=409)
        return RedirectResponse(request.url.path, 303, headers=HEADERS)

    async def send(request: Request) -> Response:
        name = request.url.path.removeprefix("/")
        return Response(asset(name), media_type=dict(ASSETS)[name], headers=HEADERS)

    return Starlette(
        routes=[
            Route("/r/{token}", show, methods=["GET", "POST"]),
            *(Route(f"/{name}", send) for name, _ in ASSETS),
        ],
        # The browser must ask for this machine by its own name: no other site may.
        middleware=[Middleware(TrustedHostMiddleware, allowed_hosts=["127.0.0.1", "localhost"])],
    )


def _shown(work: Work, reader: str, query: Mapping[str, str], *, problem: str) -> dict[str, Any]:
    """Return what the page shows to a reader now: the next item, or an earlier one to correct."""
    mine = {one.number: (one, answer) for one, answer in work.given(reader)}
    wanted = query.get("ask", "")
    earlier = int(wanted) - 1 if wanted.isdecimal() else -1
    ask: Ask | None = mine[earlier][0] if earlier in mine else None
    closing = ""
    if ask is None:
        earlier = -1
        ask, closing = _current(work, reader)
    session = work.session
    done = sum(one.reader == reader for one in session.answers.values())
    together = [] if ask is None else work.beside(ask)
    texts = [
        (one, list(zip(session.head.show, cells, strict=True)))
        for one, cells in zip(together, work.shown(together), strict=True)
    ]
    return {
        **_NOTHING,
        "asking": ask is not None,
        "ask": ask.number if ask is not None else -1,
        "closing": closing,
        "number": earlier + 1 if earlier >= 0 else done + 1,
        "done": done,
        "total": done + len(session.open_asks(reader)),
        "reader": reader,
        "question": session.head.ask,
        "instructions": session.head.instructions,
        "cells": texts[0][1] if len(texts) == 1 else [],
        "beside": [
            {"here": ask is not None and one.number == ask.number, "cells": cells}
            for one, cells in texts
            if len(texts) > 1
        ],
        "classes": [str(one) for one in work.task.classes],
        "scale": work.task.scale,
        "last": _words(session.last_answer(reader)),
        "was": _words(mine[earlier][1]) if earlier >= 0 else "",
        "mine": [
            {"number": number + 1, "name": one.item or str(one.row + 1), "label": _words(answer)}
            for number, (one, answer) in reversed(mine.items())
        ],
        "estimate": work.result().verdict if "estimate" in query else "",
        "offer_estimate": True,
        "problem": problem,
        "hidden": {"correct": "1"} if earlier >= 0 else {},
        "blindness": work.blindness,
    }


def _current(work: Work, reader: str) -> tuple[Ask | None, str]:
    """Return the item that comes next for a reader, drawing a batch if the first has none left."""
    waiting = work.session.open_asks(reader)
    if not waiting and reader == work.session.head.readers[0]:
        if work.standing().stop is not None:
            return None, work.result().verdict
        waiting = list(work.next())
    if waiting:
        return waiting[0], ""
    return None, _ALL_READ


def _take(work: Work, reader: str, form: Mapping[str, str]) -> None:
    """Take one form: an answer, a skip, a correction, or an undo."""
    choice = form.get("answer", "")
    if choice == "undo":
        work.undo(reader)
        return
    ask = int(form["ask"]) if form.get("ask", "").removeprefix("-").isdecimal() else -1
    earlier = form.get("correct") == "1" and (ask, reader) in work.session.answers
    if not earlier and not any(one.number == ask for one in work.session.open_asks(reader)):
        return  # sent twice, or from a page that was left open: it is answered already
    label: Any = None
    if choice == "grade":
        label = work.label_of(form.get("grade", ""))
    elif choice.isdecimal() and int(choice) < len(work.task.classes):
        label = work.task.classes[int(choice)]
    elif choice != "skip":
        raise InputError("choose one of the answers, or skip")
    note = form.get("note", "").strip()
    work.answer(ask, label, reader=reader, note=note, seconds=_seconds(form))


def _words(answer: Answer | None) -> str:
    if answer is None:
        return ""
    return "skip" if answer.skipped else str(answer.label)


def serve_labels(
    work: Work, *, port: int = 0, open_browser: bool = True, say: Callable[[str], None]
) -> None:
    """Serve the page of a session on this machine until it is interrupted.

    Parameters
    ----------
    work
        The session, open for writing.
    port
        0 takes a free one.
    open_browser
        Whether to open the first reader's link.
    say
        Writes a line for the person who started it.
    """
    import uvicorn

    from tallystick.serve.app import bound

    tokens = {secrets.token_urlsafe(12): reader for reader in work.session.head.readers}
    with bound("127.0.0.1", port) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        for token, reader in tokens.items():
            only = " (disagreements only)" if reader == "3" else ""
            say(f"reader {reader}{only}: {address}/r/{token}")
        say("Press Ctrl-C to stop; every answer is saved.")
        if open_browser:
            webbrowser.open(f"{address}/r/{next(iter(tokens))}")
        config = uvicorn.Config(
            label_app(work, tokens), log_level="error", access_log=False, lifespan="off"
        )
        uvicorn.Server(config).run(sockets=[listening])
