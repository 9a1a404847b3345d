"""Theory and simulations: thin over the paper's functions, with what matters said first."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks.certificates import (
    hierarchical_certificate,
    path_certificate,
)
from tallystick.papers.dynamic_benchmarks.designs import Population, hierarchical, path
from tallystick.papers.dynamic_benchmarks.rollouts import Perfect, RandomErrors
from tallystick.results import Unknown
from tallystick.verbs.dynamic import simulate, theory
from tallystick.verbs.dynamic.question import demo

PEOPLE = Population.uniform(200)


def test_theory_says_where_rounds_promise_nothing_and_a_hierarchy_less_than_a_path():
    for epsilon in (0.25, 0.3, 0.5):
        assert "promises no smaller risk than one model" in theory(epsilon).verdict
    known = theory(0.1)
    assert "a smaller risk than one model: at most 0.05" in known.verdict
    assert "nine rounds promises 0.108, worse than the path of three" in known.verdict
    assert "better than the path" in theory(0.04).verdict
    text = known.summary()
    assert all(
        name in text for name in ("Theorem 3.4", "Theorem 3.5", "Theorem 4.1", "Theorem 4.2", "A.2")
    )
    assert isinstance(known.rounds[2].risk, Unknown)
    assert known.rounds[2].worst_case == pytest.approx(0.05)
    assert json.dumps(known.to_dict(), allow_nan=False)
    for wrong in ({"epsilon": 0.7}, {"epsilon": 0.1, "rounds": 0}):
        with pytest.raises(InputError):
            theory(**wrong)


def test_a_path_of_random_learners_with_its_bounds_and_its_control():
    result = simulate(path(5), RandomErrors(0.1), Population.uniform(300), rollouts=60, rng=0)
    assert [each.round for each in result.rounds] == [1, 2, 3, 4, 5]
    third, last = result.rounds[2], result.rounds[-1]
    assert third.lower_bound < third.risk < third.worst_case == pytest.approx(0.05)
    assert third.risk in third.interval
    assert last.control in last.control_interval
    assert f"as many models on the plain data {last.control:.3g}" in result.verdict
    assert result.output_risk == pytest.approx(last.risk)
    assert not {"noise_share", "z", "fresh"} & set(result.rows()[0])


def test_the_adversaries_stall_where_the_theorems_say():
    proof = path_certificate(0.25, rounds=5)
    result = simulate(proof.design, proof.learner(), proof.population, rollouts=1, rng=0)
    assert all(each.risk == proof.bound for each in result.rounds[2:])
    assert all(each.risk <= each.worst_case for each in result.rounds)
    assert isinstance(result.rounds[0].control, Unknown)
    deep = hierarchical_certificate(0.25)
    played = simulate(deep.design, deep.learner(), deep.population, rollouts=1, rng=0)
    assert played.output_risk == deep.bound


@pytest.mark.parametrize(
    ("design", "population", "why"),
    [
        (path(3), Population.uniform(200, noise=0.2), "labels are random"),
        (path(3, mixture=0.5), PEOPLE, "equal mixing"),
        (path(3, majority=(1, 1, 2)), PEOPLE, "equal mixing"),
        (path(3), Population(np.full(4, 0.25), initial=np.array([0.4, 0.2, 0.2, 0.2])), "equal mixing"),
    ],
    ids=["noise", "mixture", "votes", "first data"],
)  # fmt: skip
def test_bounds_stand_only_where_they_are_proved(design, population, why):
    result = simulate(design, RandomErrors(0.25), population, rollouts=20, rng=0)
    assert why in result.rounds[2].worst_case.reason
    assert isinstance(result.rounds[2].lower_bound, Unknown)


def test_results_are_json_and_reproducible():
    first, second = (
        simulate(path(4), Perfect(), PEOPLE, rollouts=10, rng=3).to_dict() for _ in range(2)
    )
    assert json.dumps(first, allow_nan=False) == json.dumps(second, allow_nan=False)
    assert first["seed"] == 3
    deep = simulate(hierarchical(), RandomErrors(0.2), PEOPLE, rollouts=20, rng=0)
    assert deep.output_risk in deep.output_interval


def test_the_demo_names_a_command_that_says_the_same(tmp_path):
    done = CliRunner().invoke(
        app, ["demo", "dynamic", "--json", "--seed", "1", "--out", str(tmp_path)]
    )
    assert done.exit_code == 0, done.output
    out = json.loads(done.stdout)
    assert [row["round"] for row in out["rounds"]] == [1, 2, 3]
    assert all(row["all_wrong"] > row["independent"] for row in out["rounds"])
    page = (tmp_path / "dynamic.html").read_text(encoding="utf-8")
    assert ("<html" in page, page.count("<script")) == (True, 1), "ours and no other"
    table = str(tmp_path / "dynamic.csv")
    assert f"tallystick dynamic analyse {table} --truth gold" in done.stderr
    assert demo(1).options == {"truth": "gold"}
    again = CliRunner().invoke(app, ["dynamic", "analyse", table, "--truth", "gold", "--json"])
    assert json.loads(again.stdout)["rounds"] == out["rounds"]
