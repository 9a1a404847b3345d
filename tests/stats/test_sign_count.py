import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tallystick.errors import InputError
from tallystick.stats.signs import sign_count, sign_p_value


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_sign_test_is_the_exact_binomial_one(larger, smaller):
    x = [1] * larger + [-1] * smaller + [0, 0]
    found = sign_count(x, [0] * len(x))
    expected = binomtest(larger, larger + smaller).pvalue if larger + smaller else 1.0
    assert found.p_value == pytest.approx(expected)
    assert found.same == 2


def test_a_negative_count_is_refused():
    with pytest.raises(InputError, match="larger"):
        sign_p_value(-1, 3)
