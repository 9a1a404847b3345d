"""The power of the test that ``compare`` runs, at the number of items that ``plan`` names.

Right or wrong, grades as in a pilot (with and without a pseudo-item), clusters of a pilot, and ten
models. Rows are drawn with the difference that was planned for; all are tested at once where the
verb's functions allow it.

Run: ``python -m benchmarks.truth.plan_power [--draws 20000] [--write]``.
"""

from __future__ import annotations

import argparse

import numpy as np
from numpy.typing import NDArray

from benchmarks.record import record
from tallystick._rng import as_rng
from tallystick.stats.pairs import bounded_p_value, sign_flip_table, t_p_value
from tallystick.stats.power import (
    cluster_items,
    cluster_power,
    exact_paired_power,
    range_critical,
    t_items,
    t_power,
)
from tallystick.stats.two_accuracies import paired_test
from tallystick.verbs.compare import plan

Floats = NDArray[np.float64]
ALPHA, AT_ONCE = 0.05, 2_000_000
"""The level, and the numbers that are drawn at a time."""


def counted(n: int, difference: float, apart: float, draws: int, models: int = 2) -> float:
    """Return the power on right and wrong; of more models, against the bar of max-T."""
    rng = as_rng(0)
    b = rng.binomial(n, (apart + difference) / 2, draws)
    c = rng.binomial(n - b, (apart - difference) / (2 - apart - difference))
    told = (b - c) / np.sqrt(np.maximum(b + c, 1)) >= range_critical(models, ALPHA)
    return float((told if models > 2 else (paired_test(b, c, n) <= ALPHA) & (b > c)).mean())


def scored(n: int, difference: float, spread: float, width: float, draws: int) -> float:
    """Return the power on normal differences, with a pseudo-item where there is a *width*."""
    rng, told, step = as_rng(0), 0, max(1, AT_ONCE // n)
    for start in range(0, draws, step):
        gap = rng.normal(difference, spread, (min(step, draws - start), n))
        mean, variance = gap.mean(axis=1), gap.var(axis=1, ddof=1)
        p = t_p_value(mean, np.sqrt(variance / n), n - 1)
        if width:
            p = bounded_p_value(mean, variance, n, width)
        told += int(((p <= ALPHA) & (mean > 0)).sum())
    return told / draws


def clustered(n: int, difference: float, spread: float, draws: int) -> float:
    """Return the power of sign-flips over clusters whose differences are normal."""
    rng, told = as_rng(0), 0
    for _ in range(draws):
        gap = np.clip(rng.normal(difference, spread, n), -1.0, 1.0)
        means = np.stack([0.5 + gap / 2, 0.5 - gap / 2], axis=1)
        table = sign_flip_table(means, bounds=(0.0, 1.0), alpha=ALPHA, rng=0)
        told += table.adjusted_p[0] <= ALPHA and table.difference[0] > 0
    return told / draws


def main() -> None:
    """Plan every cell, draw it and record the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--draws", type=int, default=20_000)
    draws = parser.parse_args().draws
    rows = []

    def add(kind: str, cell: tuple[float, float, int], planned: float, power: float) -> None:
        named = dict(zip(("difference", "varies by", "items"), cell, strict=True))
        shown = {"planned": f"{planned:.3f}", "simulated": f"{power:.3f}"}
        rows.append({"scores": kind, **named, **shown})
        print(rows[-1], flush=True)

    for e, d in ((0.3, 0.5), (0.2, 0.35), (0.1, 0.2), (0.05, 0.2), (0.02, 0.1)):
        n = plan(e, disagreement=d).n_items
        add("right or wrong", (e, d, n), exact_paired_power(n, e, d), counted(n, e, d, draws))
    n = plan(0.1, disagreement=0.2, models=10).n_items
    add("ten models", (0.1, 0.2, n), 0.8, counted(n, 0.1, 0.2, draws, 10))
    for e, spread, width in ((0.2, 0.25, 0.0), (0.1, 0.3, 0.0), (0.2, 0.25, 1.0), (0.1, 0.3, 1.0)):
        n = t_items(e, spread, width=width)
        name = "grades, pseudo-item" if width else "grades"
        planned = t_power(n, e, spread, width=width)
        add(name, (e, spread, n), planned, scored(n, e, spread, width, draws))
    for e, spread in ((0.2, 0.2), (0.1, 0.15), (0.05, 0.15)):
        n = cluster_items(e, spread)
        planned = cluster_power(n, e, spread)
        add("clusters", (e, spread, n), planned, clustered(n, e, spread, draws // 5))
    record(
        "plan-power",
        "The power of the test that compare runs, at the items that plan names for a power of .8",
        rows,
        notes=[f"{draws:,} draws per cell, a fifth of them with clusters"],
    )


if __name__ == "__main__":
    main()
