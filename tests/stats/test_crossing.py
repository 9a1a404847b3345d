"""Crossings of rising functions are found wherever they lie, and from any guess."""

import numpy as np

from tallystick.stats.bets import crossing


def steep(centre, sharpness):
    """A step that is flat on both sides, where Newton's own steps go to and fro."""

    def rising(x):
        level = np.tanh(sharpness * (x - centre))
        return level, sharpness * (1 - level**2)

    return rising


def test_a_steep_step_between_flat_sides_is_found_from_any_guess():
    centre = np.linspace(-9.5, 9.5, 200)
    sharpness = np.geomspace(0.1, 1000, 200)
    for guess in (-10.0, 0.0, 3.7, 10.0):
        found = crossing(steep(centre, sharpness), np.full(200, guess), -10.0, 10.0)
        assert np.abs(found - centre).max() < 1e-11


def test_rows_that_have_arrived_wait_for_slower_ones():
    calls = []

    def rising(x):
        calls.append(1)
        return x - np.array([1.0, 2.0]), np.array([1.0, 1e-9])  # the second slope misleads

    assert np.abs(crossing(rising, np.zeros(2), -10.0, 10.0) - [1.0, 2.0]).max() < 1e-12
    assert len(calls) < 60


def test_without_a_crossing_the_end_of_the_bracket_is_returned():
    centre = np.array([-30.0, 0.0, 30.0])
    for guess in (-10.0, 0.5, 10.0):
        found = crossing(lambda x: (x - centre, np.ones(3)), np.full(3, guess), -10.0, 10.0)
        assert found.tolist() == [-10.0, 0.0, 10.0]


def test_values_that_are_not_finite_fall_back_to_halving():
    def rising(x):
        return np.where(x < 2.5, -np.inf, np.inf), np.full_like(x, np.nan)

    assert abs(crossing(rising, np.zeros(1), -10.0, 10.0)[0] - 2.5) < 1e-12
