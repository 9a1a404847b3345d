"""What the page of a stream shows of a result: made in the worker, from the result's own fields."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from tallystick.serve.results import computed
from tallystick.serve.service import Service
from tallystick.serve.settings import StreamRecord
from tallystick.serve.span import Span
from tallystick.serve.store import Reader, Store

__all__ = ["ForestEntry", "StreamView", "ask_view", "verb_of", "view"]

_GROUPS = {
    "judge": ("judges", "accuracy"),
    "score": ("systems", "score"),
    "compare": ("models", "score"),
}
"""Where the rows of a result are, and what their number is called."""

_WORDS = {
    "judge": ("Judges now", "judge", "accuracy"),
    "score": ("Systems now", "system", "score"),
    "compare": ("Models now", "model", "score"),
    "bound": ("Bounds now", "metric", "bounds"),
}
"""Heading, what a row is, and what its number is."""


class ForestEntry(msgspec.Struct):
    """One row of the forest: a name, a number and its interval, in percent."""

    name: str
    estimate: float | None
    low: float | None
    high: float | None


class StreamView(msgspec.Struct):
    """What is shown of a result.

    Parameters
    ----------
    answer, contrast, open, next
        Its sentences: the answer, what it stands against, what is not settled, what to do.
    entries
        The forest.
    heading, row, column
        Its heading, what a row is, what the number is called.
    slices
        The same for every part of the data, the worst first: name and entries.
    pictures
        Titles of the figures that the route of charts draws.
    """

    verb: str
    decision: str
    answer: str
    contrast: str
    open: str
    next: str
    needed: int | None
    n_items: int
    n_labels: int | None
    entries: list[ForestEntry]
    heading: str
    row: str
    column: str
    assumptions: list[str]
    warnings: list[str]
    pictures: list[str]
    command: str
    as_of: int
    slices: list[tuple[str, list[ForestEntry], str]] = []


def verb_of(reader: Reader, stream: StreamRecord) -> str:
    """Return the question that a stream's page asks: by its roles and by what its rows are."""
    if stream.settings.roles.get("prediction"):
        return "bound"
    systems = reader.one(
        "select 1 from slice where stream = ? and body like ? limit 1", (stream.id, '%"system":%')
    )
    return "score" if systems is not None else "judge"


def ask_view(
    service: Service, stream: StreamRecord, verb: str, *, by: str = "", labels: str = ""
) -> StreamView:
    """Ask the worker, or the memory if the stream has not changed. Call it in a thread."""
    args = {"name": stream.name, "question": verb, "by": by, "labels": labels}
    kind = "tallystick.serve.pages.view:view"
    found, _ = computed(service, kind, stream, verb, {}, Span(), **args)
    return msgspec.json.decode(found.body, type=StreamView)


def view(store: Store, args: dict[str, Any]) -> bytes:
    """Ask a question about a stream and return what its page shows: what the worker does."""
    from tallystick.serve.answer import answer_stream  # the server itself never computes

    verb = args["question"]
    given = {"by": [args["by"]]} if args["by"] else {}
    span = Span(labels=args["labels"])
    found = answer_stream(store, args["name"], verb, given, span)
    heading, row, column = _WORDS[verb]
    shown = StreamView(
        verb=verb,
        decision="unknowable",
        answer=f"Nothing can be said yet: {found.why}.",
        contrast="",
        open="",
        next="",
        needed=None,
        n_items=0,
        n_labels=None,
        entries=[],
        heading=heading,
        row=row,
        column=column,
        assumptions=[],
        warnings=[],
        pictures=[],
        command=found.command,
        as_of=found.as_of,
    )
    if found.result is not None:
        _fill(shown, found.result)
    return msgspec.json.encode(shown)


def _fill(shown: StreamView, result: Any) -> None:
    body = json.loads(json.dumps(result.to_dict(), default=str))
    opening = getattr(result, "opening", None)  # the sentences one by one, where a result has them
    shown.answer = getattr(opening, "answer", None) or result.verdict
    for name in ("contrast", "open", "next"):
        setattr(shown, name, getattr(opening, name, None) or "")
    needed = body.get("needed")
    if isinstance(needed, dict) and isinstance(needed.get("count"), int):
        shown.needed = needed["count"]
    shown.decision = result.decision
    shown.n_items = result.n_items
    labels = body.get("n_labels")
    shown.n_labels = labels if isinstance(labels, int) else None
    shown.entries = _entries(shown.verb, body)
    shown.assumptions = list(result.assumptions)
    shown.warnings = list(result.warnings)
    shown.pictures = [one.title for one in result.figures()]
    shown.slices = _slices(shown.verb, body)


def _entries(verb: str, body: dict[str, Any]) -> list[ForestEntry]:
    if verb == "bound":
        return [
            ForestEntry(
                str(one.get("metric", "")), None, *_percent(one.get("lower"), one.get("upper"))
            )
            for one in body.get("bounds") or ()
        ]
    group, number = _GROUPS[verb]
    found = []
    for one in body.get(group) or ():
        ends = one.get("interval") or one.get("range") or (None, None)
        (estimate,) = _percent(one.get(number))
        found.append(ForestEntry(str(one["name"]), estimate, *_percent(*ends)))
    return sorted(found, key=lambda e: -(e.estimate if e.estimate is not None else e.low or 0.0))


def _percent(*values: Any) -> list[float | None]:
    return [100.0 * one if isinstance(one, int | float) else None for one in values]


def _slices(verb: str, body: dict[str, Any]) -> list[tuple[str, list[ForestEntry], str]]:
    """Return the slices, the one with the lowest number first; one without says why."""
    found = []
    for one in body.get("slices") or ():
        name = "(blank)" if one.get("slice") is None else str(one["slice"])
        why = "" if one.get("verdict") else str((one.get("unknown") or {}).get("verdict", ""))
        found.append((name, _entries(verb, one), why))
    return sorted(
        found, key=lambda s: min((e.estimate for e in s[1] if e.estimate is not None), default=101)
    )
