from __future__ import annotations

import numpy as np
import pytest

from benchmarks.replays import replay
from tallystick.errors import InputError
from tallystick.sampling import Masa, Plan, Strata


def test_a_stratum_whose_calls_all_fail_counts_as_uncertain_but_does_not_eat_the_budget() -> None:
    strata = Strata(np.repeat([0, 1], 500))
    answers = np.repeat([-1, 0], 500)
    plan = Plan(strata=strata, policy=Masa(), budget=200, n_outcomes=2)
    asked = replay(plan, answers, runs=1, rng=0).observed().asked[0]
    assert 110 < asked[0] < 170  # σ = 1 where nothing is known, against 0


def test_weights_by_stratum_steer_towards_the_entries_that_matter() -> None:
    strata = Strata(np.repeat([0, 1], 1000))
    answers = np.random.default_rng(0).integers(0, 2, 2000)
    plan = Plan(
        strata=strata,
        policy=Masa(exploration=0.1),
        budget=400,
        n_outcomes=2,
        weights=[[1.0, 1.0], [0.2, 0.2]],
    )
    asked = replay(plan, answers, runs=20, rng=1).observed().asked.mean(axis=0)
    assert asked[0] / asked[1] == pytest.approx(5, rel=0.1)  # n ∝ p σ_W


def test_exploration_must_be_positive() -> None:
    with pytest.raises(InputError, match="abandoned"):
        Masa(exploration=0)
