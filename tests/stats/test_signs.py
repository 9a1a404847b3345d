from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
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


def test_false_stops_stay_below_alpha_for_ever():
    stopped = sign_stopping(0.5, 20_000)
    assert stopped[1000] == pytest.approx(0.0357, abs=5e-5)
    assert stopped[-1] < 0.05
    for alpha in (0.01, 0.2):
        assert sign_stopping(0.5, 3000, alpha=alpha)[-1] < alpha


def test_four_thousand_null_runs_stop_as_often_as_the_law_says():
    rng = np.random.default_rng(23)
    wins = np.cumsum(rng.random((4000, 1000)) < 0.5, axis=1)
    peaks = np.max(sign_log_e(wins, np.arange(1, 1001) - wins), axis=1)
    false_stops = np.sum(peaks >= log(20))
    assert false_stops <= 4000 * 0.05
    assert abs(false_stops - 4000 * 0.0357) < 4 * np.sqrt(4000 * 0.0357 * 0.9643)


def test_a_run_of_wins_stops_when_its_evidence_passes_the_bar():
    stopped = sign_stopping(1.0, 50)  # every sign for the first side: E = 2^m/(m+1) passes 20 at 8
    assert stopped[7] == 0
    assert stopped[8] == 1


def test_the_items_of_a_sequential_test_agree_with_simulation():
    by, mean = sequential_items(0.05, 0.2)
    rng = np.random.default_rng(29)
    draws = rng.random((1000, 4 * by))
    wins, losses = (np.cumsum(x, axis=1) for x in (draws < 0.125, (draws >= 0.125) & (draws < 0.2)))
    stop = np.argmax(sign_log_e(wins, losses) >= log(20), axis=1) + 1
    assert np.mean(stop <= by) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 1000))
    assert np.mean(stop) == pytest.approx(mean, rel=0.08)


def test_five_thousand_wins_do_not_overflow():
    assert sign_log_e(5001, 0) == pytest.approx(5001 * log(2) - log(5002))


def test_what_cannot_be_planned_is_refused():
    with pytest.raises(InputError, match="disagreement must be in"):
        sequential_items(0.2, 0.1)
    with pytest.raises(InputError, match="lean must be"):
        sign_stopping(1.5, 10)
    with pytest.raises(InputError, match="horizon must be at most"):
        sign_stopping(0.5, 10**6)
