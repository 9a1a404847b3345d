"""Exact intervals: the vectors, and exactness by enumeration of every order of drawing."""

from __future__ import annotations

from itertools import permutations, product
from math import comb

import numpy as np
import pytest

from tallystick.stats.anytime import betting
from tallystick.stats.certified import (
    _control,
    certified_mean,
    certified_shares,
)
from tallystick.stats.intervals import clopper_pearson

DIGITS = 5.01e-5


def one_mean(labels, consensus, every, *, alpha=0.05, **options):
    low, high = certified_mean(labels, consensus, every, **options)(np.array([alpha]))
    return float(low[0]), float(high[0])


def one_share(*counts, **options):
    low, high = certified_shares(*counts, **options)(np.array([0.05]))
    return float(low[0]), float(high[0])


def test_the_page_s_forty_items():
    every = np.arange(40) / 39
    at = [35, 30, 16, 37, 12, 24, 33, 21]
    found = one_mean([1, 0.75, 0.5, 1, 0.25, 0.75, 1, 0.5], every[at], every)
    assert found == pytest.approx((0.3845, 0.9184), abs=DIGITS)


def test_bets_on_adjusted_labels_are_fair():
    # Over all orders of drawing, constant stakes against the true mean neither win nor lose.
    truth = np.array([0.0, 0.4, 1.0, 0.2, 0.9])
    grades = np.array([0.1, 0.9, 0.7, 0.7, 0.3])
    capitals = []
    for order in permutations(range(5), 4):
        at = list(order)
        x, below, above = _control(truth[at], grades[at], grades)
        prices = [(truth.sum() - truth[at[:i]].sum()) / (5 - i) for i in range(4)]
        capitals.append(np.prod(1 + 0.7 * (x - prices)))
        # No remaining item could have given an adjusted label farther out than the reach.
        assert (x >= -below - 1e-12).all()
        assert (x <= 1 + above + 1e-12).all()
    assert np.mean(capitals) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("truth", list(product([0.0, 0.5, 1.0], repeat=2)))
def test_coverage_is_at_least_nominal_over_every_order(truth):
    # At a level of one half the intervals are short enough to miss.
    values = np.array([0.0, *truth, 1.0, 0.3, 1.0])
    grades = np.array([0.2, 0.9, 0.1, 0.8, 0.3, 0.6])
    held = 0
    for order in permutations(range(6), 4):
        at = list(order)
        low, high = one_mean(values[at], grades[at], grades, alpha=0.5)
        held += low <= values.mean() <= high
    assert held / 360 >= 0.5


def test_good_judges_narrow_an_exact_interval_too():
    rng = np.random.default_rng(1)
    every = rng.random(400)
    labels = np.clip(every + rng.normal(0, 0.05, 400), 0, 1)[:150]
    judged = one_mean(labels, every[:150], every)
    alone = one_mean(labels, np.zeros(150), np.zeros(400))
    assert np.ptp(judged) < 0.85 * np.ptp(alone)


def test_of_three_strata_the_middle_joins_the_upper():
    three = one_share([20, 30, 50], [8, 12, 20], [1, 6, 19])
    assert three == one_share([20, 80], [8, 32], [1, 25])


@pytest.mark.parametrize("right", [(0, 0), (2, 6), (4, 1), (5, 7)])
def test_a_share_is_covered_over_every_outcome(right):
    sizes, m = (5, 7), 6
    held = 0.0
    for a in range(max(0, m - 7), 6):
        for x1, x2 in product(range(a + 1), range(m - a + 1)):
            ways = (
                comb(right[0], x1) * comb(5 - right[0], a - x1)
                * comb(right[1], x2) * comb(7 - right[1], m - a - x2)
            )  # fmt: skip
            if ways:
                low, high = one_share(sizes, (a, m - a), (x1, x2))
                held += (low <= sum(right) / 12 <= high) * ways / comb(12, m)
    assert held >= 0.95


def test_of_new_items_a_share_is_clopper_pearson_s_and_a_mean_bets_on_the_labels_alone():
    found = one_share([28, 80], [10, 20], [3, 19], population="new")
    assert found == tuple(clopper_pearson(22, 30))
    labels, judges = np.random.default_rng(0).random((2, 50))
    found = one_mean(labels, judges, judges, population="new")
    assert found == pytest.approx(tuple(betting(labels)[0]))
