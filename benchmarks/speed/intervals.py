"""Betting intervals: bisection in the mean against the same capital process on a grid of means.

The peer is the algorithm of the package confseq (hedged capital: bets from the predictable plug-in
variance, cut at 1/2 over the mean, running intersection, a grid of 1001 means), written plainly in
NumPy: one vectorised capital process a grid mean. Its ends are good to one grid step, 1e-3. To
compare values, it is run again, twice, on 1001 means within the grid cell beside each end, which
makes its ends good to 1e-9; these passes are not part of the time that we compare with.

Run: ``python -m benchmarks.speed.intervals [--write]``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import record
from tallystick._rng import as_rng
from tallystick.stats.anytime import betting

ALPHA, N, GRID = 0.05, 10_000, 1000
Floats = NDArray[np.float64]


def plain_bets(x: Floats) -> Floats:
    t = np.arange(1, len(x) + 1)
    mean = (0.5 + np.cumsum(x)) / (t + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (t + 1)
    before = np.append(0.25, variance[:-1])
    bets: Floats = np.sqrt(2 * np.log(2 / ALPHA) / (before * len(x)))
    return bets


def plain_kept(x: Floats, bets: Floats, means: Floats) -> NDArray[np.bool_]:
    """Say which means the hedged capital never refutes, one capital process after the other."""
    kept = np.empty(len(means), dtype=bool)
    for j, m in enumerate(means):
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            up = np.cumprod(1 + np.minimum(bets, 0.5 / m) * (x - m))
            down = np.cumprod(1 - np.minimum(bets, 0.5 / (1 - m)) * (x - m))
            capital = np.maximum(0.5 * up, 0.5 * down)
        kept[j] = capital.max() < 1 / ALPHA
    return kept


def plain(x: Floats) -> tuple[float, float]:
    """Return the first and the last grid mean that is kept."""
    means = np.linspace(0.0, 1.0, GRID + 1)
    inside = means[plain_kept(x, plain_bets(x), means)]
    return float(inside[0]), float(inside[-1])


def refined(x: Floats, ends: tuple[float, float]) -> tuple[float, float]:
    """Run the plain algorithm again, twice, inside the grid cell beside each end."""
    bets, (low, high) = plain_bets(x), ends
    for step in (1.0 / GRID, 1.0 / GRID**2):
        below = np.linspace(max(low - step, 0.0), low, GRID + 1)
        above = np.linspace(high, min(high + step, 1.0), GRID + 1)
        low = float(below[plain_kept(x, bets, below)][0])
        high = float(above[plain_kept(x, bets, above)][-1])
    return low, high


def best(call: Callable[[], Any], times: int) -> float:
    """Return the least processor time of one call: on a busy machine, wall time would punish the
    longer call more.
    """
    seconds = []
    for _ in range(times):
        start = time.process_time()
        call()
        seconds.append(time.process_time() - start)
    return min(seconds)


def main() -> None:
    rng = as_rng(20)
    cases = {
        "scores, beta(8, 2)": rng.beta(8, 2, size=N),
        "share of .9": (rng.random(N) < 0.9).astype(float),
        "share of .5": (rng.random(N) < 0.5).astype(float),
    }
    rows = []
    for case, x in cases.items():
        ours = betting(x, alpha=ALPHA)[0]
        exact = refined(x, plain(x))
        fast, slow = best(partial(betting, x, alpha=ALPHA), 100), best(partial(plain, x), 5)
        apart = max(abs(ours.low - exact[0]), abs(ours.high - exact[1]))
        rows.append(
            {"values": case, "plain grid, ms": 1e3 * slow, "tallystick, ms": 1e3 * fast}
            | {"times faster": slow / fast, "ends apart": apart, "interval": str(ours)}
        )
    record(
        "intervals",
        "Speed: betting intervals",
        rows,
        notes=[
            (
                f"n = {N:,}; plain: hedged capital on {GRID + 1} means in NumPy, as in the package"
                " confseq (step 1e-3). Both are single-threaded; processor time, best of several"
                " calls."
            ),
            (
                "'ends apart': ours (bisection to 6e-8, outwards) against the plain algorithm run"
                " twice more on 1001 means in the grid cell beside each end (step 1e-9); these"
                " passes are not timed."
            ),
        ],
    )


if __name__ == "__main__":
    main()
