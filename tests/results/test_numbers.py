"""Numbers as a reader sees them."""

import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.results import (
    Interval,
    about,
    count,
    number,
    number_interval,
    p_value,
    percent,
    percent_interval,
    points,
    points_interval,
)

anything = st.floats(allow_nan=False)


def read(text):
    """Return the first number of a text, as a reader takes it."""
    plain = text.replace("−", "-").replace(",", "").replace("\u00a0", " ")
    return float(re.match(r"[+-]?[\d.]+", plain)[0])


def test_a_rate_and_its_interval_have_one_unit():
    assert percent_interval(0.863, Interval(0.849, 0.876)) == "86.3% [84.9, 87.6]"
    assert percent_interval(0.029, Interval(-0.0002, 0.043)) == "2.9% [0.0, 4.3]"
    assert percent_interval(None, Interval(0, 1)) == "– [0.0, 100.0]"


def test_a_difference_is_in_points_and_has_a_sign():
    assert points(0.044) == "+4.4 points"
    assert points(-0.044) == "−4.4 points"
    assert points_interval(0.44, Interval(0.059, 0.82)) == "+44.0 points [+5.9, +82.0]"
    assert points_interval(0.0, Interval(-math.inf, math.inf)) == "0.0 points [−∞, +∞]"


@given(anything)
def test_zero_never_has_a_sign_and_nothing_is_in_scientific_notation(value):
    for text in (percent(value), points(value), number(value), number(value, sign=True)):
        assert not re.match(r"[+−-]0(\.0*)?(?![.\d])", text)
        assert "e" not in text.replace("points", "")


@given(st.floats(-1e12, 1e12))
def test_a_number_is_right_to_its_fourth_digit(value):
    text = number(value)
    if "×" not in text:
        assert read(text) == pytest.approx(value, rel=6e-4, abs=1e-12)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.034, "p = 0.034"),
        (2.2e-18, "p < 0.0001"),
        (0.0, "p < 0.0001"),
        (0.5, "p = 0.50"),
        (0.00012, "p = 0.0001"),
        (0.04999, "p = 0.04999"),
        (0.05, "p = 0.050"),
        (0.0501, "p = 0.0501"),
        (0.999, "p > 0.99"),
    ],
)
def test_a_p_value_has_two_digits(p, text):
    assert p_value(p) == text


@given(st.floats(0.0001, 1), st.sampled_from([0.01, 0.05, 0.1]))
def test_a_p_value_stands_on_the_side_of_the_level_on_which_it_is(p, alpha):
    text = p_value(p, alpha=alpha)
    shown = float(text.split()[-1])
    assert (shown <= alpha) == (p <= alpha)


@pytest.mark.parametrize("p", [-0.1, 1.1, math.nan])
def test_what_is_no_p_value_is_refused(p):
    with pytest.raises(InputError, match="p must be in"):
        p_value(p)


def test_counts_have_commas_and_forecasts_two_digits():
    assert count(2400) == "2,400"
    assert [about(n) for n in (0, 1, 99, 101, 137, 11_234)] == [
        "about 1",
        "about 1",
        "about 99",
        "about 100",
        "about 140",
        "about 11,000",
    ]


@given(st.integers(1, 10**12))
def test_a_forecast_is_within_five_per_cent(n):
    assert read(about(n).removeprefix("about ")) == pytest.approx(n, rel=0.05)


def test_an_interval_of_any_number_shows_two_digits_of_its_width():
    assert number_interval(813.27, Interval(790.1, 836.4)) == "813 [790, 836]"
    assert number_interval(0.5, Interval(0.8, 0.9)) == "0.50 [0.80, 0.90]"
    assert number_interval(-0.001, Interval(-0.2, 0.9)) == "0.0 [−0.2, 0.9]"
    assert number_interval(2.0, Interval(2.0, 2.0)) == "2 [2, 2]"
    assert number_interval(2.0, Interval(1.0, math.inf)) == "2 [1, ∞]"
    assert number(math.nan) == percent(None) == "–"
    assert number(2.2e-18) == "2.2 × 10⁻¹⁸"
