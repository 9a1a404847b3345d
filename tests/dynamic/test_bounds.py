"""Each statement of the paper against populations in which errors are sought out to break it."""

from math import ceil, floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.verbs.dynamic import Population, hierarchical
from tallystick.verbs.dynamic.papers import exponential_updates, hinge_slope
from tallystick.verbs.dynamic.rollouts import Perfect, RandomErrors, roll_design, roll_path
from tallystick.verbs.dynamic.theory import (
    exponential_bound,
    hdh_distance,
    hierarchical_bound,
    hierarchical_floor,
    path_bound,
    path_floor,
    three_round_bound,
)


class Spiteful:
    """Errs where earlier models did, as far as epsilon allows: much nearer to the bounds than
    random errors."""

    def __init__(self, epsilon):
        self.epsilon = epsilon

    def begin(self, population, rollouts, rng):
        past = np.zeros((rollouts, population.size))
        clean = (~population.coin).tolist()

        def build(weights, _round):
            taste = rng.choice([-1.0, 1.0, 3.0], size=(rollouts, 1))
            order = np.argsort(-(taste * past + rng.random(weights.shape)), axis=1).tolist()
            errors = np.zeros(weights.shape, dtype=bool)
            for row, mass in enumerate(weights.tolist()):
                left, taken = self.epsilon, []
                for i in order[row]:
                    if mass[i] <= left and clean[i]:
                        left -= mass[i]
                        taken.append(i)
                errors[row, taken] = True
            past[:] += errors
            return errors

        return build


def people(seed, *, shifted=False, noise=False):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(4, 25))
    weights = rng.dirichlet(np.full(size, rng.choice([0.5, 2.0, 20.0])))
    initial = rng.dirichlet(np.full(size, 5.0)) if shifted else None
    noisy = rng.random(size) < 0.3 if noise else None
    if noisy is not None:
        noisy[0], noisy[1] = True, False
    return Population(weights, initial=initial, noisy=noisy)


def shift(population):
    """Total variation of D_0 and D: at least their distance for any class of models."""
    return 0.5 * np.abs(population.weights - population.start).sum()


HIERARCHY = {mixing: hierarchical(mixing=mixing) for mixing in ("flat", "nested")}
seeds, epsilons = st.integers(0, 2**32 - 1), st.floats(0.02, 0.5)


@settings(max_examples=300)
@given(seeds, epsilons)
def test_theorem_3_4_and_its_sharper_forms_hold_on_hundreds_of_populations(seed, epsilon):
    done = roll_path(people(seed), Spiteful(epsilon), rounds=7, rollouts=2, rng=seed)
    assert np.all(done.epsilon <= epsilon + 1e-9)
    worst = done.risk.max(axis=0)
    assert (
        worst[2]
        <= three_round_bound(epsilon) + 1e-9
        <= three_round_bound(epsilon, printed=True) + 2e-9
    )
    assert all(worst[t - 1] <= path_bound(epsilon, t) + 1e-9 for t in range(1, 8))


@settings(max_examples=300)
@given(seeds, epsilons)
def test_theorem_3_4_holds_on_hundreds_of_populations_when_the_benchmark_starts_elsewhere(
    seed, epsilon
):
    population = people(seed, shifted=True)
    far = shift(population)
    done = roll_path(population, Spiteful(epsilon), rounds=5, rollouts=2, rng=seed)
    worst = done.risk.max(axis=0)
    assert (
        worst[2]
        <= three_round_bound(epsilon, far) + 1e-9
        <= three_round_bound(epsilon, far, printed=True) + 2e-9
    )
    assert all(worst[t - 1] <= path_bound(epsilon, t, far) + 1e-9 for t in range(1, 6))


@settings(max_examples=300)
@given(seeds, st.floats(0.02, 0.3), st.sampled_from(["flat", "nested"]), st.booleans())
def test_theorem_4_1_holds_on_hundreds_of_populations_for_flat_and_for_nested_mixing(
    seed, epsilon, mixing, shifted
):
    population = people(seed, shifted=shifted)
    done = roll_design(population, HIERARCHY[mixing], Spiteful(epsilon), rollouts=1, rng=seed)
    assert (
        done.output_risk.max()
        <= hierarchical_bound(epsilon, shift(population), mixing=mixing) + 1e-9
    )
    if mixing == "flat":
        assert done.output_risk.max() <= hierarchical_bound(
            epsilon, shift(population), mixing=mixing, printed=True
        )


