"""How often post-stratified intervals hold: by enumeration for shares, by simulation beyond."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from tallystick._rng import as_rng
from tallystick.stats.poststratify import poststratified_ratio, poststratified_share

INSIDE = np.array([True, True, False, False])


@cache
def outcomes_of(k):
    """Every (labels in the first stratum, right ones there, right ones in the second)."""
    return np.array(
        [(a, x1, x2) for a in range(k + 1) for x1 in range(a + 1) for x2 in range(k - a + 1)]
    ).T


def choose(n, k):
    """Log of n over k, minus infinity where that is nothing."""
    possible = (k >= 0) & (k <= n)
    k = np.where(possible, k, 0)
    return np.where(possible, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)


def share_coverage(sizes, right, k):
    """Sum over every outcome of k labels drawn uniformly from two strata: coverage, mean width,
    mean worth."""
    (n1, n2), (r1, r2) = sizes, right
    first, x1, x2 = outcomes_of(k)
    ways = (
        choose(r1, x1)
        + choose(n1 - r1, first - x1)
        + choose(r2, x2)
        + choose(n2 - r2, k - first - x2)
    )
    chance = np.exp(ways - choose(n1 + n2, np.array(k)))
    possible = chance > 1e-13
    first, x1, x2, chance = (part[possible] for part in (first, x1, x2, chance))
    labelled = np.stack([first, k - first], axis=1)
    found = poststratified_share(
        np.broadcast_to(sizes, labelled.shape), labelled, np.stack([x1, x2], axis=1)
    )
    inside = found.interval.covers((r1 + r2) / (n1 + n2))
    return chance @ inside, chance @ found.interval.width, chance @ found.worth


def share_row(n, agree, p_agree, p_differ, k):
    n1 = round(n * agree)
    sizes, right = (n1, n - n1), (round(n1 * p_agree), round((n - n1) * p_differ))
    held, width, worth = share_coverage(sizes, right, k)
    row = {
        "items": n,
        "agree": agree,
        "right if agree": p_agree,
        "right if differ": p_differ,
        "labels": k,
    }
    return row | {"coverage": float(held), "mean width": float(width), "worth": float(worth)}


@pytest.mark.parametrize("k", [10, 20])
def test_a_post_stratified_share_holds_over_every_outcome(k):
    rows = [share_row(108, a, p, d, k) for a, p, d in product((0.6, 0.9), (0.8, 1.0), (0.1, 0.5))]
    held = [row["coverage"] for row in rows]
    assert np.mean(held) >= 0.945
    assert min(held) >= 0.93


@pytest.mark.slow
def test_publish_post_stratified_shares(publish_coverage):
    grid = product(
        (108, 400, 2000),
        (0.6, 0.75, 0.9, 0.97),
        (0.5, 0.8, 0.95, 1.0),
        (0.0, 0.1, 0.3, 0.6),
        (20, 50, 100),
    )
    rows = [share_row(*cell) for cell in grid]
    held = np.array([row["coverage"] for row in rows])
    assert held.mean() >= 0.945
    assert held.min() >= 0.93
    summary = [
        _summary(f"{k} labels", [row for row in rows if row["labels"] == k]) for k in (20, 50, 100)
    ]
    publish_coverage(
        "post-stratified-share",
        f"Coverage, nominal 0.95, of the post-stratified share of these items over {len(rows)}"
        " populations (108 to 2000 items; the judge agrees with the consensus on 60 to 97 %, is"
        " right on 50 to 100 % there and on 0 to 60 % elsewhere), by enumeration of every outcome."
        f" Mean {held.mean():.4f}, minimum {held.min():.4f}.",
        summary,
    )


def _summary(name, rows):
    held = np.array([row["coverage"] for row in rows])
    worth = np.median([row["worth"] / row["labels"] for row in rows])
    told = ("target", "coverage", "mean width", "worth")
    worst = {key: value for key, value in rows[int(held.argmin())].items() if key not in told}
    return {
        "cells": name,
        "mean": float(held.mean()),
        "minimum": float(held.min()),
        "median worth a label": float(worth),
        "minimum at": ", ".join(f"{key} {value:g}" for key, value in worst.items()),
    }


def ratio_row(rng, n, prevalence, judge, consensus, k, target, reps):
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
    if target == "items":
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
        target=target,
    )
    row = {
        "target": target,
        "items": n,
        "prevalence": prevalence,
        "recall": judge[0],
        "consensus": consensus[0],
    }
    return row | {
        "labels": k,
        "coverage": float(found.interval.covers(truth).mean()),
        "mean width": float(found.interval.width.mean()),
        "worth": float(np.median(found.worth)),
    }


def test_a_post_stratified_ratio_holds():
    rows = [
        ratio_row(as_rng(3), 300, 0.4, (0.85, 0.8), (0.9, 0.9), 50, target, 2000)
        for target in ("items", "population")
    ]
    for row in rows:
        assert row["coverage"] >= 0.94, row


@pytest.mark.slow
def test_publish_post_stratified_ratios(publish_coverage):
    reps, rng = 2000, as_rng(4)
    judges, leaders = ((0.7, 0.7), (0.9, 0.9), (0.98, 0.95)), ((0.8, 0.8), (0.95, 0.95))
    grid = product(
        ("items", "population"), (200, 1000), (0.15, 0.5), judges, leaders, (20, 50, 100)
    )
    rows = [
        ratio_row(rng, n, prev, judge, lead, k, target, reps)
        for target, n, prev, judge, lead, k in grid
    ]
    held = np.array([row["coverage"] for row in rows])
    assert held.mean() >= 0.945
    assert held.min() >= 0.91
    summary = [
        _summary(
            f"{target}, {k} labels",
            [row for row in rows if (row["target"], row["labels"]) == (target, k)],
        )
        for target, k in product(("items", "population"), (20, 50, 100))
    ]
    publish_coverage(
        "post-stratified-ratio",
        f"Coverage, nominal 0.95, of the post-stratified recall of one label over {len(rows)}"
        f" cells, {reps} seeded repetitions each. Mean {held.mean():.4f}, minimum {held.min():.4f}:"
        " few labelled items of a rare class under a weak consensus.",
        summary,
    )
