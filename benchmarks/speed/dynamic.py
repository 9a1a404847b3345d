"""Batched rollouts against one rollout at a time, and the other numbers that a user waits for.

Run: ``python -m benchmarks.speed.dynamic [--write]``. One core.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = "1"

import numpy as np

from benchmarks.record import record
from tallystick.papers.dynamic_benchmarks.certificates import worst_case
from tallystick.papers.dynamic_benchmarks.designs import Population, path
from tallystick.papers.dynamic_benchmarks.rollouts import Learner, RandomErrors, roll
from tallystick.verbs.dynamic.forecast import forecast_panel

ROLLOUTS, ROUNDS, ITEMS, EPSILON = 1000, 60, 800, 0.1


def best(work: Callable[[], object], times: int = 5) -> float:
    """CPU seconds of the fastest of several runs, after one that compiles and warms."""
    work()
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def one_at_a_time(count: int) -> np.ndarray:
    """Run the same random learner in plain NumPy, in a loop over rollouts and rounds."""
    rng = np.random.default_rng(0)
    risk = np.empty((count, ROUNDS))
    for b in range(count):
        total, wrong = np.full(ITEMS, 1 / ITEMS), np.zeros(ITEMS)
        for t in range(ROUNDS):
            weights = total / total.sum()
            order = rng.permutation(ITEMS)
            errors = np.zeros(ITEMS, dtype=bool)
            errors[order[np.cumsum(weights[order]) <= EPSILON]] = True
            wrong += errors
            risk[b, t] = np.mean(wrong > (t + 1) / 2) + 0.5 * np.mean(wrong == (t + 1) / 2)
            if errors.any():
                total += errors / errors.sum()
    return risk


def main() -> None:
    population = Population.uniform(ITEMS)

    def rolled(learner: Learner) -> Callable[[], object]:
        return lambda: roll(population, path(ROUNDS), learner, rollouts=ROLLOUTS, rng=0)

    loop = best(lambda: one_at_a_time(20), 3) * ROLLOUTS / 20
    random = best(rolled(RandomErrors(EPSILON)))
    rng = np.random.default_rng(0)
    errors = 0.77 * rng.standard_normal(1000) + 0.63 * rng.standard_normal((5, 1000)) > 0.1
    what = f"{ROLLOUTS} rollouts x {ROUNDS} rounds, {ITEMS} items"
    rows = [
        {
            "work": f"{what}: random learner, loop in NumPy (from 20 rollouts)",
            "CPU seconds": loop,
            "ratio": 1.0,
        },
        {"work": f"{what}: random learner, batched", "CPU seconds": random, "ratio": loop / random},
        {
            "work": "worst case of three rounds to 1e-4",
            "CPU seconds": best(lambda: worst_case(0.1, gap=1e-4), 2),
        },
        {
            "work": "worst case of five rounds to 1%",
            "CPU seconds": best(lambda: worst_case(0.1, 5, gap=0.01), 1),
        },
        {
            "work": "forecast of a panel, five models x 1000 items",
            "CPU seconds": best(lambda: forecast_panel(errors), 3),
        },
    ]
    record(
        "dynamic-speed",
        "Dynamic benchmarks: speed",
        rows,
        notes=("Goal: at most 2 s for the batched rollouts.",),
    )


if __name__ == "__main__":
    main()
