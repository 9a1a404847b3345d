"""Whether SQLite, PostgreSQL and the command line say the same: random streams, field for field.

``python -m benchmarks.truth.serve_equal [STREAMS] [--kills] [--from SEED] [--keep FILE] [--write]`` posts
streams in any order, with repeats, late and corrected labels, odd names and labels, and the faults of
which the command line warns, to a service on each database. Each stream is asked five questions in
turn, so that all are asked equally often. Both databases must hold the same counts or rows for it, and
one of them, in turn, must answer what the command line says of the exported rows: every field but
``as_of`` and ``command``, and the same refusals, but for the row that a refusal names.

With --kills the streams are posted by processes that are killed at named points, a few times in
all, and whatever was not acknowledged is sent again. With --keep the streams of earlier calls are
counted, too, and the next ones are taken.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.pieces import add_piece, pieces
from benchmarks.record import record
from tallystick.serve.app import make_app, make_service
from tallystick.serve.client import check_stream
from tallystick.serve.database import open_store
from tallystick.serve.jobs import Config, Service
from tests.serve.equal import QUERIES, differences, post, unlike
from tests.serve.faults import found
from tests.serve.postgres import postgres_server
from tests.serve.queue.people import InProcess
from tests.serve.random_streams import random_stream
from tests.serve.web import Clock, Loop, Web

NAMES = ("questions", "unknowable", "different", "broken books")
ASKED = 5


@contextlib.contextmanager
def serving(address: str, loop: Loop) -> Iterator[tuple[Service, Web]]:
    """Yield a service in this process, which is its own worker: starting one takes seconds."""
    store = open_store(address)
    service = make_service(store, config=Config(job_pause=0.0), clock=Clock())
    service.worker = InProcess(store)  # it answers the same questions
    try:
        yield service, Web(make_app(service), loop)
    finally:
        service.close()


def run(
    folder: Path, postgres: str, seeds: range, *, kills: bool = False
) -> Iterator[dict[str, int]]:
    """Yield for each stream how many questions were asked, answered, and answered differently."""
    if kills:
        for address in (f"{folder}/serve.sqlite", postgres):
            print(found("streams", address, len(seeds), seed=seeds.start), flush=True)
    with (
        Loop() as loop,
        serving(f"{folder}/serve.sqlite", loop) as (one, here),
        serving(postgres, loop) as (two, there),
    ):
        for seed in seeds:
            name = f"s{seed}"
            asked: Counter[str] = Counter(streams=1)
            for service, web in ((one, here), (two, there)):
                odd = bool(seed % 2)
                made = random_stream(seed, odd=odd) if kills else post(web, name, seed, odd=odd)
                asked["broken books"] += bool(check_stream(service.store, name).problems)
            for k in range(ASKED):
                verb, query = QUERIES[(seed * ASKED + k) % len(QUERIES)]
                # The databases take turns. A draw depends on a secret of its own database.
                web = (here, there)[(seed + k) % 2]
                differ = differences(web, name, folder, verb, query)
                if not made.draw or kills:
                    differ += unlike(one.store, two.store, name, verb, query)
                said = web.get(f"/v1/streams/{name}/results/{verb}", params=query).json()
                asked["questions"] += 1
                asked["unknowable"] += said.get("decision", "unknowable") == "unknowable"
                asked["different"] += bool(differ)
                for line in differ:
                    print(seed, made.fault, verb, query, line, flush=True)
            for web in (here, there):
                web.delete(f"/v1/streams/{name}")
            yield {name: asked[name] for name in ("streams", *NAMES)}


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    streams = numbers[0] if numbers else 300
    before = pieces()
    base = int(sys.argv[sys.argv.index("--from") + 1]) if "--from" in sys.argv else 2000
    first = base + sum(one["streams"] for one in before)
    with tempfile.TemporaryDirectory() as folder, postgres_server() as address:
        seeds = range(first, first + streams)
        for piece in run(Path(folder), address, seeds, kills="--kills" in sys.argv):
            add_piece(piece)  # stream by stream, so that a run that is cut off counts as well
            before.append(piece)
    row = {key: sum(one[key] for one in before) for key in ("streams", *NAMES)}
    notes = [
        "A question is unknowable where the command line refuses the exported rows, too.",
        "Books are the counts against a recount, and the rows against a replay of the batches.",
    ]
    record("serve-equal", "SQLite, PostgreSQL and the command line", [row], notes=notes)


if __name__ == "__main__":
    main()
