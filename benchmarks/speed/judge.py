"""How fast judges are graded, beside ntqr 0.9, in one run (``--write`` puts it into docs/)."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.papers.noisy_judges.trio_quadratic import solve_moments, trio_moments
from tallystick.table import Tally
from tallystick.verbs import judge

JUDGES, ITEMS = 20, 10_000
NTQR_TRIOS = 3
COIN_FLIPS_BEFORE = {4: 6884, 5: 3995, 6: 5210, 8: 3471}
"""Milliseconds of the code before `tallystick.stats.latent_model`, on the same machine."""


def best(call: Callable[[], Any], repeats: int = 5) -> float:
    """Return the best processor time of several calls, in seconds."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return min(times)


def drawn(judges: int, items: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, items)
    quality = rng.uniform(0.65, 0.9, judges)
    return np.where(rng.random((items, judges)) < quality, truth[:, None], 1 - truth[:, None])


def ntqr_seconds(votes: np.ndarray) -> float | None:
    """Return seconds a trio of ntqr's independent evaluator, None where it is not installed."""
    try:
        from ntqr.r2.datasketches import TrioVoteCounts
        from ntqr.r2.evaluators import ErrorIndependentEvaluation
    except ImportError:
        return None
    trios = list(itertools.combinations(range(JUDGES), 3))[:NTQR_TRIOS]
    start = time.process_time()
    for trio in trios:
        patterns = dict.fromkeys(itertools.product("ab", repeat=3), 0)
        for row in votes[:, trio]:
            patterns["ab"[row[0]], "ab"[row[1]], "ab"[row[2]]] += 1
        ErrorIndependentEvaluation(TrioVoteCounts(patterns))
    return (time.process_time() - start) / len(trios)


def main() -> None:
    votes = drawn(JUDGES, ITEMS)
    codes, counts = np.unique(votes, axis=0, return_counts=True)
    rows = []
    from_counts = best(lambda: solve_moments(trio_moments(codes, counts)))
    moments = trio_moments(codes, counts)
    from_moments = best(lambda: solve_moments(moments), 20)
    n_trios = len(solve_moments(moments).status)
    each = ntqr_seconds(votes)
    rows.append(
        {
            "work": f"all {n_trios} trios of {JUDGES} judges, from counts of {ITEMS:,} items",
            "ms": 1e3 * from_counts,
        }
    )
    if each is not None:
        rows[-1] |= {
            "ntqr 0.9, ms": 1e3 * each * n_trios,
            "times faster": each * n_trios / from_counts,
        }
    rows.append({"work": "the same from moments", "ms": 1e3 * from_moments})
    big = drawn(5, 10_000_000).astype(np.int8)
    tally = Tally.of({f"j{k}": big[:, k] for k in range(5)})
    names = ("majority", "independent", "dawid_skene", "logical")
    for name in names:
        method = getattr(judge, name)
        method(tally)  # libraries load
        rows.append(
            {
                "work": f"{name}, 10,000,000 items of 5 judges, from a tally",
                "ms": 1e3 * best(partial(method, tally)),
            }
        )
    rows.append(
        {
            "work": "evaluate (with 19 refits), the same",
            "ms": 1e3 * best(lambda: judge.evaluate(tally), 3),
        }
    )
    # Votes that say nothing: the likelihood is a ridge, on which EM takes thousands of steps.
    for judges in (4, 5, 6, 8):
        flips = np.random.default_rng(judges).integers(0, 2, (4000, judges))
        coins = Tally.of({f"j{k}": flips[:, k] for k in range(judges)})
        rows.append(
            {
                "work": f"evaluate, 4,000 coin flips of {judges} judges",
                "ms": 1e3 * best(partial(judge.evaluate, coins), 2),
                "before, ms": COIN_FLIPS_BEFORE[judges],
            }
        )
    notes = [
        "Coin flips: *before* is the same table by the first code of this model.",
        f"Processor time, best of several. ntqr: {NTQR_TRIOS} trios timed in this run, times"
        f" {n_trios}.",
    ]
    record("judge-speed", "Grading judges", rows, notes=notes)


if __name__ == "__main__":
    main()
