import dataclasses

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic import hierarchical
from tallystick.verbs.dynamic.design import Design
from tallystick.verbs.dynamic.papers import check, hierarchical_certificate, path_certificate


def random_table(rng, rounds):
    return [rng.dirichlet(np.full(t + 1, 0.5)).tolist() for t in range(rounds)]


def weights_of(step, rng):
    """Any mixture; votes in which no model alone has half."""
    if step.operation == "mix":
        return tuple(rng.dirichlet(np.ones(len(step.inputs))))
    return tuple(1 + rng.random(3))


@pytest.mark.parametrize("inverse", [4, 5, 10])
def test_theorem_3_5_stalls_at_an_eighth_of_epsilon_squared_for_sixty_rounds(inverse):
    epsilon = 1 / inverse
    proof = path_certificate(epsilon, rounds=60)
    assert proof.population.size == 8 * inverse**2
    assert proof.check().consistent
    assert proof.risk_by_round()[2:] == (1 / proof.population.size,) * 58
    assert proof.bound == pytest.approx(epsilon**2 / 8, rel=1e-12)


@pytest.mark.parametrize("inverse", [4, 5, 10])
def test_theorem_3_5_holds_for_fifty_random_weightings_and_any_vote(inverse):
    rng = np.random.default_rng(inverse)
    for _ in range(50):
        votes = rng.dirichlet(np.ones(60))
        proof = path_certificate(
            1 / inverse, rounds=60, mixture=random_table(rng, 60), majority=votes.tolist()
        )
        assert proof.check().consistent
        assert proof.output_risk() >= proof.bound - 1e-15
        assert np.all(proof.errors[:, proof.population.weights == proof.bound].any(axis=1))
        share = proof.errors.T.astype(float) @ np.full(60, 1 / 60)
        # the plain majority errs on the common item and nowhere else
        assert (share > 0.5).sum() == 1


def test_the_figure_of_the_baseline_at_a_tenth():
    proof = path_certificate(0.1, rounds=60)
    assert proof.risk_by_round()[-1] == pytest.approx(0.00125, abs=1e-15)
    assert max(proof.check().risks) == pytest.approx(0.0957, abs=5e-5)


def test_theorem_3_5_takes_any_initial_distribution():
    rng = np.random.default_rng(0)
    initial = rng.dirichlet(np.full(128, 0.2))
    proof = path_certificate(1 / 4, rounds=20, initial=initial, mixture=random_table(rng, 20))
    assert proof.check().consistent
    assert proof.risk_by_round()[-1] >= 1 / 128 - 1e-15


@pytest.mark.parametrize("inverse", [2, 3, 4, 5, 10])
@pytest.mark.parametrize("mixing", ["flat", "nested"])
def test_theorem_4_2_stalls_at_half_of_epsilon_cubed(inverse, mixing):
    proof = hierarchical_certificate(1 / inverse, mixing=mixing)
    assert proof.check().consistent
    assert proof.output_risk() * 2 * inverse**3 == pytest.approx(1, rel=1e-12)


def test_theorem_4_2_holds_for_random_weights_of_every_mixture_and_vote():
    rng = np.random.default_rng(0)
    for k in range(50):
        plain = hierarchical(mixing=("flat", "nested")[k % 2])
        steps = {
            name: (
                dataclasses.replace(step, weights=weights_of(step, rng))
                if len(step.inputs) > 1
                else step
            )
            for name, step in plain.steps.items()
        }
        proof = hierarchical_certificate(1 / 5, design=Design("weighted", steps, output="majority"))
        assert proof.check().consistent
        assert proof.output_risk() >= proof.bound - 1e-15


def test_the_construction_of_theorem_4_2_needs_votes_without_a_dictator():
    """The text says any weights; one model above half has its own, larger errors collected, and
    round 4 breaks."""
    plain = hierarchical()
    steps = {**plain.steps, "g1": dataclasses.replace(plain.steps["g1"], weights=(0.6, 0.2, 0.2))}
    proof = hierarchical_certificate(1 / 5, design=Design("dictator", steps, output="majority"))
    assert proof.check().violated_round == 4


def test_theorem_c_2_needs_only_unions_of_two_intervals():
    for slope in (0.5, 0.1, 0.01, -0.2):
        proof = path_certificate(1 / 5, rounds=40, slope=slope)
        assert proof.theorem == "Theorem C.2"
        assert proof.check().consistent
        assert proof.intervals <= 2
        assert proof.risk_by_round()[-1] == pytest.approx((1 - abs(slope)) * (1 / 5) ** 2 / 8)


def test_theorem_c_3_needs_only_unions_of_three_intervals():
    for slope in (0.3, 0.01, -0.1):
        proof = hierarchical_certificate(1 / 4, slope=slope)
        assert proof.check().consistent
        assert proof.intervals <= 3
        assert proof.output_risk() == pytest.approx((1 - abs(slope)) * (1 / 4) ** 3 / 2)


@pytest.mark.parametrize("round_", [1, 2, 9, 10, 17, 40])
def test_a_broken_certificate_is_rejected_at_the_round_that_was_broken(round_):
    proof = path_certificate(1 / 4, rounds=40)
    broken = proof.errors.copy()
    broken[round_ - 1] = True
    seen = check(proof.design, broken, proof.population, epsilon=proof.epsilon)
    assert seen.violated_round == round_
    assert proof.check().consistent


@pytest.mark.parametrize("round_", [1, 4, 7, 9])
def test_a_broken_hierarchy_is_rejected_at_its_round(round_):
    proof = hierarchical_certificate(1 / 4)
    broken = proof.errors.copy()
    broken[round_ - 1, : proof.population.size // 2] = True
    seen = check(proof.design, broken, proof.population, epsilon=proof.epsilon)
    assert (seen.violated_round, seen.violated_step) == (round_, f"h{round_}")


def test_repeating_a_model_too_early_is_caught():
    proof = path_certificate(1 / 10, rounds=5)
    broken = proof.errors.copy()
    broken[2] = broken[1]
    assert check(proof.design, broken, proof.population, epsilon=proof.epsilon).violated_round == 3


def test_an_epsilon_without_whole_inverse_is_refused_with_one_that_works():
    with pytest.raises(InputError, match=r"use 0\.25"):
        path_certificate(0.3, rounds=5)
    with pytest.raises(InputError, match="nine models"):
        hierarchical_certificate(0.25, design=hierarchical(width=2))
    with pytest.raises(InputError, match="rise wherever"):
        path_certificate(0.25, rounds=5, slope=0.1, initial=np.linspace(2, 0, 128) / 128)
