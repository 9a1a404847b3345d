"""The vectors were computed apart from this code, by the formulas of docs/theory/shift.md."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tallystick.verbs.shift.design import SumBounds
from tallystick.verbs.shift.noise import Confirmed, Repeats, beyond_noise, chance_p_value
from tallystick.verbs.shift.old_draws import unstable_share


def rate(value, low, high):
    return SumBounds(*(np.asarray(x) for x in (value, low, high, 0.0, 0.0)))


def confirmed(m, a, b, size=None):
    return Confirmed(*(np.asarray(float(x)) for x in (m, a, b, m if size is None else size)))


def test_the_printed_vector_comes_out():
    # F = .13 with the unrounded ends of the flip vector at λ = 1
    found = beyond_noise(rate(0.13, 0.08781340, 0.15897676), confirmed(39, 19, 16))
    ends = (found.value, found.low, found.high)
    # Without old draws the old noise may be 0: the upper end is that of F (κ + 1)/2.
    assert [round(float(x), 4) for x in ends] == [0.0100, 0.0, 0.0946]


def test_without_a_repeat_nothing_is_known():
    found = beyond_noise(rate(0.02, 0.01, 0.05), confirmed(0, 0, 0))
    assert (found.value, found.low, found.high) == (0, 0, 0.05)
    clean = beyond_noise(rate(0.0, 0.0, 0.03), confirmed(0, 0, 0))
    assert (clean.low, clean.high) == (0, 0.03)


def test_all_confirmed_leaves_the_flip_rate_itself():
    found = beyond_noise(rate(0.1, 0.08, 0.12), confirmed(200, 200, 0))
    assert found.value == pytest.approx(0.1)
    assert found.high == pytest.approx(0.12)
    assert 0.07 < found.low < 0.08


def test_of_a_noisier_new_api_only_all_flips_are_an_upper_end():
    found = beyond_noise(rate(0.4, 0.39, 0.6), confirmed(50, 10, 40))
    assert found.less_stable
    assert (found.value, found.low, found.high) == (0, 0, 0.6)
    # A quarter of the items moved to a new answer for good, and the old API is known to be calm.
    known = beyond_noise(rate(0.4, 0.39, 0.41), confirmed(500, 250, 250), old=(0.0, 1000))
    assert known.less_stable
    assert known.value == pytest.approx(0.2)
    assert known.low > 0.15
    assert known.high == pytest.approx(0.41)


def test_few_repeats_that_all_revert_bound_nothing_below_half_of_the_flips():
    found = beyond_noise(rate(0.06, 0.03, 0.1), confirmed(4, 0, 4))
    assert not found.less_stable
    assert found.high > 0.03


@pytest.mark.parametrize(("old", "shown"), [(0.0, 198), (0.1, 150)])
def test_with_old_draws_the_interval_covers_the_change_of_distribution(old, shown):
    """A third of the items became a coin, the others are as noisy as they were."""
    rng = np.random.default_rng(7)
    truth = np.where(np.arange(1500) % 2 == 0, old, 1 - old)
    coin = np.where(np.arange(1500) % 3 == 0, 0.5, truth)
    hits = less = 0
    for _ in range(200):
        before = (rng.random((1500, 2)) < truth[:, None]).astype(int)
        asked = rng.permutation(1500)[:600]
        first, second = ((rng.random(600) < coin[asked]).astype(int) for _ in range(2))
        flipped = np.flatnonzero(before[asked, 0] != first)
        some = flipped[:80]
        repeats = Repeats(
            old=before[asked[some], 0],
            first=first[some],
            second=second[some],
            weight=np.ones(len(some)),
        )
        share = len(flipped) / 600
        half = 1.96 * np.sqrt(share * (1 - share) / 600)
        bounds = rate(share, share - half, share + half)
        known = (unstable_share(before), 1500)
        found = beyond_noise(bounds, repeats.flips(), old=known)
        hits += found.low <= np.mean((truth - coin) ** 2) <= found.high
        less += bool(found.less_stable)
    assert hits >= 178  # 1e-3 quantile at .95
    assert less >= shown


def test_repeats_of_a_given_weight_are_worth_fewer():
    even, uneven = confirmed(40, 30, 5), confirmed(40, 30, 5, size=20)
    narrow, wide = (beyond_noise(rate(0.2, 0.15, 0.25), one) for one in (even, uneven))
    assert wide.high - wide.low > narrow.high - narrow.low


@given(st.integers(0, 40), st.integers(0, 40))
def test_the_fixed_test_is_the_one_sided_binomial(a, b):
    expected = binomtest(a, a + b, alternative="greater").pvalue if a + b else 1.0
    assert float(chance_p_value(a, b)) == pytest.approx(expected)


def test_an_unchanged_api_shows_nothing_beyond_noise():
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(200):
        r = rng.choice([0.1, 0.5, 0.9], 1000)
        old, first, second = ((rng.random(1000) < r).astype(int) for _ in range(3))
        flipped = np.flatnonzero(old != first)
        some = rng.permutation(flipped)[:60]
        repeats = Repeats(old=old[some], first=first[some], second=second[some], weight=np.ones(60))
        share = len(flipped) / 1000
        found = beyond_noise(rate(share, share - 0.03, share + 0.03), repeats.flips())
        hits += found.low <= 0 <= found.high
    assert hits >= 178  # 1e-3 quantile at .95
