"""The lower ends of (AL6), against their definition by plain halving."""

import math

import numpy as np

from tallystick.stats.adverse_binary import least_means


def by_halving(distance, weight, pseudo, bar):
    """(AL6) as it is written."""
    if max(distance) <= 0:
        return 0.0
    n = pseudo + sum(weight)

    def sums(gamma):
        q = [1 / (1 + gamma * d) for d in distance]
        return q, pseudo + sum(w * part for w, part in zip(weight, q, strict=True))

    def statistic(gamma):
        q, s = sums(gamma)
        logs = sum(w * math.log(part) for w, part in zip(weight, q, strict=True))
        return 2 * (n * math.log(s / n) - logs)

    low, high = -14.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if statistic(math.exp(middle)) < bar else (low, middle)
    q, s = sums(math.exp(high))
    return sum(w * p * d for w, p, d in zip(weight, q, distance, strict=True)) / s


def test_the_ends_are_those_of_the_definition_for_all_sorts_of_labels():
    rng = np.random.default_rng(8)
    rows, labels = 200, 12
    distance = rng.choice([0.0, 0.5, 1.0, 1.7], (rows, labels), p=[0.6, 0.1, 0.2, 0.1])
    distance[::3] = rng.random((len(distance[::3]), labels))
    distance[:3] = 0.0
    weight = rng.uniform(0.5, 2.0, (rows, labels)) * rng.choice([1.0, 50.0], (rows, 1))
    weight[5:40, 8:] = 0.0  # a row with fewer labels, filled up
    bar = rng.choice([1e-3, 0.5, 3.84, 24.0], rows)
    found = least_means(distance, weight, 0.35, bar)
    expected = [by_halving(d, w, 0.35, b) for d, w, b in zip(distance, weight, bar, strict=True)]
    assert np.abs(found - expected).max() < 1e-9
