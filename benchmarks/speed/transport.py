"""Closed forms and the smoothed dual against HiGHS: how far apart, and how much faster.

Run: ``python -m benchmarks.speed.transport [--write]``.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # waiting threads would count as processor time

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack

from benchmarks.record import record
from tallystick.papers.frechet_bounds.dual import (
    Bounds,
    agreement,
    joint_event,
    pair_cost,
    pair_difference,
    programme,
    robust_end,
    two_labels,
)
from tallystick.papers.frechet_bounds.smoothed_dual import smoothed

BOTH = np.array([[0.0, 0.0], [0.0, 1.0]])
LABELS, EACH = range(2, 11), 56


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """Return the shortest time of *repeats* in milliseconds of processor time, which other work
    does not disturb.
    """
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1e3 * min(times)


def laws(rng: np.random.Generator, labels: int) -> np.ndarray:
    """Smooth laws, sparse laws, and laws in eighths (zeros, ties, kinks, point masses), in turn."""
    smooth = rng.dirichlet(np.ones(labels), EACH)
    sparse = rng.dirichlet(np.full(labels, 0.1), EACH)
    eighths = rng.multinomial(8, np.full(labels, 1 / labels), EACH) / 8
    mixed = np.choose(np.arange(EACH)[:, None] % 3, [smooth, sparse, eighths])
    return np.asarray(mixed / mixed.sum(axis=1, keepdims=True))


def against_programmes(
    name: str, build: Callable[[np.random.Generator, int], tuple[Any, ...]]
) -> dict[str, Any]:
    """Solve every instance both ways, without and with error in the label model."""
    worst, robust, ours, theirs = 0.0, 0.0, 0.0, 0.0
    for labels in LABELS:
        rng = np.random.default_rng([17, labels])
        closed, q, p, cost = build(rng, labels)
        bounds: Bounds = closed()
        ours += best_of(5, closed)
        for end in (bounds.lower, bounds.upper):
            for delta in (0.0, 0.1):
                solved = programme(q, p, cost, side=end.side, delta=delta)
                off = float(np.abs(robust_end(end, delta) - solved.value).max())
                if delta:
                    robust = max(robust, off)
                else:
                    worst = max(worst, off)
                    theirs += best_of(2, partial(programme, q, p, cost, side=end.side))
    return {
        "what": name,
        "instances": EACH * len(LABELS),
        "largest difference": worst,
        "with δ = 0.1": robust,
        "closed form, ms": ours,
        "HiGHS in blocks, ms": theirs,
        "ratio": theirs / ours,
    }


def accuracy(rng: np.random.Generator, labels: int) -> tuple[Any, ...]:
    q, p = laws(rng, labels), laws(rng, labels)
    q[:4] = p[:4]
    return lambda: agreement(q, p), q, p, np.eye(labels)


def event(rng: np.random.Generator, labels: int) -> tuple[Any, ...]:
    q, p = laws(rng, labels)[:, 0], laws(rng, labels)[:, 0]
    return lambda: joint_event(q, p), np.column_stack([1 - q, q]), np.column_stack([1 - p, p]), BOTH


def pair(rng: np.random.Generator, labels: int) -> tuple[Any, ...]:
    w, p = laws(rng, labels**2), laws(rng, labels)
    joint = w.reshape(EACH, labels, labels)
    return lambda: pair_difference(joint, p), w, p, pair_cost(labels)


def any_two_label_cost(rng: np.random.Generator, labels: int) -> tuple[Any, ...]:
    q, p, cost = laws(rng, labels), laws(rng, 2), rng.normal(size=(labels, 2))
    return lambda: two_labels(q, p, cost), q, p, cost


def pair_by_enumeration(w: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Return the minimum over all 3^K potentials, by matrix products in chunks."""
    labels, cost = p.shape[1], pair_cost(p.shape[1])
    every = np.array(list(product((0.0, 1.0, 2.0), repeat=labels)))
    best = np.full(len(p), np.inf)
    for a in np.array_split(every, max(1, len(every) // 2000)):
        values = (cost[None] + a[:, None, :]).max(axis=2) @ w.reshape(len(p), -1).T - a @ p.T
        best = np.minimum(best, values.min(axis=0))
    return best


def ten_labels() -> list[dict[str, Any]]:
    rng = np.random.default_rng(1)
    w, p = rng.dirichlet(np.ones(100), 100).reshape(100, 10, 10), rng.dirichlet(np.ones(10), 100)
    upper = pair_difference(w, p).upper.value
    off = float(np.abs(pair_by_enumeration(w, p) - upper).max())
    ours = best_of(20, lambda: pair_difference(w, p)) / 2  # it makes both ends, the enumeration one
    theirs = best_of(2, lambda: pair_by_enumeration(w, p))
    return [
        {
            "what": "pair, 10 labels, 100 patterns, one end",
            "largest difference": off,
            "closed form, ms": ours,
            "all 3^10 potentials, ms": theirs,
            "ratio": theirs / ours,
        }
    ]


def general_cost(atoms: int = 2000, labels: int = 5) -> list[dict[str, Any]]:
    rng = np.random.default_rng(0)
    g, p = rng.random((atoms, labels)), rng.dirichlet(np.ones(labels), 1)
    rows: Any = vstack(
        [kron(eye_array(atoms), np.ones((1, labels))), kron(np.ones((1, atoms)), eye_array(labels))]
    ).tocsr()
    known = np.concatenate([np.full(atoms, 1 / atoms), p[0]])
    end = smoothed(p, g, side="upper")
    ours = best_of(15, lambda: smoothed(p, g, side="upper"))
    table = [
        {"what": "smoothed dual, Newton", "ms": ours, "ratio": 1.0, "proved gap": float(end.gap[0])}
    ]
    slow = smoothed(p, g, side="upper", tolerance=1e-4, solver="lbfgs")
    took = best_of(2, lambda: smoothed(p, g, side="upper", tolerance=1e-4, solver="lbfgs"))
    table.append(
        {
            "what": "smoothed dual, L-BFGS, tolerance 1e-4",
            "ms": took,
            "ratio": took / ours,
            "proved gap": float(slow.gap[0]),
        }
    )
    for method, name in (("highs-ds", "HiGHS dual simplex"), ("highs-ipm", "HiGHS interior point")):
        solve = partial(linprog, -g.ravel(), A_eq=rows, b_eq=known, method=method)
        solved = solve()
        took = best_of(3, solve)
        off = float(end.value[0] + solved.fun)
        table.append({"what": name, "ms": took, "ratio": took / ours, "ours above it by": off})
    return table


def main() -> None:
    closed = [
        against_programmes(name, build)
        for name, build in [
            ("accuracy", accuracy),
            ("joint event", event),
            ("pair difference", pair),
            ("two labels, any cost", any_two_label_cost),
        ]
    ]
    record(
        "transport-closed-forms",
        "Transport: closed forms against linear programmes",
        closed,
        notes=[
            "Processor time. 2 to 10 labels, both ends; a third of the laws are in eighths (zeros,"
            " ties, point masses)."
        ],
    )
    record(
        "transport-pair", "Transport: a pair of predictors", ten_labels(), notes=["Processor time."]
    )
    record(
        "transport-general-cost",
        "Transport: any cost on 2000 atoms, 5 labels",
        general_cost(),
        notes=[
            "Processor time. The smoothed dual gives an outer bound; its proved gap is to the value"
            " of a coupling."
        ],
    )


if __name__ == "__main__":
    main()
