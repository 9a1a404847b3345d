from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats import concentration as coin
from tallystick.stats.concentration import binomial_overlap, hellinger_squared

EPSILONS = (0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


def test_the_exact_tosses_equal_the_table():
    assert [coin.tosses_for_total_variation(e) for e in EPSILONS] == [7, 45, 182, 727, 4549, 18198]
    assert [coin.tosses_for_error(e) for e in EPSILONS] == [39, 267, 1079, 4325, 27052, 108218]
    assert [coin.mean_test_tosses(e) for e in EPSILONS] == [39, 267, 1079, 4325, 27052, 108218]


def test_the_constants_are_those_of_the_normal_limit():
    e = 0.001
    assert coin.tosses_for_total_variation(e) * e**2 == pytest.approx(1.8198, abs=1e-3)
    assert coin.tosses_for_error(e, 0.1) * e**2 == pytest.approx(10.822, abs=2e-3)
    assert coin.chernoff_tosses(e, 0.1) * e**2 == pytest.approx(8 * np.log(20), abs=1e-3)
    assert coin.hellinger_tosses(e) * e**2 == pytest.approx(4 * np.log(4 / 3), abs=1e-3)
    assert coin.hellinger_tosses(e, 0.9) * e**2 == pytest.approx(4 * np.log(1 / 0.19), abs=1e-3)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_at_eight_over_epsilon_squared_the_bound_is_far_above_the_error(epsilon):
    n = round(8 / epsilon**2)
    assert coin.chernoff_error(epsilon, n) == pytest.approx(2 / np.e)
    assert sum(coin.mean_test_error(epsilon, n)) == pytest.approx(0.157, abs=0.022)


@given(epsilon=st.floats(0.01, 1), n=st.integers(1, 3000))
def test_no_test_beats_the_overlap_and_no_bound_is_broken(epsilon, n):
    alarm, miss = coin.mean_test_error(epsilon, n)
    best = binomial_overlap(n, 0.5, (1 + epsilon) / 2)
    assert best <= alarm + miss + 1e-12
    assert alarm + miss <= 2 * np.exp(-(epsilon**2) * n / 8) + 1e-12


@given(epsilon=st.floats(0.02, 1), goal=st.floats(0.1, 0.9))
def test_hellinger_never_excludes_what_is_possible(epsilon, goal):
    assert coin.hellinger_tosses(epsilon, goal) <= coin.tosses_for_total_variation(epsilon, goal)


@given(epsilon=st.floats(0.02, 1), error=st.floats(0.01, 0.9))
def test_the_best_test_never_needs_more_than_chernoff_allows(epsilon, error):
    n = coin.tosses_for_error(epsilon, error)
    assert n <= coin.mean_test_tosses(epsilon, error) <= coin.chernoff_tosses(epsilon, error)
    assert binomial_overlap(n, 0.5, (1 + epsilon) / 2) <= error
    assert n == 1 or binomial_overlap(n - 1, 0.5, (1 + epsilon) / 2) > error


@given(epsilon=st.floats(1e-3, 1))
def test_the_closed_form_of_hellinger_equals_its_definition_and_its_bounds(epsilon):
    h2 = coin.coin_hellinger_squared(epsilon)
    direct = hellinger_squared([0.5, 0.5], [(1 - epsilon) / 2, (1 + epsilon) / 2])
    assert h2 == pytest.approx(direct, rel=1e-9, abs=1e-15)
    assert epsilon**2 / 8 <= h2 * (1 + 1e-12)
    assert h2 <= (1 - np.sqrt(0.5)) * epsilon**2 * (1 + 1e-12)


def test_claim_1_holds_up_to_99_hundredths_and_not_beyond():
    assert coin.coin_hellinger_squared(0.99) < 0.99**2 / 4
    assert coin.coin_hellinger_squared(0.995) > 0.995**2 / 4


def test_a_tie_on_the_cut_counts_as_fair():
    # ε = .2, n = 40: the cut n(2+ε)/4 = 22 is a whole number, so 22 heads are "fair"
    alarm, _ = coin.mean_test_error(0.2, 40)
    below, _ = coin.mean_test_error(0.2 + 1e-6, 40)
    assert alarm == pytest.approx(below, rel=1e-12)
    assert coin.mean_test_error(0.2 - 1e-6, 40)[0] > alarm


def test_a_bias_outside_the_unit_interval_is_refused():
    for bad in (0, -0.1, 1.01, np.nan):
        with pytest.raises(InputError, match="epsilon must be in"):
            coin.tosses_for_error(bad)
