import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.rollouts import Perfect, RandomErrors, roll
from tallystick.verbs.dynamic import Correlated, Population, path
from tallystick.verbs.dynamic.simulate import control_risk


def test_a_static_ensemble_is_a_path_whose_mixtures_are_all_of_the_initial_distribution():
    people, learner = Population.uniform(300), Correlated(0.2, 0.5)
    static = control_risk(people, learner, rounds=5, rollouts=200, rng=0)
    rolled = roll(people, path(5, mixture=1.0), learner, rollouts=200, rng=1).risk
    error = (static.var(axis=0) / 200 + rolled.var(axis=0) / 200) ** 0.5
    assert np.all(np.abs(static.mean(axis=0) - rolled.mean(axis=0)) <= 4 * error + 1e-12)


def test_independent_errors_vote_each_other_away_and_shared_ones_do_not():
    people = Population.uniform(400)
    alone = control_risk(people, RandomErrors(0.1), rounds=5, rollouts=100, rng=0).mean(axis=0)
    assert alone[4] == pytest.approx(0.00856, abs=0.002)  # three or more of five, each at .1
    together = control_risk(people, Correlated(0.1, rho=0.9), rounds=5, rollouts=50, rng=0).mean(
        axis=0
    )
    assert together[4] > 0.07


def test_fresh_data_reaches_what_the_initial_distribution_leaves_out_and_a_static_ensemble_does_not():
    covered = np.arange(200) < 120
    people = Population(np.full(200, 1 / 200), initial=covered / 120)
    static = control_risk(people, Perfect(), rounds=4, rollouts=2, rng=0).mean(axis=0)
    fresh = control_risk(people, Perfect(), kind="fresh", rounds=4, rollouts=2, rng=0).mean(axis=0)
    assert static.tolist() == pytest.approx([0.4] * 4)
    # at two models the vote is tied on the unseen
    assert fresh.tolist() == pytest.approx([0.4, 0.2, 0.0, 0.0])


def test_random_labels_are_left_out_of_the_risk():
    people = Population.uniform(200, noise=0.25)
    assert control_risk(
        people, RandomErrors(0.15), rounds=1, rollouts=50, rng=0
    ).mean() == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize("options", [{"rounds": 0}, {"rollouts": 0}, {"kind": "none"}])
def test_impossible_controls_are_refused(options):
    with pytest.raises(InputError):
        control_risk(
            Population.uniform(10),
            RandomErrors(0.1),
            **{"rounds": 2, "rollouts": 2, "rng": 0} | options,
        )
