"""The client at full size: 2000 calls to a slow server, the same with faults, and fifty kills."""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tallystick.clients import ReplayClient, client_of
from tallystick.verbs.shift import ShiftQuestion, run

from ..shift.conftest import COLUMNS, items_of, serving, table

pytestmark = pytest.mark.slow

REPEATS = 5
"""The client is timed so often; on a machine that has other work, the best is what it can do."""


def ask(url, *, calls, **limits):
    rows = table(2 * calls)
    request = {"id": "{id}", "new": "{new}"}
    # Deterministic: no flip is asked again, so that every call is a question of its own.
    asked = {"budget": calls, "api": url, "request": request, "deterministic": True}
    how, items = ShiftQuestion(**asked, **limits), items_of(rows)
    client = client_of(how, columns=COLUMNS)
    run(items, ReplayClient("new", columns=COLUMNS), rows, how)  # load the libraries
    begin, worked = time.perf_counter(), time.process_time()
    result = run(items, client, rows, how)
    return result, time.perf_counter() - begin, time.process_time() - worked


def bare(url, *, calls, in_flight):
    """Return the seconds that sockets alone take, without a library, a plan or a check: what the
    machine allows."""
    pending = iter(range(calls))

    async def worker():
        reader, writer = await asyncio.open_connection(*url.removeprefix("http://").split(":"))
        for number in pending:
            body = json.dumps({"id": f"bare{number}", "new": "four"}).encode()
            writer.write(b"POST / HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
            await reader.readuntil(b"}")
        writer.close()

    async def main():
        await asyncio.gather(*(worker() for _ in range(in_flight)))

    begin = time.perf_counter()
    asyncio.run(main())
    return time.perf_counter() - begin


def same(result):
    aside = ("requests", "cost", "notes", "usage", "api", "asked_hash")
    return {key: value for key, value in result.to_dict().items() if key not in aside}


def test_the_client_at_full_size(tmp_path, publish_coverage):
    rows: list[dict[str, str]] = []

    def note(what: str, *figures: str) -> None:
        rows.append({"what": what, "figure": ", ".join(figures)})

    ideal = 2000 / 64 * 0.1
    taken = []
    for _ in range(REPEATS):
        with serving(delay=0.1, seconds=300) as api:
            result, seconds, worked = ask(api.url, calls=2000, concurrency=64)
            paid = api.stats()["paid"]
            sockets = bare(api.url, calls=2000, in_flight=64)
        assert len(paid) == 2000
        assert set(paid.values()) == {1}
        taken.append((seconds / ideal, worked, sockets / ideal))
    best, middle = min(taken)[0], statistics.median(ratio for ratio, _, _ in taken)
    floor = [limit for _, _, limit in taken]
    note(
        "2000 calls of 100 ms, 64 in flight",
        f"{best:.2f} x the ideal {ideal:.3f} s (best of {REPEATS}; median {middle:.2f} x)",
        f"{1000 * min(work for _, work, _ in taken) / 2000:.2f} ms of processor time a call",
        f"bare sockets in the same minutes {min(floor):.2f} x (median"
        f" {statistics.median(floor):.2f} x)",
    )

    with serving(delay=0.1, faults=0.05, seconds=300) as api:
        faulty, _, _ = ask(api.url, calls=2000, concurrency=64, timeout=10)
        stats = api.stats()
    assert faulty.requests.failed == 0
    assert len(stats["paid"]) == 2000
    twice = sum(n > 1 for n in stats["paid"].values())
    assert same(faulty) == same(result)
    note(
        "the same with 5% faults",
        str(stats["faults"]),
        "0 lost",
        f"{twice} paid twice",
        "identical result",
    )

    with serving(delay=0.01, seconds=900) as api:
        driver = Path(__file__).resolve().parents[1] / "shift" / "killing.py"
        command = [sys.executable, str(driver), api.url, "50", "150", str(tmp_path), "2"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=True)
        paid = api.stats()["paid"]
    report = json.loads(done.stdout)
    extra = sum(paid.values()) - 51 * 150
    note(
        "kill -9 at 50 random moments",
        f"{report['killed']} killed in mid-run",
        f"{report['identical']} of 50 resumed to the identical result",
        f"{report['resent']} requests in flight sent again, {extra} of them paid twice",
    )
    publish_coverage("shift-client", "The client against a real server process on loopback.", rows)
    assert twice == 0
    assert report["identical"] == 50
    assert extra <= report["resent"]
    assert best <= 1.25
