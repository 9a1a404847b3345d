"""Laws that every interval for a share obeys, whatever its method."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.results import Interval
from tallystick.stats.intervals import clopper_pearson, wilson
from tallystick.stats.urns import hypergeometric


def finite(successes, trials, **options):
    return hypergeometric(successes, trials, 3 * trials, **options)


ARRAYS = [clopper_pearson, wilson]
METHODS = [*ARRAYS, finite]
counts = st.integers(1, 80).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
alphas = st.sampled_from([0.01, 0.05, 0.2])


@pytest.mark.parametrize("method", ARRAYS)
@given(counts, alphas)
def test_a_scalar_is_the_entry_of_an_array(method, count, alpha):
    x, n = count
    one = method(x, n, alpha=alpha)
    assert isinstance(one, Interval)
    assert method(np.array([x, x]), n, alpha=alpha)[1] == one


@pytest.mark.parametrize("method", METHODS)
@given(counts, alphas)
def test_the_observed_share_is_inside(method, count, alpha):
    x, n = count
    one = method(x, n, alpha=alpha)
    assert one.low <= x / n + 1e-12
    assert x / n <= one.high + 1e-12
    assert one.low >= 0
    assert one.high <= 1


@pytest.mark.parametrize("method", METHODS)
@given(counts, alphas)
def test_successes_and_failures_mirror_each_other(method, count, alpha):
    x, n = count
    here, there = method(x, n, alpha=alpha), method(n - x, n, alpha=alpha)
    assert (here.low, here.high) == pytest.approx((1 - there.high, 1 - there.low), abs=1e-12)


@pytest.mark.parametrize("method", METHODS)
@given(counts)
def test_more_certainty_is_wider(method, count):
    sure, less = method(*count, alpha=0.01), method(*count, alpha=0.1)
    assert sure.low <= less.low
    assert less.high <= sure.high


@pytest.mark.parametrize("method", METHODS)
@given(st.integers(1, 80))
def test_both_ends_rise_with_the_successes(method, n):
    found = [method(x, n) for x in range(n + 1)]
    assert (np.diff([one.low for one in found]) >= 0).all()
    assert (np.diff([one.high for one in found]) >= 0).all()


@given(counts)
def test_a_finite_population_is_never_wider_than_an_endless_one_by_more_than_one_item(count):
    x, n = count
    urn, coin = hypergeometric(x, n, 3 * n), clopper_pearson(x, n)
    assert urn.low >= coin.low - 1 / (3 * n)
    assert urn.high <= coin.high + 1 / (3 * n)
