from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.rollouts import noise_bound
from tallystick.verbs.dynamic.sharp import (
    any_rounds_bound,
    most_overlap,
    noise_closed_floor,
    noise_floor,
    pair_factor,
    sharp_hierarchical_bound,
    three_round_lemma,
)
from tallystick.verbs.dynamic.theory import path_bound


@pytest.mark.parametrize(
    ("epsilon", "distance", "flat", "nested"),
    [
        (0.01, 0.0, "8.4e-05", "0.000108"),
        (0.02, 0.05, "0.001512", "0.0021"),
        (0.05, 0.01, "0.01155", "0.014625"),
        (0.01, 0.05, "0.000315", "0.00045"),
    ],
)
def test_the_hierarchy_reaches_the_printed_vectors(epsilon, distance, flat, nested):
    found = (sharp_hierarchical_bound(epsilon, distance, mixing=m) for m in ("flat", "nested"))
    assert [f"{value:.5g}" for value in found] == [flat, nested]


@pytest.mark.parametrize(
    ("epsilon", "distance", "bound"), [(0.01, 0.05, 0.0030), (0.05, 0.01, 0.0165)]
)
def test_lemma_b_reaches_the_printed_vectors(epsilon, distance, bound):
    assert three_round_lemma(epsilon, distance) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize(
    ("mixing", "halved", "sharp"),
    [
        ("flat", (271.5, 150), ((84, 42), (52.5, 52.5))),
        ("nested", (363, 192), ((108, 45), (75, 75))),
    ],
)
def test_the_sharp_constants_are_below_the_papers(mixing, halved, sharp):
    """The paper's steps with a vote's error halved (ERRATA) give the constants *halved*."""
    for epsilon, distance in product((0.001, 0.01, 0.1), (0.0, 0.001, 0.05, 0.5)):
        ours = sharp_hierarchical_bound(epsilon, distance, mixing=mixing)
        cube, square = halved
        assert ours < cube * epsilon**3 + square * epsilon**2 * distance
        lines = [a * epsilon**3 + b * epsilon**2 * distance for a, b in sharp]
        assert ours == pytest.approx(max(lines))


def test_the_page_chain_of_the_flat_bound_is_a_special_case():
    """144 and 64.5, 192 and 75: true and weaker, one route to them is on the page."""
    for epsilon, distance in product((0.001, 0.01, 0.1), (0.0, 0.01, 0.1)):
        flat = sharp_hierarchical_bound(epsilon, distance, mixing="flat")
        nested = sharp_hierarchical_bound(epsilon, distance, mixing="nested")
        assert flat <= 144 * epsilon**3 + 64.5 * epsilon**2 * distance
        assert nested <= 192 * epsilon**3 + 75 * epsilon**2 * distance + 1e-18


def test_the_overlap_recursion_reaches_the_printed_row():
    assert [most_overlap(rounds) for rounds in range(3, 10)] == [6, 14, 29, 50, 79, 119, 173]


@pytest.mark.parametrize("rounds", range(1, 10))
def test_the_overlap_recursion_equals_brute_force(rounds):
    best = 0
    for labels in product((True, False), repeat=rounds - 1):
        risk, total = 0, 0
        for t, spends_on_risk in enumerate(labels, start=1):
            if spends_on_risk:
                risk = t
            else:
                total += (t + 1) * (risk + 1)
        best = max(best, total)
    assert most_overlap(rounds) == best


def test_the_overlap_cannot_be_exceeded_by_random_budgets():
    """Any split of the budgets between risk and overlaps stays below the best labelling."""
    rng = np.random.default_rng(0)
    for _ in range(500):
        rounds = int(rng.integers(2, 8))
        risks, total = [], 0.0
        for t in range(rounds):
            split = (t + 1) * rng.dirichlet(np.full(t + 1, rng.choice([0.1, 1.0])))
            total += float(np.dot(risks, split[1:]))
            risks.append(split[0])
        assert total <= most_overlap(rounds) + 1e-9


