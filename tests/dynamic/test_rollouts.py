import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Correlated, Population, hierarchical, path
from tallystick.verbs.dynamic.design import Collection, Design, Step
from tallystick.verbs.dynamic.rollouts import (
    PathWeights,
    Perfect,
    RandomErrors,
    roll_design,
    roll_path,
)


@pytest.mark.parametrize("mixture", [None, 0.4, "random"])
@pytest.mark.parametrize("majority", [None, [1.0, 2.0, 0.5, 1.0, 1.0]])
def test_the_fast_lane_of_a_path_agrees_with_the_design_step_by_step(mixture, majority):
    rng = np.random.default_rng(0)
    if mixture == "random":
        mixture = [rng.dirichlet(np.ones(t + 1)).tolist() for t in range(5)]
    population = Population(rng.dirichlet(np.ones(60)), noisy=np.arange(60) < 6)
    learner = Correlated(0.2, 0.4, 0.3)
    fast = roll_path(
        population,
        learner,
        rounds=5,
        rollouts=7,
        rng=3,
        weights=PathWeights(mixture=mixture, majority=majority),
        keep_errors=True,
    )
    slow = roll_design(
        population,
        path(5, mixture=mixture, majority=majority),
        learner,
        rollouts=7,
        rng=3,
        keep_errors=True,
    )
    assert np.array_equal(fast.error_sets, slow.error_sets)
    for name in ("model_risk", "epsilon", "noise_share", "output_risk"):
        assert getattr(fast, name) == pytest.approx(getattr(slow, name), abs=1e-12), name


def test_same_seed_same_bytes():
    first, second = (
        roll_path(Population.uniform(300), Correlated(0.1, 0.5, 0.5), rounds=6, rollouts=300, rng=5)
        for _ in range(2)
    )
    assert first.risk.tobytes() == second.risk.tobytes()


def test_a_perfect_learner_is_done_after_three_rounds_from_any_start():
    """Proposition 3.2."""
    rng = np.random.default_rng(1)
    weights = rng.dirichlet(np.ones(50))
    for share in (0.1, 0.5, 0.9):
        seen = rng.random(50) < share
        seen[0] = True
        population = Population(weights, initial=np.where(seen, weights, 0) / weights[seen].sum())
        for outside in (0.3, 1.0):
            done = roll_path(
                population, Perfect(outside=outside), rounds=7, rollouts=20, rng=2, keep_errors=True
            )
            assert np.all(done.risk[:, 2:] == 0)
            assert np.all(done.epsilon == 0)
            assert done.error_sets.sum(axis=1).max() <= 1  # no mistake is made twice


def test_a_hierarchy_of_random_learners_beats_its_first_path():
    done = roll_design(
        Population.uniform(400), hierarchical(), RandomErrors(0.2), rollouts=30, rng=0
    )
    assert done.output_risk.mean() < 0.5 * done.risk[:, 2].mean()


def test_a_round_without_errors_adds_nothing_to_the_mixture():
    population = Population.uniform(10)
    done = roll_path(population, Perfect(), rounds=3, rollouts=2, rng=0)
    assert np.all(done.risk == 0)
    arbitrary = roll_path(
        population,
        Perfect(),
        rounds=3,
        rollouts=2,
        rng=0,
        weights=PathWeights(mixture=[[1], [0.5, 0.5], [0.2, 0.3, 0.5]]),
    )
    assert np.all(arbitrary.risk == 0)


def test_error_sets_are_kept_only_when_asked_for():
    done = roll_path(Population.uniform(10), RandomErrors(0.2), rounds=2, rollouts=2, rng=0)
    with pytest.raises(InputError, match="keep_errors=True"):
        _ = done.error_sets


def test_bad_numbers_are_refused():
    population = Population.uniform(10)
    with pytest.raises(InputError, match="rollouts must be at least 1"):
        roll_path(population, RandomErrors(0.2), rounds=2, rollouts=0, rng=0)
    with pytest.raises(InputError, match="majority needs 2 weights"):
        roll_path(
            population,
            RandomErrors(0.2),
            rounds=2,
            rollouts=1,
            rng=0,
            weights=PathWeights(majority=[1]),
        )


def test_few_and_faulty_items_help_less_than_the_whole_error_set():
    population = Population.uniform(400)
    learner = Correlated(0.2, 0.3, 0.5)

    def final(collection):
        done = roll_path(population, learner, rounds=7, rollouts=40, rng=0, collection=collection)
        return done.risk[:, -1].mean()

    ideal = final(Collection())
    assert final(Collection(mistakes=0.6)) > ideal
    assert final(Collection(items=5, duplicates=0.5)) > ideal
    assert final(Collection(coverage=0.2)) > ideal


def test_a_design_that_trains_on_an_empty_error_set_is_refused_by_its_step():
    steps = {
        "h1": Step("train", ("initial",)),
        "e1": Step("collect", ("h1",)),
        "h2": Step("train", ("e1",)),
    }
    alone = Design("bare", steps, output="h2")
    with pytest.raises(InputError, match="step 'h2': the error set that it trains on is empty"):
        roll_design(Population.uniform(20), alone, Perfect(), rollouts=2, rng=0)
    assert (
        roll_design(Population.uniform(20), alone, RandomErrors(0.2), rollouts=2, rng=0).rounds == 2
    )


def test_a_path_without_errors_stays_with_its_initial_distribution_even_at_no_weight():
    table = [[1.0], [0.0, 1.0], [0.0, 0.5, 0.5], [0.0, 0.2, 0.3, 0.5]]
    done = roll_path(
        Population.uniform(20),
        Perfect(),
        rounds=4,
        rollouts=2,
        rng=0,
        weights=PathWeights(mixture=table),
    )
    assert np.all(done.risk == 0)
    assert np.all(np.isfinite(done.noise_share))
