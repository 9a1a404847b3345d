import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.compare import Ladder, flip_attack


def test_two_lucky_flips_climb_the_free_rule_and_not_the_z_rule():
    truth = np.random.default_rng(0).random(1000) < 0.5
    free = flip_attack(Ladder(rule="free"), truth, rounds=3000, rng=1)
    safe = flip_attack(Ladder(submissions=3001), truth, rounds=3000, rng=1)
    assert free[-1] < 0.2  # the true risk is one half
    assert abs(safe[-1] - 0.5) < 0.06


def test_a_real_improvement_is_released():
    ladder = Ladder(submissions=100)
    old = np.tile([1.0, 0.0], 500)
    assert ladder.submit(old) == 0.5
    assert ladder.submit(np.where(np.arange(1000) < 200, 0.0, old)) == pytest.approx(0.4)


def test_what_is_released_never_gets_worse():
    rng = np.random.default_rng(1)
    ladder = Ladder(rule="free")
    shown = [
        ladder.submit((rng.random(300) < rate).astype(float)) for rate in (0.5, 0.6, 0.3, 0.4, 0.2)
    ]
    assert shown == sorted(shown, reverse=True)


def test_planned_submissions_are_an_end():
    ladder = Ladder(submissions=2)
    for _ in range(2):
        ladder.submit(np.zeros(10))
    with pytest.raises(InputError, match="fresh test set"):
        ladder.submit(np.zeros(10))


def test_losses_are_checked():
    ladder = Ladder()
    ladder.submit(np.zeros(10))
    with pytest.raises(InputError, match="same 10 items"):
        ladder.submit(np.zeros(9))
    with pytest.raises(InputError, match=r"\[0, 1\]"):
        ladder.submit(np.full(10, 2.0))
    with pytest.raises(InputError, match="rule"):
        Ladder(rule="loose")