def test_any_rounds_reach_the_printed_row():
    found = [any_rounds_bound(0.01, rounds, 0.0) / 0.01**2 for rounds in range(3, 10)]
    assert [round(value, 2) for value in found] == [6, 7, 9.67, 8.33, 13.17, 11.9, 17.3]


@pytest.mark.parametrize("rounds", [4, 5, 6, 7, 8, 9, 15])
def test_the_new_bound_is_the_one_that_is_printed(rounds):
    for epsilon, distance in product((0.001, 0.05), (0.0, 0.01)):
        known = min(1.0, any_rounds_bound(epsilon, rounds, distance))
        assert path_bound(epsilon, rounds, distance) == known


def test_three_rounds_take_lemma_b():
    for epsilon, distance in product((0.001, 0.05), (0.0, 0.01, 0.2)):
        assert any_rounds_bound(epsilon, 3, distance) == pytest.approx(
            three_round_lemma(epsilon, distance)
        )


def test_one_and_two_rounds_keep_the_mean_risk():
    """Two rounds with disjoint errors ε and 2ε have risk 1.5 ε, which the pair bound would miss."""
    assert any_rounds_bound(0.1, 1, 0.0) == pytest.approx(0.1)
    assert any_rounds_bound(0.1, 2, 0.0) == pytest.approx(0.15)
    assert any_rounds_bound(0.1, 2, 0.02) == pytest.approx(0.17)
    with pytest.raises(InputError, match="at least 3"):
        pair_factor(2)


def test_the_noise_floor_reaches_the_printed_vectors():
    assert [round(noise_floor(0.05, 0.2, t), 4) for t in (1, 3, 10)] == [0.4333, 0.4417, 0.3097]
    assert [round(noise_closed_floor(0.05, 0.2, t), 4) for t in (1, 3, 10)] == [
        0.4333,
        0.35,
        0.1697,
    ]


def test_the_noise_floor_is_the_recursion_unrolled():
    for t, share in enumerate(noise_bound(0.03, 0.15, 12)):
        assert noise_floor(0.03, 0.15, t) == pytest.approx(share)


@pytest.mark.parametrize("t", [1, 2, 7, 40])
def test_the_closed_forms_lie_below_the_sum_and_above_the_papers(t):
    epsilon, delta = Fraction(1, 20), Fraction(1, 5)
    total = noise_floor(epsilon, delta, t)
    closed = noise_closed_floor(epsilon, delta, t)
    short = 1 / (2 * (1 + 2 * t * epsilon / delta))
    assert total >= closed >= short > 1 / (2 * (1 + 8 * t * epsilon / delta))
    assert isinstance(total, Fraction)


def test_exact_clean_errors_never_have_less_noise_than_the_floor():
    """Populations in fractions: every model errs on as much clean mass as its promise allows."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        epsilon = Fraction(int(rng.integers(1, 50)), 1000)
        delta = Fraction(int(rng.integers(1, 500)), 1000)
        share = delta
        for t in range(8):
            clean = (t + 1) * epsilon * Fraction(int(rng.integers(0, 1001)), 1000)
            found = (delta / 2) / (delta / 2 + clean)
            share = ((t + 1) * share + found) / (t + 2)
            assert share >= noise_floor(epsilon, delta, t + 1)


@pytest.mark.parametrize(
    "call",
    [
        lambda: sharp_hierarchical_bound(0.0, 0.0, mixing="flat"),
        lambda: sharp_hierarchical_bound(0.1, -0.1, mixing="flat"),
        lambda: sharp_hierarchical_bound(0.1, 0.0, mixing="other"),
        lambda: any_rounds_bound(0.1, 0, 0.0),
        lambda: most_overlap(0),
        lambda: noise_floor(0.1, 0.0, 1),
        lambda: noise_floor(0.1, 0.2, -1),
    ],
)
def test_impossible_requests_are_refused(call):
    with pytest.raises(InputError):
        call()
