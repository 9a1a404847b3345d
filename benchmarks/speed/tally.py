"""How fast rows are counted, beside NumPy, Polars and bare DuckDB, in one run (``--write`` puts it
into docs/).
"""

from __future__ import annotations

import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.table import Tally

ROWS = 10_000_000
TALL = 100_000_000
CHUNK = 1 << 17


def best(
    *calls: Callable[[], Any], clock: Callable[[], float] = time.perf_counter, repeats: int = 7
) -> list[float]:
    """Return the best time of each call, the calls taking turns so that a busy moment hits all of
    them.
    """
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(repeats):
        for call, seconds in zip(calls, times, strict=True):
            start = clock()
            call()
            seconds.append(clock() - start)
    return [min(seconds) for seconds in times]


def pack_and_bincount(columns: list[np.ndarray[Any, Any]], size: int) -> np.ndarray[Any, Any]:
    """NumPy in 128k chunks: the cell number of each row as bincount wants it, then bincount."""
    cells = size ** len(columns)
    total = np.zeros(cells, np.int64)
    for start in range(0, len(columns[0]), CHUNK):
        code = columns[0][start : start + CHUNK].astype(np.intp)
        for column in columns[1:]:
            code = code * size + column[start : start + CHUNK]
        total += np.bincount(code, minlength=cells)
    return total


def byte_pack_and_bincount(columns: list[np.ndarray[Any, Any]], size: int) -> np.ndarray[Any, Any]:
    """Do the same with cell numbers in single bytes: the best that we could get out of NumPy."""
    cells = size ** len(columns)
    total = np.zeros(cells, np.int64)
    for start in range(0, len(columns[0]), CHUNK):
        code = columns[0][start : start + CHUNK].view(np.uint8)
        for column in columns[1:]:
            code = code * np.uint8(size) + column[start : start + CHUNK].view(np.uint8)
        total += np.bincount(code, minlength=cells)
    return total


def in_memory(k: int, size: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(k * size)
    data = {f"judge{j}": rng.integers(0, size, ROWS, dtype=np.int8) for j in range(k)}
    columns = list(data.values())
    batches = [
        {name: column[i : i + 10_000] for name, column in data.items()}
        for i in range(0, ROWS, 10_000)
    ]

    def stream() -> Tally:
        tally = Tally()
        for batch in batches:
            tally.update(batch)
        assert tally.n == ROWS
        return tally

    assert Tally.of(data) == stream()
    assert Tally.of(data).counts.tolist() == pack_and_bincount(columns, size).tolist()
    ours, numpy_, bytes_, streamed = best(
        lambda: Tally.of(data),
        lambda: pack_and_bincount(columns, size),
        lambda: byte_pack_and_bincount(columns, size),
        stream,
        clock=time.thread_time,  # its own time: other work on the machine would favour short calls
    )
    what = f"in memory, {k} columns of {size} labels"
    return [
        _row(what, "Tally.of", ours),
        _row(what, "NumPy pack + bincount", numpy_, f"ours {numpy_ / ours:.2f}x"),
        _row(what, "NumPy, packed in bytes", bytes_, f"ours {bytes_ / ours:.2f}x"),
        _row(
            what,
            "Tally.update, 10,000 rows a batch",
            streamed,
            f"{ours / streamed:.2f} of one pass",
            ">= 0.33",
        ),
    ]


def from_parquet(folder: Path, k: int) -> list[dict[str, Any]]:
    import duckdb
    import polars as pl

    path = _parquet(folder / f"votes{k}.parquet", ROWS, k)
    names = [f"judge{j}" for j in range(k)]
    listed = ", ".join(names)
    connection = duckdb.connect()

    def bare() -> Any:
        return connection.sql(
            f"select {listed}, count(*) from '{path}' group by {listed}"
        ).to_arrow_table()

    def polars() -> Any:
        return pl.scan_parquet(path).group_by(names).len().collect()

    assert sorted(Tally.of(path).counts.tolist()) == sorted(bare()["count_star()"].to_pylist())
    ours, duck, polar = best(lambda: Tally.of(path), bare, polars, repeats=7)
    what = f"Parquet, {k} columns of 2 labels"
    return [
        _row(what, "Tally.of(path)", ours),
        _row(what, "bare DuckDB query", duck, f"ours {ours / duck:.2f} of its time", "<= 1.15"),
        _row(what, "Polars scan_parquet group_by", polar, f"ours {ours / polar:.2f} of its time"),
    ]


def tall_parquet(folder: Path) -> dict[str, Any]:
    """Count 100 million rows in a process of its own and ask the system for its peak memory."""
    path = _parquet(folder / "tall.parquet", TALL, 3)
    start = time.perf_counter()
    out = subprocess.run(
        [sys.executable, "-m", __spec__.name, "--count", str(path)],
        capture_output=True,
        text=True,
        check=True,
    )
    n, peak = map(int, out.stdout.split())
    assert n == TALL
    row = _row(
        "Parquet, 100 M rows of 3",
        "Tally.of(path), its own process",
        time.perf_counter() - start,
        rows=TALL,
    )
    return {**row, "against": f"peak {peak / 1024:.0f} MB", "goal": "< 500 MB"}


def _parquet(path: Path, rows: int, k: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(k)
    step = 1_000_000
    schema = pa.schema([(f"judge{j}", pa.int8()) for j in range(k)])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(0, rows, step):
            columns = [pa.array(rng.integers(0, 2, step, dtype=np.int8)) for _ in range(k)]
            writer.write_table(pa.table(columns, schema=schema))
    return path


def _row(
    what: str, how: str, seconds: float, against: str = "", goal: str = "", *, rows: int = ROWS
) -> dict[str, Any]:
    return {
        "what": what,
        "how": how,
        "M rows/s": f"{rows / seconds / 1e6:,.0f}",
        "against": against,
        "goal": goal,
    }


def main() -> None:
    if "--count" in sys.argv:
        tally = Tally.of(sys.argv[-1])
        print(tally.n, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        return
    rows = [*in_memory(3, 2), *in_memory(8, 2), *in_memory(3, 5)]
    with tempfile.TemporaryDirectory() as folder:
        rows += [
            *from_parquet(Path(folder), 3),
            *from_parquet(Path(folder), 8),
            tall_parquet(Path(folder)),
        ]
    notes = [
        (
            "10 million rows of int8, the best of 7 turns each; in memory processor time of the one"
            " thread that works, Parquet wall time on all threads."
        ),
        (
            "An int64 cell number is what bincount works on; packing in bytes is possible up to 256"
            " cells only."
        ),
    ]
    record("tally", "Counting rows", rows, notes=notes)


if __name__ == "__main__":
    main()