@settings(max_examples=300)
@given(seeds, st.floats(0, 1), st.floats(0.2, 0.9), st.floats(0.2, 0.9))
def test_lemma_3_1_proposition_3_2_and_corollary_c_1_hold_on_hundreds_of_populations(
    seed, outside, alpha, delta
):
    rng = np.random.default_rng(seed)
    plain = people(seed)
    seen = rng.random(plain.size) < 0.4
    seen[0] = True
    population = Population(
        plain.weights, initial=np.where(seen, plain.weights, 0) / plain.weights[seen].sum()
    )
    rounds = max(3, ceil(1 / (alpha * delta) - 1e-9))
    done = roll_path(population, Perfect(outside=outside), rounds=rounds, rollouts=3, rng=seed)
    bad = (done.model_risk > alpha).sum(axis=1).max()
    assert bad <= floor(1 / alpha + 1e-9)
    assert bad / rounds <= delta
    assert done.risk[:, 2:].max() == 0


@settings(max_examples=300)
@given(seeds, st.floats(0.02, 0.45))
def test_lemma_a_2_bounds_the_risk_of_exponential_updates_on_hundreds_of_populations(seed, epsilon):
    done = exponential_updates(people(seed), Spiteful(epsilon), updates=12, rollouts=1, rng=seed)
    assert all(done.risk[0, t] <= exponential_bound(epsilon, t) + 1e-12 for t in range(13))
    assert np.all(done.rises == 0)


@settings(max_examples=300)
@given(seeds, st.floats(0.02, 0.5))
def test_lemma_a_1_a_model_of_the_margin_errors_descends_on_hundreds_of_populations(seed, epsilon):
    """The slope is the one of the lemma, and a short enough step along it lowers the hinge risk by
    so much."""
    population, rng = people(seed), np.random.default_rng(seed)
    margins = rng.normal(0.5, 1, population.size)
    margins[rng.integers(population.size)] = -1  # some margin error there must be
    short = margins < 1
    mass = population.weights[short].sum()
    errors = Spiteful(epsilon).begin(population, 1, rng)(
        np.where(short, population.weights / mass, 0)[None], 0
    )[0]
    slope = hinge_slope(population, margins, errors)
    assert slope <= -(1 - 2 * epsilon) * mass + 1e-9
    step = 0.5 * np.abs(1 - margins).min()  # no item crosses its margin
    after = margins + step * np.where(errors, -1, 1)
    hinge = [population.weights @ np.maximum(1 - m, 0) for m in (margins, after)]
    assert hinge[1] - hinge[0] == pytest.approx(step * slope, abs=1e-12)


def test_the_distance_of_definition_3_3_is_the_supremum_over_pairs():
    rng = np.random.default_rng(0)
    for _ in range(20):
        calls = rng.integers(0, 3, size=(7, 9))
        first, second = rng.dirichlet(np.ones(9), size=2)
        brute = max(abs(first[a != b].sum() - second[a != b].sum()) for a in calls for b in calls)
        assert hdh_distance(calls, first, second) == pytest.approx(brute, abs=1e-12)
        assert hdh_distance(calls, first, second) <= 0.5 * np.abs(first - second).sum() + 1e-12
    assert hdh_distance(calls, first, first) == 0


def test_constants_are_those_of_the_text_and_of_the_errata():
    assert three_round_bound(0.1, 0.05, printed=True) == pytest.approx(11 * 0.01 + 8 * 0.1 * 0.05)
    assert three_round_bound(0.1) == pytest.approx(6 * 0.01 / 1.2)
    assert three_round_bound(0.1, 0.05) == pytest.approx(6 * 0.01 + 3 * 0.1 * 0.05)
    assert hierarchical_bound(0.01, 0.02, mixing="flat", printed=True) == pytest.approx(
        543e-6 + 300e-4 * 0.02
    )
    assert hierarchical_bound(0.01, 0.02, mixing="flat") == pytest.approx(84e-6 + 42e-4 * 0.02)
    assert hierarchical_bound(0.01, 0.02, mixing="nested") == pytest.approx(75e-4 * 0.03)
    assert (path_floor(0.25), hierarchical_floor(0.25)) == (0.25**2 / 8, 0.25**3 / 2)


def test_the_bounds_on_a_path_are_above_its_floor_and_end_in_the_trivial_one():
    for epsilon in (0.01, 0.1, 0.3):
        assert all(path_bound(epsilon, t) >= path_floor(epsilon) for t in range(1, 60))
    assert path_bound(0.3, 59) == 1.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: three_round_bound(0.6),
        lambda: three_round_bound(0.1, -1),
        lambda: path_bound(0.1, 0),
        lambda: path_floor(0),
        lambda: hierarchical_bound(0.1, mixing="sideways"),
        lambda: hierarchical_bound(0.1, printed=True),
        lambda: exponential_bound(0.1, -1),
        lambda: hdh_distance(np.ones((2, 3)), np.array([1.0]), np.array([1.0])),
    ],
)
def test_numbers_outside_a_statement_s_range_are_refused(call):
    with pytest.raises(InputError):
        call()


def test_random_learners_stay_far_below_the_worst_case():
    done = roll_path(Population.uniform(400), RandomErrors(0.1), rounds=3, rollouts=20, rng=0)
    assert done.risk[:, 2].max() < three_round_bound(0.1)
