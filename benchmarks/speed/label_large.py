"""``tallystick label`` on a million items and ten systems: memory and time of each step.

Run: ``python -m benchmarks.speed.label_large [--write]``.

Each step is a process of its own, from the command line, so its peak is what a user would see. The
next batch is also timed inside an open session, as a page or a queue draws it.
"""

from __future__ import annotations

import csv
import multiprocessing
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from benchmarks.record import record

ITEMS, SYSTEMS, JUDGES = 1_000_000, 10, 3


def write_tables(folder: Path) -> None:
    """Write one row per output (Parquet and CSV), and one row per item."""
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    truth = rng.random((ITEMS, SYSTEMS)) < np.linspace(0.6, 0.85, SYSTEMS)
    items = np.char.add("item-", np.char.zfill(np.arange(ITEMS).astype(str), 7))
    votes = [
        np.where(rng.random(truth.shape) < 0.8 + 0.05 * j, truth, ~truth).astype(np.int8)
        for j in range(JUDGES)
    ]
    systems = [f"sys{s}" for s in range(SYSTEMS)]
    long = {
        "item": pa.array(np.repeat(items, SYSTEMS)),
        "system": pa.array(np.tile(systems, ITEMS)),
        **{f"j{j}": pa.array(one.ravel()) for j, one in enumerate(votes)},
    }
    pq.write_table(pa.table(long), folder / "long.parquet")
    pc.write_csv(pa.table(long), folder / "long.csv")
    wide = {
        f"{name}.j{j}": pa.array(one[:, s])
        for s, name in enumerate(systems)
        for j, one in enumerate(votes)
    }
    pq.write_table(pa.table({"item": pa.array(items), **wide}), folder / "wide.parquet")


def ran(folder: Path, *words: str, program: Sequence[str] = ()) -> dict[str, object]:
    """Run one command; return its seconds on the clock and on the processor, and its peak."""
    label = (sys.executable, "-c", "from tallystick.cli import main; main()", "label")
    began = time.perf_counter()
    process = subprocess.Popen(
        [*(program or label), *words],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"label {' '.join(words)} left with {status}")
    return {
        "seconds": time.perf_counter() - began,
        "processor seconds": usage.ru_utime + usage.ru_stime,
        "peak memory, GB": usage.ru_maxrss * 1024 / 1e9,
    }


def measured(
    folder: Path, table: str, question: str = "score", *, whole: bool = False
) -> list[dict[str, object]]:
    """Return one row per step of a session: all of them, or the first two."""
    session = folder / "s.label"
    session.unlink(missing_ok=True)
    what = table if question == "score" else f"{table} --question {question}"
    asked = ("--question", question, "--session", "s.label")
    rows: list[dict[str, object]] = [{"table": what, "step": "begin"} | ran(folder, table, *asked)]
    batch = ("--session", "s.label", "--next", "20", "--out", "batch.csv")
    rows.append({"table": what, "step": "--next 20"} | ran(folder, *batch))
    if not whole:
        return rows
    answered(folder / "batch.csv")
    steps = {
        "--add": ("--add", "batch.csv"),
        "--next 20, after labels": ("--next", "20", "--out", "batch.csv"),
    }
    for step, words in steps.items():
        rows.append({"table": what, "step": step} | ran(folder, "--session", "s.label", *words))
    rows.append({"table": what, "step": "next 20, session open"} | drawn(session))
    return rows


def answered(path: Path) -> None:
    with path.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    with path.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, rows[0].keys())
        writer.writeheader()
        writer.writerows([{**row, "answer": "1"} for row in rows])


def drawn(session: Path) -> dict[str, object]:
    """Return what the second batch takes where the session is open already."""
    code = (
        "import os, resource, sys, time\n"
        "from tallystick.verbs.label import reopen\n"
        "with reopen(sys.argv[1]) as work:\n"
        "    for ask in work.next(20):\n"
        "        work.answer(ask.number, 1, reader='1')\n"
        "    clock, used = time.perf_counter(), time.process_time()\n"
        "    work.next(20)\n"
        "    print(time.perf_counter() - clock, time.process_time() - used,"
        " resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, session.name],
        cwd=session.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    clock, used, peak = map(float, done.stdout.split())
    return {"seconds": clock, "processor seconds": used, "peak memory, GB": peak * 1024 / 1e9}


def libraries(folder: Path) -> dict[str, object]:
    """Return what it takes to start Python and load what every step needs, without any work."""
    code = "import duckdb, pyarrow.parquet, scipy.special, tallystick.cli.label"
    code += ", tallystick.sampling.bets"
    return ran(folder, program=(sys.executable, "-c", code))


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        # In a process of its own: a child's peak is never below the size of its parent.
        maker = multiprocessing.get_context("spawn").Process(target=write_tables, args=(folder,))
        maker.start()
        maker.join()
        rows = [{"table": "", "step": "libraries alone"} | libraries(folder)]
        rows += measured(folder, "long.parquet", whole=True)
        rows += measured(folder, "long.parquet", "best")
        rows += measured(folder, "long.csv")
        rows += measured(folder, "wide.parquet")
    record(
        "label-large",
        f"A session on {ITEMS:,} items of {SYSTEMS} systems with {JUDGES} judges",
        rows,
        notes=[
            "Each step but one is a command: it starts, reads the table and checks that the session"
            " was drawn from it, and ends. libraries alone: Python starts, loads what a step"
            " with labels needs, and does nothing",
            "next 20, session open: the second batch of an open session, as the page or a queue"
            " draws it",
            "Processor seconds are those of a command wherever it runs; the seconds on the clock"
            " depend on what else the machine does",
        ],
    )


if __name__ == "__main__":
    main()
