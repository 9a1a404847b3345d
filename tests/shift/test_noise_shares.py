import numpy as np
import pytest

from tallystick.sampling import FAILED
from tallystick.verbs.shift import Items
from tallystick.verbs.shift.noise import (
    NoiseShares,
    Repeats,
    accuracy_noise_share,
    noise_share,
    repeats_of,
)

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


def repeats(confirmed, reverted, between_wrong=0):
    """Right answers that became wrong and were asked again; some flips moved among wrong ones."""
    number = confirmed + reverted
    return Repeats(
        old=[0] * number + [1] * between_wrong,
        first=[1] * number + [2] * between_wrong,
        second=[1] * confirmed + [0] * reverted + [2] * between_wrong,
        weight=[1.0] * (number + between_wrong),
        truth=[0] * (number + between_wrong),
    )


def test_accuracy_counts_every_flip_as_noise_until_its_repeats_refute_chance():
    assert accuracy_noise_share(repeats(21, 9)) == pytest.approx(0.6957, abs=5e-5)  # the page's
    assert accuracy_noise_share(repeats(30, 0)) == pytest.approx(0.0549, abs=5e-5)
    # p = .18: λ of (N1) would be .90, but chance may explain all.
    assert accuracy_noise_share(repeats(18, 12)) == 1
    assert float(noise_share(30, 12)) < 0.92
    # Four of four: p = .06. Flips between two wrong answers say nothing about accuracy.
    assert accuracy_noise_share(repeats(4, 0, between_wrong=20)) == 1
    assert accuracy_noise_share(repeats(5, 0)) < 0.3


def test_on_an_unchanged_api_the_share_is_hardly_ever_below_one():
    rng = np.random.default_rng(4)
    below = np.mean(
        [accuracy_noise_share(repeats(c, 40 - c)) < 1 for c in rng.binomial(40, 0.5, 2000)]
    )
    assert below <= 0.05  # exactly .040; with (N1) alone .318
