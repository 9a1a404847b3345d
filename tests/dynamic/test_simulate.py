import json

import numpy as np
import pytest

from tallystick.papers.dynamic_benchmarks.certificates import (
    hierarchical_certificate,
    path_certificate,
)
from tallystick.papers.dynamic_benchmarks.rollouts import Perfect, RandomErrors
from tallystick.results import Unknown
from tallystick.verbs.dynamic import Correlated, Population, hierarchical, path, simulate
from tallystick.verbs.dynamic.simulate import Collection


def test_a_path_of_random_learners_with_its_bounds():
    result = simulate(path(5), RandomErrors(0.1), Population.uniform(300), rollouts=60, rng=0)
    assert [each.round for each in result.rounds] == [1, 2, 3, 4, 5]
    third = result.rounds[2]
    assert third.lower_bound < third.risk < third.worst_case == pytest.approx(0.05)
    assert third.risk in third.interval
    assert third.z == pytest.approx(1)
    assert result.output_risk == pytest.approx(result.rounds[-1].risk)
    assert result.signals.early == 4
    assert result.price == 5
    assert "advice needs the log" in result.advice.reason


def test_the_adversary_stalls_where_the_theorems_say():
    proof = path_certificate(0.25, rounds=12)
    result = simulate(proof.design, proof.learner(), proof.population, rollouts=4, rng=0)
    assert all(each.risk == proof.bound for each in result.rounds[2:])
    assert all(each.risk <= each.worst_case for each in result.rounds)
    deep = hierarchical_certificate(0.25)
    assert (
        simulate(deep.design, deep.learner(), deep.population, rollouts=4, rng=0).output_risk
        == deep.bound
    )


def test_a_hierarchy_reports_its_price_and_output():
    result = simulate(
        hierarchical(), RandomErrors(0.2), Population.uniform(200), rollouts=20, rng=0
    )
    assert result.price == 9
    assert result.output_risk in result.output_interval
    assert isinstance(result.advice, Unknown)


def test_the_controls_stand_beside_every_round_and_in_the_verdict():
    shared = simulate(path(5), Correlated(0.1, 0.7), Population.uniform(300), rollouts=60, rng=0)
    last = shared.rounds[-1]
    assert last.risk < last.control == last.fresh
    assert f"as many models on the plain data {last.control:.3g}" in shared.verdict
    part = Population(np.full(200, 1 / 200), initial=(np.arange(200) < 100) / 100)
    elsewhere = simulate(path(5), RandomErrors(0.1), part, rollouts=60, rng=0)
    assert elsewhere.rounds[-1].fresh < elsewhere.rounds[-1].control
    assert "with fresh random data instead of errors" in elsewhere.verdict
    played = path_certificate(0.25, rounds=3)
    scripted = simulate(played.design, played.learner(), played.population, rollouts=4, rng=0)
    assert "plays given error sets" in scripted.rounds[0].control.reason


def test_noise_and_shortfalls_switch_the_bounds_off():
    noisy = simulate(
        path(3), RandomErrors(0.1), Population.uniform(200, noise=0.2), rollouts=20, rng=0
    )
    assert isinstance(noisy.rounds[2].worst_case, Unknown)
    assert noisy.rounds[2].noise_share > 0.3
    short = simulate(
        path(3),
        RandomErrors(0.1),
        Population.uniform(200),
        rollouts=20,
        rng=0,
        collection=Collection(items=10),
    )
    assert isinstance(short.rounds[2].worst_case, Unknown)


def test_results_are_json_and_reproducible():
    first, second = (
        simulate(path(4), Perfect(), Population.uniform(50), rollouts=10, rng=3).to_dict()
        for _ in range(2)
    )
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)
    assert first["rounds"][1]["z"] is None
    assert first["unknown"]["rounds[1].z"] == "no two models share an error"
    assert first["seed"] == 3
