"""How often the intervals of recall hold, by label of a judge or a classifier."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tallystick._rng import as_rng
from tallystick.stats.adverse_ratios import recalls


def recall_row(rng, n, prevalence, judge, consensus, k, population, reps):
    """A judge and a consensus, each with (recall, specificity), err independently; labels are drawn
    uniformly."""
    shares = []
    for vote, leader in product((1, 0), repeat=2):
        for share, right in ((prevalence, 0), (1 - prevalence, 1)):
            one, two = (
                who[right] if said != right else 1 - who[right]
                for who, said in ((judge, vote), (consensus, leader))
            )
            shares.append(share * one * two)
    if population == "these":
        one = np.round(np.array(shares) * n).astype(int)
        items, truth = np.tile(one, (reps, 1)), (one[0] + one[2]) / one[::2].sum()
    else:
        items, truth = rng.multinomial(n, np.array(shares) / sum(shares), size=reps), judge[0]
    drawn = np.array([rng.multivariate_hypergeometric(row, k) for row in items])
    hits = drawn[:, ::2]
    found = recalls(
        items[:, ::2] + items[:, 1::2], hits + drawn[:, 1::2], hits, population=population
    )
    low, high = np.array([tuple(one.interval) for one in found]).T
    held = (low <= truth + 1e-9) & (truth - 1e-9 <= high)
    return {
        "population": population,
        "labels": k,
        "coverage": float(held.mean()),
        "mean width": float((high - low).mean()),
    }


@pytest.mark.parametrize("population", ["these", "new"])
def test_a_recall_holds(population):
    row = recall_row(as_rng(3), 300, 0.4, (0.85, 0.8), (0.9, 0.9), 50, population, 1000)
    assert row["coverage"] >= 0.94, row


@pytest.mark.slow
def test_publish_recalls(publish_coverage):
    reps, rng = 1000, as_rng(4)
    judges, leaders = ((0.7, 0.7), (0.9, 0.9), (0.98, 0.95)), ((0.8, 0.8), (0.95, 0.95))
    grid = product(("these", "new"), (200, 1000), (0.15, 0.5), judges, leaders, (20, 50, 100))
    rows = [
        recall_row(rng, n, prev, judge, lead, k, population, reps)
        for population, n, prev, judge, lead, k in grid
    ]
    held = np.array([row["coverage"] for row in rows])
    assert held.mean() >= 0.945
    assert held.min() >= 0.91
    summary = []
    for population, k in product(("these", "new"), (20, 50, 100)):
        some = [row for row in rows if (row["population"], row["labels"]) == (population, k)]
        cells = {"cells": f"{population}, {k} labels"}
        for name, reduce, key in (
            ("mean", np.mean, "coverage"),
            ("minimum", np.min, "coverage"),
            ("mean width", np.mean, "mean width"),
        ):
            cells[name] = float(reduce([row[key] for row in some]))
        summary.append(cells)
    publish_coverage(
        "recall",
        f"Coverage, nominal 0.95, of the recall of one label over {len(rows)} cells, {reps} seeded"
        f" repetitions each. Mean {held.mean():.4f}, minimum {held.min():.4f}.",
        summary,
    )
