"""When two labels are the same, and in which order labels come."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.table import Label, identity, in_order, whole
from tallystick.table.cells import plain


def test_a_whole_float_is_the_label_of_its_integer() -> None:
    assert identity(1.0) == identity(1)
    assert repr(in_order([1.0, 2, -0.0])) == "(0, 1, 2)"
    assert repr(plain(np.float64(3.0), column="a")) == "3"


def test_one_as_a_number_a_text_and_a_boolean_are_three_labels() -> None:
    assert repr(in_order([1, "1", True])) == "(True, 1, '1')"


@pytest.mark.parametrize("order", list(permutations([0.5, 1, 1.0, None, True])))
def test_the_order_does_not_depend_on_how_labels_arrive(order: tuple[Label, ...]) -> None:
    assert repr(in_order(order)) == "(True, 0.5, 1, None)"


@given(st.lists(st.floats(-1e18, 1e18) | st.integers(-(2**60), 2**60)))
def test_numbers_are_the_same_label_exactly_if_they_are_equal(numbers: list[float]) -> None:
    found = in_order(numbers)
    assert found == tuple(sorted(set(numbers)))
    assert not any(isinstance(n, float) and n.is_integer() for n in found)


def test_a_float_without_an_integer_of_64_bits_stays_a_float() -> None:
    assert type(whole(2.0**63)) is float
    assert type(whole(-(2.0**62))) is int
    assert math.isinf(whole(math.inf) or 0)


@pytest.mark.parametrize("value", [None, math.nan, np.float32("nan"), pd.NA, pd.NaT])
def test_every_missing_value_is_none(value: object) -> None:
    assert plain(value, column="a") is None


@pytest.mark.parametrize("value", [b"x", [1], math.inf, 1j])
def test_what_is_not_a_label_is_refused_with_its_column(value: object) -> None:
    with pytest.raises(InputError, match="column 'gpt' holds"):
        plain(value, column="gpt")
