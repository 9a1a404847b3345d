"""Dating a change."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.stream_watch import change_point


def test_printed_changes():
    page = change_point(
        [0.84, 0.80, 0.88, 0.84, 0.80, 0.92, 0.84, 0.88, 0.72, 0.76, 0.68, 0.80, 0.72, 0.76]
    )
    assert (page.split, page.low, page.high) == (8, 7, 9)
    corrected = change_point([1, 1, 1, 1, 0.96, 0.64, 0.88, 0.76, 0.92])
    assert (corrected.split, corrected.low, corrected.high) == (5, 1, 8)


def test_items_are_one_block_wider_on_each_side():
    page = change_point(
        [0.84, 0.80, 0.88, 0.84, 0.80, 0.92, 0.84, 0.88, 0.72, 0.76, 0.68, 0.80, 0.72, 0.76]
    )
    assert page.items(25) == (150, 250)


@pytest.mark.parametrize(("before", "after"), [(0.9, 0.8), (0.99, 0.95), (0.9, 0.5)])
def test_the_range_covers_the_change_also_inside_a_block(before, after):
    """The corrections measured .95-.99; blocks of 25, the change after 60.4 blocks."""
    rng = np.random.default_rng(8)
    covered = []
    for _ in range(300):
        right = rng.random(120 * 25) < np.where(np.arange(3000) < 1510, before, after)
        low, high = change_point(right.reshape(120, 25).mean(axis=1)).items(25)
        covered.append(low <= 1510 <= high)
    assert np.mean(covered) >= 0.95 - 3 * np.sqrt(0.05 * 0.95 / 300)


def test_values_before_and_after_are_means():
    found = change_point([0.9, 0.92, 0.88, 0.5, 0.52])
    assert found.before == pytest.approx(0.9)
    assert found.after == pytest.approx(0.51)


def test_a_series_without_noise_has_the_split_alone_as_range():
    found = change_point([0.8] * 5 + [0.6] * 4)
    assert (found.split, found.low, found.high) == (5, 5, 5)
    assert found.items(25) == (100, 150)
