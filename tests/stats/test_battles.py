"""The vectors were computed apart from this code, by the formulas of docs/theory/compare.md."""

import numpy as np
import pytest

from tallystick.stats.battles import (
    battles,
    battles_by_item,
    battles_crossed,
    battles_of_pairs,
    shares,
)
from tallystick.stats.clusters import sign_flip_columns
from tallystick.stats.two_accuracies import exact_score, tango


def sign_flip(d):
    return sign_flip_columns(np.asarray(d, dtype=float)[:, None], width=1, rng=0)


def rates(ends):
    return [round(50 + 50 * x, 1) for x in ends]


def percent(found):
    return [round(100 * x, 1) for x in (found.win_rate, found.low, found.high)]


def test_the_printed_vector_comes_out_by_tango_and_by_the_exact_score():
    found = battles(30, 10, 20)
    assert percent(found) == [58.3, 46.8, 69.0]
    assert round(found.p_value, 4) == 0.2026
    assert rates(exact_score(30, 20, 60)) == [46.5, 69.5]


def test_the_vectors_of_the_corrections_come_out():
    twenty = battles(12, 5, 3)
    assert percent(twenty) == [72.5, 53.7, 85.3]
    assert round(twenty.p_value, 4) == 0.0352
    # The vector is Tango's; the same page asks for the exact score below 20 battles.
    assert rates(tango(0, 0, 10)[0]) == [36.1, 63.9]
    assert percent(battles(0, 10, 0)) == [50, 34.4, 65.6]


def test_several_battles_per_item_are_the_sign_flip_test_on_item_means():
    rng = np.random.default_rng(0)
    items = rng.integers(0, 9, 60)
    outcomes = rng.choice([-1, 0, 1], 60, p=[0.2, 0.2, 0.6])
    means = np.array([outcomes[items == i].mean() for i in range(9)])
    found, expected = battles_by_item(outcomes, items, rng=0), sign_flip(means)
    assert found.win_rate == pytest.approx(0.5 + means.mean() / 2)
    assert (found.low, found.high) == pytest.approx(
        (0.5 + expected.low[0] / 2, 0.5 + expected.high[0] / 2)
    )
    assert (found.p_value, found.items) == (expected.p_value[0], 9)


def test_graded_preferences_are_means_with_a_pseudo_item():
    d = np.random.default_rng(0).uniform(-0.6, 1, 80)
    found = shares(d)
    assert found.win_rate == pytest.approx(0.5 + d.mean() / 2)
    assert found.low < found.win_rate < found.high
    assert (found.p_value <= 0.05) == (found.low > 0.5)
    assert shares([1.0] * 50).low < 1
    assert (shares([0.4]).low, shares([0.4]).p_value) == (0, 1)


def test_pairs_that_met_on_some_items_only_are_tested_together():
    rng = np.random.default_rng(3)
    items, pairs = np.repeat(np.arange(30), 3), np.tile(np.arange(3), 30)
    lead = np.array([0.9, 0.0, -0.3])[pairs]
    outcomes = np.where(rng.random(90) < 0.5 + lead / 2, 1, -1)
    met = rng.random(90) < 0.7
    found = battles_of_pairs(outcomes[met], items[met], pairs[met], rng=0)
    sums = [outcomes[met & (pairs == q)].sum() for q in range(3)]
    assert found.difference * len(np.unique(items[met])) == pytest.approx(sums)
    assert found.adjusted_p[0] < 0.05 < found.adjusted_p[1]
    # without an adverse cluster the statistic is the plain sum over its root mean square
    d = np.zeros((30, 3))
    np.add.at(d, (items[met], pairs[met]), outcomes[met])
    assert found.statistic == pytest.approx(np.abs(d.sum(axis=0)) / np.sqrt((d**2).sum(axis=0)))


def crossed(rng, items, people, spread):
    by_item, by_person = rng.normal(0, spread, items), rng.normal(0, spread, people)
    lean = by_item[:, None] + by_person
    outcomes = np.where(rng.random((items, people)) < 1 / (1 + np.exp(-lean)), 1, -1)
    return outcomes.ravel(), np.repeat(np.arange(items), people), np.tile(np.arange(people), items)


def test_crossed_reaches_add_up_as_squares():
    outcomes, items, people = crossed(np.random.default_rng(0), 15, 9, 1.0)
    found = battles_crossed(outcomes, items, people, rng=0)
    by = [
        sign_flip([outcomes[codes == i].mean() for i in range(codes.max() + 1)])
        for codes in (items, people)
    ]
    down = np.hypot(*(float(one.difference[0] - one.low[0]) for one in by))
    assert found.win_rate == pytest.approx(0.5 + outcomes.mean() / 2)
    assert found.win_rate - found.low == pytest.approx(down / 2)
    assert (found.items, found.these_annotators) == (15, False)


def test_new_annotators_are_covered_where_items_alone_are_not():
    rng = np.random.default_rng(5)
    wrong, items_only = 0, 0
    for _ in range(150):
        table = crossed(rng, 40, 10, 1.2)
        found, alone = battles_crossed(*table, rng=0), battles_by_item(*table[:2], rng=0)
        wrong += not found.low <= 0.5 <= found.high
        items_only += not alone.low <= 0.5 <= alone.high
    assert wrong <= 17  # 1e-3 quantile at .055
    assert items_only > 30


def test_few_annotators_are_spoken_of_as_these_ones():
    outcomes, items, people = crossed(np.random.default_rng(1), 20, 4, 1.0)
    found = battles_crossed(outcomes, items, people, rng=0)
    alone = battles_by_item(outcomes, items, rng=0)
    assert found.these_annotators
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
