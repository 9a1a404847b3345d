"""How often the intervals of rates by label hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tallystick._rng import as_rng
from tallystick.stats.label_rates import poststratified_ratio

INSIDE = np.array([True, True, False, False])


def _summary(name, rows):
    held = np.array([row["coverage"] for row in rows])
    told = ("population", "coverage", "mean width")
    worst = {key: value for key, value in rows[int(held.argmin())].items() if key not in told}
    return {
        "cells": name,
        "mean": float(held.mean()),
        "minimum": float(held.min()),
        "minimum at": ", ".join(f"{key} {value:g}" for key, value in worst.items()),
    }


def ratio_row(rng, n, prevalence, judge, consensus, k, population, reps):
    """A judge and a consensus, each with (recall, specificity), err independently; labels are drawn
    uniformly."""
    cells = []
    for vote, leader in product((1, 0), repeat=2):
        hit = (
            prevalence
            * (judge[0] if vote else 1 - judge[0])
            * (consensus[0] if leader else 1 - consensus[0])
        )
        miss = (
            (1 - prevalence)
            * (1 - judge[1] if vote else judge[1])
            * (1 - consensus[1] if leader else consensus[1])
        )
        cells += [hit, miss]
    if population == "these":
        one = np.round(np.array(cells) * n).astype(int)
        items, truth = np.tile(one, (reps, 1)), (one[0] + one[2]) / one[::2].sum()
    else:
        items, truth = rng.multinomial(n, np.array(cells) / sum(cells), size=reps), judge[0]
    drawn = np.array([rng.multivariate_hypergeometric(row, k) for row in items])
    found = poststratified_ratio(
        items[:, ::2] + items[:, 1::2],
        drawn[:, ::2] + drawn[:, 1::2],
        drawn[:, ::2],
        inside=INSIDE,
        population=population,
    )
    row = {
        "population": population,
        "items": n,
        "prevalence": prevalence,
        "recall": judge[0],
        "consensus": consensus[0],
    }
    return row | {
        "labels": k,
        "coverage": float(found.interval.covers(truth).mean()),
        "mean width": float(found.interval.width.mean()),
    }


def test_a_post_stratified_ratio_holds():
    rows = [
        ratio_row(as_rng(3), 300, 0.4, (0.85, 0.8), (0.9, 0.9), 50, population, 2000)
        for population in ("these", "new")
    ]
    for row in rows:
        assert row["coverage"] >= 0.94, row


@pytest.mark.slow
def test_publish_post_stratified_ratios(publish_coverage):
    reps, rng = 2000, as_rng(4)
    judges, leaders = ((0.7, 0.7), (0.9, 0.9), (0.98, 0.95)), ((0.8, 0.8), (0.95, 0.95))
    grid = product(("these", "new"), (200, 1000), (0.15, 0.5), judges, leaders, (20, 50, 100))
    rows = [
        ratio_row(rng, n, prev, judge, lead, k, population, reps)
        for population, n, prev, judge, lead, k in grid
    ]
    held = np.array([row["coverage"] for row in rows])
    assert held.mean() >= 0.945
    assert held.min() >= 0.91
    summary = [
        _summary(
            f"{population}, {k} labels",
            [row for row in rows if (row["population"], row["labels"]) == (population, k)],
        )
        for population, k in product(("these", "new"), (20, 50, 100))
    ]
    publish_coverage(
        "post-stratified-ratio",
        f"Coverage, nominal 0.95, of the post-stratified recall of one label over {len(rows)}"
        f" cells, {reps} seeded repetitions each. Mean {held.mean():.4f}, minimum {held.min():.4f}:"
        " few labelled items of a rare class under a weak consensus.",
        summary,
    )
