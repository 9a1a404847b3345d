from __future__ import annotations

import numpy as np

from tallystick.results import Interval
from tallystick.stats.intervals import Intervals


def some() -> Intervals:
    return Intervals(
        np.array([0.1, 0.4]), np.array([0.3, 0.9]), level=0.9, guarantee="exact", method="m"
    )


def test_an_entry_is_an_interval_with_the_same_promise():
    assert some()[1] == Interval(0.4, 0.9, level=0.9, guarantee="exact", method="m")


def test_covering_is_closed_at_both_ends():
    assert some().covers(0.3).tolist() == [True, False]
    assert some().covers([0.1, 0.9]).tolist() == [True, True]
