"""The squared error of shift's matrix beside MASA's and uniform sampling's, in one run.

    python -m benchmarks.truth.shift_error [--runs 600] [--write]

Real changes (LLMDrift, no confidence) and the semi-synthetic ones of the paper's data, all drawn
without replacement. Ours is as `shift` has it, MASA and uniform are as the paper has them.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from benchmarks.record import record
from benchmarks.replays import difference, plain, stratified
from benchmarks.truth.shift_cases import BUDGETS, Case, cases, codes, drifts, errors
from tallystick.papers.api_shifts import partitions
from tallystick.sampling import (
    Flips,
    Masa,
    Plan,
    Strata,
    Uniform,
    history_cells,
)


def measured(case: Case, calls: int, runs: int) -> tuple[float, float, float]:
    """Return the mean squared error of ours, of MASA and of uniform sampling."""
    old, new = codes(case, case.old, case.new)
    true = np.zeros(max(old.max(), new.max()) + 1, np.intp)
    true[old], true[new] = case.true, case.true
    common: dict[str, Any] = {
        "budget": calls,
        "n_outcomes": int(max(old.max(), new.max())) + 1,
    }
    # LLMDrift has no confidence: neither cuts its strata by a rank that is none.
    known = bool(np.ptp(case.confidence))
    rank = case.confidence if known else None
    history = history_cells(case.true, case.old, calls=calls, confidence=rank)
    ours = Plan(strata=history, policy=Flips(blind=0.7), baseline=old, **common)
    masa = Plan(
        strata=Strata(partitions(case.true, case.cheap, bins=3 if known else 1)),
        policy=Masa(),
        **common,
    )
    uniform = Plan(strata=Strata(np.zeros(len(new), int)), policy=Uniform(), **common)
    estimates = (
        (ours, lambda seen: difference(seen, true=true).value),
        (masa, lambda seen: stratified(seen).value),
        (uniform, lambda seen: plain(seen).value),
    )
    found = [
        float(errors(plan, new, estimate, runs=runs, seed=seed).mean())
        for seed, (plan, estimate) in enumerate(estimates)
    ]
    return found[0], found[1], found[2]


def main() -> None:
    runs = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else 600
    rows = []
    for case in (*drifts(), *cases()):
        for calls in BUDGETS:
            if calls >= len(case.true):
                continue
            # With a confidence the ratio is far below 1: a tenth of the runs shows it.
            some = runs // 10 if np.ptp(case.confidence) else runs
            ours, masa, uniform = measured(case, calls, some)
            row = {
                "case": case.name,
                "calls": calls,
                "flips": float((case.old != case.new).mean()),
                "ours": ours,
                "ours / MASA": ours / masa,
                "ours / uniform": ours / uniform,
            }
            rows.append(row)
            print(
                {k: (round(v, 4) if isinstance(v, float) else v) for k, v in row.items()},
                flush=True,
            )
    worst = max(float(str(row["ours / MASA"])) for row in rows)
    record(
        "shift-error",
        "The squared error of shift's matrix beside MASA and uniform sampling",
        rows,
        notes=[
            f"{runs} runs per row ({runs // 10} with confidences); the largest ratio to MASA is {worst:.2f}."
        ],
    )


if __name__ == "__main__":
    main()
