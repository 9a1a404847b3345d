"""Populations, the four operations, designs, and whether error sets could have come out of them."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks import hdh_distance
from tallystick.papers.dynamic_benchmarks.certificates import (
    Certificate,
    hierarchical_certificate,
    path_certificate,
)
from tallystick.papers.dynamic_benchmarks.designs import (
    Design,
    Population,
    Step,
    as_path,
    check,
    collect,
    hierarchical,
    mix,
    path,
    risk,
    training_risks,
    vote,
)
from tallystick.papers.dynamic_benchmarks.rollouts import RandomErrors, roll
from tests.exact_adversaries import random_hierarchy, random_path


@pytest.mark.parametrize(
    ("weights", "initial", "message"),
    [
        ([0.6, 0.6], None, r"weights must sum to one, got a sum of 1\.2"),
        ([1.5, -0.5], None, r"got -0\.5 at position 1"),
        ([1.0, 0.0], np.array([0.5, 0.5]), "item 1"),
    ],
)
def test_what_is_no_population_is_refused_by_its_place(weights, initial, message):
    with pytest.raises(InputError, match=message):
        Population(np.array(weights), initial=initial)


# Section 2: the four operations.


def test_section_2_an_empty_error_set_is_refused():
    with pytest.raises(InputError, match="error set is empty"):
        collect(np.full(3, 1 / 3), np.zeros(3))


def test_section_2_mixture_weights_must_sum_to_one():
    with pytest.raises(InputError, match="mixture weights must sum to one"):
        mix([np.array([1.0, 0.0]), np.array([0.0, 1.0])], [0.5, 0.6])


def test_section_2_a_vote_counts_ties_one_half_and_takes_weights():
    errors = [np.array([1, 0]), np.array([0, 0])]
    assert vote(errors).tolist() == [0.5, 0.0]
    assert vote(errors, [2, 1]).tolist() == [1.0, 0.0]
    with pytest.raises(InputError, match="not all zero"):
        vote(errors, [0, 0])


@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_section_2_collected_errors_are_a_distribution_on_the_errors(size, seed):
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(size))
    errors = rng.random(size) < 0.5
    errors[0] = True
    found = collect(weights, errors)
    assert found.sum() == pytest.approx(1)
    assert np.all(found[~errors] == 0)
    assert risk(found, errors) == pytest.approx(1)


@given(st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_section_2_a_mixture_s_risk_is_the_mixture_of_risks(parts, seed):
    rng = np.random.default_rng(seed)
    distributions = rng.dirichlet(np.ones(6), size=parts)
    shares = rng.dirichlet(np.ones(parts))
    errors = rng.random(6) < 0.5
    mixed = mix(list(distributions), shares)
    assert risk(mixed, errors) == pytest.approx(shares @ risk(distributions, errors))


def test_section_2_a_cycle_is_refused_and_drawn():
    steps = {
        "h": Step("train", ("D",)),
        "e": Step("collect", ("h",)),
        "D": Step("mix", ("initial", "e")),
    }
    with pytest.raises(
        InputError, match=r"has a cycle: (D -> h -> e -> D|h -> e -> D -> h|e -> D -> h -> e);"
    ):
        Design("loop", steps, output="h")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ({"h": Step("train", ("nowhere",))}, "takes 'nowhere', which is no step"),
        (
            {"h": Step("train", ("initial",)), "g": Step("train", ("h",))},
            "train takes distributions, and 'h' is not one",
        ),
        ({"h": Step("collect", ("initial",))}, "collect takes models, and 'initial' is not one"),
        ({"h": Step("train", ("initial", "initial"))}, "train takes one input"),
        ({"h": Step("train", ("initial",)), "m": Step("vote", ())}, "vote needs an input"),
        (
            {"h": Step("train", ("D",)), "D": Step("mix", ("initial",), (0.9,))},
            r"step 'D': weights must sum to one, got a sum of 0\.9",
        ),
        ({"h": Step("train", ("initial",)), "m": Step("vote", ("h",), (0.0,))}, "not all zero"),
        (
            {"h": Step("train", ("initial",)), "m": Step("vote", ("h",), (1.0, 1.0))},
            "as many weights",
        ),
        ({"initial": Step("train", ("initial",))}, "no step may take that name"),
    ],
)
def test_section_2_a_step_that_makes_no_sense_is_refused_by_name(steps, message):
    with pytest.raises(InputError, match=message):
        Design("bad", steps, output="h")


def test_section_2_the_output_has_to_be_a_model():
    with pytest.raises(InputError, match="output 'e' is not one of its models"):
        Design("bad", {"h": Step("train", ("initial",)), "e": Step("collect", ("h",))}, output="e")


# Sections 3 and 4: paths and hierarchies.


def test_sections_3_and_4_a_path_mixes_the_initial_distribution_with_all_errors_so_far():
    design = path(4)
    assert design.steps["D4"].inputs == ("initial", "e1", "e2", "e3")
    assert design.steps["D4"].shares == (0.25,) * 4
    assert design.rounds == 4


def test_sections_3_and_4_a_number_as_mixture_is_the_weight_of_the_initial_distribution():
    assert path(3, mixture=0.5).steps["D3"].shares == (0.5, 0.25, 0.25)


@pytest.mark.parametrize(("depth", "width"), [(1, 3), (2, 3), (2, 5), (3, 2), (3, 3)])
@pytest.mark.parametrize("mixing", ["flat", "nested"])
def test_sections_3_and_4_a_hierarchy_costs_width_to_the_depth_rounds(depth, width, mixing):
    design = hierarchical(depth=depth, width=width, mixing=mixing)
    assert design.rounds == width**depth
    votes = sum(step.operation == "vote" for step in design.steps.values())
    assert votes == sum(width**k for k in range(depth))


def test_sections_3_and_4_flat_mixing_weighs_every_part_alike_and_nested_by_layer():
    flat, nested = hierarchical(mixing="flat"), hierarchical(mixing="nested")
    assert flat.steps["D9"].inputs == ("initial", "e.g1", "e.g2", "e.h7", "e.h8")
    assert nested.steps["D9"].inputs == ("D7", "e.h7", "e.h8")
    assert nested.steps["D7"].inputs == ("initial", "e.g1", "e.g2")


def test_sections_3_and_4_a_path_is_recognised_by_its_shape_whatever_its_names():
    steps = {
        "a": Step("train", ("initial",)),
        "wrong": Step("collect", ("a",)),
        "data": Step("mix", ("initial", "wrong"), (0.2, 0.8)),
        "b": Step("train", ("data",)),
        "m": Step("vote", ("a", "b"), (1.0, 3.0)),
    }
    design = Design("mine", steps, output="m")
    table, votes = as_path(design)
    assert [row.tolist() for row in table] == [[1.0], [0.2, 0.8]]
    assert votes.tolist() == design.ballots.tolist() == [1.0, 3.0]
    assert as_path(Design("mine", steps, output="b")) is None
    assert Design("mine", steps, output="b").ballots.tolist() == [1.0, 1.0]


def test_sections_3_and_4_mixture_tables_are_checked_row_by_row():
    with pytest.raises(InputError, match="round 2, mixes 2 distributions, got 3 weights"):
        path(2, mixture=[[1.0], [0.2, 0.3, 0.5]])
    with pytest.raises(InputError, match="one row a round, 3 in all, got 2"):
        path(3, mixture=[[1.0], [0.5, 0.5]])
    with pytest.raises(InputError, match="rounds must be at least 1"):
        path(0)
    assert np.isclose(sum(path(3, mixture=0.7).steps["D3"].shares), 1)


# Equations (16) and (19): consistent error sets.


def test_equation_19_is_computed_term_by_term():
    rng = np.random.default_rng(0)
    population = Population(rng.dirichlet(np.ones(30)), initial=rng.dirichlet(np.ones(30)))
    table = [rng.dirichlet(np.ones(t + 1)) for t in range(5)]
    sets = rng.random((5, 30)) < 0.3
    d, d0 = population.weights, population.start
    expected = [
        table[t][0] * d0[sets[t]].sum()
        + sum(table[t][1 + s] * d[sets[t] & sets[s]].sum() / d[sets[s]].sum() for s in range(t))
        for t in range(5)
    ]
    seen = check(path(5, mixture=[row.tolist() for row in table]), sets, population, epsilon=0.5)
    assert seen.risks == pytest.approx(expected)


@pytest.mark.parametrize(
    "design", [path(6), path(6, mixture=0.3), hierarchical(mixing="flat"), hierarchical()]
)
def test_equation_19_accepts_what_an_approximate_learner_did_in_any_design(design):
    """Another program: the rollout measures each model's risk on its own distribution."""
    people = Population.uniform(80)
    done = roll(people, design, RandomErrors(0.15), rollouts=1, rng=0, keep_errors=True)
    seen = check(design, done.error_sets[0], people, epsilon=0.15)
    assert seen.consistent
    assert seen.risks == pytest.approx(done.epsilon[0])
    halves = training_risks(design, people.weights, people.start, done.error_sets[0])[1]
    assert halves @ people.weights / 2 == pytest.approx(done.output_risk[0])


