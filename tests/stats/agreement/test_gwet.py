"""Gwet's AC1."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.agreement import gwet_ac1


def test_two_raters_and_two_labels_follow_the_formula():
    codes = np.array([[0, 0]] * 80 + [[1, 1]] * 5 + [[0, 1]] * 10 + [[1, 0]] * 5)
    observed, share = 0.85, (5 + 5 + 10 + 5) / 200
    chance = 2 * share * (1 - share)
    known = (observed - chance) / (1 - chance)
    assert gwet_ac1(codes).estimate == pytest.approx(known, abs=1e-12)


def test_labels_that_nobody_gave_lower_chance():
    codes = [[0, 0], [1, 1], [0, 1]]
    assert gwet_ac1(codes, n_labels=5).estimate > gwet_ac1(codes).estimate
