"""The worst case of a path, and the linear program of one box of it."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.papers.dynamic_benchmarks import path_bound
from tallystick.papers.dynamic_benchmarks.certificates import (
    BoxProgram,
    worst_by_round,
    worst_case,
)
from tallystick.papers.dynamic_benchmarks.designs import mixture_table


@pytest.mark.parametrize(
    "epsilon", [0.01, 0.05, 0.1, *(pytest.param(e, marks=pytest.mark.slow) for e in (0.2, 0.25))]
)
def test_three_rounds_are_six_epsilon_squared_over_one_plus_two_epsilon(epsilon):
    exact = 6 * epsilon**2 / (1 + 2 * epsilon)
    found = worst_case(epsilon, gap=1e-6 / exact, starts=2)
    assert found.lower == pytest.approx(exact, abs=1e-9)
    assert exact - 1e-12 <= found.upper <= exact + 1e-6


def test_five_rounds_at_a_tenth_are_certified_between_5_5_and_5_6():
    found = worst_case(0.1, 5, gap=0.007, starts=2)
    assert 5.5604 <= found.lower / 0.01 <= found.upper / 0.01 <= 5.6
    assert found.certificate().check().consistent
    assert found.certificate().output_risk() == pytest.approx(found.lower, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rounds", "boxes", "upper", "lower"),
    [
        (5, 300, 5.658, 5.560),
        (6, 1500, 4.906, 4.471),
        (7, 2500, 6.925, 6.573),
        (8, 800, 6.152, 5.275),
    ],
)
def test_branch_and_bound_reaches_the_table_of_the_page(rounds, boxes, upper, lower):
    """Upper ends to the printed digits; lower ends no worse than the best that was known."""
    found = worst_case(0.1, rounds, nodes=boxes, starts=30 if rounds == 7 else 8)
    assert round(found.upper / 0.01, 3) == upper
    assert found.lower / 0.01 >= lower
    assert found.certificate().check().consistent


@pytest.mark.slow
def test_nine_rounds_are_bounded_by_default_without_a_search():
    found = worst_case(0.1, 9)
    assert (round(found.upper / 0.01, 3), found.nodes) == (9.522, 301)


@pytest.mark.slow
def test_six_rounds_are_closed_by_default():
    found = worst_case(0.1, 6)
    assert round(found.lower / 0.01, 4) == round(found.upper / 0.01, 4) == 4.9062
    assert found.certificate().output_risk() == pytest.approx(found.lower, abs=1e-9)


def test_four_rounds_reach_the_value_of_the_corrections():
    found = worst_case(0.1, 4, gap=1e-3)
    assert found.lower / 0.01 <= 5.8333 + 1e-4
    assert found.upper / 0.01 >= 5.8333 - 1e-4
    assert found.gap <= 1e-3


@pytest.mark.parametrize(("rounds", "closed"), [(6, 8.33), (7, 13.17), (8, 11.9), (9, 17.3)])
def test_the_first_box_is_below_the_closed_form(rounds, closed):
    root = worst_case(0.1, rounds, nodes=1, search=False).upper / 0.01
    assert root < closed
    assert round(root, 2) == {6: 7.31, 7: 11.48, 8: 10.38, 9: 14.94}[rounds]


def test_longer_paths_are_sent_to_the_closed_form():
    with pytest.raises(InputError, match="any_rounds_bound, which is proved but not sharp"):
        worst_case(0.1, 10)


def test_the_search_finds_worse_cases_than_the_boxes_alone():
    alone = worst_case(0.1, 5, nodes=1, search=False).lower
    assert alone <= worst_case(0.1, 5, nodes=1, starts=0).lower
    first, second = (worst_case(0.1, 5, nodes=1, starts=2, rng=1).lower for _ in range(2))
    assert first == second > 1.4 * alone


def test_one_and_two_rounds_are_their_risks():
    assert worst_case(0.2, 1).lower == pytest.approx(0.2)
    assert worst_case(0.2, 2).lower == pytest.approx(
        0.3
    )  # a tie counts one half: (epsilon + 2 epsilon)/2


def test_the_lower_end_is_reached_by_error_sets_that_pass_the_checker():
    for mixture in (None, 0.5, [[1.0], [0.3, 0.7], [0.2, 0.5, 0.3]]):
        proof = worst_case(0.15, 3, mixture=mixture, gap=1e-2, nodes=100, starts=2).certificate()
        assert proof.check().consistent
        assert proof.output_risk() == pytest.approx(proof.bound, abs=1e-9)


def test_the_certificate_of_many_rounds_passes_the_checker_too():
    """A round without errors would be left out of the mixtures, so none may be empty."""
    for rounds in (6, 7):
        found = worst_case(0.1, rounds, nodes=10, starts=1)
        assert found.certificate().check().consistent
        assert found.certificate().errors.any(axis=1).all()
        assert found.certificate().output_risk() == pytest.approx(found.lower, abs=1e-9)


def test_random_error_patterns_never_exceed_the_upper_end():
    rng = np.random.default_rng(0)
    upper = worst_case(0.2, 3, gap=1e-2, starts=1).upper
    for _ in range(2000):
        masses = rng.dirichlet(np.full(8, 0.3))
        sets = np.array([[k >> t & 1 for k in range(8)] for t in range(3)], dtype=bool)
        risks = sets @ masses
        joint = (sets * masses) @ sets.T
        spent = [
            (risks[t] + sum(joint[t, s] / risks[s] for s in range(t) if risks[s] > 0)) / (t + 1)
            for t in range(3)
        ]
        if max(spent) <= 0.2:
            assert masses[sets.sum(axis=0) >= 2].sum() <= upper


@pytest.mark.parametrize(
    "options", [{"rounds": 10}, {"rounds": 0}, {"gap": 0}, {"nodes": 0}, {"starts": -1}]
)
def test_impossible_requests_are_refused(options):
    with pytest.raises(InputError):
        worst_case(0.1, **options)


# One box.

EPSILON = 0.1
EXACT = 6 * EPSILON**2 / (1 + 2 * EPSILON)
"""The worst case of three rounds: the known value that every relaxation must stay above."""


def program(rounds=3):
    return BoxProgram(EPSILON, mixture_table(rounds, None))


def test_the_whole_box_bounds_the_worst_case_from_above():
    three = program()
    found = three.solve(np.zeros(3), three.highest)
    assert found.bound >= EXACT
    # The dual prices prove the program's own value, not more.
    assert found.bound == pytest.approx(found.value, rel=1e-6)


def test_a_part_of_the_box_is_bounded_no_worse_than_the_whole():
    three = program()
    whole = three.solve(np.zeros(3), three.highest)
    low, high = np.zeros(3), three.highest.copy()
    high[0] = low[1] = 0.05
    part = three.solve(low, high)
    assert part.bound <= whole.bound + 1e-12
    assert (part.risks >= low).all()
    assert (part.risks <= high).all()


def test_relaxed_products_stay_below_both_faces_of_their_envelope():
    three = program()
    low, high = np.array([0.05, 0.02, 0.02]), np.array([0.1, 0.15, 0.2])
    found = three.solve(low, high)
    mass = dict(zip(three.patterns, found.masses, strict=True))
    # Which earlier round s is in the mixture of round t: each pair weighs 1/2, then 1/3 twice.
    for (s, t), c in zip([(0, 1), (0, 2), (1, 2)], found.shares, strict=True):
        q = sum(value for pattern, value in mass.items() if {s, t} <= set(pattern))
        r = sum(value for pattern, value in mass.items() if s in pattern)
        most = EPSILON * (t + 1)
        assert q <= high[s] * c + 1e-12
        assert q <= most * r + low[s] * c - low[s] * most + 1e-12
    # Without the second face the bound of this box would be 0.04705.
    assert found.bound == pytest.approx(0.045826, abs=1e-6)


def test_at_a_point_the_products_are_exact_and_the_promises_are_kept():
    three = program()
    risks = np.array([0.1, 0.08, 0.08])
    found = three.solve(risks, risks)
    np.testing.assert_allclose(found.violation, 0, atol=1e-9)
    mass = dict(zip(three.patterns, found.masses, strict=True))
    joint = sum(value for pattern, value in mass.items() if {0, 1} <= set(pattern))
    # Eq (19), round two: half of D_0 and half of D_0 given the errors of round one.
    assert 0.5 * risks[1] + 0.5 * joint / risks[0] <= EPSILON + 1e-9
    majority = sum(value for pattern, value in mass.items() if len(pattern) >= 2)
    assert majority == pytest.approx(found.value, rel=1e-6)
    assert found.value <= EXACT + 1e-9


def test_risks_that_no_path_can_have_are_impossible():
    three = program()
    assert three.solve(np.full(3, 0.5), np.full(3, 0.6)) is None


def test_the_bounds_by_round_are_the_least_that_is_proved():
    worst = worst_by_round(0.1, 7)
    assert worst[2] == pytest.approx(0.05)
    assert worst[6] < 0.09 < path_bound(0.1, 7)
    assert all(ours <= path_bound(0.1, t) for t, ours in enumerate(worst, start=1))
