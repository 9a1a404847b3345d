from fractions import Fraction

import pytest

from tests.exact_adversaries import nearest_hierarchies, nearest_path


def test_three_hundred_adversaries_stay_below_the_sharpened_theorem():
    nearest = nearest_hierarchies(300, seed=0).values()
    assert max(nearest) <= 1
    assert min(nearest) > Fraction(4, 5)  # some come near, so the test could fail


@pytest.mark.slow
def test_ten_thousand_adversaries_stay_below_the_sharpened_theorem():
    nearest = nearest_hierarchies(10_000, seed=1).values()
    assert max(nearest) <= 1
    assert min(nearest) > Fraction(9, 10)


def test_three_hundred_paths_stay_below_the_bound_for_any_rounds():
    nearest, three = nearest_path(300, seed=0)
    assert Fraction(1, 2) < nearest <= 1
    assert three <= 1


@pytest.mark.slow
def test_ten_thousand_paths_stay_below_the_bound_for_any_rounds():
    nearest, three = nearest_path(10_000, seed=1)
    assert Fraction(3, 4) < nearest <= 1
    assert three <= 1
