"""Watches: change since the baseline by run, money spent, and cells that moved."""

from __future__ import annotations

import json
from typing import Any

from starlette.responses import Response

from tallystick.serve.pages.facts import WatchLine, watch_lines
from tallystick.serve.pages.home import PART
from tallystick.serve.pages.site import call, go, render
from tallystick.serve.pages.stream import axis_of
from tallystick.serve.pages.view import ForestEntry
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Route

__all__ = ["ROUTES", "run_lines"]


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


def _route(method: str, path: str, work: Any, **more: Any) -> Route:
    text = (work.__doc__ or "").strip()
    return Route(method=method, path=path, role="admin", work=work, summary=text, page=True, **more)


ROUTES = (
    _route("GET", "/watches", get_watches_page, query=PART),
    _route("GET", "/watches/{watch}", get_watch_page, query=PART),
    _route("POST", "/watches/{watch}/baseline", post_new_baseline, body=dict),
)
"""Routes of this file."""
