from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range

from tallystick.stats import power as pw


@st.composite
def pairs(draw, least=0.01):
    d = draw(st.floats(least, 1.0))
    return draw(st.floats(least, d)), d


def test_the_three_sizes_of_the_errata():
    assert pw.paired_items(0.02, 0.02) == 391
    assert pw.paired_items(0.02, 0.1) == 1960
    assert pw.unpaired_items(0.02, 0.7) == 8241


@given(pairs(0.02), st.floats(0.5, 0.99))
def test_the_detectable_difference_inverts_the_items(pair, power):
    n = pw.paired_items(*pair, power=power)
    found = pw.detectable_difference(n, pair[1], power=power)
    assert found <= pair[0] * (1 + 1e-9)
    assert pw.paired_items(found * (1 + 1e-9), pair[1], power=power) <= n


@given(n=st.integers(1, 40), pair=pairs(0.05), alpha=st.floats(0.001, 0.3))
def test_the_exact_power_equals_the_sum_over_all_tables(n, pair, alpha):
    e, d = pair
    win, lose = (d + e) / 2, (d - e) / 2
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            m, least = b + c, min(b, c)
            p_value = min(1.0, 2 * sum(comb(m, k) for k in range(least + 1)) / 2**m)
            if m and p_value <= alpha:
                total += comb(n, b) * comb(n - b, c) * win**b * lose**c * (1 - d) ** (n - m)
    found = pw.exact_paired_power(n, e, d, alpha=alpha, certified=True)
    assert found == pytest.approx(total, abs=1e-10)


@settings(max_examples=15)
@given(pairs(0.05), st.floats(0.6, 0.95))
def test_exact_items_keep_the_power_from_there_on(pair, power):
    n = pw.exact_paired_items(*pair, power=power)
    assert all(pw.exact_paired_power(n + more, *pair) >= power for more in range(12))
    assert n == 1 or pw.exact_paired_power(n - 1, *pair) < power


@pytest.mark.parametrize("models", [2, 3, 10, 60])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_critical_value_of_all_pairs_is_tukeys(models, alpha):
    peer = studentized_range.ppf(1 - alpha, models, np.inf) / np.sqrt(2)
    assert pw.range_critical(models, alpha) == pytest.approx(peer, rel=1e-6)


@given(pairs(), st.floats(0.5, 0.99))
def test_the_items_reach_the_power_and_one_less_does_not(pair, power):
    difference, disagreement = pair
    spread = np.sqrt(disagreement - difference**2)

    def reached(n):  # (P2), solved for the power
        ahead = abs(difference) * np.sqrt(n) - norm.ppf(0.975) * np.sqrt(disagreement)
        return norm.cdf(ahead / spread) if spread > 0 else float(ahead > 0)

    n = pw.paired_items(*pair, power=power)
    assert reached(n) >= power - 1e-9
    if n > 1 and disagreement < 1:
        assert reached(n - 1) <= power + 1e-9
