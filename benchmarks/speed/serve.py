"""What the service costs: processor time per record, answers, results at a million rows, memory.

``python benchmarks/speed/serve.py [ingest] [beside] [million] [--postgres]`` starts real servers and
sends from a process of its own, so that the server's processor time is the server's alone.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "benchmarks")]
from record import record

from tests.serve.web import running

JUDGES = ("gpt", "claude", "llama", "qwen", "rule")
_TICK = os.sysconf("SC_CLK_TCK")


def cpu_of(pid: int) -> float:
    """Return the seconds of processor that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICK


def postgres_cpu() -> float:
    """Return the seconds of processor of all PostgreSQL processes, ended ones included."""
    total = 0.0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, _, rest = path.read_text().rpartition(")")
        except OSError:
            continue
        if "(postgres" in head:
            fields = rest.split()
            total += sum(int(fields[k]) for k in (11, 12, 13, 14)) / _TICK
    return total


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
    for size, items in ((1, 800), (10, 4_000), (100, 20_000), (1000, 40_000)):
        with tempfile.TemporaryDirectory() as folder, running(Path(folder), *options) as server:
            key = prepared(server.address, f"n{size}")
            load(server.address, f"n{size}", key, list(bodies(50, 10, coins=False, seed=1)))
            batches = list(bodies(items, size, coins=False, seed=2))
            before, other = cpu_of(server.process.pid), postgres_cpu()
            wall, times = load(server.address, f"n{size}", key, batches)
            used = cpu_of(server.process.pid) - before
            n = items * len(JUDGES)
            rows.append(
                {
                    "store": store,
                    "records per request": size,
                    "server µs per record": round(1e6 * used / n, 1),
                    "database µs per record": round(1e6 * (postgres_cpu() - other) / n, 1)
                    if store != "SQLite"
                    else None,
                    "records per second (this machine)": round(n / wall),
                    "p50 ms": round(1e3 * statistics.median(times), 1),
                    "p99 ms": round(1e3 * quantile(times, 0.99), 1),
                }
            )
            print(rows[-1], flush=True)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("parts", nargs="*", default=["ingest", "beside", "million"])
    parser.add_argument("--postgres", action="store_true")
    given = parser.parse_args()
    if "ingest" in given.parts:
        ingest((), "SQLite")


if __name__ == "__main__":
    main()
