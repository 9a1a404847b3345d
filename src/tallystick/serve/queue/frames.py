"""Frames: a draw is ordered, made in the worker, and kept with everything that made it."""

from __future__ import annotations

import json
import secrets
from typing import Any

import msgspec

from tallystick.serve.ingest.interned import TRUTH
from tallystick.serve.queue.drawing import FramePlan, plan_frame
from tallystick.serve.queue.population import population
from tallystick.serve.service import Service
from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.span import span_of
from tallystick.serve.store import Reader, Store, Transaction
from tallystick.serve.worker import WorkerOrder

__all__ = ["FrameBody", "FrameOrder", "FrameStratum", "frames_of", "make_frame", "planned"]

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

    budget: int = BUDGET
    window: str = ""
    overlap: float | None = None
    name: str = ""


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
    args = {
        "stream": name,
        "budget": order.budget,
        "overlap": min(max(overlap, 0.0), 1.0),
        "low": span.low,
        "high": span.high,
        "seed": secrets.randbits(62),
    }
    # The scan and its mathematics belong into the worker, so that the server stays quick and small.
    ask = WorkerOrder(kind="tallystick.serve.queue.frames:planned", args=args)
    found = await service.waiting(lambda: service.worker.ask(ask, patience=120.0))
    plan = msgspec.json.decode(found.body, type=FramePlan)
    return await service.commit(
        lambda transaction: _kept(transaction, stream, order, plan, overlap, service.clock())
    )


def planned(store: Store, args: dict[str, Any]) -> bytes:
    """Draw rows: what the worker does."""
    with store.read() as reader:
        stream = find_stream(reader, args["stream"])
        labels = _label_counts(reader, stream)
    found = population(store, stream, low=args["low"], high=args["high"])
    plan = plan_frame(
        found,
        budget=args["budget"],
        overlap=args["overlap"],
        labels=labels,
        seed=args["seed"],
    )
    return msgspec.json.encode(plan)


def _label_counts(reader: Reader, stream: StreamRecord) -> dict[int, int]:
    """Return how many rows of each pattern with a truth there are."""
    truth = reader.one(
        "select id from stream_column where stream = ? and name = ?", (stream.id, TRUTH)
    )
    if truth is None:
        return {}
    return {
        pattern: int(n)
        for pattern, n in reader.all(
            "select pattern, sum(n) from tally where stream = ? group by pattern", (stream.id,)
        )
        if n > 0
    }


def _kept(
    transaction: Transaction,
    stream: StreamRecord,
    order: FrameOrder,
    plan: FramePlan,
    overlap: float,
    now: float,
) -> FrameBody:
    strata = [
        {
            "system": one.system,
            "patterns": list(one.patterns),
            "N": one.size,
            "n": one.drawn,
            "rate": one.rate,
        }
        for one in plan.strata
    ]
    frame = transaction.insert(
        "insert into frame (stream, name, question, span, as_of, seed, budget, overlap, strata,"
        " state, created) values (?, ?, ?, ?, ?, ?, ?, ?, ?, 'open', ?) returning id",
        (
            stream.id,
            order.name[:200],
            json.dumps({"verb": "score"}),
            order.window or None,
            plan.as_of,
            plan.seed,
            order.budget,
            overlap,
            json.dumps(strata),
            now,
        ),
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
    transaction.run("update stream set version = version + 1 where id = ?", (stream.id,))
    return next(one for one in frames_of(transaction, stream) if one.id == frame)


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
