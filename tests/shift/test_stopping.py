import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.shift import FlipGate


def test_clean_runs_pass_as_early_as_promised():
    for limit, calls in ((0.01, 304), (0.005, 605), (0.05, 60)):
        gate = FlipGate(limit=limit, population=20_000).update(np.zeros(1000))
        assert (gate.passed, gate.asked) == (True, calls)


def test_many_flips_fail_the_gate():
    gate = FlipGate(limit=0.01, population=20_000).update([0, 1] * 20)
    assert gate.passed is False
    assert gate.asked < 20


def test_a_decided_gate_stays_decided():
    gate = FlipGate(limit=0.05, population=1000).update(np.zeros(200))
    assert gate.update(np.ones(50)) == gate


def test_a_limit_of_zero_falls_at_the_first_flip_and_passes_at_the_last_item():
    gate = FlipGate(limit=0.0, population=10)
    assert gate.update([0] * 9).passed is None
    assert gate.update([0] * 10).passed is True
    assert gate.update([0, 0, 1]).passed is False
    assert gate.update([0] * 9 + [np.nan]).passed is None


def test_failed_calls_prove_nothing():
    clean = FlipGate(limit=0.05, population=10_000)
    assert clean.update([np.nan] * 300).passed is None
    assert clean.update([0.0] * 300).passed is True


def test_false_alarms_stay_below_alpha():
    population, limit = 2000, 0.02
    for flips, wrong in ((41, True), (39, False)):  # just above, just below
        rng = np.random.default_rng(1)
        bad = 0
        for _ in range(200):
            order = rng.permutation(np.r_[np.ones(flips), np.zeros(population - flips)])[:800]
            bad += FlipGate(limit=limit, population=population).update(order).passed is wrong
        assert bad <= 18  # 1e-2 quantile of 200 draws at 5%


def test_a_limit_outside_the_unit_interval_is_refused():
    with pytest.raises(InputError, match="limit"):
        FlipGate(limit=1.0, population=10)


@pytest.mark.parametrize(("flips", "passed"), [(0, True), (1, True), (2, False)])
def test_a_gate_that_saw_every_item_goes_by_the_count(flips, passed):
    answers = np.r_[np.zeros(50), np.ones(flips), np.zeros(50 - flips)]
    assert FlipGate(limit=0.01, population=100).update(answers).passed is passed
    one_by_one = FlipGate(limit=0.01, population=100)
    for answer in answers:
        one_by_one = one_by_one.update(answer)
    assert one_by_one.passed is passed


def test_a_call_that_failed_may_have_been_the_flip_too_many():
    answers = np.r_[np.zeros(50), 1, np.nan, np.zeros(48)]
    assert FlipGate(limit=0.01, population=100).update(answers).passed is None
