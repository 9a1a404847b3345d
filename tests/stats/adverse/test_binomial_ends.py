"""The lower ends of (AL2), against their definition by plain halving."""

import math

import numpy as np

from tallystick.stats.adverse_binary import lower_ends


def by_halving(weights, sizes, shares, pseudo, bar):
    """(AL2) as it is written: p(μ) of every stratum, and the μ at which the statistic is z²."""
    strata = [
        (w, k * share, k + pseudo * math.sqrt(w))
        for w, k, share in zip(weights, sizes, shares, strict=True)
        if w > 0
    ]

    def rate(mu, w, s, n):
        return 2 * s / (mu * w + n + math.sqrt((mu * w - n) ** 2 + 4 * mu * w * (n - s)))

    def statistic(mu):
        lost = 0.0
        for w, s, n in strata:
            if s > 0:
                p = rate(mu, w, s, n)
                lost += s * math.log(s / n / p) + (n - s) * math.log((n - s) / n / (1 - p))
        return 2 * lost

    low, high = -10.0, 25.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if statistic(math.exp(middle)) < bar else (low, middle)
    return sum(w * rate(math.exp(high), w, s, n) for w, s, n in strata)


def test_the_ends_are_those_of_the_definition_for_all_sorts_of_strata():
    rng = np.random.default_rng(7)
    rows, strata = 300, 3
    items = rng.integers(0, 400, (rows, strata)).astype(float)
    items[:, 0] += 1
    labels = np.floor(items * rng.choice([0.0, 0.05, 0.3, 1.0], (rows, strata)))
    share = np.divide(
        np.floor(labels * rng.choice([0, 0.3, 0.9, 1], labels.shape)),
        labels,
        out=np.zeros_like(labels),
        where=labels > 0,
    )
    # a stratum that is fully labelled counts as ten million labels
    effective = np.where((labels == items) & (items > 0), 1e7, labels)
    weights = items / items.sum(axis=1, keepdims=True)
    pseudo = rng.uniform(0.25, 0.5, rows)
    # At smaller bars ten million labels leave too few digits of the statistic itself.
    bar = rng.choice([0.02, 0.5, 3.84, 24.0], rows)
    found = lower_ends(weights, effective, share, pseudo, bar)
    expected = [
        by_halving(*row) for row in zip(weights, effective, share, pseudo, bar, strict=True)
    ]
    assert np.abs(found - expected).max() < 1e-9
