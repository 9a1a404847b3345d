from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.replays import observed, replay
from tallystick.errors import InputError
from tallystick.sampling import Flips, Plan, Sampler, Strata


def scores(plan: Plan, n: np.ndarray, new: np.ndarray, old: np.ndarray) -> np.ndarray:
    """The formula in its plainest form, from tables (S, J) of new and old outcomes and all
    flips (S,)."""
    family = plan.strata.families
    F = n - np.minimum(new, old).sum(axis=1)  # valid here: each stratum has one old outcome
    fbar = np.array([(F[family == g].sum() + 0.5) / (n[family == g].sum() + 1) for g in family])
    f = (F + 1) / (n + 1 / fbar)
    v = 2 * f - ((new - old) ** 2).sum(axis=1) / (n + 1 / fbar) ** 2
    return np.asarray(plan.strata.shares * np.sqrt(v / (n * (n + 1))))


@given(st.integers(0, 1000))
def test_phase_two_follows_the_formula_of_the_methods(seed: int) -> None:
    rng = np.random.default_rng(seed)
    strata = Strata(np.repeat(np.arange(4), [60, 50, 40, 30]), np.array([0, 0, 1, 1]))
    old = strata.of % 3
    new = np.where(rng.random(180) < np.array([0.02, 0.5, 0.2, 1.0])[strata.of], (old + 1) % 3, old)
    plan = Plan(strata=strata, policy=Flips(refresh=1), budget=80, n_outcomes=3, baseline=old)
    sampler = Sampler(plan, rng=seed)
    seen_new, seen_old, n = np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(4)
    blind = np.maximum(2, np.floor(0.7 * 80 * strata.shares + 1e-9))
    while batch := sampler.ask():
        (item,) = batch
        k = strata.of[item]
        if (n < blind).any():
            assert n[k] < blind[k], "phase 1 comes first, everywhere"
        else:
            score = np.where(n < strata.sizes, scores(plan, n, seen_new, seen_old), -1)
            assert score[k] == pytest.approx(score.max(), rel=1e-12)
        n[k] += 1
        seen_new[k, new[item]] += 1
        seen_old[k, old[item]] += 1
        sampler.tell({item: int(new[item])})
    assert observed(sampler, blind=True).asked.tolist() == blind.tolist()


@pytest.mark.parametrize("scale", [0.1, 30.0])
def test_the_scale_of_weights_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(3)
    strata = Strata(rng.integers(0, 5, 500))
    old, new = rng.integers(0, 3, 500), rng.integers(0, 3, 500)
    weights = np.array([1.0, 2.0, 0.5])
    one, other = (
        replay(
            Plan(
                strata=strata,
                policy=Flips(),
                budget=200,
                n_outcomes=3,
                baseline=old,
                weights=factor * weights,
            ),
            new,
            runs=5,
            rng=1,
        ).observed()
        for factor in (1.0, scale)
    )
    assert np.abs(one.asked - other.asked).max() <= 1  # scores that tie may round apart


def test_the_first_questions_can_go_in_uniformly_random_order_and_count_as_blind() -> None:
    strata = Strata(np.repeat([0, 1], [900, 100]))
    plan = Plan(
        strata=strata,
        policy=Flips(first=50),
        budget=200,
        n_outcomes=2,
        baseline=[0] * 1000,
    )
    result = replay(plan, np.zeros(1000, int), runs=100, rng=0)
    in_second = strata.of[result.items[:, :50]].sum(axis=1)
    assert in_second.mean() == pytest.approx(5, abs=4 * np.sqrt(4.5 * 0.95 / 100))
    assert in_second.std() > 1.5  # random, not proportional
    assert result.blind[:, :50].all()


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InputError, match="blind must be in"):
        Flips(blind=1.5)


def test_the_blind_phase_goes_in_uniformly_random_order() -> None:
    strata = Strata(np.repeat([0, 1], [900, 100]))
    common = {"budget": 200, "n_outcomes": 2, "baseline": [0] * 1000}
    plan = Plan(strata=strata, policy=Flips(), **common)
    result = replay(plan, np.zeros(1000, int), runs=80, rng=0)
    small = strata.of[result.items[:, :140]] == 1
    assert set(small.sum(axis=1)) == {14}  # how many is fixed
    place = np.nonzero(small)[1].mean()  # where they stand is not
    assert place == pytest.approx(69.5, abs=4 * 40.4 / np.sqrt(80 * 14))


def test_the_blind_phase_leaves_its_reserve_and_still_reaches_every_stratum() -> None:
    strata = Strata(np.repeat(np.arange(22), [900, *[5] * 20, 60]))
    plan = Plan(
        strata=strata,
        policy=Flips(reserve=30),
        budget=80,
        n_outcomes=2,
        baseline=np.zeros(1060, int),
    )
    blind = replay(plan, np.zeros(1060, int), runs=1, rng=0).observed(blind=True).asked[0]
    assert blind.min() >= 2
    assert blind.sum() <= 50
