from __future__ import annotations

from fractions import Fraction
from math import ceil, comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.stats.concentration import Hoeffding
from tallystick.stats.exact_tails import (
    Acceptance,
    acceptance_plan,
    binomial_up_to,
    interval_items,
    zero_failure_items,
)


@given(rate=st.floats(0.001, 0.9), alpha=st.floats(0.001, 0.5))
def test_clean_items_rule_out_the_rate_and_one_less_does_not(rate, alpha):
    n = zero_failure_items(rate, alpha=alpha)
    assert (1 - rate) ** n <= alpha * (1 + 1e-12)
    assert (1 - rate) ** (n - 1) > alpha * (1 - 1e-12)


def test_the_perfect_predictor_needs_three_over_epsilon():
    for rate in (0.1, 0.01, 0.001):
        assert zero_failure_items(rate) * rate == pytest.approx(3, rel=0.06)


@given(
    population=st.integers(2, 300),
    percent=st.integers(1, 99),
    alpha=st.sampled_from([0.01, 0.05, 0.2]),
)
def test_without_replacement_the_number_is_the_exact_hypergeometric_one(population, percent, alpha):
    failing = ceil(Fraction(percent, 100) * population)
    clean = [
        Fraction(comb(population - failing, n), comb(population, n)) for n in range(population + 1)
    ]
    exact = next(n for n in range(1, population + 1) if clean[n] <= Fraction(alpha))
    assert zero_failure_items(percent / 100, alpha=alpha, population=population) == exact


def test_a_huge_population_is_as_good_as_infinite():
    assert zero_failure_items(0.01, population=10**8) == zero_failure_items(0.01)


@settings(max_examples=40)
@given(limit=st.floats(0.02, 0.5), share=st.floats(0, 0.7), power=st.floats(0.5, 0.95))
def test_an_acceptance_plan_holds_both_promises(limit, share, power):
    plan = acceptance_plan(limit, share * limit, power=power)
    assert binomial_up_to(plan.failures, plan.items, limit) <= 0.05
    assert binomial_up_to(plan.failures, plan.items, share * limit) >= power
    if plan.failures:
        fewer = plan.failures - 1
        n = next(n for n in range(1, plan.items + 1) if binomial_up_to(fewer, n, limit) <= 0.05)
        assert binomial_up_to(fewer, n, share * limit) < power


def test_a_perfect_system_is_accepted_without_failures():
    assert acceptance_plan(0.01) == Acceptance(zero_failure_items(0.01), 0)
    with pytest.raises(InputError, match="a rate at the limit cannot be accepted"):
        acceptance_plan(0.01, 0.01)


@given(half=st.floats(0.01, 0.3), rate=st.floats(0.01, 0.99))
def test_the_width_is_reached_and_not_before(half, rate):
    def width(n):
        z = 1.959963984540054
        return z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))

    n = interval_items(half, rate=rate)
    assert width(n) <= half
    assert n == 1 or width(n - 1) > half
    assert n <= Hoeffding().items(half, 0.05)


def test_a_finite_population_needs_fewer_labels_and_never_more_than_it_has():
    assert interval_items(0.05, population=10**9) == interval_items(0.05)
    assert interval_items(0.05, population=500) < interval_items(0.05)
    assert interval_items(0.0001, population=500) <= 500
