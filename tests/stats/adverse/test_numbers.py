"""The adverse empirical likelihood: vectors, laws, coverage where it failed before."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats.adverse_binary import adjust, adverse_share, raw_share_ends
from tallystick.stats.adverse_ends import Spread
from tallystick.stats.adverse_numbers import (
    adverse_difference,
    adverse_mean,
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


def test_the_page_s_forty_items():
    found = adverse_mean(LABELS, EVERY[CHOSEN], EVERY)
    assert found.estimate == pytest.approx(0.6953, abs=DIGITS)
    assert tuple(found.interval) == pytest.approx((0.4497, 0.8532), abs=DIGITS)
    before = raw_ends(LABELS, EVERY[CHOSEN], EVERY, (0, 1), 0.35)
    assert before == pytest.approx((0.4560, 0.8469), abs=DIGITS)


def test_the_page_s_forty_items_by_labels_alone():
    found = adverse_mean(LABELS, np.zeros(8), np.zeros(40))
    assert found.estimate == pytest.approx(0.7188, abs=DIGITS)
    before = raw_ends(LABELS, np.zeros(8), np.zeros(40), (0, 1), 0.35)
    assert before == pytest.approx((0.4918, 0.8714), abs=DIGITS)
    gross = 8 / 32 / 40
    assert tuple(found.interval) == pytest.approx((before[0] - gross, before[1] + gross))
    with_judges = adverse_mean(LABELS, EVERY[CHOSEN], EVERY)
    assert tuple(with_judges.labels_only) == tuple(found.interval)


def test_the_page_s_forty_items_stand_for_new_ones():
    found = adverse_mean(LABELS, EVERY[CHOSEN], EVERY, population="new")
    assert tuple(found.interval) == pytest.approx((0.4326, 0.8577), abs=DIGITS)


def test_twenty_items_of_which_sixteen_are_labelled():
    labels, consensus, every = repeated_grades()
    slope = adjust(
        labels[None], consensus[None], Spread.of(every), bounds=(0, 1), weights=np.ones((1, 16))
    ).slope[0]
    assert slope == pytest.approx(0.2476, abs=DIGITS)
    found = adverse_mean(labels, consensus, every)
    assert found.estimate == pytest.approx(0.6250, abs=DIGITS)
    before = raw_ends(labels, consensus, every, (0, 1), 0.35)
    assert before == pytest.approx((0.5542, 0.6909), abs=DIGITS)
    assert tuple(found.interval) == pytest.approx((0.5042, 0.7000), abs=DIGITS)


def test_judges_that_say_nothing():
    labels = [1] * 9 + [0]
    found = adverse_mean(labels, np.full(10, 0.1), np.full(50, 0.1))
    assert found.estimate == pytest.approx(0.9)
    before = raw_ends(labels, np.full(10, 0.1), np.full(50, 0.1), (0, 1), 0.35)
    assert before[0] == pytest.approx(0.6294, abs=DIGITS)
    assert tuple(found.interval) == pytest.approx((0.6244, 0.9800), abs=DIGITS)
    assert found.worth == pytest.approx(10)


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


def test_pass_at_five_on_new_items():
    right = [0, 3, 10, 5, 1, 8]
    values = [1 - comb(10 - c, 5) / comb(10, 5) for c in right]
    found = adverse_mean(values, np.zeros(6), np.zeros(6), population="new")
    assert found.estimate == pytest.approx(0.7354, abs=DIGITS)
    assert tuple(found.interval) == pytest.approx((0.3500, 0.9416), abs=DIGITS)


def test_pass_fail_labels_without_judges_are_the_binary_formula_before_rounding():
    labels = np.repeat([1.0, 0.0], [22, 8])
    found = raw_ends(labels, np.zeros(30), np.zeros(108), (0, 1), 0.35)
    star = np.array([[30 * 107 / 78]])
    share = np.array([[22 / 30]])
    low, high = raw_share_ends(np.array([[108.0]]), star, share, pseudo=0.35)
    assert found == pytest.approx((low[0], high[0]), abs=1e-9)


def test_one_outlying_grade_does_not_widen_the_interval_beyond_measure():
    # The labels follow two close grades, so one grade far from all others would reach far below 0.
    every = np.concatenate([np.repeat([0.50, 0.51], 300), [0.9]])
    labels = np.repeat([0.0, 1.0, 0.0, 1.0], [17, 3, 3, 17])
    found = adverse_mean(labels, np.repeat([0.50, 0.51], 20), every)
    assert found.interval.width <= 1.1 * found.labels_only.width


def test_a_sequence_of_grades_and_its_spread_are_the_same():
    one = adverse_mean(LABELS, EVERY[CHOSEN], EVERY)
    two = adverse_mean(LABELS, EVERY[CHOSEN], Spread.of(EVERY))
    assert tuple(one.interval) == tuple(two.interval)


def test_equal_inclusion_probabilities_are_no_weights():
    one = adverse_mean(LABELS, EVERY[CHOSEN], EVERY, inclusion=[0.2] * 8)
    two = adverse_mean(LABELS, EVERY[CHOSEN], EVERY)
    assert tuple(one.interval) == pytest.approx(tuple(two.interval))


def test_unequal_inclusion_probabilities_move_the_estimate_and_widen():
    chance = [0.1, 0.1, 0.4, 0.1, 0.4, 0.1, 0.1, 0.4]
    found = adverse_mean(LABELS, np.zeros(8), np.zeros(40), inclusion=chance)
    plain = adverse_mean(LABELS, np.zeros(8), np.zeros(40))
    v = 1 / np.array(chance)
    assert found.estimate == pytest.approx((v * LABELS).sum() / v.sum())
    assert found.interval.width > plain.interval.width


def test_weighted_binary_labels_are_the_weighted_binary_formula_before_rounding():
    labels, v = np.array([1.0, 1, 0, 1, 0, 1]), np.array([2.0, 4, 2, 2, 4, 2])
    size, share = v.sum() ** 2 / (v**2).sum(), (v * labels).sum() / v.sum()
    found = adverse_mean(labels, np.zeros(6), np.zeros(50), population="new", inclusion=1 / v)
    kish, rate = np.array([[size]]), np.array([[share]])
    low, high = raw_share_ends(np.array([[50.0]]), kish, rate, pseudo=0.35)
    assert tuple(found.interval) == pytest.approx((low[0], high[0]), abs=1e-9)


labels_and_grades = st.integers(1, 12).flatmap(
    lambda m: st.tuples(
        st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=m, max_size=m),
        st.lists(st.floats(0, 1), min_size=m, max_size=m + 15),
    )
)


@given(labels_and_grades, st.sampled_from(["these", "new"]))
def test_turning_the_scale_around_turns_the_interval_around(data, population):
    labels, every = np.array(data[0]), np.array(data[1])
    consensus = every[: len(labels)]
    one = adverse_mean(labels, consensus, every, population=population)
    two = adverse_mean(1 - labels, 1 - consensus, 1 - every, population=population)
    assert one.interval.low == pytest.approx(1 - two.interval.high, abs=1e-7)
    assert one.interval.high == pytest.approx(1 - two.interval.low, abs=1e-7)


@given(labels_and_grades)
def test_these_items_never_leave_what_logic_allows(data):
    labels, every = np.array(data[0]), np.array(data[1])
    n, m, total = len(every), len(labels), labels.sum()
    found = adverse_mean(labels, every[:m], every)
    for interval in (found.interval, found.labels_only):
        assert total / n - 1e-9 <= interval.low
        assert interval.high <= (total + n - m) / n + 1e-9
    assert found.interval.low - 1e-9 <= found.estimate <= found.interval.high + 1e-9


@given(labels_and_grades)
def test_all_labels_give_the_mean(data):
    labels = np.array(data[0])
    every = np.array(data[1])[: len(labels)]
    found = adverse_mean(labels, every, every)
    assert tuple(found.interval) == pytest.approx((labels.mean(),) * 2)
    assert found.estimate == pytest.approx(labels.mean())


@given(labels_and_grades, st.randoms())
def test_the_order_of_labels_does_not_matter(data, random):
    labels, every = data
    order = list(range(len(labels)))
    random.shuffle(order)
    one = adverse_mean(labels, every[: len(labels)], every)
    two = adverse_mean([labels[i] for i in order], [every[i] for i in order], every)
    assert tuple(one.interval) == pytest.approx(tuple(two.interval), abs=1e-9)


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


def test_useful_judges_narrow_the_interval():
    rng = np.random.default_rng(2)
    consensus = rng.random(600)
    truth = np.clip(consensus + rng.normal(0, 0.1, 600), 0, 1)
    at = rng.permutation(600)[:100]
    found = adverse_mean(truth[at], consensus[at], consensus)
    assert found.interval.width < 0.7 * found.labels_only.width
    assert found.worth > 200


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1.2], [0.5], [0.5, 0.5]), "labels must lie in"),
        (([], [], [0.5]), "at least one label"),
        (([1, 0], [0.5], [0.5, 0.5]), "one length"),
        (([1, 0], [0.5, 0.5], [0.5]), "cannot come from"),
        (([1.0], [np.nan], [0.5, 0.5]), "consensus must be finite"),
    ],
)
def test_impossible_labels_are_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        adverse_mean(*arguments)


def test_a_binary_share_and_a_mean_of_pass_fail_labels_tell_nearly_the_same():
    share = adverse_share([108], [30], [22]).interval
    mean = adverse_mean(np.repeat([1.0, 0.0], [22, 8]), np.zeros(30), np.zeros(108)).interval
    assert tuple(share) == pytest.approx(tuple(mean), abs=0.01)
