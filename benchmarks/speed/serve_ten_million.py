"""A result at ten million rows: how long it takes after a change, on SQLite or PostgreSQL.

``python -m benchmarks.speed.serve_ten_million [ROWS] [TIMES] [--postgres]`` lets the service's own ingest
write ROWS rows (a million by default), copies them TIMES - 1 times by SQL, because posting them all
would take minutes, and asks after each of 25 posts. Wall times need an idle machine.
"""

from __future__ import annotations

import contextlib
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.speed import serve, serve_idle
from tallystick.serve.database import open_store
from tests.serve.postgres import fresh_database, postgres_process
from tests.serve.web import running

POSTS = 25


def copied(address: str, rows: int, times: int) -> float:
    """Write the rows of a store *times* - 1 more times; return the bytes per row, bodies aside."""
    store = open_store(address, durability="normal")
    columns = "stream, system, bucket, slice, pattern, grades, seq_first"
    for k in range(1, times):
        with store.write() as transaction:
            # Another name, and another place in any draw.
            transaction.run(
                f"insert into rows (id, item, u, {columns}) select id + {k * rows},"
                f" item || '-{k}', (u % 148764065110560900) * 31 + {k}, {columns} from rows"
                f" where id <= {rows}"
            )
    with store.write() as transaction:
        transaction.run(f"update tally set n = n * {times}")
        transaction.run("update stream set rows = rows * ?", (times,))
        if address.startswith("postgresql"):
            transaction.all(f"select setval('rows_id', {rows * times})")
            transaction.run("analyze")
    store.checkpoint()
    with store.read() as reader:
        [(bodies,)] = reader.all("select sum(length(body)) from batch")
        [(held,)] = reader.all("select count(*) from rows")
    per_row = (serve_idle.bytes_on_disk(store) - int(bodies)) / int(held)
    store.close()
    return per_row


def main() -> None:
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    rows, times = (numbers + [1_000_000, 10][len(numbers) :])[:2]
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        address = str(folder / "tallystick.sqlite")
        options: tuple[str, ...] = ()
        if "--postgres" in sys.argv:
            server = stack.enter_context(postgres_process())
            address = stack.enter_context(fresh_database(server.address))
            options = ("--db", address)
        serve.filled(address, rows)
        per_row = copied(address, rows, times)
        print(f"{rows * times:,} rows, {per_row:.1f} bytes per row")
        print(f"evaluate alone: {serve_idle._evaluate(address):.0f} ms")

        begun = time.perf_counter()
        service = stack.enter_context(running(folder, *options))
        print(f"start to /readyz: {time.perf_counter() - begun:.2f} s")
        url = f"{service.address}/v1/streams/big"
        print(f"first result: {serve._timed(f'{url}/results/judge')[0]:.2f} s")
        took = []
        for k in range(POSTS):
            record = {"item": f"more-{k}", "votes": dict.fromkeys(serve.JUDGES, "pass")}
            serve._CLIENT.post(f"{url}/records", json=[record]).raise_for_status()
            took.append(1e3 * serve._timed(f"{url}/results/judge")[0])
        print(f"after a change: median {statistics.median(took):.0f}, largest {max(took):.0f} ms")
        print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
