"""Several systems on the same items: the vectors, and how often a wrong order is claimed."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

from tallystick.errors import InputError
from tallystick.stats.adverse_systems import compare_systems

DIGITS = 5.01e-5
ROWS = np.array(
    [[int(c) for c in row] for row in ["110", "100", "111", "010", "100", "110", "101", "110"]]
)


def test_an_adjusted_p_value_is_never_below_its_own_and_keeps_the_order():
    rng = np.random.default_rng(1)
    labels = (rng.random((60, 6)) < np.linspace(0.4, 0.9, 6)).astype(float)
    found = compare_systems(labels, np.zeros((60, 6)), np.zeros((300, 6)), rng=2)
    assert (found.adjusted_p >= found.p_value).all()
    order = np.argsort(-np.abs(found.statistic))
    assert (np.diff(found.adjusted_p[order]) >= 0).all()


def test_two_systems_alone_need_no_correction():
    found = compare_systems(ROWS[:, :2], np.zeros((8, 2)), np.zeros((40, 2)), rng=0, draws=200_000)
    assert found.adjusted_p[0] == pytest.approx(found.p_value[0], abs=0.005)
    assert found.quantile == pytest.approx(t.ppf(0.975, 6), abs=0.05)


def test_two_identical_systems_differ_by_nothing_and_still_have_a_width():
    labels = ROWS[:, [0, 0]]
    found = compare_systems(labels, np.zeros((8, 2)), np.zeros((40, 2)), rng=0)
    assert found.adjusted_p[0] == 1
    assert found.interval.low[0] < 0 < found.interval.high[0]
    assert found.quantile == pytest.approx(t.ppf(0.975, 6))


def test_once_all_items_are_labelled_every_difference_is_certain():
    found = compare_systems(ROWS, np.zeros((8, 3)), np.zeros((8, 3)), rng=0)
    assert found.adjusted_p.tolist() == [0, 0, 0]
    assert found.interval.width == pytest.approx(np.zeros(3))
    tied = compare_systems(ROWS[:, [0, 0]], np.zeros((8, 2)), np.zeros((8, 2)), rng=0)
    assert tied.adjusted_p.tolist() == [1]


def test_new_items_leave_more_doubt_than_these():
    rng = np.random.default_rng(5)
    every = rng.random((60, 3))
    labels = (rng.random((30, 3)) < every[:30]).astype(float)
    these, new = (
        compare_systems(labels, every[:30], every, rng=0, population=population)
        for population in ("these", "new")
    )
    assert (new.interval.width > these.interval.width).all()
    assert (np.abs(new.statistic) < np.abs(these.statistic)).all()


def test_useful_judges_make_statistics_larger():
    rng = np.random.default_rng(6)
    every = np.clip(rng.random((400, 2)) * [1.0, 0.8], 0, 1)
    labels = np.clip(every[:60] + rng.normal(0, 0.05, (60, 2)), 0, 1)
    judged = compare_systems(labels, every[:60], every, rng=0)
    alone = compare_systems(labels, np.zeros((60, 2)), np.zeros((400, 2)), rng=0)
    assert judged.interval.width[0] < 0.8 * alone.interval.width[0]


def test_a_wrong_order_is_rarely_claimed_among_equal_systems():
    # Five systems that all pass exactly 270 of 300 items; a judge prefers one of them.
    rng = np.random.default_rng(7)
    truth = np.ones((300, 5))
    for s in range(5):
        truth[rng.permutation(300)[:30], s] = 0
    grades = np.clip(0.6 * truth + rng.normal(0.2, 0.15, (300, 5)) + [0.1, 0, 0, 0, 0], 0, 1)
    wrong = 0
    runs = 300
    for _ in range(runs):
        at = rng.permutation(300)[:30]
        found = compare_systems(truth[at], grades[at], grades, rng=rng, draws=1000)
        wrong += found.adjusted_p.min() <= 0.05
    assert wrong / runs <= 0.05 + 2.33 * np.sqrt(0.05 * 0.95 / runs)


@pytest.mark.parametrize("rates", [(0.9, 0.85, 0.6, 0.55), (1.0, 1.0, 0.98, 0.97)])
def test_all_intervals_hold_at_once(rates):
    # The second board is nearly perfect: its few losses are often not among the labels.
    rng = np.random.default_rng(8)
    truth = np.ones((200, 4))
    for s, rate in enumerate(rates):
        truth[rng.permutation(200)[: round(200 * (1 - rate))], s] = 0
    grades = np.clip(0.5 * truth + 0.5 * rng.random((200, 4)), 0, 1)
    real = truth.mean(axis=0)
    first, second = np.triu_indices(4, 1)
    held = 0
    for _ in range(300):
        at = rng.permutation(200)[:40]
        found = compare_systems(truth[at], grades[at], grades, rng=rng, draws=1000)
        held += found.interval.covers(real[first] - real[second]).all()
    assert held / 300 >= 0.95 - 2.33 * np.sqrt(0.05 * 0.95 / 300)


def test_the_vectors_of_the_page_are_reached():
    found = compare_systems(ROWS, np.zeros((8, 3)), np.zeros((40, 3)), rng=0)
    assert found.statistic == pytest.approx([0.9225, 2.1320, 1.2792], abs=DIGITS)
    assert found.p_value == pytest.approx(2 * norm.sf(np.abs(found.statistic)))
    assert found.difference == pytest.approx([0.25, 0.625, 0.375])
    half = np.array([0.3028, 0.2541, 0.3129])
    free = np.abs(found.interval.low) < 1
    assert (found.difference - found.interval.low)[free] == pytest.approx(
        (found.quantile * half)[free], abs=found.quantile * DIGITS
    )


@pytest.mark.parametrize(
    ("shape", "every", "message"),
    [
        ((2, 3), (40, 3), "at least 3"),
        ((8, 1), (40, 1), "one system only"),
        ((8, 3), (5, 3), "at most"),
        ((8, 3), (40, 2), "items x systems"),
    ],
)
def test_tables_that_do_not_fit_are_refused(shape, every, message):
    with pytest.raises(InputError, match=message):
        compare_systems(np.zeros(shape), np.zeros(shape), np.zeros(every), rng=0)
