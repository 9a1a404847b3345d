import numpy as np
import pytest

from tallystick._rng import as_rng, seed_of, spawn
from tallystick.errors import InputError


def test_the_same_seed_draws_the_same_numbers():
    assert as_rng(3).random(5).tolist() == as_rng(np.int64(3)).random(5).tolist()


def test_a_generator_is_handed_back_as_it_is():
    generator = np.random.default_rng(1)
    assert as_rng(generator) is generator


@pytest.mark.parametrize("bad", [None, -1, 1.0, True, "7"])
def test_anything_but_a_seed_or_a_generator_is_refused(bad):
    with pytest.raises(InputError, match="rng must be"):
        as_rng(bad)


def test_spawned_generators_differ_from_one_another_and_repeat():
    first = [g.integers(2**60) for g in spawn(5, 4)]
    assert first == [g.integers(2**60) for g in spawn(5, 4)]
    assert len(set(first)) == 4


def test_the_seed_of_a_generator_in_mid_life_is_unknown():
    assert seed_of(9) == 9
    assert seed_of(np.random.default_rng(9)) is None