def test_equation_19_names_the_first_violated_round():
    sets = np.zeros((4, 100), dtype=bool)
    sets[0, :10] = sets[1, 10:20] = sets[2, 20:30] = True
    sets[3, :10] = True
    seen = check(path(4), sets, Population.uniform(100), epsilon=0.1)
    assert (seen.consistent, seen.violated_round, seen.violated_step) == (False, 4, "h4")
    assert str(seen) == "round 4 (h4) has risk 0.275 > 0.1 on its distribution"


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("design", [path(5), hierarchical(mixing="flat"), hierarchical()])
def test_equation_19_is_the_same_in_fractions_and_in_floats(design, seed):
    shifted, mixing = seed % 2 == 1, "flat" if "flat" in design.name else "nested"
    if design.rounds == 5:
        cells = random_path(5, rng=seed, shifted=shifted)
    else:
        cells = random_hierarchy(mixing=mixing, rng=seed, shifted=shifted)
    whole = cells.mass.sum()
    mass, initial = ((one / whole).astype(float) for one in (cells.mass, cells.initial))
    people = Population(mass / mass.sum(), initial=initial / initial.sum())
    seen = check(design, cells.errors, people, epsilon=0.5)
    assert [float(one) for one in cells.budgets(design)] == pytest.approx(seen.risks, rel=1e-9)
    if design.rounds == 5:
        expected = people.weights @ (cells.errors.sum(axis=0) >= 3)
        assert float(cells.risk(design)) == pytest.approx(expected)
    labels = np.vstack([cells.errors, np.zeros(mass.size, dtype=bool)]).astype(int)
    distance = hdh_distance(labels, people.start, people.weights)
    assert float(cells.distance) == pytest.approx(distance, abs=1e-12)


