"""Whether HTTP and the command line say the same: random streams, every verb, field for field.

``python benchmarks/truth/serve_equal.py [STREAMS] [--postgres] [--keep FILE] [--write]`` posts streams
in any order, with repeats, late and corrected labels, to SQLite (or PostgreSQL), asks 11 questions of
each, and compares every field but ``as_of`` and ``command`` with the command line on the exported rows.
With --keep the streams of earlier calls are counted, too, and the next ones are taken.
"""

from __future__ import annotations

import contextlib
import sys
import tempfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from pieces import add_piece, pieces
from record import record
from tests.serve.equal import QUERIES, differences, post
from tests.serve.postgres import postgres_server
from tests.serve.web import Clock, Loop, Web

from tallystick.serve.app import make_app, make_service
from tallystick.serve.check import check_stream
from tallystick.serve.service import Config
from tallystick.serve.store import open_store

NAMES = ("questions", "unknowable", "different", "broken books")


def run(address: str, seeds: range, folder: Path) -> dict[str, int]:
    """Return how many questions were asked, answered, and answered differently."""
    service = make_service(open_store(address), config=Config(job_pause=0.0), clock=Clock())
    asked: Counter[str] = Counter()
    try:
        with Loop() as loop:
            web = Web(make_app(service), loop)
            for seed in seeds:
                name = f"s{seed}"
                post(web, name, seed)
                asked["broken books"] += bool(check_stream(service.store, name).problems)
                for verb, query in QUERIES:
                    found = differences(web, name, folder, verb, query)
                    said = web.get(f"/v1/streams/{name}/results/{verb}", params=query).json()
                    asked["questions"] += 1
                    asked["unknowable"] += said["decision"] == "unknowable"
                    asked["different"] += bool(found)
                    for line in found:
                        print(seed, verb, query, line, flush=True)
                web.delete(f"/v1/streams/{name}")
    finally:
        service.close()
    return {"streams": len(seeds), **{name: asked[name] for name in NAMES}}


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    streams = numbers[0] if numbers else 300
    store = "PostgreSQL" if "--postgres" in sys.argv else "SQLite"
    before = pieces()
    first = 1000 + sum(one["streams"] for one in before if one["store"] == store)
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        address = f"{folder}/serve.sqlite"
        if store == "PostgreSQL":
            address = stack.enter_context(postgres_server())
        found = run(address, range(first, first + streams), Path(folder))
    piece = {"store": store, **found}
    add_piece(piece)
    rows = []
    for name in ("SQLite", "PostgreSQL"):
        mine = [one for one in (*before, piece) if one["store"] == name]
        if mine:
            sums = {key: sum(one[key] for one in mine) for key in ("streams", *NAMES)}
            rows.append({"store": name, **sums})
    notes = [
        "A question is unknowable where the command line refuses the exported rows, too.",
        "Books are the counts against a recount, and the rows against a replay of the batches.",
    ]
    record("serve-equal", "The service and the command line", rows, notes=notes)


if __name__ == "__main__":
    main()
