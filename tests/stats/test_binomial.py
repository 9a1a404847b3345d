from __future__ import annotations

from fractions import Fraction
from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.stats.exact_tails import binomial_above, binomial_up_to


def mass(n, p):
    rate = Fraction(p)
    return [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]


@given(n=st.integers(0, 60), p=st.floats(0, 1), data=st.data())
def test_both_tails_equal_the_exact_sums(n, p, data):
    k = data.draw(st.integers(-1, n))
    exact = mass(n, p)
    assert binomial_up_to(k, n, p) == pytest.approx(
        float(sum(exact[: k + 1])), rel=1e-12, abs=1e-300
    )
    assert binomial_above(k, n, p) == pytest.approx(
        float(sum(exact[k + 1 :])), rel=1e-12, abs=1e-300
    )


def test_a_far_tail_keeps_its_relative_precision():
    exact = sum(mass(400, "0.5")[300:])
    assert float(binomial_above(299, 400, 0.5)) == pytest.approx(float(exact), rel=1e-11)
    assert float(exact) < 1e-20
