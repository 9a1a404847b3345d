import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Population
from tallystick.verbs.dynamic.rollouts import (
    Perfect,
    RandomErrors,
    noise_bound,
    noise_path,
    roll_path,
)
from tallystick.verbs.dynamic.sharp import noise_closed_floor
from tests.dynamic.test_bounds import Spiteful, people

AT = (0, 1, 2, 5, 10, 20, 60)


@pytest.mark.parametrize(
    ("learner", "known", "tolerance"),
    [
        (Perfect(), (0.2, 0.6, 0.733, 0.867, 0.927, 0.962, 0.987), 0.0006),
        (RandomErrors(0.05), (0.2, 0.433, 0.488, 0.521, 0.529, 0.534, 0.536), 0.004),
    ],
)
def test_the_share_of_random_labels_by_round_is_that_of_the_baseline(learner, known, tolerance):
    done = roll_path(Population.uniform(2000, noise=0.2), learner, rounds=61, rollouts=8, rng=0)
    assert done.noise_share.mean(axis=0)[list(AT)] == pytest.approx(known, abs=tolerance)


@settings(max_examples=300)
@given(st.integers(0, 2**32 - 1), st.floats(0.02, 0.5))
def test_theorem_3_6_holds_on_hundreds_of_populations(seed, epsilon):
    population = people(seed, noise=True)
    done = roll_path(population, Spiteful(epsilon), rounds=6, rollouts=2, rng=seed)
    least = done.noise_share.min(axis=0)
    bound = noise_bound(epsilon, population.noise, 6)
    assert np.all(least >= np.array(bound) - 1e-9)
    assert all(
        least[t] >= noise_closed_floor(epsilon, population.noise, t) - 1e-9 for t in range(1, 6)
    )


def test_the_identity_of_the_shares_follows_what_was_collected():
    done = roll_path(
        Population.uniform(400, noise=0.2), RandomErrors(0.1), rounds=5, rollouts=1, rng=0
    )
    # half of the noisy mass over all errors
    found = [0.1 / (0.1 + 0.8 * done.model_risk[0, t]) for t in range(4)]
    assert done.noise_share[0] == pytest.approx(noise_path(0.2, found))


def test_the_sharpened_recursion_is_above_the_printed_one():
    epsilon, delta = 0.05, 0.2
    printed = [delta]
    for t in range(10):
        ratio = (1 - delta) / (1 - printed[-1])
        printed.append(
            (t + 1) / (t + 2) * printed[-1]
            + 1 / ((t + 2) * (1 + 2 * (t + 1) * epsilon / delta * ratio))
        )
    assert all(
        ours >= theirs - 1e-12
        for ours, theirs in zip(noise_bound(epsilon, delta, 11), printed, strict=True)
    )


def test_a_label_drawn_once_is_not_noise_of_this_kind():
    """One fixed label per point voids Theorem 3.6: a learner that memorises it keeps its data
    clean."""
    done = roll_path(Population.uniform(400), Perfect(), rounds=5, rollouts=1, rng=0)
    assert np.all(done.noise_share == 0)


def test_shares_outside_zero_and_one_are_refused():
    for call in (
        lambda: noise_path(1.2, []),
        lambda: noise_path(0.2, [2.0]),
        lambda: noise_bound(0.1, 0, 3),
        lambda: noise_bound(0.1, 0.2, 0),
    ):
        with pytest.raises(InputError):
            call()
