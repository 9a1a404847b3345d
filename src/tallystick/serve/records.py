"""``POST /v1/streams/{stream}/records``: accepted means committed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tallystick.serve.boundary import Boundary
from tallystick.serve.ingest import (
    Accepted,
    RefusedBatches,
    Source,
    VoteRecord,
    apply,
    apply_group,
    parse,
)
from tallystick.serve.ingest.parse import MOST_BODY
from tallystick.serve.problem import HttpProblem
from tallystick.serve.routes import Incoming, Route
from tallystick.serve.service import Service
from tallystick.serve.settings import StreamRecord, find_stream
from tallystick.serve.store import Transaction

__all__ = ["ROUTES"]

_LARGE = 128 * 1024
"""Bodies above this are parsed in a thread, so that they hold up nobody else."""

_MOST_TOGETHER = 20_000
"""Records that are merged at once: more would take memory and save nothing."""


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
    post = Post(service, name, records, source)
    # Records take about six times their text in memory while they wait.
    answer = await service.commit(post, size=6 * len(body), together=keep_posts)
    if not answer.again:
        totals = service.memory.setdefault("records", {})
        totals[name] = totals.get(name, 0) + answer.accepted
    return answer


@dataclass(frozen=True, slots=True)
class Post:
    """One batch that waits to be written."""

    service: Service
    stream: str
    records: Sequence[VoteRecord]
    source: Source

    def __call__(self, transaction: Transaction) -> Accepted:
        """Keep it alone."""
        stream = known_stream(self.service, transaction, self.stream)
        return apply(self.service, transaction, stream, self.records, self.source)


def keep_posts(transaction: Transaction, posts: Sequence[Post]) -> dict[int, Any]:
    """Keep what can be kept together: batches of one stream, with keys that differ."""
    answers: dict[int, Any] = {}
    for name, places in _alike(posts):
        service = posts[places[0]].service
        # Twice: the first try finds those that are refused.
        for _ in range(2):
            with Boundary() as edge, transaction.savepoint():
                stream = known_stream(service, transaction, name)
                batches = [(posts[place].records, posts[place].source) for place in places]
                kept = apply_group(service, transaction, stream, batches)
                answers.update(zip(places, kept, strict=True))
            if edge.error is None:
                break
            if isinstance(edge.error, service.store.errors):
                raise edge.error
            service.forget()
            if not isinstance(edge.error, RefusedBatches):
                break
            places = [one for k, one in enumerate(places) if k not in edge.error.places]
            if not places:
                break
    return answers


def _alike(posts: Sequence[Post]) -> list[tuple[str, list[int]]]:
    """Return the places of posts that may go together, by stream, at most so many records each."""
    parts: dict[str, list[int]] = {}
    sizes: dict[str, int] = {}
    seen: set[tuple[str, str]] = set()
    found: list[tuple[str, list[int]]] = []
    for place, post in enumerate(posts):
        name, key = post.stream, post.source.key
        if key is not None:
            if (name, key) in seen:  # the answer of the first must be there before
                continue
            seen.add((name, key))
        sizes[name] = sizes.get(name, 0) + len(post.records)
        if name not in parts or sizes[name] > _MOST_TOGETHER:
            sizes[name] = len(post.records)
            parts[name] = []
            found.append((name, parts[name]))
        parts[name].append(place)
    return found


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
        record=VoteRecord,
        answer=Accepted,
        limit=MOST_BODY,
    ),
)
"""Routes of this file."""
