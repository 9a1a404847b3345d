"""``POST /v1/streams/{stream}/records``: accepted means committed."""

from __future__ import annotations

from tallystick.serve.ingest import Accepted, Source, apply, parse
from tallystick.serve.ingest.parse import MOST_BODY
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.service import Service
from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.store import Transaction

__all__ = ["ROUTES"]

_LARGE = 128 * 1024
"""Bodies above this are parsed in a thread, so that they hold up nobody else."""


async def post_records(incoming: Incoming) -> Accepted:
    """Keep a batch of records, all of it or nothing."""
    service, name, body = incoming.service, incoming.path["stream"], incoming.raw
    key = incoming.header("idempotency-key")
    if key is not None and not (0 < len(key) <= 256 and key.isprintable()):
        raise HttpProblem(422, "Idempotency-Key has 1 to 256 printable characters")
    now = service.clock()
    if len(body) > _LARGE:
        records = await service.thread(lambda: parse(body, now=now))
    else:
        records = parse(body, now=now)
    source = Source(by=incoming.who.name or incoming.who.id, key=key, body=body)

    def work(transaction: Transaction) -> Accepted:
        return apply(
            service, transaction, known_stream(service, transaction, name), records, source
        )

    # Records take about six times their text in memory while they wait.
    answer = await service.commit(work, size=6 * len(body))
    if not answer.again:
        totals = service.memory.setdefault("records", {})
        totals[name] = totals.get(name, 0) + answer.accepted
    return answer


def known_stream(service: Service, transaction: Transaction, name: str) -> StreamRecord:
    """Return a stream, from memory where no other process can have changed it."""
    if transaction.skip_locked:
        return find_stream(transaction, name)
    if "streams" not in service.memory:
        known: dict[str, StreamRecord] = {}
        service.memory["streams"] = known
        service.on_rollback(known.clear)
    found: StreamRecord | None = service.memory["streams"].get(name)
    if found is None:
        found = service.memory["streams"][name] = find_stream(transaction, name)
    return found


ROUTES = (
    Route(
        method="POST",
        path="/v1/streams/{stream}/records",
        role="write",
        work=post_records,
        summary="Keep records: votes, grades, labels, slices, what a labeller sees.",
        body=bytes,
        answer=Accepted,
        limit=MOST_BODY,
    ),
)
"""Routes of this file."""
