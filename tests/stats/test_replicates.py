"""The vectors were computed apart from this code, by the formulas of docs/theory/compare.md."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri
from scipy.stats import binom

from tallystick.errors import InputError, NotIdentifiable
from tallystick.stats.replicates import (
    item_values,
    item_variances,
    these_items,
)


def test_the_printed_item_values_come_out():
    assert item_values([3], [10], k=5).round(4).tolist() == [0.9167]
    assert item_values([3], [10], k=2, kind="pass^k").round(4).tolist() == [0.0667]


@given(st.integers(1, 7), st.data())
def test_an_item_value_is_the_share_of_draws_of_k_runs_that_pass(n, data):
    c, k = data.draw(st.integers(0, n)), data.draw(st.integers(1, n))
    draws = list(combinations([1] * c + [0] * (n - c), k))
    assert item_values([c], [n], k=k)[0] == pytest.approx(np.mean([any(d) for d in draws]))
    all_right = item_values([c], [n], k=k, kind="pass^k")[0]
    assert all_right == pytest.approx(np.mean([all(d) for d in draws]))


def test_with_one_attempt_both_kinds_are_the_plain_share():
    for kind in ("pass@k", "pass^k"):
        assert item_values([0, 3, 7], [7, 7, 7], k=1, kind=kind) == pytest.approx([0, 3 / 7, 1])


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


@pytest.mark.parametrize(
    ("correct", "n", "k", "kind", "text"),
    [
        (0, 10, 5, "pass@k", 0.0780), (3, 10, 5, "pass@k", 0.0378), (10, 10, 5, "pass@k", 0.0),
        (0, 5, 5, "pass@k", 0.2283), (2, 5, 5, "pass@k", 0.0630),
        (1, 4, 2, "pass^k", 0.0262), (3, 4, 2, "pass^k", 0.1103), (4, 4, 2, "pass^k", 0.0742),
    ],
)  # fmt: skip
def test_the_variance_is_never_below_the_plain_one_at_the_smoothed_rate(correct, n, k, kind, text):
    """The page's own V, at p alone, from the binomial distribution of scipy."""
    outcomes = np.arange(n + 1)
    values = item_values(outcomes, np.full(n + 1, n), k=k, kind=kind)
    mass = binom.pmf(outcomes, n, (correct + 0.5) / (n + 1))
    plain = mass @ values**2 - (mass @ values) ** 2
    assert plain == pytest.approx(text, abs=5.1e-5)
    assert item_variances([correct], [n], k=k, kind=kind)[0] >= plain - 1e-12


def test_items_may_have_different_numbers_of_runs():
    mixed = item_variances([0, 3, 2], [10, 10, 5], k=5)
    assert mixed[:2].tolist() == item_variances([0, 3], [10, 10], k=5).tolist()
    assert mixed[2] == item_variances([2], [5], k=5)[0]


def test_these_items_get_the_normal_interval_of_the_summed_variances():
    correct, runs = [0, 1, 3, 5, 4, 2, 5, 5, 3, 4], [5] * 10
    found = these_items(correct, runs, k=2)
    half = -ndtri(0.025) * np.sqrt(item_variances(correct, runs, k=2).sum()) / 10
    assert found.high == pytest.approx(item_values(correct, runs, k=2).mean() + half)


def test_under_ten_items_new_runs_have_no_interval():
    with pytest.raises(NotIdentifiable, match=r"9 items .* at least 10"):
        these_items([1] * 9, [2] * 9, k=1)


@pytest.mark.parametrize(
    ("arguments", "options", "named"),
    [
        (([3], [4]), {"k": 5}, "at least k = 5 runs of every item, item 0 has 4"),
        (([5], [4]), {"k": 1}, "item 0 is right in 5 of 4 runs"),
        (([1, 2], [4]), {"k": 1}, "one number per item"),
        (([0.5], [4]), {"k": 1}, "correct"),
        (([1], [4]), {"k": 0}, "k must be"),
        (([1], [4]), {"k": 1, "kind": "pass"}, "kind must be"),
    ],
)
def test_counts_that_do_not_fit_are_refused(arguments, options, named):
    with pytest.raises(InputError, match=named):
        item_values(*arguments, **options)


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
    assert always.high == 1
    assert always.low < 1
