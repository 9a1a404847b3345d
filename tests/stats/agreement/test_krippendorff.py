"""Krippendorff's alpha, against its definition by all pairs of ratings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.stats.agreement import krippendorff_alpha


def by_definition(codes, labels, metric):
    coincidences = np.zeros((labels, labels))
    for row in codes:
        given = row[row >= 0]
        for one, other in itertools.permutations(given, 2):
            coincidences[one, other] += 1 / (len(given) - 1)
    n = coincidences.sum(axis=0)
    cost = np.zeros((labels, labels))
    for c, k in itertools.product(range(labels), repeat=2):
        low, high = min(c, k), max(c, k)
        if metric == "nominal":
            cost[c, k] = c != k
        else:
            cost[c, k] = (n[low : high + 1].sum() - (n[c] + n[k]) / 2) ** 2
    return 1 - (n.sum() - 1) * (coincidences * cost).sum() / (np.outer(n, n) * cost).sum()


@pytest.mark.parametrize("metric", ["nominal", "ordinal"])
@pytest.mark.parametrize("seed", range(5))
def test_it_equals_its_definition_with_missing_ratings(metric, seed):
    rng = np.random.default_rng(seed)
    labels = int(rng.integers(2, 6))
    codes = rng.integers(0, labels, (25, 4))
    codes[rng.random(codes.shape) < 0.3] = -1
    found = krippendorff_alpha(codes, metric=metric, n_labels=labels)
    assert found.estimate == pytest.approx(by_definition(codes, labels, metric), abs=1e-12)


def test_one_label_is_unknown_with_its_reason():
    found = krippendorff_alpha([[1, 1, 1]] * 4)
    assert isinstance(found.estimate, Unknown)
    assert "one label" in found.estimate.reason


def test_items_with_one_rating_do_not_count():
    full = [[0, 0, 1], [1, 1, 1], [2, 2, 2]]
    found = krippendorff_alpha([*full, [1, -1, -1]])
    assert found.estimate == krippendorff_alpha(full).estimate
