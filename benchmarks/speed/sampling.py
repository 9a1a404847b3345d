"""Measure how fast the sampler decides.

    python -m benchmarks.speed.sampling [--write]

The peer is Algorithm 1 of MASA (corrected) as one would write it in NumPy: all scores anew for
every question.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.papers.api_shifts import uncertainty
from tallystick.sampling import (
    Flips,
    Masa,
    Plan,
    Policy,
    Proportional,
    Sampler,
    Strata,
    Uniform,
)

STRATA, LABELS, ITEMS, CALLS = 93, 31, 64_000, 5000


def world() -> tuple[Strata, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    of = rng.permutation(np.arange(ITEMS) % STRATA)
    old = of % LABELS
    new = np.where(rng.random(ITEMS) < 0.1, rng.integers(0, LABELS, ITEMS), old)
    return Strata(of, np.arange(STRATA) % 6), old, new


def best(work: Callable[[], Any], times: int) -> float:
    """Return the shortest of several times, in processor seconds: the machine may be shared."""
    lapse = []
    for _ in range(times):
        start = time.process_time()
        work()
        lapse.append(time.process_time() - start)
    return min(lapse)


def plan_of(policy: Policy, calls: int, in_flight: int = 1) -> Plan:
    strata, old, _ = world()
    return Plan(
        strata=strata,
        policy=policy,
        budget=calls,
        n_outcomes=LABELS,
        baseline=old if isinstance(policy, Flips) else None,
        in_flight=in_flight,
    )


def alone(plan: Plan, answers: list[int]) -> float:
    """Return asks and tells a second of one run."""
    samplers = iter([Sampler(plan, rng=1) for _ in range(5)])

    def run() -> None:
        sampler = next(samplers)
        while batch := sampler.ask():
            sampler.tell([(item, answers[item]) for item in batch])

    return plan.calls / best(run, 5)


def peer(answers: np.ndarray, calls: int) -> float:
    """Return questions a second of Algorithm 1, plainly."""
    strata, _, _ = world()
    p, queue = strata.shares, [np.flatnonzero(strata.of == k) for k in range(STRATA)]

    def run() -> None:
        n, H = np.zeros(STRATA, int), np.zeros((STRATA, LABELS))
        for _ in range(calls):
            if (n < 2).any():
                k = int((n < 2).argmax())
            else:
                k = int((p / n * (np.sqrt(np.abs(uncertainty(H))) + (1 / n) ** 0.25)).argmax())
            H[k, answers[queue[k][n[k]]]] += 1
            n[k] += 1

    return calls / best(run, 3)


def main() -> None:
    _, _, new = world()
    listed = new.tolist()
    plainly = peer(new, 1000)
    rows: list[dict[str, Any]] = [
        {
            "what": "MASA written plainly in NumPy",
            "questions a second": round(plainly),
            "ratio": 1.0,
        }
    ]
    for name, policy, in_flight in (
        ("MASA, one at a time", Masa(), 1),
        ("MASA, 64 in flight", Masa(), 64),
        ("default (Flips), one at a time", Flips(), 1),
        ("default (Flips), 64 in flight", Flips(), 64),
        ("proportional, one at a time", Proportional(), 1),
        ("uniform, one at a time", Uniform(), 1),
    ):
        speed = alone(plan_of(policy, CALLS, in_flight), listed)
        rows.append(
            {
                "what": f"ask + tell, {name}",
                "questions a second": round(speed),
                "ratio": speed / plainly,
            }
        )
    record(
        "sampling-speed",
        "Speed of the sampler",
        rows,
        notes=[
            f"{STRATA} strata, {LABELS} outcomes, {ITEMS} items, one process, processor time.",
            "Wanted: 50,000 questions a second.",
        ],
    )


if __name__ == "__main__":
    main()
