from __future__ import annotations

import numpy as np

from benchmarks.replays import observe
from tallystick.sampling import FAILED, Plan, Strata, Uniform

STRATA = Strata(np.array([0, 0, 1, 1, 1]))


def test_counts_by_hand() -> None:
    plan = Plan(
        strata=STRATA,
        policy=Uniform(),
        budget=4,
        n_outcomes=2,
        baseline=[0, 1, 1, 1, 0],
    )
    seen = observe(plan, np.array([1, 2, 3, 4]), np.array([1, 0, FAILED, 0]))
    assert seen.asked.tolist() == [1, 3]
    assert seen.answered.tolist() == [1, 2]
    assert seen.fraction.tolist() == [1 / 2, 2 / 3]
    assert seen.new.tolist() == [[0, 1], [2, 0]]
    assert seen.old.tolist() == [[0, 1], [1, 1]]
    assert seen.same.tolist() == [[0, 1], [1, 0]]
    assert seen.before.tolist() == [0.4, 0.6]
    some = observe(plan, np.array([1, 2]), np.array([1, 0]), keep=np.array([True, False]))
    assert some.asked.tolist() == [1, 0]


def test_without_a_baseline_nothing_is_said_of_one_and_with_replacement_no_fraction_is_exhausted() -> (
    None
):
    plan = Plan(strata=STRATA, policy=Uniform(), budget=9, n_outcomes=2, replacement=True)
    seen = observe(plan, np.array([[0, 0], [2, 4]]), np.array([[0, 0], [1, 1]]))
    assert seen.old is None
    assert seen.same is None
    assert seen.before is None
    assert seen.new.tolist() == [[[2, 0], [0, 0]], [[0, 0], [0, 2]]]
    assert not seen.fraction.any()
