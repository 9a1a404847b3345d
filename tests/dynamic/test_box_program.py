import numpy as np
import pytest

from tallystick.verbs.dynamic.design import mixture_table
from tallystick.verbs.dynamic.theory import BoxProgram

EPSILON = 0.1
EXACT = 6 * EPSILON**2 / (1 + 2 * EPSILON)
"""The worst case of three rounds: the known value that every relaxation must stay above."""


def program(rounds: int = 3) -> BoxProgram:
    return BoxProgram(EPSILON, mixture_table(rounds, None))


def test_one_round_is_as_bad_as_its_promise():
    one = program(1)
    assert one.patterns == [(0,)]
    found = one.solve(np.zeros(1), one.highest)
    assert found.value == pytest.approx(EPSILON)
    assert found.bound == pytest.approx(EPSILON)


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
