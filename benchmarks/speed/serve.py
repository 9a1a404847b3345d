"""What the service costs: processor time per record, answers, results at a million rows, memory.

``python -m benchmarks.speed.serve [ingest] [beside] [million] [--postgres]`` starts real servers and
sends from a process of its own, so that the server's processor time is the server's alone.
``million --rows 10000000 --keep FOLDER --piece 1000000`` fills a stream over several calls.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import multiprocessing
import os
import random
import sqlite3
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

from benchmarks.record import record
from tallystick.serve.app import make_service
from tallystick.serve.database import open_store
from tallystick.serve.ingest import LabelRecord, VoteRecord
from tallystick.serve.ingest_write import Source, apply
from tallystick.serve.jobs import Config
from tallystick.serve.streams import find_stream
from tests.serve.postgres import postgres_server
from tests.serve.web import running

JUDGES = ("gpt", "claude", "llama", "qwen", "rule")
_CLIENT = httpx.Client(timeout=120)  # one for all: making one takes longer than an answer
_TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float:
    """Return the seconds of processor that a process has used, 0 if it has just ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / _TICK


def postgres_cpu(address: str | None) -> float:
    """Return the seconds of processor of a PostgreSQL server, its ended processes included."""
    if address is None:
        return 0.0
    import psycopg

    with psycopg.connect(address) as connection:
        [(folder,)] = connection.execute("select current_setting('data_directory')").fetchall()
    server = int((Path(folder) / "postmaster.pid").read_text().split()[0])
    fields = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()
    ended = sum(int(one) for one in fields[13:15]) / _TICK
    return ended + cpu_of(server) + sum(cpu_of(child) for child in _children(server))


