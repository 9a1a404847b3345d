"""Gwet's AC1."""

from __future__ import annotations

from tallystick.stats.agreement import gwet_ac1


def test_labels_that_nobody_gave_lower_chance():
    codes = [[0, 0], [1, 1], [0, 1]]
    assert gwet_ac1(codes, n_labels=5).estimate > gwet_ac1(codes).estimate
