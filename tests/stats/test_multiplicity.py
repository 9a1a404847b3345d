from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import ndtr

from tallystick.errors import InputError
from tallystick.stats.maxt import holm

p_values = arrays(float, st.integers(1, 30), elements=st.floats(0, 1))

# The 15 p-values of Benjamini and Hochberg's kind of example, adjusted by statsmodels 0.14
# (multipletests).
P = [
    0.001,
    0.008,
    0.039,
    0.041,
    0.042,
    0.06,
    0.074,
    0.205,
    0.212,
    0.216,
    0.222,
    0.251,
    0.269,
    0.275,
    0.34,
]
HOLM = [0.015, 0.112, 0.507, 0.507, 0.507, 0.6, 0.666] + [1.0] * 8


@given(p_values)
def test_holm_keeps_the_order_and_lies_between_the_p_values_and_bonferroni(p):
    found = holm(p)
    assert np.all(np.diff(found[np.argsort(p)]) >= -1e-12)
    assert np.all(found >= p - 1e-12)
    assert np.all(found <= np.minimum(1, p.size * p) + 1e-12)


def test_the_shape_is_kept():
    assert holm(np.full((2, 3), 0.01)).shape == (2, 3)
    assert holm(np.full((2, 3), 0.01)) == pytest.approx(0.06)


def test_a_missing_p_value_is_refused():
    with pytest.raises(InputError, match="p must be in"):
        holm([0.1, np.nan])


def test_the_family_wise_error_is_held_when_all_nulls_are_true_and_dependent():
    rng = np.random.default_rng(1)
    shared = rng.standard_normal((4000, 1))
    z = 0.7 * shared + np.sqrt(1 - 0.49) * rng.standard_normal((4000, 12))
    p = 2 * ndtr(-np.abs(z))
    wrong = np.mean([holm(row).min() <= 0.05 for row in p])
    assert wrong <= 0.05


def test_the_adjusted_values_equal_statsmodels():
    shuffled = np.random.default_rng(0).permutation(15)
    np.testing.assert_allclose(holm(np.array(P)[shuffled]), np.array(HOLM)[shuffled], atol=1e-9)
