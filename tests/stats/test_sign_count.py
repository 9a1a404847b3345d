import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from tallystick.errors import InputError
from tallystick.stats.signs import sign_p_value


def test_a_negative_count_is_refused():
    with pytest.raises(InputError, match="larger"):
        sign_p_value(-1, 3)


@given(st.integers(0, 30), st.integers(0, 30))
def test_the_sign_test_is_the_exact_binomial_one(larger, smaller):
    expected = binomtest(larger, larger + smaller).pvalue if larger + smaller else 1.0
    assert sign_p_value(larger, smaller) == pytest.approx(expected)
