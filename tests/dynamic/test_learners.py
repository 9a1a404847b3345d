import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Correlated, Population


def begun(learner, population, rollouts=4, seed=0):
    return learner.begin(population, rollouts, np.random.default_rng(seed))


@pytest.mark.parametrize("epsilon", [0, -0.1, 0.51, float("nan"), (0.1, 0.6)])
def test_epsilon_outside_the_half_open_interval_is_refused(epsilon):
    with pytest.raises(InputError, match=r"epsilon must be in \(0, 1/2\]"):
        Correlated(epsilon)


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


def test_it_does_not_err_on_items_with_random_labels():
    population = Population.uniform(100, noise=0.3)
    build = begun(Correlated(0.2, 0.5, 0.5), population, 5)
    assert not build(np.full((5, 100), 0.01), 0)[:, population.coin].any()
