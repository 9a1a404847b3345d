import pytest

from tallystick.errors import InputError
from tallystick.verbs.shift.design import (
    ACCURACY_HULL,
    BLIND_SHARE,
    FLIP_HULL,
    more_repeats,
    repeats_planned,
)


def test_the_constants_are_those_that_were_measured():
    assert (BLIND_SHARE, FLIP_HULL, ACCURACY_HULL) == (0.7, 1.0, 0.5)


@pytest.mark.parametrize(("budget", "planned"), [(45, 30), (300, 30), (310, 31), (2000, 200)])
def test_a_tenth_of_the_budget_is_repeated_but_at_least_thirty(budget, planned):
    assert repeats_planned(budget) == planned


def test_thirty_clean_repeats_are_enough_and_one_doubt_goes_on_to_the_plan():
    asked = 0
    while more_repeats(asked, 0, budget=1000):
        asked += 1
    assert asked == 30
    while more_repeats(asked, 1, budget=1000):
        asked += 1
    assert asked == 100


def test_a_negative_count_is_refused():
    with pytest.raises(InputError, match="unconfirmed"):
        more_repeats(3, -1, budget=100)
