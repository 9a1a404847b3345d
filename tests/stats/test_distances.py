from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from tallystick.errors import InputError
from tallystick.stats import concentration as d


@st.composite
def two_distributions(draw):
    k = draw(st.integers(2, 6))
    weights = st.lists(st.integers(0, 20), min_size=k, max_size=k).filter(any)
    p, q = (np.array(draw(weights), dtype=float) for _ in range(2))
    return p / p.sum(), q / q.sum()


@given(two_distributions())
def test_total_variation_lies_in_the_hellinger_sandwich(pair):
    p, q = pair
    low, high = d.total_variation_from_hellinger(min(1.0, d.hellinger_squared(p, q)))
    assert low - 1e-12 <= d.total_variation(p, q) <= high + 1e-12
    assert high <= np.sqrt(2) * d.hellinger(p, q) + 1e-12


@given(two_distributions())
def test_total_variation_is_the_best_event(pair):
    p, q = pair
    best = max(abs(sum(p[i] - q[i] for i in event)) for event in _subsets(len(p)))
    assert d.total_variation(p, q) == pytest.approx(best, abs=1e-12)


@given(two_distributions())
def test_the_product_rules_of_hellinger_and_kl_hold_on_the_product_itself(pair):
    p, q = pair
    pp, qq = np.outer(p, p).ravel(), np.outer(q, q).ravel()
    single = min(1.0, d.hellinger_squared(p, q))
    assert d.hellinger_squared(pp, qq) == pytest.approx(
        d.hellinger_squared_of_product([single], 2), abs=1e-12
    )
    assert d.kl(pp, qq) == pytest.approx(2 * d.kl(p, q), abs=1e-9)
    assert d.hellinger_squared_of_product([single], 5) <= 5 * single + 1e-12


@given(two_distributions(), st.integers(0, 5))
def test_the_distance_between_powers_equals_the_sum_over_all_sequences(pair, n):
    p, q = pair
    sequences = product(range(len(p)), repeat=n)
    brute = 0.5 * sum(abs(prod(p[i] for i in s) - prod(q[i] for i in s)) for s in sequences)
    assert d.total_variation_of_power(p, q, n) == pytest.approx(brute, abs=1e-12)


@given(n=st.integers(0, 60), p=st.floats(0, 1), q=st.floats(0, 1))
def test_the_binomial_overlap_equals_the_exact_sum(n, p, q):
    a, b = Fraction(p), Fraction(q)
    exact = sum(
        comb(n, k) * min(a**k * (1 - a) ** (n - k), b**k * (1 - b) ** (n - k)) for k in range(n + 1)
    )
    assert d.binomial_overlap(n, p, q) == pytest.approx(float(exact), rel=1e-11, abs=1e-300)
    assert d.binomial_total_variation(n, p, q) == pytest.approx(float(1 - exact), abs=1e-12)


def test_a_million_tosses_keep_their_digits():
    # the sum of min(P, Q) in logarithms, over 30 standard deviations to each side of the cut
    n, q = 10**6, 0.51
    k = np.arange(490_000, 520_000)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    small = np.minimum(n * np.log(0.5), k * np.log(q) + (n - k) * np.log1p(-q))
    assert d.binomial_overlap(n, 0.5, q) == pytest.approx(np.exp(ways + small).sum(), rel=1e-7)


def test_one_toss_of_the_biased_coin_is_half_epsilon_away():
    # ε = .1; the text prints ε
    assert d.total_variation([0.5, 0.5], [0.45, 0.55]) == pytest.approx(0.05)


def test_bernoulli_divergence_is_the_two_point_divergence():
    assert d.kl_bernoulli(0.3, 0.6) == pytest.approx(d.kl([0.7, 0.3], [0.4, 0.6]))
    assert d.kl_bernoulli(0.3, 1.0) == np.inf


def test_what_is_no_distribution_is_refused_by_name():
    with pytest.raises(InputError, match="q must be non-negative and sum to 1"):
        d.total_variation([0.5, 0.5], [0.5, 0.6])
    with pytest.raises(InputError, match="p has 2 labels and q 3"):
        d.kl([0.5, 0.5], [0.2, 0.3, 0.5])
    with pytest.raises(InputError, match="count vectors"):
        d.total_variation_of_power([0.2] * 5, [0.2] * 5, 500)


def _subsets(k):
    return ([i for i in range(k) if mask >> i & 1] for mask in range(2**k))
