"""What others do with the same votes: active inference, and truescore's plan."""

from __future__ import annotations

import numpy as np

from benchmarks.truth.label_runs import Stopped, stopped_at_batches
from benchmarks.truth.label_sets import Population

MIX = 0.5
"""The part of the sampling probability that is uniform, as in the paper's experiments."""


def active_inference(
    one: Population, target: float, *, runs: int, rng: np.random.Generator
) -> Stopped:
    """Stop Zrnic and Candès' batch estimator at the half-width, on a growing budget.

    Item i is labelled with probability pi_i = min(1, n (mix/N + (1 - mix) u_i/sum u)),
    u = sqrt(f (1 - f)) with f the posterior; the estimate is the mean of f + (y - f) xi/pi, with a
    normal interval. One uniform number per item makes the labels of a larger budget contain those
    of a smaller one.
    """
    f, y = np.clip(one.posterior, 0.02, 0.98), one.truth.astype(float)
    N = y.size
    spread = np.sqrt(f * (1 - f))
    rate = MIX / N + (1 - MIX) * spread / spread.sum()
    budgets = [n for n in range(20, 1500, 10) if n < N]
    low, high = np.empty((runs, len(budgets))), np.empty((runs, len(budgets)))
    taken = np.empty((runs, len(budgets)))
    for run in range(runs):
        chance = rng.random(N)
        for place, n in enumerate(budgets):
            pi = np.minimum(1.0, n * rate)
            got = chance < pi
            values = f + np.where(got, (y - f) / pi, 0.0)
            half = 1.96 * values.std(ddof=1) / np.sqrt(N)
            low[run, place], high[run, place] = values.mean() - half, values.mean() + half
            taken[run, place] = got.sum()
            if half <= target:
                low[run, place:], high[run, place:] = low[run, place], high[run, place]
                taken[run, place:] = taken[run, place]
                break
    found = stopped_at_batches(budgets, low, high, target)
    rows = np.arange(runs)
    stop = np.searchsorted(budgets, found.labels)
    return Stopped(labels=taken[rows, stop], low=found.low, high=found.high)


def truescore_plan(
    one: Population, target: float, *, runs: int, rng: np.random.Generator
) -> Stopped | None:
    """Follow truescore: 20 pilot labels, its plan for the rest, its corrected interval."""
    try:
        from truescore.correct import ppi_estimate
        from truescore.power import required_gold_labels
    except ImportError:
        return None
    judge, y = (one.posterior > 0.5).astype(float), one.truth.astype(float)
    N = y.size
    labels, low, high = np.empty(runs), np.empty(runs), np.empty(runs)
    for run in range(runs):
        order = rng.permutation(N)
        pilot = order[:20]
        good, bad = pilot[y[pilot] == 1], pilot[y[pilot] == 0]
        budget = required_gold_labels(
            N,
            target_half_width=target,
            true_rate=(y[pilot].sum() + 0.5) / 21,
            sensitivity=(judge[good].sum() + 0.5) / (good.size + 1),
            specificity=((1 - judge[bad]).sum() + 0.5) / (bad.size + 1),
        )
        n = max(20, min(N - 2, budget.required_gold))
        found = ppi_estimate(judge, y[order[:n]], order[:n])
        labels[run], low[run], high[run] = n, found.low, found.high
    return Stopped(labels=labels, low=low, high=high)
