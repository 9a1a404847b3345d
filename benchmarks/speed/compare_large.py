"""``tallystick compare`` from a CSV file to JSON and a page: 200, 1,000 and 5,000 models on 500
items.

Run: ``python -m benchmarks.speed.compare_large [--write]``.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from benchmarks.record import record

ITEMS = 500


def write_board(path: Path, models: int) -> None:
    """Write right/wrong scores of models whose abilities spread like those of a real board."""
    rng = np.random.default_rng(models)
    chance = 1 / (1 + np.exp(rng.normal(size=(ITEMS, 1)) - rng.normal(size=models)))
    scores = (rng.random((ITEMS, models)) < chance).astype(int)
    lines = [",".join(["item", *(f"model_{j}" for j in range(models))])]
    lines += [f"q{i}," + ",".join(map(str, row)) for i, row in enumerate(scores.tolist())]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def measured(folder: Path, models: int) -> dict[str, object]:
    """Run the verb once and say what it took."""
    board, page = folder / "board.csv", folder / "page.html"
    write_board(board, models)
    program = [sys.executable, "-c", "from tallystick.cli import main; main()"]
    command = [*program, "compare", str(board), "--json", "--html", str(page)]
    with (folder / "result.json").open("wb") as stdout:
        process = subprocess.Popen(command, stdout=stdout, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise SystemExit(f"compare left with {status}")
    text = (folder / "result.json").read_text(encoding="utf-8")
    held = json.loads(text)
    return {
        "models": models,
        "pairs": models * (models - 1) // 2,
        "pairs listed": len(held["pairs"]),
        "seconds": usage.ru_utime + usage.ru_stime,
        "peak memory, GB": usage.ru_maxrss / 1024**2,
        "page, MB": page.stat().st_size / 1e6,
        "JSON, MB": len(text) / 1e6,
        "verdict": held["verdict"].split("; ", 1)[1],
    }


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        rows = [measured(Path(folder), models) for models in (200, 1000, 5000)]
    record(
        "compare-large",
        f"Boards of up to 5,000 models on {ITEMS} items, from the command line",
        rows,
        notes=[
            "Processor seconds of the whole command: reading the CSV file, all pairs, ranks, JSON"
            " and the HTML page"
        ],
    )


if __name__ == "__main__":
    main()
