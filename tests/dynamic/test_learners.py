import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Correlated, Population
from tallystick.verbs.dynamic.rollouts import Perfect, RandomErrors, Scripted


def begun(learner, population, rollouts=4, seed=0):
    return learner.begin(population, rollouts, np.random.default_rng(seed))


@pytest.mark.parametrize("epsilon", [0, -0.1, 0.51, float("nan"), (0.1, 0.6)])
def test_epsilon_outside_the_half_open_interval_is_refused(epsilon):
    for learner in (RandomErrors, Correlated):
        with pytest.raises(InputError, match=r"epsilon must be in \(0, 1/2\]"):
            learner(epsilon)


def test_a_perfect_learner_errs_only_where_its_data_are_silent():
    population = Population.uniform(6)
    weights = np.tile([0.5, 0.5, 0, 0, 0, 0], (3, 1))
    assert (
        begun(Perfect(), population, 3)(weights, 0).tolist()
        == [[False, False, True, True, True, True]] * 3
    )
    assert not begun(Perfect(outside=0), population, 3)(weights, 0).any()


@settings(max_examples=200)
@given(st.integers(2, 60), st.floats(0.01, 0.5), st.integers(0, 2**32 - 1))
def test_a_random_learner_keeps_its_promise_and_could_not_err_more(size, epsilon, seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(size), size=3)
    errors = begun(RandomErrors(epsilon), Population.uniform(size), 3, seed)(weights, 0)
    mass = (weights * errors).sum(axis=1)
    assert np.all(mass <= epsilon + 1e-8)
    assert np.all(mass + weights.max(axis=1) > epsilon)


@settings(max_examples=100)
@given(
    st.integers(2, 80),
    st.floats(0.01, 0.5),
    st.floats(0.05, 1),
    st.floats(0, 2),
    st.integers(0, 2**32 - 1),
)
def test_the_correlated_learner_takes_the_highest_scores_up_to_its_mass(
    size, epsilon, rho, gamma, seed
):
    """The compiled kernel against a plain sort."""
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(size), size=2)
    clean = np.ones(size, dtype=bool)
    from tallystick.verbs.dynamic.population import fill

    scores = (
        np.sqrt(rho) * rng.standard_normal((2, size)) - gamma * np.log(size * weights)
    ).astype(np.float32)
    errors = np.empty((2, size), dtype=bool)
    fill(scores, weights, clean, np.full(2, epsilon), np.full(2, np.inf), errors)
    for row in range(2):
        order = np.argsort(-scores[row], kind="stable")
        within = np.cumsum(weights[row][order]) <= epsilon
        expected = np.zeros(size, dtype=bool)
        expected[order[within]] = True
        assert errors[row].tolist() == expected.tolist()


def test_the_correlated_learner_hits_its_mass_on_average():
    population = Population.uniform(7)
    weights = np.full((4000, 7), 1 / 7)
    errors = begun(Correlated(0.3, 0.5), population, 4000)(weights, 0)
    assert errors.mean() == pytest.approx(0.3, abs=0.005)


def test_rho_makes_models_fail_together_and_gamma_spares_heavy_items():
    population = Population.uniform(400)
    weights = np.full((50, 400), 1 / 400)

    def overlap(rho):
        build = begun(Correlated(0.2, rho), population, 50)
        return (build(weights, 0) & build(weights, 1)).mean()

    assert overlap(0.0) == pytest.approx(0.04, abs=0.005)
    assert overlap(1.0) == pytest.approx(0.2, abs=0.005)
    heavy = np.where(np.arange(400) < 200, 1.5, 0.5)[None].repeat(50, axis=0) / 400
    assert begun(Correlated(0.2, 0.0, 2.0), population, 50)(heavy, 0)[:, :200].mean() < 0.05


def test_a_changing_model_has_an_epsilon_a_round_and_keeps_the_last():
    population = Population.uniform(100)
    weights = np.full((1, 100), 0.01)
    build = begun(RandomErrors((0.1, 0.3)), population, 1)
    assert [int(build(weights, t).sum()) for t in range(4)] == [10, 30, 30, 30]


def test_no_learner_errs_on_items_with_random_labels():
    population = Population.uniform(100, noise=0.3)
    weights = np.full((5, 100), 0.01)
    for learner in (RandomErrors(0.2), Correlated(0.2, 0.5, 0.5), Perfect()):
        assert not begun(learner, population, 5)(weights, 0)[:, population.coin].any()


def test_a_script_is_played_and_ends():
    population = Population.uniform(3)
    build = begun(Scripted(np.eye(2, 3, dtype=bool)), population, 2)
    assert build(np.ones((2, 3)), 1).tolist() == [[False, True, False]] * 2
    with pytest.raises(InputError, match="the script has 2 rounds"):
        build(np.ones((2, 3)), 2)
    with pytest.raises(InputError, match=r"shape \(rounds, 3\)"):
        begun(Scripted(np.ones((2, 4), dtype=bool)), population)
