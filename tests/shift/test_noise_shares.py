import numpy as np

from tallystick.sampling import FAILED
from tallystick.shift import Items
from tallystick.shift.noise_share import noise_share
from tallystick.shift.noise_shares import NoiseShares, repeats_of

ITEMS = Items.of(["a", "a", "b", "b", "a", "b"], old=["a", "a", "b", "b", "b", "a"])


def test_only_flips_that_were_answered_twice_are_repeats():
    first = {0: 1, 1: 0, 2: 0, 3: FAILED, 4: 0}
    again = np.array([0, 1, 2, 3, 4]), np.array([1, 1, FAILED, 0, 0])
    found = repeats_of(ITEMS, first, again, np.ones(6))
    # Item 1 did not flip, item 2 failed the second time, item 3 the first time.
    assert len(found) == 2
    assert found.first.tolist() == [1, 0]
    assert found.second.tolist() == [1, 0]


def test_without_old_answers_or_repeats_there_is_nothing():
    none = np.array([], np.intp), np.array([], np.intp)
    assert repeats_of(ITEMS, {}, none, np.ones(6)) is None


def test_a_constant_share_is_everywhere():
    held = NoiseShares.constant(1.0, 4)
    assert (held.accuracy, held.flips) == (1.0, 1.0)
    assert held.entries.tolist() == held.joint.tolist() == [1.0] * 4


def test_confirmed_flips_leave_little_noise():
    assert float(noise_share(30, 0)) < 0.06
