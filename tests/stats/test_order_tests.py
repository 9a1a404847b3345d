"""Directions of all pairs, stepped down: the counts, and the level by simulation."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.signs import step_down_order


def test_the_numbers_that_are_left_follow_from_what_was_claimed():
    # a > b leaves 12 - 3 (k - 1 = 3 pairs at least), also with a > c; with a > d it is c = 3, then
    # b > c makes four pairs, c > d all but one: a > b > c > d orders six.
    p = np.ones((4, 4))
    steps = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (1, 3)]
    for place, pair in enumerate(steps):
        p[pair] = 1e-6 * 2**place
    found = step_down_order(p)
    counts = [round(found[pair] / p[pair], 6) for pair in steps]
    assert counts == [12, 9, 9, 9, 8, 6]


@pytest.mark.parametrize("means", [(0, 0, 0, 0), (9, 0, 0, 0), (9, 9, 0, 0), (9, 0.05, 0.02, 0)])
def test_a_wrong_order_is_claimed_in_at_most_the_level(means):
    # Differences share their systems, so the directions depend on one another.
    from scipy.special import ndtr

    rng = np.random.default_rng(2)
    mean = np.array(means, float)
    wrong, runs = 0, 4000
    for _ in range(runs):
        x = mean + rng.normal(size=4)
        p = ndtr(-(x[:, None] - x[None]) / np.sqrt(2))
        claims = step_down_order(np.where(np.eye(4, dtype=bool), 1.0, p)) <= 0.05
        wrong += bool((claims & (mean[:, None] <= mean[None])).any())
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_direction_that_contradicts_a_claim_shows_nothing():
    found = step_down_order([[1, 0.001, 1], [0.002, 1, 0.003], [1, 1, 1]])
    assert found[0, 1] == pytest.approx(0.006)
    assert found[1, 2] == 1.0