def test_equation_19_leaves_an_empty_set_out_of_the_mixture_and_counts_a_tie_half():
    tenths, errors = np.array([1, 9], dtype=object), np.array([[0, 0], [1, 0]])
    risks, output = training_risks(path(2), tenths, tenths, errors)
    assert risks == [0, Fraction(1, 10)]  # D_1 is D_0 alone
    assert output.tolist() == [1, 0]


def test_equation_19_refuses_wrong_shapes_and_promises():
    with pytest.raises(InputError, match=r"shape \(3, 5\), got \(2, 5\)"):
        check(path(3), np.zeros((2, 5)), Population.uniform(5), epsilon=0.1)
    with pytest.raises(InputError, match="epsilon"):
        check(path(2), np.zeros((2, 5)), Population.uniform(5), epsilon=0.7)


@pytest.mark.parametrize("round_", [1, 2, 9, 10, 17, 40])
def test_equation_19_rejects_a_broken_certificate_at_the_round_that_was_broken(round_):
    proof = path_certificate(1 / 4, rounds=40)
    broken = proof.errors.copy()
    broken[round_ - 1] = True
    seen = check(proof.design, broken, proof.population, epsilon=proof.epsilon)
    assert seen.violated_round == round_
    assert proof.check().consistent


@pytest.mark.parametrize("round_", [1, 4, 7, 9])
def test_equation_19_rejects_a_broken_hierarchy_at_its_round(round_):
    proof = hierarchical_certificate(1 / 4)
    broken = proof.errors.copy()
    broken[round_ - 1, : proof.population.size // 2] = True
    seen = check(proof.design, broken, proof.population, epsilon=proof.epsilon)
    assert (seen.violated_round, seen.violated_step) == (round_, f"h{round_}")


# Certificates.

ERRORS = np.array(
    [
        [1, 1, 0, 0, 0, 0, 0, 0, 0, 0],
        [0, 1, 0, 1, 0, 0, 0, 0, 0, 0],
        [0, 0, 0, 1, 0, 0, 0, 0, 0, 0],
    ],
    dtype=bool,
)


def certificate(epsilon=0.4):
    return Certificate("by hand", Population.uniform(10), path(3), ERRORS, epsilon, 0.2)


def test_the_risk_of_each_round_is_that_of_the_majority_so_far():
    """One model: 2 of 10. Two: item 1 is wrong, items 0 and 3 tie. Three: items 1 and 3."""
    assert certificate().risk_by_round() == pytest.approx((0.2, 0.2, 0.2))
    last = replace(certificate(), errors=np.roll(ERRORS, 5, axis=1) & ERRORS)
    assert last.risk_by_round() == (0.0, 0.0, 0.0)
    assert certificate().output_risk() == pytest.approx(0.2)
    weighted = replace(certificate(), design=path(3, majority=[3.0, 1.0, 1.0]))
    assert weighted.risk_by_round() == pytest.approx((0.2, 0.2, 0.2))
    assert replace(certificate(), design=path(3, majority=[1.0, 1.0, 3.0])).risk_by_round() == (
        pytest.approx((0.2, 0.2, 0.1))
    )


def test_the_promise_of_a_certificate_is_checked_at_its_epsilon():
    """Round two errs on 2/10 of D_0 and on half of the errors before: (.2 + .5)/2 = .35."""
    assert certificate(0.36).check().consistent
    assert not certificate(0.34).check().consistent


def test_the_learner_of_a_certificate_plays_its_error_sets_as_they_are():
    people = Population.uniform(10)
    build = certificate().learner().begin(people, 1, np.random.default_rng(0))
    for t in range(3):
        assert np.array_equal(np.asarray(build(people.start[None], t), bool)[0], ERRORS[t])


def test_intervals_are_counted_in_the_worst_error_set():
    assert certificate().intervals == 2
    striped = np.zeros((3, 10), dtype=bool)
    striped[1, [0, 2, 3, 9]] = True
    assert replace(certificate(), errors=striped).intervals == 3


def test_a_certificate_that_cannot_be_is_refused_with_one_that_works():
    with pytest.raises(InputError, match=r"use 0\.25"):
        path_certificate(0.3, rounds=5)
    with pytest.raises(InputError, match="nine models"):
        hierarchical_certificate(0.25, design=hierarchical(width=2))
    with pytest.raises(InputError, match="rise wherever"):
        path_certificate(0.25, rounds=5, slope=0.1, initial=np.linspace(2, 0, 128) / 128)
