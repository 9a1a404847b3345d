"""How fast systems are scored: the whole verb from a frame, and interval families from a tally."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.table import Tally
from tallystick.table.panel_grades import read_outputs
from tallystick.verbs import score
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.systems import estimate_systems, fitted

SYSTEMS, ITEMS, JUDGES, GRADED = 20, 5_000, 8, 100


def best(call: Callable[[], Any], repeats: int = 5) -> tuple[float, float]:
    """Return the best wall time and the best processor time of several calls, in seconds."""
    call()  # libraries load and kernels compile: the cold start
    times = []
    for _ in range(repeats):
        start, work = time.perf_counter(), time.process_time()
        call()
        times.append((time.perf_counter() - start, time.process_time() - work))
    return min(wall for wall, _ in times), min(work for _, work in times)


def drawn() -> dict[str, np.ndarray]:
    """Return outputs of systems that pass 50 to 90%, judged at 85%, graded on 100 items."""
    rng = np.random.default_rng(0)
    good = rng.random((ITEMS, SYSTEMS)) < np.linspace(0.5, 0.9, SYSTEMS)
    table: dict[str, np.ndarray] = {
        "item": np.repeat(np.arange(ITEMS), SYSTEMS),
        "system": np.tile([f"s{s:02d}" for s in range(SYSTEMS)], ITEMS),
    }
    for j in range(JUDGES):
        right = rng.random(good.shape) < 0.85
        table[f"j{j}"] = np.where(right, good, ~good).astype(int).ravel()
    human = np.full(good.shape, np.nan)
    chosen = rng.choice(ITEMS, GRADED, replace=False)
    human[chosen] = good[chosen]
    table["human"] = human.ravel()
    return table


def main() -> None:
    import pandas as pd

    from tallystick.table import read

    table = drawn()
    frame = pd.DataFrame(table)
    judges = tuple(f"j{j}" for j in range(JUDGES))
    roles: dict[str, Any] = {"system": "system", "judges": judges, "truth": "human"}
    size = f"{SYSTEMS} systems x {ITEMS:,} items x {JUDGES} judges"
    rows = []

    def add(work: str, call: Callable[[], Any]) -> None:
        wall, cpu = best(call)
        rows.append({"work": work, "wall, ms": 1e3 * wall, "processor, ms": 1e3 * cpu})

    add(f"score.evaluate, {size}, pandas", lambda: score.evaluate(frame, item="item", **roles))
    tally = Tally.of(frame.drop(columns="item").replace({np.nan: None}))
    add("the same from a tally, no pairs", lambda: score.evaluate(tally, **roles))

    with read(tally, score.CAPABILITY.door, **roles) as data:
        outputs = read_outputs(data, scale=None)
    asked = ScoreQuestion()
    add(
        f"one family of {SYSTEMS} intervals from that tally",
        lambda: estimate_systems(outputs, asked, fitted(outputs, asked)),
    )
    record(
        "score-speed",
        "Score: speed",
        rows,
        notes=["Best of five after the cold start. Wall time depends on what else runs."],
    )


if __name__ == "__main__":
    main()
