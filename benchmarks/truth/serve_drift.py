"""How often the service raises a false alarm on streams where nothing changes.

``python -m benchmarks.truth.serve_drift [--write] [--streams 1000]``: quiet streams of 50 windows of
200 rows with three to five judges; a twentieth of the votes come after the settle time, so that the
test never sees them, and labels change nothing. Each stream passes the drift test of the service.
"""

from __future__ import annotations

import sys
import time
from math import sqrt

import numpy as np

from benchmarks.record import record
from tallystick.errors import NotIdentifiable
from tallystick.table import Tally
from tallystick.verbs.judge.windows import Windows

WINDOWS, SIZE, LATE, ALPHA = 50, 200, 0.05, 0.05


def no_result(tally: Tally) -> None:
    raise NotIdentifiable("only the drift test is measured here")


def alarms(seed: int) -> int:
    """Return how many alarms one quiet stream raises."""
    rng = np.random.default_rng([20, seed])
    judges, labels = int(rng.integers(3, 6)), int(rng.integers(2, 4))
    accuracy, easy = rng.uniform(0.6, 0.95, judges), rng.uniform(0.7, 1.0)
    prior = rng.dirichlet(np.full(labels, 4.0))
    stream = Windows(size=SIZE, evaluation=no_result, alpha=ALPHA, key=f"quiet {seed}")  # type: ignore[arg-type]
    found = 0
    for _ in range(WINDOWS):
        truth = rng.choice(labels, SIZE, p=prior)
        # Items that are hard are hard for everybody: judges do not err independently.
        chance = np.where(rng.random(SIZE)[:, None] < easy, accuracy, 1 / labels)
        right = rng.random((SIZE, judges)) < chance
        votes = np.where(right, truth[:, None], rng.integers(0, labels, (SIZE, judges)))
        late = rng.random((SIZE, judges)) < LATE
        cells = votes.astype(str).astype(object)
        cells[late] = None
        batch = {f"judge {j}": cells[:, j].tolist() for j in range(judges)}
        found += sum(len(window.alarms) for window in stream.push(batch))
    return found


def main() -> None:
    n = int(sys.argv[sys.argv.index("--streams") + 1]) if "--streams" in sys.argv else 1000
    begun = time.perf_counter()
    counts = np.array([alarms(seed) for seed in range(n)])
    share = float((counts > 0).mean())
    record(
        "serve-drift",
        "Serve: false alarms of the drift test",
        [
            {
                "quiet streams": n,
                "rows each": WINDOWS * SIZE,
                "late votes": LATE,
                "with an alarm": share,
                "bound": ALPHA + 3 * sqrt(ALPHA * (1 - ALPHA) / n),
                "alarms in all": int(counts.sum()),
                "s a stream": (time.perf_counter() - begun) / n,
            }
        ],
        notes=("Late votes come after the settle time: the test never sees them.",),
    )


if __name__ == "__main__":
    main()
