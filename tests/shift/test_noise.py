import numpy as np
import pytest
from scipy.stats import binomtest

from tallystick.errors import InputError
from tallystick.verbs.shift import noise_floor


def test_the_odd_one_out_is_counted():
    #                   same  both new  first odd  second odd  all differ
    floor = noise_floor([0, 0, 0, 0, 0], [0, 1, 1, 0, 1], [0, 1, 0, 1, 2])
    assert (floor.both_new, floor.one_odd, floor.items) == (1, 2, 5)
    assert floor.unstable == pytest.approx(3 / 5)
    assert floor.changed == 0
    assert floor.p_value == pytest.approx(binomtest(1, 3, 1 / 3, alternative="greater").pvalue)


def test_nothing_to_compare_proves_nothing():
    assert noise_floor([1, 1], [1, 1], [1, 1]).p_value == 1


def test_the_test_keeps_its_level_on_an_api_of_pure_chance():
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        old, first, second = (rng.random(100) < 0.8 for _ in range(3))
        wrong += noise_floor(old, first, second).p_value <= 0.05
    assert wrong <= 32  # 1e-3 quantile at 5 %


def test_unequal_lengths_are_refused():
    with pytest.raises(InputError):
        noise_floor([0], [0, 1], [0, 1])
