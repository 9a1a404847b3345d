"""The vectors were computed apart from this code, by the formulas of docs/theory/compare.md."""

import numpy as np
import pytest
from scipy.special import ndtri

from tallystick.errors import NotIdentifiable
from tallystick.stats.replicates import (
    item_values,
    item_variances,
    these_items,
)


def test_the_printed_item_values_come_out():
    assert item_values([3], [10], k=5).round(4).tolist() == [0.9167]
    assert item_values([3], [10], k=2, kind="pass^k").round(4).tolist() == [0.0667]


@pytest.mark.parametrize(
    ("correct", "n", "k", "kind", "expected"),
    [
        ([0, 3], 10, 5, "pass@k", [0.1013, 0.0649]),
        ([0, 2], 5, 5, "pass@k", [0.2481, 0.1347]),
        ([1, 3, 4], 4, 2, "pass^k", [0.0515, 0.1103, 0.1017]),
    ],
)
def test_the_corrected_variances_come_out(correct, n, k, kind, expected):
    found = item_variances(correct, [n] * len(correct), k=k, kind=kind)
    # .11025 is printed as .1103
    assert found == pytest.approx(expected, abs=5.1e-5)


def test_these_items_get_the_normal_interval_of_the_summed_variances():
    correct, runs = [0, 1, 3, 5, 4, 2, 5, 5, 3, 4], [5] * 10
    found = these_items(correct, runs, k=2)
    half = -ndtri(0.025) * np.sqrt(item_variances(correct, runs, k=2).sum()) / 10
    assert found.high == pytest.approx(item_values(correct, runs, k=2).mean() + half)


def test_under_ten_items_new_runs_have_no_interval():
    with pytest.raises(NotIdentifiable, match=r"9 items .* at least 10"):
        these_items([1] * 9, [2] * 9, k=1)


def test_new_runs_of_one_hard_item_among_easy_ones_are_covered():
    """The page's V covered .82 here (n = 10, k = 5); the corrected one at least .91."""
    rng = np.random.default_rng(0)
    rates = np.r_[0.08, np.full(9, 0.85)]
    truth = np.mean(1 - (1 - rates) ** 5)
    hits = 0
    for _ in range(600):
        found = these_items(rng.binomial(10, rates), [10] * 10, k=5)
        hits += found.low <= truth <= found.high
    assert hits / 600 > 0.9


def test_intervals_stay_inside_the_range():
    always = these_items([5] * 10, [5] * 10, k=1)
    assert always.low < always.high == 1