def memory_of(pid: int) -> float:
    """Return the megabytes that a process holds now."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return float("nan")


def bodies(items: int, size: int, *, coins: bool, seed: int) -> Iterator[bytes]:
    """Yield batches: a vote each, judge by judge, so four of five update a row."""
    rng = random.Random(seed)
    truth = [rng.random() < 0.4 for _ in range(items)]
    langs = ("en", "de", "fr", "es")
    for place, judge in enumerate(JUDGES):
        lines = []
        for n in range(items):
            right = rng.random() < (0.5 if coins else 0.9 - 0.05 * place)
            vote = "pass" if truth[n] == right else "fail"
            more = f',"slice":{{"lang":"{langs[n % 4]}"}}' if not place else ""
            lines.append(f'{{"item":"item-{seed}-{n}","votes":{{"{judge}":"{vote}"}}{more}}}')
            if len(lines) == size:
                yield "\n".join(lines).encode()
                lines = []
        if lines:
            yield "\n".join(lines).encode()


async def _sender(
    host: str, port: int, head: bytes, waiting: Iterator[bytes], out: list[float]
) -> None:
    reader, writer = await asyncio.open_connection(host, port)
    for n, body in enumerate(waiting):
        key = f"{id(out)}-{random.getrandbits(60):x}-{n}"
        begun = time.perf_counter()
        writer.write(
            head + f"Idempotency-Key: {key}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        answer = await reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
        content = await reader.readexactly(length)
        out.append(time.perf_counter() - begun)
        if b" 200 " not in answer[:20]:
            raise RuntimeError(content.decode())
    writer.close()


def send(address: str, stream: str, key: str, batches: list[bytes], pipe: Any) -> None:
    """Send batches over 16 connections; put the times of the answers into the pipe."""
    host, _, port = address.removeprefix("http://").partition(":")
    head = (
        f"POST /v1/streams/{stream}/records HTTP/1.1\r\nHost: {host}:{port}\r\n"
        f"Authorization: Bearer {key}\r\n"
    ).encode()
    times: list[float] = []

    async def run() -> None:
        waiting = iter(batches)
        await asyncio.gather(*(_sender(host, int(port), head, waiting, times) for _ in range(16)))

    begun = time.perf_counter()
    asyncio.run(run())
    pipe.send((time.perf_counter() - begun, times))


def load(address: str, stream: str, key: str, batches: list[bytes]) -> tuple[float, list[float]]:
    """Send from another process; return the seconds it took, and the time of each answer."""
    ours, theirs = multiprocessing.Pipe()
    sender = multiprocessing.Process(target=send, args=(address, stream, key, batches, theirs))
    sender.start()
    found: tuple[float, list[float]] = ours.recv()
    sender.join()
    return found


def quantile(times: list[float], share: float) -> float:
    return sorted(times)[min(len(times) - 1, int(share * len(times)))]


def prepared(address: str, stream: str) -> str:
    """Make a stream and a key for it."""
    httpx.put(f"{address}/v1/streams/{stream}", json={}).raise_for_status()
    answer = httpx.post(f"{address}/v1/keys", json={"role": "write", "name": "bench"})
    key: str = answer.json()["key"]
    return key


def ingest(options: tuple[str, ...], store: str) -> list[dict[str, Any]]:
    """Return processor time per record at four sizes of request."""
    rows = []
    database = options[1] if options else None
    for size, items in ((1, 800), (10, 4_000), (100, 20_000), (1000, 40_000)):
        with tempfile.TemporaryDirectory() as folder, running(Path(folder), *options) as server:
            key = prepared(server.address, f"n{size}")
            load(server.address, f"n{size}", key, list(bodies(50, 10, coins=False, seed=1)))
            batches = list(bodies(items, size, coins=False, seed=2))
            before, other = cpu_of(server.process.pid), postgres_cpu(database)
            wall, times = load(server.address, f"n{size}", key, batches)
            used = cpu_of(server.process.pid) - before
            n = items * len(JUDGES)
            rows.append(
                {
                    "store": store,
                    "records per request": size,
                    "server µs per record": round(1e6 * used / n, 1),
                    "database µs per record": round(1e6 * (postgres_cpu(database) - other) / n, 1)
                    if store != "SQLite"
                    else None,
                    "records per second (this machine)": round(n / wall),
                    "p50 ms": round(1e3 * statistics.median(times), 1),
                    "p99 ms": round(1e3 * quantile(times, 0.99), 1),
                }
            )
            print(rows[-1], flush=True)
    return rows


def beside(options: tuple[str, ...], store: str) -> list[dict[str, Any]]:
    """Return what a reader that asks all the time costs those who write."""
    rows = []
    for coins in (False, True):
        with tempfile.TemporaryDirectory() as folder, running(Path(folder), *options) as server:
            key = prepared(server.address, "beside")
            load(server.address, "beside", key, list(bodies(4_000, 500, coins=coins, seed=1)))
            url = f"{server.address}/v1/streams/beside/results/judge"
            httpx.get(url, timeout=120).raise_for_status()  # the worker is warm
            alone, quiet = load(
                server.address, "beside", key, list(bodies(4_000, 10, coins=coins, seed=2))
            )
            stop = threading.Event()
            asked: list[float] = []

            def ask(url: str = url, stop: threading.Event = stop, out: Any = asked) -> None:
                while not stop.is_set():
                    begun = time.perf_counter()
                    httpx.get(url, timeout=120)
                    out.append(time.perf_counter() - begun)

            reader = threading.Thread(target=ask)
            reader.start()
            busy, times = load(
                server.address, "beside", key, list(bodies(4_000, 10, coins=coins, seed=3))
            )
            stop.set()
            reader.join()
            rows.append(
                {
                    "store": store,
                    "votes": "coin flips" if coins else "judges",
                    "p99 alone, ms": round(1e3 * quantile(quiet, 0.99), 1),
                    "p99 beside a reader, ms": round(1e3 * quantile(times, 0.99), 1),
                    "rate beside / alone": round(alone / busy, 2),
                    "answers to the reader": len(asked),
                    "reader p50, ms": round(1e3 * statistics.median(asked), 1),
                }
            )
            print(rows[-1], flush=True)
    return rows


def filled(path: Path | str, n: int, *, most: int = 10**9) -> int:
    """Write a stream of *n* rows: five judges, 240 hours, four slices, 5% labelled.

    Goes on where an earlier call ended, writes at most *most* rows, and returns how many there are.
    """
    service = make_service(open_store(path, durability="normal"), config=Config(job_pause=0.0))
    langs = ("en", "de", "fr", "es")
    try:
        service.writer.do(
            lambda transaction: transaction.run(
                "insert into stream (name, settings, salt, version, rows, created)"
                " values ('big', '{}', ?, 0, 0, 0) on conflict (name) do nothing",
                (b"0",),
            )
        )
        begun = service.read(lambda reader: find_stream(reader, "big")).rows
        end = min(n, begun + most)
        rng = random.Random(begun)
        for start in range(begun, end, 10_000):
            records = []
            for k in range(start, min(end, start + 10_000)):
                truth = rng.random() < 0.4
                votes: dict[str, str | int | bool | None] = {
                    judge: "pass" if truth == (rng.random() < 0.9 - 0.05 * place) else "fail"
                    for place, judge in enumerate(JUDGES)
                }
                label = LabelRecord("pass" if truth else "fail", "ann") if k % 20 == 0 else None
                records.append(
                    VoteRecord(
                        item=f"item-{k}",
                        at=1_790_000_000.0 + 3600.0 * (k * 240 // n),
                        votes=votes,
                        label=label,
                        slice={"lang": langs[k % 4]},
                    )
                )

            def work(transaction: Any, records: Any = records) -> None:
                stream = find_stream(transaction, "big")
                apply(service, transaction, stream, records, Source(by="bench"))

            service.writer.do(work)
        service.store.checkpoint()
        return end
    finally:
        service.close()


PAGES = ("/", "/streams/big", "/streams/big/labels", "/alarms", "/settings")


def million(n: int, keep: str | None, piece: int) -> list[dict[str, Any]]:
    """Return what a stream of *n* rows costs to open, to ask and to hold; nothing before it is full."""
    with contextlib.ExitStack() as stack:
        folder = keep or stack.enter_context(tempfile.TemporaryDirectory())
        path = Path(folder) / "tallystick.sqlite"
        there = filled(path, n, most=piece)
        if there < n:
            print(f"{there:,} rows: call again")
            return []
        with sqlite3.connect(path) as database:
            [(kept,)] = database.execute("select sum(length(body)) from batch").fetchall()
        size = path.stat().st_size
        begun = time.perf_counter()
        with running(Path(folder)) as server:
            ready = time.perf_counter() - begun
            url = f"{server.address}/v1/streams/big"
            first = _timed(f"{url}/results/judge")[0]
            changed, still, asking = [], [], []
            for k in range(15):
                record_ = {"item": f"more-{k}", "votes": dict.fromkeys(JUDGES, "pass")}
                httpx.post(f"{url}/records", json=[record_]).raise_for_status()
                before = cpu_tree(server.process.pid)
                seconds, answer = _timed(f"{url}/results/judge")
                asking.append(cpu_tree(server.process.pid) - before)
                changed.append(seconds)
                etag = {"If-None-Match": answer.headers["etag"]}
                still.append(_timed(f"{url}/results/judge", headers=etag)[0])
            day = _timed(f"{url}/results/judge?window=2026-09-28T00:00Z..2026-09-29T00:00Z")[0]
            by = _timed(f"{url}/results/judge?by=lang")[0]
            pages = [_timed(server.address + page)[0] for page in PAGES]
            workers = _children(server.process.pid)
            row = {
                "rows": n,
                "start to ready, s": round(ready, 2),
                "first result, s": round(first, 2),
                "result after a change: p50, ms": round(1e3 * statistics.median(changed), 1),
                "max, ms": round(1e3 * max(changed), 1),
                "its processor time, ms": round(1e3 * statistics.median(asking), 1),
                "by ETag: max, ms": round(1e3 * max(still), 1),
                "a day, ms": round(1e3 * day, 1),
                "by slice, ms": round(1e3 * by, 1),
                "slowest page, ms": round(1e3 * max(pages), 1),
                "server, MB": round(memory_of(server.process.pid)),
                "worker, MB": round(max(map(memory_of, workers), default=0.0)),
                "bytes per row on disk, bodies apart": round((size - kept) / n, 1),
                "bodies packed, bytes per row": round(kept / n, 1),
            }
    print(row, flush=True)
    return [row]


def _children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for path in found for word in path.read_text().split()]


def cpu_tree(pid: int) -> float:
    """Return the processor time of the server and its worker."""
    return cpu_of(pid) + sum(cpu_of(child) for child in _children(pid))


def _timed(url: str, **given: Any) -> tuple[float, httpx.Response]:
    begun = time.perf_counter()
    answer = _CLIENT.get(url, **given)
    if answer.status_code not in (200, 304):
        raise RuntimeError(answer.text)
    return time.perf_counter() - begun, answer


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["ingest", "beside", "million"])
    parser.add_argument("--postgres", action="store_true", help="ingest into PostgreSQL, too")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--keep", help="a folder that holds the rows of 'million'")
    parser.add_argument("--piece", type=int, default=10**9, help="rows that one call writes")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    with contextlib.ExitStack() as stack:
        stores: dict[str, tuple[str, ...]] = {"SQLite": ()}
        if given.postgres:
            stores["PostgreSQL"] = ("--db", stack.enter_context(postgres_server()))
        if "ingest" in given.parts:
            rows = [row for store, words in stores.items() for row in ingest(words, store)]
            record("serve-ingest", "What the service costs per record", rows)
        if "beside" in given.parts:
            rows = [row for store, words in stores.items() for row in beside(words, store)]
            record("serve-beside", "Reading beside writing", rows)
    if "million" in given.parts:
        found = million(given.rows, given.keep, given.piece)
        if found:
            record("serve-million", "A large stream", found)


if __name__ == "__main__":
    main()
