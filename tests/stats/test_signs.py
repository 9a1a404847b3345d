from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.stats.signs import sequential_items, sign_log_e, sign_stopping

signs = st.lists(st.sampled_from([-1, 0, 1]), max_size=60)


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_e_value_equals_its_exact_fraction(b, c):
    exact = Fraction(2 ** (b + c), (b + c + 1) * comb(b + c, b))  # B(b+1, c+1) = 1/((m+1) C(m, b))
    assert float(sign_log_e(b, c)) == pytest.approx(
        log(exact.numerator) - log(exact.denominator), abs=1e-9
    )


def test_the_e_value_has_mean_one_under_equal_models():
    for m in range(12):
        mean = sum(comb(m, b) * np.exp(sign_log_e(b, m - b)) for b in range(m + 1)) / 2**m
        assert mean == pytest.approx(1)


@pytest.mark.parametrize("lean", [0.5, 0.8])
def test_the_stopping_law_equals_the_sum_over_all_runs(lean):
    length, alpha = 12, 0.2
    stopped = np.zeros(length + 1)
    for run in product([1, -1], repeat=length):
        wins = np.cumsum(np.array(run) > 0)
        e = sign_log_e(wins, np.arange(1, length + 1) - wins)
        when = np.flatnonzero(e >= log(1 / alpha))
        if when.size:
            stopped[when[0] + 1 :] += lean ** wins[-1] * (1 - lean) ** (length - wins[-1])
    np.testing.assert_allclose(sign_stopping(lean, length, alpha=alpha), stopped, atol=1e-12)


def test_the_items_of_a_sequential_test_agree_with_simulation():
    by, mean = sequential_items(0.05, 0.2)
    rng = np.random.default_rng(29)
    draws = rng.random((1000, 4 * by))
    wins, losses = (np.cumsum(x, axis=1) for x in (draws < 0.125, (draws >= 0.125) & (draws < 0.2)))
    stop = np.argmax(sign_log_e(wins, losses) >= log(20), axis=1) + 1
    assert np.mean(stop <= by) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 1000))
    assert np.mean(stop) == pytest.approx(mean, rel=0.08)
