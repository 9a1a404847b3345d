from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.sampling import Budget, Masa, Plan, Sampler, Strata, replay
from tallystick.stats.signs import uncertainty


def algorithm_1(p: np.ndarray, n: np.ndarray, H: np.ndarray, weights: np.ndarray, a: float) -> int:
    """Line 3 as corrected by ERRATA, in its plainest form."""
    if (n < 2).any():
        return int(np.flatnonzero(n < 2)[0])
    sigma = np.sqrt(np.maximum(uncertainty(H, weights=weights), 0))
    return int(np.argmax(p / n * (sigma + weights.max() * (a / n) ** 0.25)))


@given(st.integers(0, 1000), st.sampled_from([0.01, 1.0, 20.0]), st.booleans())
def test_the_rule_is_algorithm_1_with_its_misprints_corrected(
    seed: int, a: float, weighted: bool
) -> None:
    rng = np.random.default_rng(seed)
    strata = Strata(np.repeat(np.arange(4), [40, 30, 20, 10]))
    answers = rng.integers(0, 3, 100) * (
        rng.random(100) < np.array([0.1, 0.9, 0.4, 0.0])[strata.of]
    )
    weights = rng.random(3) if weighted else np.ones(3)
    plan = Plan(
        strata=strata,
        policy=Masa(exploration=a),
        budget=Budget(calls=60),
        n_outcomes=3,
        weights=weights,
        replacement=True,
    )
    sampler = Sampler(plan, rng=seed)
    n, H = np.zeros(4), np.zeros((4, 3))
    while batch := sampler.ask():
        (item,) = batch
        k = strata.of[item]
        best = algorithm_1(strata.shares, n, H, weights, a)
        if k != best:  # equal scores may round apart
            n2 = np.maximum(n, 1)
            score = (
                strata.shares
                / n2
                * (np.sqrt(uncertainty(H, weights=weights)) + weights.max() * (a / n2) ** 0.25)
            )
            assert score[k] == pytest.approx(score[best], rel=1e-12)
        n[k] += 1
        H[k, answers[item]] += 1
        sampler.tell({item: int(answers[item])})


def test_a_stratum_whose_calls_all_fail_counts_as_uncertain_but_does_not_eat_the_budget() -> None:
    strata = Strata(np.repeat([0, 1], 500))
    answers = np.repeat([-1, 0], 500)
    plan = Plan(strata=strata, policy=Masa(), budget=Budget(calls=200), n_outcomes=2)
    asked = replay(plan, answers, runs=1, rng=0).observed().asked[0]
    assert 110 < asked[0] < 170  # σ = 1 where nothing is known, against 0


def test_weights_by_stratum_steer_towards_the_entries_that_matter() -> None:
    strata = Strata(np.repeat([0, 1], 1000))
    answers = np.random.default_rng(0).integers(0, 2, 2000)
    plan = Plan(
        strata=strata,
        policy=Masa(exploration=0.1),
        budget=Budget(calls=400),
        n_outcomes=2,
        weights=[[1.0, 1.0], [0.2, 0.2]],
    )
    asked = replay(plan, answers, runs=20, rng=1).observed().asked.mean(axis=0)
    assert asked[0] / asked[1] == pytest.approx(5, rel=0.1)  # n ∝ p σ_W


def test_it_approaches_the_optimal_allocation_of_lemma_1() -> None:
    rng = np.random.default_rng(2)
    strata = Strata(np.repeat([0, 1, 2], [2000, 6000, 2000]))
    p = np.array([0.5, 0.02, 0.2])[strata.of]
    answers = (rng.random(10_000) < p).astype(int)
    plan = Plan(
        strata=strata,
        policy=Masa(exploration=0.01),
        budget=Budget(calls=4000),
        n_outcomes=2,
        replacement=True,
    )
    asked = replay(plan, answers, runs=20, rng=1).observed().asked.mean(axis=0)
    rate = np.bincount(strata.of, weights=answers) / strata.sizes
    best = strata.shares * np.sqrt(2 * rate * (1 - rate))
    assert asked / 4000 == pytest.approx(best / best.sum(), rel=0.1)


def test_exploration_must_be_positive() -> None:
    with pytest.raises(InputError, match="abandoned"):
        Masa(exploration=0)
    with pytest.raises(InputError, match="minimum must not be negative"):
        Masa(minimum=-1)
