"""All pairs of 200 models on 10,000 items: exact p-values against a statsmodels loop, intervals,
max-T, memory.

Run: ``python -m benchmarks.speed.compare [--write]``; statsmodels is the peer and may be absent.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from time import process_time
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.stats.maxt import pairwise_max_t
from tallystick.stats.two_accuracies import discordance, exact_score, mcnemar, tango

MODELS, ITEMS = 200, 10_000


def best_of(runs: int, work: Callable[[], Any]) -> float:
    times = []
    for _ in range(runs):
        start = process_time()
        work()
        times.append(process_time() - start)
    return min(times)


def main() -> None:
    rng = np.random.default_rng(0)
    difficulty = rng.random((ITEMS, 1))
    scores = (
        0.7 * difficulty + 0.3 * rng.random((ITEMS, MODELS)) < np.linspace(0.4, 0.8, MODELS)
    ).astype(float)
    total, products = scores.sum(axis=0), scores.T @ scores
    b, c = discordance(total, products, ITEMS)
    first, second = np.triu_indices(MODELS, 1)

    ours = best_of(5, lambda: mcnemar(b, c))
    rows: list[dict[str, Any]] = [
        {"work": f"exact McNemar, {b.size:,} pairs", "seconds": ours, "claim": ""}
    ]
    try:
        from statsmodels.stats.contingency_tables import mcnemar as peer
    except ImportError:
        rows[0]["claim"] = "statsmodels is absent"
    else:
        sample = rng.choice(b.size, 2000, replace=False)
        both = products[first, second]

        def loop() -> list[float]:
            return [
                peer([[both[i], b[i]], [c[i], ITEMS - both[i] - b[i] - c[i]]], exact=True).pvalue
                for i in sample
            ]

        agree = np.max(np.abs(np.array(loop()) - mcnemar(b, c)[sample]))
        theirs = best_of(2, loop) * b.size / sample.size
        rows.append(
            {"work": "statsmodels loop (2,000 pairs, scaled)", "seconds": theirs, "claim": ""}
        )
        rows[0]["claim"] = (
            f"{theirs / ours:.0f} times faster (200 wanted); largest difference {agree:.1e}"
        )
    rows.append(
        {
            "work": f"Tango, {b.size:,} intervals",
            "seconds": best_of(3, lambda: tango(b, c, ITEMS)),
            "claim": "at most .5 s",
        }
    )
    rows.append(
        {
            "work": "step-down max-T, 10,000 draws",
            "seconds": best_of(1, lambda: pairwise_max_t(total, products, ITEMS, rng=0, width=1.0)),
            "claim": "below 5 s",
        }
    )
    exact_score(9, 1, 50)  # compile
    rows.append(
        {
            "work": "exact score interval, one pair of 10,000 items",
            "seconds": best_of(5, lambda: exact_score(600, 400, ITEMS)),
            "claim": "",
        }
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    rows.append({"work": "peak memory of it all, GB", "seconds": peak, "claim": "below 1 GB"})
    record(
        "compare-speed",
        "All pairs of 200 models on 10,000 items",
        rows,
        notes=["Processor seconds, best of several, one thread"],
    )


if __name__ == "__main__":
    main()
