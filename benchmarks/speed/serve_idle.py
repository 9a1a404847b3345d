"""Every wall time that the design of the service asks for, on both databases, in ten minutes.

``python -m benchmarks.speed.serve_idle --write`` on a machine that does nothing else;
``--rows 20000 --posts 100 --changes 5`` tries it out. PostgreSQL runs with fsync.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks.record import record
from benchmarks.speed.serve import (
    _CLIENT,
    _TICK,
    JUDGES,
    PAGES,
    _children,
    _timed,
    bodies,
    filled,
    load,
    memory_of,
    prepared,
    quantile,
)
from tallystick.serve.database import Store, open_store
from tests.serve.postgres import fresh_database, postgres_process
from tests.serve.web import running


def busy() -> tuple[float, float]:
    """Return (seconds of processor that all processes used since the start, seconds there were)."""
    fields = [int(one) for one in Path("/proc/stat").read_text().split("\n")[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / _TICK, sum(fields) / _TICK


class Others:
    """The share of this machine's processors that went to neither the service nor the sender."""

    def __init__(self) -> None:
        self._begun = busy()

    def cores(self) -> float:
        """Return how many processors were in use on average, ours included."""
        used, there = (now - then for now, then in zip(busy(), self._begun, strict=True))
        return used / there * (os.cpu_count() or 1)


def posts(options: tuple[str, ...], items: int, *, coins: bool) -> dict[str, Any]:
    """Return p99 of posts alone and beside a reader, and the rate beside over the rate alone."""
    with tempfile.TemporaryDirectory() as folder, running(Path(folder), *options) as server:
        name = "coins" if coins else "judges"
        key = prepared(server.address, name)
        load(server.address, name, key, list(bodies(4_000, 500, coins=coins, seed=1)))
        url = f"{server.address}/v1/streams/{name}/results/judge"
        _CLIENT.get(url)  # the worker is warm
        batches = [list(bodies(items, 10, coins=coins, seed=seed)) for seed in (2, 3, 4)]
        load(server.address, name, key, batches[0])  # so is the writer
        alone, quiet = load(server.address, name, key, batches[1])
        stop = threading.Event()
        asked: list[int] = []

        def ask() -> None:
            while not stop.is_set():
                asked.append(_CLIENT.get(url).status_code)

        reader = threading.Thread(target=ask)
        reader.start()
        beside, times = load(server.address, name, key, batches[2])
        stop.set()
        reader.join()
        return {
            "p99": 1e3 * quantile(quiet, 0.99),
            "beside": 1e3 * quantile(times, 0.99),
            "rate": items * len(JUDGES) / alone,
            "ratio": alone / beside,
            "answers": sum(one == 200 for one in asked),
            "no answer": sum(one != 200 for one in asked),
        }


def large(options: tuple[str, ...], address: str, folder: Path, n: int, changes: int) -> Any:
    """Return what a stream of *n* rows costs to open, to ask and to hold."""
    begun = time.perf_counter()
    if filled(address, n) != n:
        raise RuntimeError("the stream is not full")
    found: dict[str, Any] = {"fill": time.perf_counter() - begun, "evaluate": _evaluate(address)}
    found |= sizes(address, n)
    begun = time.perf_counter()
    with running(folder, *options) as server:
        found["ready"] = time.perf_counter() - begun
        url = f"{server.address}/v1/streams/big"
        found["first"] = _timed(f"{url}/results/judge")[0]
        changed, still = [], []
        for k in range(changes):
            one = {"item": f"more-{k}", "votes": dict.fromkeys(JUDGES, "pass")}
            _CLIENT.post(f"{url}/records", json=[one]).raise_for_status()
            seconds, answer = _timed(f"{url}/results/judge")
            changed.append(seconds)
            etag = {"If-None-Match": answer.headers["etag"]}
            still.append(_timed(f"{url}/results/judge", headers=etag)[0])
        pages = [_timed(server.address + page)[0] for page in PAGES]
        found |= {
            "changed": 1e3 * quantile(changed, 0.99),
            "median": 1e3 * statistics.median(changed),
            "etag": 1e3 * quantile(still, 0.99),
            "page": 1e3 * max(pages),
            "server": memory_of(server.process.pid),
            "worker": max(map(memory_of, _children(server.process.pid)), default=0.0),
        }
    return found


def _evaluate(address: str) -> float:
    """Return the milliseconds that `judge` takes on the counts of the stream: median of 5."""
    import subprocess

    # In a process of its own: the one that measures must not load numerical libraries.
    code = (
        "import sys, time\n"
        "from tallystick.serve.answer import answer_stream\n"
        "from tallystick.serve import answer\n"
        "from tallystick.serve.auth import Span\n"
        "from tallystick.serve.database import Store, open_store\n"
        "real, times = answer._concluded, []\n"
        "def timed(*given):\n"
        "    begun = time.perf_counter()\n"
        "    found = real(*given)\n"
        "    times.append(time.perf_counter() - begun)\n"
        "    return found\n"
        "answer._concluded = timed\n"
        "store = open_store(sys.argv[1], migrate=False)\n"
        "for _ in range(6):\n"
        "    answer_stream(store, 'big', 'judge', {}, Span())\n"
        "store.close()\n"
        "print(1e3 * sorted(times[1:])[2])\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, address], check=True, capture_output=True, text=True
    )
    return float(ran.stdout)


