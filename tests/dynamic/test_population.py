import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Population
from tallystick.verbs.dynamic.population import collect, mix, risk, vote


def test_weights_that_do_not_sum_to_one_are_refused_with_their_sum():
    with pytest.raises(InputError, match=r"weights must sum to one, got a sum of 1\.2"):
        Population(np.array([0.6, 0.6]))


def test_a_negative_weight_is_named_by_its_place():
    with pytest.raises(InputError, match=r"got -0\.5 at position 1"):
        Population(np.array([1.5, -0.5]))


def test_initial_weight_outside_the_population_is_refused():
    with pytest.raises(InputError, match="item 1"):
        Population(np.array([1.0, 0.0]), initial=np.array([0.5, 0.5]))


def test_a_population_cannot_be_changed_behind_our_back():
    people = Population.uniform(3)
    with pytest.raises(ValueError, match="read-only"):
        people.weights[0] = 1.0


def test_an_empty_error_set_is_refused():
    with pytest.raises(InputError, match="error set is empty"):
        collect(np.full(3, 1 / 3), np.zeros(3))


def test_mixture_weights_must_sum_to_one():
    with pytest.raises(InputError, match="mixture weights must sum to one"):
        mix([np.array([1.0, 0.0]), np.array([0.0, 1.0])], [0.5, 0.6])


def test_a_vote_counts_ties_one_half_and_takes_weights():
    errors = [np.array([1, 0]), np.array([0, 0])]
    assert vote(errors).tolist() == [0.5, 0.0]
    assert vote(errors, [2, 1]).tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="not all zero"):
        vote(errors, [0, 0])


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_collected_errors_are_a_distribution_on_the_errors(size, seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(size))
    errors = rng.random(size) < 0.5
    errors[0] = True
    found = collect(weights, errors)
    assert found.sum() == pytest.approx(1)
    assert np.all(found[~errors] == 0)
    assert risk(found, errors) == pytest.approx(1)


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_a_mixture_s_risk_is_the_mixture_of_risks(parts, seed):
    rng = np.random.default_rng(seed)
    distributions = rng.dirichlet(np.ones(6), size=parts)
    shares = rng.dirichlet(np.ones(parts))
    errors = rng.random(6) < 0.5
    mixed = mix(list(distributions), shares)
    assert risk(mixed, errors) == pytest.approx(shares @ risk(distributions, errors))
