"""Adjusted labels: the slope, its cut, and how far a label could have moved."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_binary import adjust
from tallystick.stats.adverse_ends import Spread


def one(labels, consensus, every, bounds=(0, 1), weights=None):
    y, c = np.array([labels], dtype=float), np.array([consensus], dtype=float)
    w = np.ones_like(y) if weights is None else np.array([weights], dtype=float)
    return adjust(y, c, Spread.of(every), bounds=bounds, weights=w)


def test_the_slope_is_shrunk_by_32_labels():
    every = np.linspace(0, 1, 21)
    c, y = every[[2, 9, 17]], np.array([0.1, 0.5, 0.8])
    found = one(y, c, every)
    s_cy = ((c - c.mean()) * (y - y.mean())).sum()
    s_cc = ((c - c.mean()) ** 2).sum()
    assert found.slope[0] == pytest.approx(s_cy / (s_cc + 32 * every.var()))
    assert found.values[0] == pytest.approx(y - found.slope[0] * (c - 0.5))


def test_the_least_and_the_most_that_a_label_could_give():
    every = np.array([0.0, 0.2, 0.4, 1.0])
    found = one([0, 0, 1], every[[0, 1, 3]], every)
    b, mean = found.slope[0], every.mean()
    assert b > 0
    assert found.low[0] == pytest.approx(-b * (1 - mean))
    assert found.high[0] == pytest.approx(1 + b * mean)


def test_an_inverted_judge_reaches_to_the_other_side():
    every = np.array([0.0, 0.2, 0.4, 1.0])
    found = one([1, 1, 0], every[[0, 1, 3]], every)
    b, mean = found.slope[0], every.mean()
    assert b < 0
    assert found.low[0] == pytest.approx(b * mean)
    assert found.high[0] == pytest.approx(1 - b * (1 - mean))


def test_every_possible_label_lies_between_the_least_and_the_most():
    rng = np.random.default_rng(4)
    every = rng.random(30)
    found = one(rng.random(10), every[:10], every)
    moves = found.slope[0] * (every - every.mean())
    assert found.low[0] <= (0 - moves).min() + 1e-12
    assert found.high[0] >= (1 - moves).max() - 1e-12


@pytest.mark.parametrize("bounds", [(0, 1), (-1, 1)])
def test_no_grade_moves_a_label_by_more_than_the_range(bounds):
    # Close grades that predict the labels well, and one grade far away: the slope would be 9.7.
    every = np.concatenate([np.repeat([0.50, 0.51], 300), [0.9]])
    c = np.repeat([0.50, 0.51], 20)
    found = one(np.repeat(bounds, 20), c, every, bounds=bounds)
    assert found.slope[0] * Spread.of(every).reach == pytest.approx(bounds[1] - bounds[0])


def test_weights_count_as_repeated_labels():
    every = np.linspace(0, 1, 11)
    weighted = one([0.2, 0.9], every[[2, 8]], every, weights=[2, 1])
    repeated = one([0.2, 0.2, 0.9], every[[2, 2, 8]], every)
    assert weighted.slope == pytest.approx(repeated.slope)
    assert weighted.leverage == pytest.approx(repeated.leverage)


def test_labels_at_the_mean_consensus_keep_all_their_weight():
    every = np.linspace(0, 1, 11)
    assert one([0, 1], every[[2, 8]], every).leverage[0] == pytest.approx(1.0)
    assert one([0, 1], every[[8, 9]], every).leverage[0] < 1


def test_equal_grades_adjust_nothing():
    found = one([0, 1, 0.5], [0.3] * 3, [0.3] * 9)
    assert found.slope[0] == 0
    assert found.leverage[0] == 1
    assert (found.low[0], found.high[0]) == (0, 1)


def test_a_label_outside_its_bounds_is_refused():
    with pytest.raises(InputError, match="rescale them first"):
        one([3], [0.5], [0.5, 0.6])
