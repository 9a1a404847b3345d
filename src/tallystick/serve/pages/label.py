"""The labelling page: one item, its keys, how many are left, and nothing else."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from tallystick.serve.auth import LOCAL, HttpProblem, make_session
from tallystick.serve.pages.home import PART, WatchLine, watch_lines
from tallystick.serve.pages.site import ForestEntry, call, go, may, render, set_cookie, templates
from tallystick.serve.pages.stream import axis_of
from tallystick.serve.queue_turns import (
    LabelAnswer,
    Turn,
    TurnProgress,
    next_turn,
    person_of,
    progress,
    take_answer,
)
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.store import Reader, Transaction
from tallystick.serve.writer import StreamRecord, find_stream

ASK = "What is the right answer?"


async def get_label(incoming: Incoming) -> Response:
    """Show the next item."""
    return await _page(incoming)


async def _page(incoming: Incoming, problem: str = "", status: int = 200) -> Response:
    from tallystick.verbs.label.shown import (
        blindness,
        telling_cells,
    )  # with the first item, not before

    service, name, who = incoming.service, incoming.path["stream"], incoming.who
    person = person_of(who)

    def work(transaction: Transaction) -> tuple[StreamRecord, Turn | None, TurnProgress, Any]:
        stream = find_stream(transaction, name)
        now = service.clock()
        opened = make_session(transaction, LOCAL, now=now) if who == LOCAL else (None, who)
        turn = next_turn(transaction, stream, person, now=now)
        return stream, turn, progress(transaction, stream, person, now=now), opened

    stream, turn, at, (cookie, session) = await service.commit(work)
    text = (
        templates()
        .get_template("label.html")
        .render(
            asking=turn is not None,
            ask=turn.ask if turn is not None else "",
            number=at.done + 1,
            done=at.done,
            total=at.done + at.left,
            reader=person,
            question=stream.settings.question or ASK,
            instructions=stream.settings.instructions,
            cells=_cells(turn),
            classes=turn.labels if turn is not None else [],
            scale=None,
            last=at.last,
            estimate="",
            offer_estimate=False,
            problem=problem,
            closing="There is nothing for you to read now.",
            buys=_buys(at.left),
            home=f"/streams/{name}" if may(who, "read") else "/label",
            hidden={"csrf": session.csrf},
            blindness=blindness([] if turn is None else telling_cells(turn.show, turn.labels)),
        )
    )
    response = Response(text, status_code=status, media_type="text/html")
    if cookie is not None:
        set_cookie(incoming, response, cookie)
    return response


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


async def post_label_form(incoming: Incoming) -> Response:
    """Take one form: an answer, a skip, or an undo."""
    service, name, form = incoming.service, incoming.path["stream"], incoming.form
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
        from tallystick.serve.queue_turns import label_choices

        labels = await service.reading(lambda r: label_choices(r, find_stream(r, name)))
        given.value = labels[int(choice)] if int(choice) < len(labels) else None
    try:
        await take_answer(service, name, person_of(incoming.who), given)
    except HttpProblem as problem:
        if problem.status >= 500:
            raise
        if "answered this already" in problem.detail:
            return go(f"/streams/{name}/label")  # sent twice: it is saved
        return await _page(incoming, problem=f"Not saved: {problem.detail}.", status=409)
    return go(f"/streams/{name}/label")


async def get_queues(incoming: Incoming) -> Response:
    """Show which streams have something to label."""
    service, who = incoming.service, incoming.who
    person = person_of(who)

    def look(reader: Reader) -> list[tuple[str, TurnProgress]]:
        names = [one for (one,) in reader.all("select name from stream order by name limit 500")]
        return [
            (one, progress(reader, find_stream(reader, one), person, now=service.clock()))
            for one in names
            if not who.streams or one in who.streams
        ]

    found = await service.reading(look)
    waiting = [(name, at) for name, at in found if at.left]
    if len(waiting) == 1:
        return go(f"/streams/{waiting[0][0]}/label")
    return await render(incoming, "queues.html", here="Label", waiting=waiting, every=found)


def _route(method: str, path: str, work: Any, **more: Any) -> Route:
    text = (work.__doc__ or "").strip()
    return Route(method=method, path=path, role="label", work=work, summary=text, page=True, **more)


PAGE_LABEL_ROUTES = (
    _route("GET", "/label", get_queues),
    _route("GET", "/streams/{stream}/label", get_label),
    _route("POST", "/streams/{stream}/label", post_label_form, body=dict),
)
"""Routes of this file."""

# Watches: change since the baseline by run, money spent, and cells that moved.


def run_lines(watch: WatchLine) -> list[dict[str, Any]]:
    """Return the runs of a watch, the newest first, with the share of answers that changed."""
    found = []
    for ident, kind, state, started, ended, cost, result, error in watch.results:
        body = json.loads(result) if result else {}
        flips = body.get("flip_rate") or {}
        share, ends = flips.get("estimate"), flips.get("interval") or (None, None)
        entry = ForestEntry(
            f"run {ident}",
            *(100.0 * x if isinstance(x, int | float) else None for x in (share, *ends)),
        )
        found.append(
            {
                "id": ident,
                "kind": kind,
                "state": state,
                "at": ended or started,
                "cost": cost,
                "entry": entry,
                "verdict": error or body.get("verdict") or "",
                "failed": bool(error),
                "cells": body.get("top_cells") or [],
                "baseline": ident == watch.baseline,
            }
        )
    return found


async def get_watches_page(incoming: Incoming) -> Response:
    """Show all watches."""
    found = await incoming.service.reading(watch_lines)
    return await render(incoming, "watches.html", here="Watches", watches=found)


async def get_watch_page(incoming: Incoming) -> Response:
    """Show one watch."""
    name = incoming.path["watch"]
    found = await incoming.service.reading(lambda reader: watch_lines(reader, name=name))
    if not found:
        raise HttpProblem(404, f"there is no watch {name[:80]!r}")
    runs = run_lines(found[0])
    checks = [one["entry"] for one in runs if one["entry"].estimate is not None][:24]
    cells: list[Any] = next((one["cells"] for one in runs if one["cells"]), [])
    return await render(
        incoming,
        "watch.html",
        here="Watches",
        watch=found[0],
        runs=runs,
        checks=checks,
        axis=axis_of(checks),
        # Only what the test for all cells at once keeps is said to have moved.
        cells=[one["words"] for one in cells if one.get("words") and one.get("survives")][:12],
    )


async def post_new_baseline(incoming: Incoming) -> Response:
    """Make what the API answers now the new baseline."""
    name = incoming.path["watch"]
    await call(incoming, "POST", "/v1/watches/{watch}/baseline", watch=name)
    return go(f"/watches/{name}")


def _watch_route(method: str, path: str, work: Any, **more: Any) -> Route:
    text = (work.__doc__ or "").strip()
    return Route(method=method, path=path, role="admin", work=work, summary=text, page=True, **more)


PAGE_WATCH_ROUTES = (
    _watch_route("GET", "/watches", get_watches_page, query=PART),
    _watch_route("GET", "/watches/{watch}", get_watch_page, query=PART),
    _watch_route("POST", "/watches/{watch}/baseline", post_new_baseline, body=dict),
)
"""Routes of this file."""
