"""The application behind the labelling page.

Each reader has a link with a secret of its own. An answer is a form that is posted, saved to the
disk, and then redirected, so reloading never answers twice. The page loads nothing from elsewhere:
its Content-Security-Policy allows its own style and script only, and foreign text is always text.
"""

from __future__ import annotations

import secrets
import webbrowser
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from tallystick.errors import InputError, TallystickError
from tallystick.table.session import Answer, Ask
from tallystick.verbs.label import Work

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request
    from starlette.responses import Response

_MOST_BYTES = 64 * 1024
"""An answer is a few words; a longer form is refused."""

_ABSENT = (
    "the labelling page needs starlette and uvicorn: pip install 'tallystick[serve]'. Without them,"
    " label here with --terminal, or in a table with --next 20 --out batch.csv and --add batch.csv"
)


def label_app(work: Work, tokens: Mapping[str, str]) -> Starlette:
    """Return the application.

    Parameters
    ----------
    work
        The session, open for writing.
    tokens
        The secret in each reader's link, token to reader.
    """
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.trustedhost import TrustedHostMiddleware
    from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
    from starlette.routing import Route

    from tallystick.serve.auth import HttpProblem, check_origin
    from tallystick.serve.pages.site import ASSETS, asset, templates
    from tallystick.serve.routes import HEADERS, body_of

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
    from tallystick.serve.pages.label import NOTHING

    session = work.session
    mine = {one.number: (one, answer) for one, answer in work.given(reader)}
    wanted = query.get("ask", "")
    earlier = int(wanted) - 1 if wanted.isdecimal() else -1
    ask: Ask | None = mine[earlier][0] if earlier in mine else None
    closing = ""
    if ask is None:
        earlier = -1
        ask, closing = _current(work, reader)
        session = work.session
    waiting = len(session.open_asks(reader))
    done = sum(one.reader == reader for one in session.answers.values())
    together = [] if ask is None else work.beside(ask)
    named = session.head.show
    shown = [
        {
            "here": ask is not None and one.number == ask.number,
            "cells": list(zip(named, cells, strict=True)),
        }
        for one, cells in zip(together, work.shown(together), strict=True)
    ]
    return {
        **NOTHING,
        "asking": ask is not None,
        "ask": ask.number if ask is not None else -1,
        "closing": closing,
        "number": earlier + 1 if earlier >= 0 else done + 1,
        "done": done,
        "total": done + waiting,
        "reader": reader,
        "question": session.head.ask,
        "instructions": session.head.instructions,
        "cells": shown[0]["cells"] if len(shown) == 1 else [],
        "beside": shown if len(shown) > 1 else [],
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
    return None, "There is nothing for you to read now."


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
    try:
        seconds = float(form.get("seconds", ""))
    except ValueError:
        seconds = -1.0
    timed = seconds if 0 <= seconds < 86_400 else None
    work.answer(ask, label, reader=reader, note=form.get("note", "").strip(), seconds=timed)


def _words(answer: Answer | None) -> str:
    if answer is None:
        return ""
    return "skip" if answer.skipped else str(answer.label)


def serve_labels(
    work: Work, *, port: int = 0, open_browser: bool = True, say: Callable[[str], None]
) -> None:
    """Serve the page on this machine until it is interrupted.

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
    try:
        import uvicorn

        from tallystick.serve.app import bound
    except ImportError as error:
        raise InputError(_ABSENT) from error
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
