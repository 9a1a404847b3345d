"""Scores are shown in per cent, or on the scale of the grades."""

from tallystick.results import Interval
from tallystick.verbs.score.result import Units


def test_shares_are_per_cent_and_differences_points():
    units = Units(None)
    assert units.score(0.5, Interval(0.4, 0.6)) == "50.0% [40.0, 60.0]"
    assert units.difference(0.1) == "+10.0 points"
    assert units.lead(0.6, 0.5) == "10.0 points"
    assert Units((0.0, 1.0)).share


def test_a_scale_moves_values_and_stretches_differences():
    units = Units((1.0, 5.0))
    assert tuple(units.interval(Interval(0.0, 0.5))) == (1.0, 3.0)
    assert tuple(units.sizes(Interval(-0.25, 0.5))) == (-1.0, 2.0)
    assert units.difference(0.5, Interval(0.25, 0.75)) == "+0.50 [+0.25, +0.75]"
    assert units.lead(4.0, 3.5) == "0.50"
