"""Time to verdict: one million rows and five judges in Parquet, the whole command with its HTML
page.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.record import record

ROWS = 1_000_000
ACCURACIES = (0.9, 0.85, 0.8, 0.75, 0.7)


def table(known: float) -> pa.Table:
    """Five judges on a million items, whose truth is known on a share of them."""
    draw = np.random.default_rng(0)
    spam = draw.random(ROWS) < 0.3
    words = np.array(["ham", "spam"])
    columns: dict[str, Any] = {"item": np.arange(ROWS)}
    for k, accuracy in enumerate(ACCURACIES):
        columns[f"judge_{k}"] = words[
            np.where(draw.random(ROWS) < accuracy, spam, ~spam).astype(int)
        ]
    if known:
        columns["truth"] = pa.array(words[spam.astype(int)], mask=draw.random(ROWS) >= known)
    return pa.table(columns)


def run(path: Path, page: Path) -> tuple[float, float]:
    """Return seconds on the clock and seconds of processor for the command, as a user runs it."""
    before, start = os.times(), time.perf_counter()
    command = [sys.executable, "-c", "from tallystick.cli import main; main()"]
    subprocess.run(
        [*command, "audit", str(path), "--html", str(page)], check=True, capture_output=True
    )
    after = os.times()
    cpu = (
        after.children_user + after.children_system - before.children_user - before.children_system
    )
    return time.perf_counter() - start, cpu


def main() -> None:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, known in (("no labels", 0.0), ("1% labelled", 0.01), ("all labelled", 1.0)):
            path, page = Path(folder) / "votes.parquet", Path(folder) / "report.html"
            pq.write_table(table(known), path)
            clock, cpu = (
                min(times) for times in zip(*(run(path, page) for _ in range(3)), strict=True)
            )
            rows.append(
                {
                    "table": name,
                    "seconds": clock,
                    "processor seconds": cpu,
                    "page, kB": page.stat().st_size // 1000,
                }
            )
    record(
        "audit",
        "Time to verdict of an audit with its HTML page, 1 M rows x 5 judges in Parquet",
        rows,
        notes=[
            "Start of the interpreter included, best of three. Hold it to 15 s.",
            (
                f"Load of the machine's {os.cpu_count()} cores over the last minute:"
                f" {os.getloadavg()[0]:.1f}."
            ),
        ],
    )


if __name__ == "__main__":
    main()
