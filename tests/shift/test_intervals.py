import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.verbs.shift.design import StratumSample, minus, sum_bounds


def sample(sizes, asked):
    sizes, asked = np.array(sizes, float), np.array(asked, float)
    return StratumSample(sizes / sizes.sum(), asked, asked / sizes)


strata = st.lists(st.integers(2, 60), min_size=1, max_size=6)


@given(strata, st.integers(0, 1000))
def test_an_interval_holds_its_estimate_and_stays_in_range(sizes, seed):
    rng = np.random.default_rng(seed)
    asked = np.array([rng.integers(1, size + 1) for size in sizes])
    events = rng.integers(0, asked + 1).astype(float)
    bounds = sum_bounds(events, sample(sizes, asked), alpha=0.05)
    assert 0 <= bounds.low <= bounds.value <= bounds.high <= 1 + 1e-12


@given(strata, st.integers(0, 1000))
def test_the_complement_mirrors_the_interval(sizes, seed):
    rng = np.random.default_rng(seed)
    asked = np.array([rng.integers(1, size + 1) for size in sizes])
    events = rng.integers(0, asked + 1).astype(float)
    seen = sample(sizes, asked)
    one, other = sum_bounds(events, seen, alpha=0.05), sum_bounds(asked - events, seen, alpha=0.05)
    if abs(one.value - 0.5) > 1e-9:
        assert one.low == pytest.approx(1 - other.high, abs=1e-9)
        assert one.high == pytest.approx(1 - other.low, abs=1e-9)


def test_everything_asked_leaves_no_doubt():
    bounds = sum_bounds(np.array([3.0, 0.0]), sample([10, 20], [10, 20]), alpha=0.05)
    assert bounds.low == bounds.high == pytest.approx(0.1)


def test_nothing_seen_is_bounded_about_like_the_rule_of_three():
    bounds = sum_bounds(np.array([0.0]), sample([10**6], [300]), alpha=0.05)
    assert bounds.low == 0
    assert 3 / 300 < bounds.high < 3.8 / 300  # two-sided, so above 3/n


def test_an_event_that_is_impossible_everywhere_is_zero():
    bounds = sum_bounds(
        np.zeros(2), sample([10, 10], [5, 5]), alpha=0.05, possible=np.zeros(2, bool)
    )
    assert (bounds.value, bounds.low, bounds.high) == (0, 0, 0)


def test_impossible_strata_do_not_widen_the_interval():
    seen = sample([1000, 10], [200, 2])
    events = np.array([4.0, 0.0])
    inside = sum_bounds(events, seen, alpha=0.05, possible=np.array([True, False]))
    assert inside.high < sum_bounds(events, seen, alpha=0.05).high


def test_a_difference_is_as_wide_as_its_parts_allow():
    seen = sample([500, 500], [100, 100])
    gain = sum_bounds(np.array([10.0, 2.0]), seen, alpha=0.05)
    loss = sum_bounds(np.array([3.0, 3.0]), seen, alpha=0.05)
    both = minus(gain, loss, seen)
    assert both.low <= gain.value - loss.value <= both.high
    assert both.low >= gain.low - loss.high
    assert both.high <= gain.high - loss.low


def test_no_gain_and_no_loss_is_a_difference_of_zero():
    seen = sample([500], [500])
    none = sum_bounds(np.zeros(1), seen, alpha=0.05)
    both = minus(none, none, seen)
    assert both.low == both.value == both.high == 0


def test_coverage_of_one_stratum_by_enumeration():
    # One stratum asked blindly is hypergeometric: every outcome can be summed up.
    from scipy.stats import hypergeom

    size, asked = 400, 60
    x = np.arange(asked + 1.0)
    seen = StratumSample(
        np.ones(1), np.full((asked + 1, 1), float(asked)), np.full((asked + 1, 1), asked / size)
    )
    bounds = sum_bounds(x[:, None], seen, alpha=0.05)
    coverage = []
    for total in range(size + 1):
        inside = (bounds.low <= total / size + 1e-12) & (total / size - 1e-12 <= bounds.high)
        coverage.append(hypergeom.pmf(x, size, total, asked)[inside].sum())
    assert np.mean(coverage) > 0.95
    assert min(coverage) > 0.928
