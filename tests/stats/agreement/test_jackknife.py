"""The interval of every agreement statistic, against the jackknife done the long way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from tallystick.results import Unknown
from tallystick.stats.agreement import (
    as_ratings,
    cohen_kappa,
    extra_items,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    two_commonest,
)

EVERY = {
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac1,
    "alpha": krippendorff_alpha,
    "ordinal": lambda codes, **more: krippendorff_alpha(codes, metric="ordinal", **more),
    "cohen": lambda codes, **more: cohen_kappa(codes[:, :2], **more),
    "linear": lambda codes, **more: cohen_kappa(codes[:, :2], weights="linear", **more),
}


def long_way(codes, function, n_labels):
    """Recompute the statistic for every item left out, with the three added items of the page."""
    value = lambda table: (  # noqa: E731
        1.0 if isinstance(e := function(table, n_labels=n_labels).estimate, Unknown) else e
    )
    first, second = two_commonest(np.bincount(codes.ravel(), minlength=n_labels).astype(float))
    raters = codes.shape[1]
    ends = []
    for one, two in ((first, second), (second, second), (second, first)):
        more = np.vstack((codes, [one if r % 2 == 0 else two for r in range(raters)]))
        n = len(more)
        without = np.array([value(np.delete(more, i, axis=0)) for i in range(n)])
        error = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
        half = t.ppf(0.975, n - 1) * error
        ends += [value(more) - half, value(more) + half]
    return max(-1, min(ends)), min(1, max(ends))


@pytest.mark.parametrize("name", EVERY)
@pytest.mark.parametrize("seed", range(4))
def test_the_interval_equals_the_jackknife_done_the_long_way(name, seed):
    rng = np.random.default_rng(seed)
    raters = 2 if name in ("cohen", "linear") else (3, 4)[seed % 2]
    truth = rng.integers(0, 3, 15)
    wrong = rng.random((15, raters)) < 0.3
    codes = np.where(wrong, rng.integers(0, 3, (15, raters)), truth[:, None])
    found = EVERY[name](codes, n_labels=3)
    assert tuple(found.interval) == pytest.approx(long_way(codes, EVERY[name], 3), abs=1e-10)


@pytest.mark.parametrize("name", EVERY)
def test_patterns_with_counts_are_the_same_as_rows(name):
    rng = np.random.default_rng(3)
    rows = rng.integers(0, 3, (60, 3))
    rows[rng.random(rows.shape) < 0.1] = -1
    rows = rows[(rows >= 0).any(axis=1)]
    patterns, counts = np.unique(rows, axis=0, return_counts=True)
    one = EVERY[name](rows, n_labels=3)
    other = EVERY[name](patterns, counts=counts, n_labels=3)
    assert other.estimate == pytest.approx(one.estimate, abs=1e-12)
    assert tuple(other.interval) == pytest.approx(tuple(one.interval), abs=1e-10)
    assert other.n_items == one.n_items


def test_added_items_have_the_three_forms_of_the_page():
    ratings = as_ratings([[0, 0, 0], [0, 0, 1]])
    assert [item.tolist() for item in extra_items(ratings)] == [[2, 1], [0, 3], [1, 2]]


def test_the_interval_does_not_collapse_when_all_agree():
    found = fleiss_kappa([[0, 0, 0]] * 5 + [[1, 1, 1]] * 5)
    assert found.estimate == 1
    assert 0.5 < found.interval.low < 0.7


def test_added_items_of_a_sparse_table_carry_an_average_number_of_ratings():
    codes = np.full((30, 20), -1)
    for i in range(30):
        codes[i, [i % 20, (i + 1) % 20, (i + 5) % 20]] = i % 2
    assert [item.sum() for item in extra_items(as_ratings(codes))] == [3, 3, 3]