def bytes_on_disk(store: Store) -> int:
    """Return the size of a database."""
    sql = "page_count * page_size from pragma_page_count(), pragma_page_size()"
    sql = "pg_database_size(current_database())" if store.engine == "postgres" else sql
    with store.read() as reader:
        return int(reader.value(f"select {sql}"))


def sizes(address: str, n: int) -> dict[str, float]:
    """Return bytes per row on disk without the bodies, and those of the bodies."""
    store = open_store(address, migrate=False)
    try:
        with store.read() as reader:
            [(kept,)] = reader.all("select sum(length(body)) from batch")
        return {"row": (bytes_on_disk(store) - int(kept)) / n, "body": int(kept) / n}
    finally:
        store.close()


def rows(found: Mapping[str, Mapping[str, Any]]) -> Iterator[tuple[str, list[str]]]:
    """Yield (what is asked, one cell per store)."""

    def line(asked: str, cell: Any) -> tuple[str, list[str]]:
        return asked, [cell(one) for one in found.values()]

    def met(is_met: bool, text: str) -> str:
        return f"{text}: {'met' if is_met else '**missed**'}"

    yield line(
        "answer to a post, 16 connections, 10 records per request: p99 at most 50 ms",
        lambda one: met(
            one["judges"]["p99"] <= 50,
            f"{one['judges']['p99']:.1f} ms at {one['judges']['rate']:,.0f} records per second",
        ),
    )
    for name, votes in (("judges", "judges"), ("coins", "coin flips")):
        yield line(
            f"the same beside a reader that asks all the time, {votes}: p99 at most twice as long,"
            " ingest at least 0.6 times",
            lambda one, name=name: met(
                one[name]["beside"] <= 2 * one[name]["p99"] and one[name]["ratio"] >= 0.6,
                f"{one[name]['p99']:.1f} to {one[name]['beside']:.1f} ms, ingest"
                f" {one[name]['ratio']:.2f} times; the reader had {one[name]['answers']} answers"
                f" and {one[name]['no answer']} refusals",
            ),
        )
    yield line(
        "result after a change: p99 of 100 at most 250 ms, beside what `evaluate` takes over 150 ms",
        lambda one: met(
            one["large"]["changed"] <= 250 + max(0.0, one["large"]["evaluate"] - 150),
            f"{one['large']['changed']:.0f} ms, median {one['large']['median']:.0f};"
            f" `evaluate` {one['large']['evaluate']:.0f}",
        ),
    )
    for asked, name, most, unit in (
        ("by ETag: p99 of 100 at most 15 ms", "etag", 15, "ms"),
        ("start to `/readyz`: at most 1 s", "ready", 1, "s"),
        ("first result: at most 4 s", "first", 4, "s"),
        ("memory of the server after all pages: at most 120 MB", "server", 120, "MB"),
        ("memory of the worker: at most 350 MB", "worker", 350, "MB"),
    ):
        yield line(
            asked,
            lambda one, name=name, most=most, unit=unit: met(
                one["large"][name] <= most, f"{one['large'][name]:.3g} {unit}"
            ),
        )
    yield line(
        "disk: at most 160 bytes per row, and a tenth of the bodies",
        lambda one: met(
            one["large"]["row"] <= 160,
            f"{one['large']['row']:.1f} bytes, bodies {one['large']['body']:.1f}",
        ),
    )
    yield line("slowest page", lambda one: f"{one['large']['page']:.0f} ms")


@contextmanager
def stores(names: list[str]) -> Iterator[dict[str, str | None]]:
    """Yield the addresses by name, None for SQLite; PostgreSQL is started and stopped."""
    if "PostgreSQL" not in names:
        yield dict.fromkeys(names)
        return
    with postgres_process("fsync=on") as server:
        yield {name: server.address if name == "PostgreSQL" else None for name in names}


@contextmanager
def fresh(server: str | None) -> Iterator[tuple[tuple[str, ...], str | None]]:
    """Yield the options of the service and the address of an empty database; nothing for SQLite."""
    if server is None:
        yield (), None
        return
    with fresh_database(server) as address:
        yield ("--db", address), address


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--posts", type=int, default=2_000, help="requests per measurement")
    parser.add_argument("--changes", type=int, default=100, help="results after a change")
    parser.add_argument("--store", action="append", choices=["SQLite", "PostgreSQL"])
    parser.add_argument("--write", action="store_true", help="keep it in benchmarks/results")
    given = parser.parse_args()
    others, begun = Others(), time.perf_counter()
    found: dict[str, dict[str, Any]] = {}
    with stores(given.store or ["SQLite", "PostgreSQL"]) as addresses:
        for name, server in addresses.items():
            one = found[name] = {}
            items = given.posts * 10 // len(JUDGES)
            for kind in ("judges", "coins"):
                with fresh(server) as (options, _):
                    one[kind] = posts(options, items, coins=kind == "coins")
                print(name, kind, one[kind], flush=True)
            with tempfile.TemporaryDirectory() as folder, fresh(server) as (options, address):
                path = address or str(Path(folder) / "tallystick.sqlite")
                one["large"] = large(options, path, Path(folder), given.rows, given.changes)
            print(name, one["large"], flush=True)
    asked = f"asked ({given.rows:,} rows)"
    cores = f"{others.cores():.1f} of {os.cpu_count()}"
    record(
        "serve-idle",
        "Serve: wall times on an idle machine",
        [{asked: one, **dict(zip(found, cells, strict=True))} for one, cells in rows(found)],
        notes=[f"On average {cores} processors were in use during this run."],
    )
    print(f"{time.perf_counter() - begun:.0f} s")


if __name__ == "__main__":
    main()
