"""The adverse empirical likelihood: vectors, laws, coverage where it failed before."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st

from tallystick.stats.adverse_binary import adjust, raw_share_ends
from tallystick.stats.adverse_ends import Spread
from tallystick.stats.adverse_numbers import (
    adverse_difference,
    adverse_means,
    raw_mean_ends,
)

DIGITS = 5.01e-5

EVERY = np.arange(40) / 39
CHOSEN = [35, 30, 16, 37, 12, 24, 33, 21]
LABELS = [1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5]


def repeated_grades():
    every = np.tile([1, 0.75, 0.5, 0], 5)
    labels = every[:16].copy()
    labels[3] = 1
    return labels, every[:16], every


def three_surprises():
    every = np.tile([0.0, 0, 1, 0, -1], 20)
    labels = every[:30].copy()
    labels[[0, 2, 5]] = 1, 0, -1
    return labels, every[:30], every


def raw_ends(labels, consensus, every, bounds, pseudo):
    """Both ends for these items before anything is added to them."""
    y, c, spread = np.array([labels], dtype=float), np.array([consensus]), Spread.of(every)
    ones = np.ones_like(y)
    found = adjust(y, c, spread, bounds=bounds, weights=ones)
    scale = (spread.n - 1) / (spread.n - y.shape[1]) * found.leverage[:, None]
    low, high = raw_mean_ends(found, ones * scale, pseudo=pseudo)
    return low[0], high[0]


def test_differences_that_the_judges_half_see():
    labels, consensus, every = three_surprises()
    found = adverse_difference(labels, consensus, every)
    slope = adjust(
        labels[None], consensus[None], Spread.of(every), bounds=(-1, 1), weights=np.ones((1, 30))
    ).slope[0]
    assert slope == pytest.approx(0.4435, abs=DIGITS)
    assert found.estimate == pytest.approx(-0.0333, abs=DIGITS)
    before = raw_ends(labels, consensus, every, (-1, 1), 0.25)
    assert before == pytest.approx((-0.1794, 0.1168), abs=DIGITS)
    assert tuple(found.interval) == pytest.approx((-0.1879, 0.1254), abs=DIGITS)


@pytest.mark.parametrize(
    ("first", "estimate", "before", "after"),
    [
        (0, 0.0, (-0.1172, 0.1172), (-0.1183, 0.1183)),
        (1, 0.05, (-0.0853, 0.2084), (-0.0864, 0.2095)),
    ],
)
def test_twenty_pairs_that_hardly_differ(first, estimate, before, after):
    labels = np.zeros(20)
    labels[0] = first
    found = adverse_difference(labels, np.zeros(20), np.zeros(200))
    assert found.estimate == pytest.approx(estimate)
    raw = raw_ends(labels, np.zeros(20), np.zeros(200), (-1, 1), 0.25)
    assert raw == pytest.approx(before, abs=DIGITS)
    assert tuple(found.interval) == pytest.approx(after, abs=DIGITS)


def test_differences_on_new_items():
    labels = [0, 0.5, -0.25, 1, 0, 0.25, 0.5, 0]
    found = adverse_difference(labels, np.zeros(8), np.zeros(8), population="new")
    assert found.estimate == pytest.approx(0.25)
    assert tuple(found.interval) == pytest.approx((-0.1461, 0.5672), abs=DIGITS)


def test_pass_fail_labels_without_judges_are_the_binary_formula_before_rounding():
    labels = np.repeat([1.0, 0.0], [22, 8])
    found = raw_ends(labels, np.zeros(30), np.zeros(108), (0, 1), 0.35)
    star = np.array([[30 * 107 / 78]])
    share = np.array([[22 / 30]])
    low, high = raw_share_ends(np.array([[108.0]]), star, share, pseudo=0.35)
    assert found == pytest.approx((low[0], high[0]), abs=1e-9)


labels_and_grades = st.integers(1, 12).flatmap(
    lambda m: st.tuples(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=m, max_size=m),
        st.lists(st.floats(0, 1), min_size=m, max_size=m + 15),
    )
)


def drawn(truth, consensus, m, runs, seed):
    """Coverage over random draws of m labels from a fixed population."""
    rng = np.random.default_rng(seed)
    at = np.argsort(rng.random((runs, len(truth))), axis=1)[:, :m]
    bounds = (-1.0, 1.0) if truth.min() < 0 else (0.0, 1.0)
    found = adverse_means(truth[at], consensus[at], consensus, bounds=bounds).interval
    return found.covers(truth.mean()).mean()


@pytest.mark.parametrize("m", [20, 60, 100, 115])
def test_one_gross_item_among_many_is_covered(m):
    # Before the correction this was .67-.93: the unlabelled gross item lies beyond the interval.
    consensus = np.linspace(0.7, 0.9, 120)
    truth = consensus.copy()
    truth[60] = 0.0
    assert drawn(truth, consensus, m, 1500, 5) >= 0.93


@pytest.mark.parametrize("m", [20, 60, 115])
def test_one_hidden_loss_among_equal_pairs_is_covered(m):
    truth = np.zeros(120)
    truth[7] = -1
    assert drawn(truth, np.zeros(120), m, 1500, 6) >= 0.93
