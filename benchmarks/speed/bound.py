"""Bounds from counts against the method as the paper describes it: dense tensors, L-BFGS, torch.

Run: ``python -m benchmarks.speed.bound [--write]``; needs torch. All in one process, on one thread.
"""

from __future__ import annotations

import os
import time
import tracemalloc
from collections.abc import Callable
from functools import partial
from typing import Any

os.environ["OPENBLAS_NUM_THREADS"] = "1"

import numpy as np
import torch

from benchmarks.record import record
from tallystick.papers.frechet_bounds import Summary
from tallystick.papers.frechet_bounds.dual import agreement
from tallystick.papers.frechet_bounds.smoothed_dual import smoothed
from tallystick.verbs.bound.forward import Evidence, Scheme, forward, label_bins

EPSILON = 0.01 / np.log(2)


def world(
    n: int, patterns: int, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return z, h, P(Y | z) and counts (patterns, 2)."""
    draw = np.random.default_rng(seed)
    p = draw.uniform(0.05, 0.95, patterns)
    q = np.clip(p + draw.normal(0, 0.2, patterns), 0.02, 0.98)
    z = np.concatenate([np.arange(patterns), draw.integers(0, patterns, n - patterns)])
    h = (draw.random(n) < q[z]).astype(int)
    counts = np.bincount(2 * z + h, minlength=2 * patterns).reshape(patterns, 2)
    return z, h, np.column_stack([1 - p, p]), counts


def dense(z: np.ndarray, h: np.ndarray, p: np.ndarray) -> tuple[float, float]:
    """Solve (2.5)-(2.6) as printed: every row against every (y, z), with the penalty for the sum
    over y, L-BFGS.
    """
    torch.set_num_threads(1)
    g = torch.tensor(np.eye(2)[h])  # (n, y)
    one = torch.nn.functional.one_hot(torch.tensor(z), len(p)).double()  # (n, z): the dense tensor
    law = torch.tensor(p)
    return _solved(g, one, law, -1.0), _solved(g, one, law, 1.0)


def _solved(g: torch.Tensor, one: torch.Tensor, law: torch.Tensor, sign: float) -> float:
    a = torch.zeros((2, len(law)), dtype=torch.float64, requires_grad=True)
    solver = torch.optim.LBFGS(
        [a], lr=1, max_iter=1000, tolerance_grad=1e-7, line_search_fn="strong_wolfe"
    )

    def value() -> torch.Tensor:
        at = torch.einsum("nz,yz->ny", one, a)
        soft = EPSILON * (torch.logsumexp(sign * (g + at) / EPSILON, dim=1) - np.log(2))
        mean = torch.einsum("nz,zy,yz->n", one, law, a)
        return (soft - sign * mean).mean()

    def closure() -> torch.Tensor:
        solver.zero_grad()
        loss = value() + (a.sum(dim=0) ** 2).sum()
        loss.backward()
        return loss

    solver.step(closure)
    return sign * float(value().detach())


def best(work: Callable[[], Any], times: int) -> float:
    found = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def accuracy_ends(q: np.ndarray, p: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    return agreement(q, p).mean(counts.sum(axis=1))


def on_counts(p: np.ndarray, counts: np.ndarray) -> tuple[float, float]:
    weight = counts.sum(axis=1)
    atoms = np.tile(np.eye(2), (len(p), 1))
    place = np.repeat(np.arange(len(p)), 2)
    keep = counts.ravel() > 0
    ends = []
    for side in ("lower", "upper"):
        found = smoothed(
            p,
            atoms[keep],
            side=side,
            pattern=place[keep],
            weight=counts.ravel()[keep].astype(float),
            tolerance=1e-4,
        )
        ends.append(float(weight @ found.value / weight.sum()))
    return ends[0], ends[1]


def main() -> None:
    rows = []
    for n, patterns in ((10_000, 10), (10_000, 100)):
        z, h, p, counts = world(n, patterns)
        q = counts / counts.sum(axis=1, keepdims=True)
        start = time.perf_counter()
        low, high = dense(z, h, p)
        slow = time.perf_counter() - start
        sharp = accuracy_ends(q, p, counts)
        closed = best(partial(accuracy_ends, q, p, counts), 200)
        dual = best(partial(on_counts, p, counts), 5)
        soft = on_counts(p, counts)
        evidence = Evidence(
            counts=counts, p=p, bins=label_bins(p, counts.sum(axis=1).astype(float))
        )
        full = best(partial(forward, evidence, [Summary("accuracy")], rng=0, scheme=Scheme()), 5)
        rows.append(
            {
                "n": n,
                "patterns": patterns,
                "dense torch, s": slow,
                "closed form, ms": 1e3 * closed,
                "times faster": round(slow / closed),
                "smoothed dual on counts, ms": 1e3 * dual,
                "times faster ": round(slow / dual),
                "apart from the closed form": max(abs(np.subtract(soft, sharp))),
                "dense apart (ε log 2 = .01)": max(abs(low - sharp[0]), abs(high - sharp[1])),
                "forward dual with intervals, ms": 1e3 * full,
            }
        )
    _, _, p, counts = world(1_000_000, 1000)
    bins = label_bins(p, counts.sum(axis=1).astype(float))
    evidence = Evidence(counts=counts, p=p, bins=bins)
    q = counts / counts.sum(axis=1, keepdims=True)
    tracemalloc.start()
    forward(evidence, [Summary("accuracy")], rng=0, scheme=Scheme.fitting(1e6))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    rows.append(
        {
            "n": 1_000_000,
            "patterns": 1000,
            "closed form, ms": 1e3 * best(lambda: agreement(q, p).mean(counts.sum(axis=1)), 20),
            "forward dual with intervals, ms": (
                1e3
                * best(
                    lambda: forward(
                        evidence, [Summary("accuracy")], rng=0, scheme=Scheme.fitting(1e6)
                    ),
                    20,
                )
            ),
            "peak memory, MB": peak / 1e6,
        }
    )
    record(
        "bound-speed",
        "Bounds from counts against dense tensors",
        rows,
        notes=(
            (
                "Memory and time depend on patterns, not on n; from 100,000 rows on one random"
                " order is enough."
            ),
        ),
    )


if __name__ == "__main__":
    main()
