import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Population
from tallystick.verbs.dynamic.papers import exponential_updates, hinge_updates
from tallystick.verbs.dynamic.rollouts import Perfect, RandomErrors


def test_exponential_updates_reach_zero_risk_at_the_baseline_s_round():
    done = exponential_updates(
        Population.uniform(2000), RandomErrors(0.1), updates=20, rollouts=200, rng=0
    )
    assert np.median(done.zero_from) == 11


def test_the_step_of_lemma_a_2_is_the_best_one():
    """Eq (71): the exponential risk after one update is 2 sqrt(R (1 - R)), its minimum over
    steps."""
    done = exponential_updates(
        Population.uniform(100), RandomErrors(0.1), updates=1, rollouts=1, rng=0
    )
    steps = np.linspace(0.01, 3, 3000)
    assert done.surrogate[0, 1] == pytest.approx(2 * np.sqrt(0.09))
    assert done.surrogate[0, 1] == pytest.approx(
        (0.9 * np.exp(-steps) + 0.1 * np.exp(steps)).min(), abs=1e-6
    )


def test_small_hinge_steps_descend_and_large_ones_do_not():
    """Lemma A.1 is about infinitesimal steps (ERRATA)."""
    small = hinge_updates(
        Population.uniform(200), RandomErrors(0.4), updates=30, rollouts=5, rng=0, rate=0.05
    )
    large = hinge_updates(
        Population.uniform(200), RandomErrors(0.4), updates=30, rollouts=5, rng=0, rate=2.0
    )
    assert small.rises.max() == 0
    assert small.surrogate[:, -1].max() < small.surrogate[:, 0].min()
    assert large.rises.min() >= 1


def test_a_perfect_learner_ends_both_at_once():
    population = Population.uniform(10)
    boosted = exponential_updates(population, Perfect(), updates=3, rollouts=2, rng=0)
    assert boosted.zero_from.tolist() == [1, 1]
    hinge = hinge_updates(population, Perfect(), updates=3, rollouts=2, rng=0)
    assert hinge.surrogate[:, 1:].max() == 0


def test_random_labels_and_bad_steps_are_refused():
    with pytest.raises(InputError, match="true classifier"):
        exponential_updates(
            Population.uniform(10, noise=0.2), Perfect(), updates=3, rollouts=2, rng=0
        )
    with pytest.raises(InputError, match="rate"):
        hinge_updates(Population.uniform(10), Perfect(), updates=3, rollouts=2, rng=0, rate=0)
    with pytest.raises(InputError, match="at least 1"):
        hinge_updates(Population.uniform(10), Perfect(), updates=0, rollouts=2, rng=0)
