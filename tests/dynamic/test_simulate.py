"""Theory and simulations: thin over the paper's functions, with what matters said first."""

import json

import pytest

from tallystick.papers.dynamic_benchmarks import path_bound
from tallystick.papers.dynamic_benchmarks.certificates import (
    hierarchical_certificate,
    path_certificate,
    worst_by_round,
)
from tallystick.papers.dynamic_benchmarks.designs import Population, hierarchical, path
from tallystick.papers.dynamic_benchmarks.rollouts import Perfect, RandomErrors, control_risk
from tallystick.results import Unknown
from tallystick.verbs.dynamic import simulate, theory

PEOPLE = Population.uniform(200)


def test_theory_says_where_rounds_promise_nothing_and_a_hierarchy_less_than_a_path():
    for epsilon in (0.25, 0.3, 0.5):
        assert "Three rounds promise no more than one model" in theory(epsilon).verdict
    known = theory(0.1).verdict
    assert "a risk of at most 0.05" in known
    assert "nine rounds promises 0.108, worse than the path of three" in known
    assert "better than the path" in theory(0.04).verdict


def test_seven_rounds_are_far_below_the_closed_form():
    worst = worst_by_round(0.1, 7)
    assert worst[2] == pytest.approx(0.05)
    assert worst[6] < 0.09 < path_bound(0.1, 7)
    assert all(ours <= path_bound(0.1, t) for t, ours in enumerate(worst, start=1))


def test_a_path_of_random_learners_with_its_bounds_and_its_control():
    result = simulate(path(5), RandomErrors(0.1), Population.uniform(300), rollouts=60, rng=0)
    assert [each.round for each in result.rounds] == [1, 2, 3, 4, 5]
    third, last = result.rounds[2], result.rounds[-1]
    assert third.lower_bound < third.risk < third.worst_case == pytest.approx(0.05)
    assert third.risk in third.interval
    assert last.control in last.control_interval
    assert f"as many models on the plain data {last.control:.3g}" in result.verdict
    assert result.output_risk == pytest.approx(last.risk)
    assert "noise_share" not in result.rows()[0]


def test_the_adversaries_stall_where_the_theorems_say():
    proof = path_certificate(0.25, rounds=5)
    result = simulate(proof.design, proof.learner(), proof.population, rollouts=1, rng=0)
    assert all(each.risk == proof.bound for each in result.rounds[2:])
    assert all(each.risk <= each.worst_case for each in result.rounds)
    assert isinstance(result.rounds[0].control, Unknown)
    deep = hierarchical_certificate(0.25)
    played = simulate(deep.design, deep.learner(), deep.population, rollouts=1, rng=0)
    assert played.output_risk == deep.bound


def test_noise_switches_the_bounds_off():
    noisy = Population.uniform(200, noise=0.2)
    result = simulate(path(3), RandomErrors(0.1), noisy, rollouts=20, rng=0)
    assert isinstance(result.rounds[2].worst_case, Unknown)
    deep = simulate(hierarchical(), RandomErrors(0.2), PEOPLE, rollouts=20, rng=0)
    assert deep.output_risk in deep.output_interval


def test_results_are_json_and_reproducible():
    first, second = (
        simulate(path(4), Perfect(), PEOPLE, rollouts=10, rng=3).to_dict() for _ in range(2)
    )
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)
    assert first["seed"] == 3
    assert {"z", "fresh"} & set(first["rounds"][1]) == set()


def test_the_control_votes_independent_errors_away_and_leaves_random_labels_out():
    people = Population.uniform(400)
    alone = control_risk(people, RandomErrors(0.1), rounds=5, rollouts=100, rng=0).mean(axis=0)
    assert alone[4] == pytest.approx(0.00856, abs=0.002)  # three or more of five, each at .1
    noisy = Population.uniform(200, noise=0.25)
    one = control_risk(noisy, RandomErrors(0.15), rounds=1, rollouts=50, rng=0)
    assert one.mean() == pytest.approx(0.2, abs=0.01)
