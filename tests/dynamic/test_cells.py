import numpy as np
import pytest

from tallystick.dynamic.cells import MOST_ITEMS, check_total, one_an_item, round_of, weights_of
from tallystick.errors import InputError


def test_weights_are_read_from_text_and_numbers():
    assert weights_of(["3", "2.0", 1, 0.0, "1e2"], "w").tolist() == [3, 2, 1, 0, 100]


@pytest.mark.parametrize("value", ["1.5", 0.25, "-1", -2, "two", "inf", float("nan"), "1_0", "nan"])
def test_a_weight_that_counts_nothing_is_refused_by_row_and_value(value):
    shown = "this one is blank" if value != value else f"got {value!r}"
    with pytest.raises(
        InputError, match=f"column 'w', row 2: .* whole number from 0 on, .*{shown}"
    ):
        weights_of([1, value, 1], "w")


@pytest.mark.parametrize("value", [None, ""])
def test_a_blank_weight_is_refused_by_row(value):
    with pytest.raises(InputError, match=r"column 'w', row 3: .* and this one is blank"):
        weights_of([1, 1, value], "w")


@pytest.mark.parametrize("value", [MOST_ITEMS + 1, "1e300"])
def test_a_weight_beyond_what_can_be_analysed_is_refused_before_memory_is(value):
    with pytest.raises(
        InputError, match=r"column 'w', row 1: the weight is .* no more than 500,000"
    ):
        weights_of([value], "w")


def test_weights_that_sum_to_nothing_or_to_too_much_are_refused():
    with pytest.raises(InputError, match="weights of all 2 items are 0"):
        check_total(np.array([0, 0]))
    with pytest.raises(InputError, match="sum to 500,001 items"):
        check_total(np.array([MOST_ITEMS, 1]))
    check_total(np.array([MOST_ITEMS, 0]))


def test_an_item_with_two_values_is_refused_by_name():
    rows = np.array([[0, 1], [2, 3]])
    assert one_an_item(np.array([5, 6, 5, 6]), rows, ["a", "b"], "weight").tolist() == [5, 6]
    with pytest.raises(InputError, match="item 'b' has the weight 6 in one row and 7 in another"):
        one_an_item(np.array([5, 6, 5, 7]), rows, ["a", "b"], "weight")


@pytest.mark.parametrize("value", ["inf", "-inf", "1e400", float("inf")])
def test_an_infinite_round_is_refused_like_any_other_bad_one(value):
    with pytest.raises(InputError, match="row 1: a round is a whole number"):
        round_of(value, "round", 0)
