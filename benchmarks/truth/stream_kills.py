"""A Spark stream whose driver is killed 30 times counts what the whole data holds.

Each start is a process of its own that dies by SIGKILL at a chosen moment of a chosen batch: before
the batch is counted, after the count and before the file is replaced, or after the file is replaced
and before Spark commits the batch. Run: ``python -m benchmarks.truth.stream_kills [--write]``.
With ``--folder FOLDER`` a run that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.table import Tally, TallySink, tally

KILLS = 30
BATCHES = 40
ROWS = 500
MOMENTS = ("before counting", "before saving", "after saving")
COLUMNS = ["gpt", "claude", "llama"]


def write_batches(folder: Path) -> None:
    """Write one NDJSON file per batch."""
    draw = np.random.default_rng(0)
    for number in range(BATCHES):
        lines = [
            json.dumps(dict(zip(COLUMNS, map(str, row), strict=True)))
            for row in draw.integers(0, 3, (ROWS, len(COLUMNS)))
        ]
        (folder / f"{number:03}.json").write_text("\n".join(lines) + "\n", encoding="utf-8")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def stream(folder: Path, batch: int, moment: str) -> None:
    """Run the stream until the end, or until its death at *moment* of *batch*."""
    from pyspark.sql import SparkSession

    session = (
        SparkSession.builder.master("local[1]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.extraJavaOptions", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        .getOrCreate()
    )
    sink = TallySink(path=folder / "votes.tally", columns=COLUMNS)

    def mortal(frame: Any, number: int) -> None:
        if number == batch and moment == MOMENTS[0]:
            die()
        if number == batch and moment == MOMENTS[1]:
            tally.Tally.save = lambda *_: die()  # type: ignore[method-assign]
        sink(frame, number)
        if number == batch and moment == MOMENTS[2]:
            die()

    read = session.readStream.schema(", ".join(f"{name} string" for name in COLUMNS))
    rows = read.option("maxFilesPerTrigger", 1).json(str(folder / "in"))
    write = rows.writeStream.foreachBatch(mortal).trigger(availableNow=True)
    write.option("checkpointLocation", str(folder / "checkpoint")).start().awaitTermination()
    session.stop()


def main() -> None:
    if "--folder" in sys.argv:
        folder = Path(sys.argv[sys.argv.index("--folder") + 1])
        folder.mkdir(exist_ok=True)
        row = measured(folder)
    else:
        with tempfile.TemporaryDirectory() as made:
            row = measured(Path(made))
    record(
        "stream-kills",
        f"A Spark stream whose driver is killed {KILLS} times (SIGKILL), against one count of all"
        " files",
        [row],
    )


def measured(folder: Path) -> dict[str, Any]:
    """Kill the stream as often as is left, let it end, and compare its counts with the files'."""
    done = folder / "kills.txt"  # one line for each start that was killed
    if not (folder / "in").exists():
        (folder / "in").mkdir()
        write_batches(folder / "in")
        done.touch()
    # Every kill leaves at least its own batch undone, or uncommitted, so 40 batches suffice.
    for kill in range(len(done.read_text().splitlines()), KILLS + 1):
        moment = MOMENTS[kill % 3] if kill < KILLS else "never"
        command = [sys.executable, "-m", __spec__.name, "--stream", str(folder), str(kill), moment]
        left = subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode
        if kill == KILLS:
            if left:
                raise SystemExit(f"the last start left with {left}")
            break
        if left != -signal.SIGKILL:
            raise SystemExit(f"start {kill} left with {left} and was to be killed")
        with done.open("a") as log:
            log.write(f"{moment}\n")

    killed = done.read_text().splitlines()
    found = Tally.load(folder / "votes.tally")
    whole = Tally.of(str(folder / "in" / "*.json"), columns=COLUMNS)
    same = {str(row): n for row, n in zip(rows_of(found), found.counts, strict=True)} == {
        str(row): n for row, n in zip(rows_of(whole), whole.counts, strict=True)
    }
    return {
        "kills": len(killed),
        **{moment: killed.count(moment) for moment in MOMENTS},
        "batches": BATCHES,
        "batches in the tally": len(found.sources.batches),
        "rows": whole.n,
        "rows counted": found.n,
        "counts equal": "yes" if same else "NO",
    }


def rows_of(held: Tally) -> list[tuple[Any, ...]]:
    return list(zip(*(held.column(name) for name in held.names), strict=True))


if __name__ == "__main__":
    if "--stream" in sys.argv:
        place = sys.argv.index("--stream")
        stream(Path(sys.argv[place + 1]), int(sys.argv[place + 2]), sys.argv[place + 3])
    else:
        main()
