"""Laws that hold for all marginals."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tallystick.stats.transport import (
    Bounds,
    agreement,
    agreement_coupling,
    class_joint,
    coupling_value,
    joint_event,
    outer_bound,
    pair_cost,
    pair_difference,
    row_values,
    two_label_coupling,
    two_labels,
)
from tallystick.stats.transport_smoothed import robust_end

ROUNDING = 1e-12
SOME = settings(max_examples=40)
# Multiples of 1/8 before normalising make zeros, ties and kinks common.
MASS = st.one_of(st.integers(0, 8).map(lambda k: k / 8), st.floats(0, 1))


def laws(draw: st.DrawFn, patterns: int, labels: int) -> np.ndarray:
    mass = draw(arrays(np.float64, (patterns, labels), elements=MASS))
    mass[mass.sum(axis=1) < 1e-6, 0] = 1
    return np.asarray(mass / mass.sum(axis=1, keepdims=True))


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    patterns, labels = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    return laws(draw, patterns, labels), laws(draw, patterns, labels)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    patterns, labels = draw(st.integers(1, 4)), draw(st.integers(2, 5))
    return laws(draw, patterns, labels**2).reshape(patterns, labels, labels), laws(
        draw, patterns, labels
    )


@st.composite
def binaries(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    patterns, atoms = draw(st.integers(1, 3)), draw(st.integers(2, 5))
    cost = draw(
        arrays(
            np.float64,
            (atoms, 2),
            elements=st.one_of(st.integers(-2, 2).map(float), st.floats(-3, 3)),
        )
    )
    return laws(draw, patterns, atoms), laws(draw, patterns, 2), cost


def independent_value(q: np.ndarray, p: np.ndarray, cost: np.ndarray) -> np.ndarray:
    return coupling_value(q[:, :, None] * p[:, None, :], cost)


def assert_encloses(bounds: Bounds, value: np.ndarray) -> None:
    assert (
        bounds.lower.value <= bounds.upper.value
    ).all()  # exactly: where the ends meet, rounding must not cross them
    assert (bounds.lower.value <= value + ROUNDING).all()
    assert (value <= bounds.upper.value + ROUNDING).all()


def assert_proved(bounds: Bounds, q: np.ndarray, p: np.ndarray, cost: np.ndarray) -> None:
    for end in (bounds.lower, bounds.upper):
        proved = outer_bound(q, p, cost, end.potentials, side=end.side)
        np.testing.assert_allclose(proved, end.value, rtol=0, atol=ROUNDING)


@SOME
@given(problems())
def test_agreement_encloses_independence_and_is_proved_by_its_potentials(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    q, p = problem
    bounds, cost = agreement(q, p), np.eye(q.shape[1])
    assert_encloses(bounds, independent_value(q, p, cost))
    assert_proved(bounds, q, p, cost)


@SOME
@given(problems())
def test_agreement_is_attained_by_couplings_with_the_right_marginals(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    q, p = problem
    bounds = agreement(q, p)
    for end in (bounds.lower, bounds.upper):
        coupling = agreement_coupling(q, p, side=end.side)
        assert (coupling >= 0).all()
        np.testing.assert_allclose(coupling.sum(axis=2), q, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(coupling.sum(axis=1), p, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(
            coupling_value(coupling, np.eye(q.shape[1])), end.value, rtol=0, atol=ROUNDING
        )


@SOME
@given(problems())
def test_the_classes_of_a_joint_add_up_to_agreement(problem: tuple[np.ndarray, np.ndarray]) -> None:
    whole, classes = agreement(*problem), class_joint(*problem)
    np.testing.assert_allclose(
        sum(c.lower.value for c in classes), whole.lower.value, rtol=0, atol=ROUNDING
    )
    np.testing.assert_allclose(
        sum(c.upper.value for c in classes), whole.upper.value, rtol=0, atol=ROUNDING
    )


@SOME
@given(problems())
def test_a_joint_event_is_proved_by_its_potentials(problem: tuple[np.ndarray, np.ndarray]) -> None:
    q, p = problem[0][:, 0], problem[1][:, 0]
    two = np.column_stack([1 - q, q]), np.column_stack([1 - p, p])
    both = np.array([[0.0, 0.0], [0.0, 1.0]])
    assert_proved(joint_event(q, p), *two, both)
    assert_encloses(joint_event(q, p), q * p)


@SOME
@given(pairs())
def test_a_pair_difference_encloses_independence_and_is_proved(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    w, p = problem
    bounds, cost, flat = pair_difference(w, p), pair_cost(p.shape[1]), w.reshape(len(w), -1)
    assert_encloses(bounds, independent_value(flat, p, cost))
    assert_proved(bounds, flat, p, cost)
    for end in (bounds.lower, bounds.upper):
        assert np.isin(np.abs(end.potentials), [0, 1, 2]).all()


@SOME
@given(pairs())
def test_a_pair_differs_by_no_more_than_the_bounds_of_each_allow(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    w, p = problem
    first, second = agreement(w.sum(axis=2), p), agreement(w.sum(axis=1), p)
    bounds = pair_difference(w, p)
    assert (bounds.upper.value <= first.upper.value - second.lower.value + ROUNDING).all()
    assert (bounds.lower.value >= first.lower.value - second.upper.value - ROUNDING).all()


@SOME
@given(pairs())
def test_exchanging_the_pair_mirrors_its_bounds(problem: tuple[np.ndarray, np.ndarray]) -> None:
    w, p = problem
    there, back = pair_difference(w, p), pair_difference(w.transpose(0, 2, 1), p)
    np.testing.assert_array_equal(there.upper.value, -back.lower.value)
    np.testing.assert_array_equal(there.lower.potentials, -back.upper.potentials)


@SOME
@given(binaries())
def test_two_labels_are_enclosed_proved_and_attained(
    problem: tuple[np.ndarray, np.ndarray, np.ndarray],
) -> None:
    q, p, cost = problem
    bounds = two_labels(q, p, cost)
    assert_encloses(bounds, independent_value(q, p, cost))
    assert_proved(bounds, q, p, cost)
    for end in (bounds.lower, bounds.upper):
        coupling = two_label_coupling(q, p, cost, side=end.side)
        assert (coupling >= -ROUNDING).all()
        np.testing.assert_allclose(coupling.sum(axis=2), q, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(coupling.sum(axis=1), p, rtol=0, atol=ROUNDING)
        np.testing.assert_allclose(coupling_value(coupling, cost), end.value, rtol=0, atol=ROUNDING)


@SOME
@given(problems(), st.data())
def test_any_potentials_prove_an_outer_bound(
    problem: tuple[np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    q, p = problem
    a = data.draw(arrays(np.float64, p.shape, elements=st.floats(-3, 3)))
    delta = data.draw(st.floats(0, 1))
    bounds, cost = agreement(q, p), np.eye(q.shape[1])
    slack = 1e-11
    upper = outer_bound(q, p, cost, a, side="upper", delta=delta)
    lower = outer_bound(q, p, cost, a, side="lower", delta=delta)
    assert (upper >= robust_end(bounds.upper, delta) - slack).all()
    assert (lower <= robust_end(bounds.lower, delta) + slack).all()


@SOME
@given(problems(), st.permutations(range(5)))
def test_renaming_the_labels_changes_no_bound(
    problem: tuple[np.ndarray, np.ndarray], names: list[int]
) -> None:
    q, p = problem
    order = [y for y in names if y < p.shape[1]]
    here, there = agreement(q, p), agreement(q[:, order], p[:, order])
    np.testing.assert_allclose(there.upper.value, here.upper.value, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(there.lower.value, here.lower.value, rtol=0, atol=ROUNDING)
    np.testing.assert_array_equal(there.upper.potentials, here.upper.potentials[:, order])


@SOME
@given(pairs(), st.permutations(range(5)))
def test_renaming_the_labels_changes_no_difference(
    problem: tuple[np.ndarray, np.ndarray], names: list[int]
) -> None:
    w, p = problem
    order = [y for y in names if y < p.shape[1]]
    here, there = pair_difference(w, p), pair_difference(w[:, order][:, :, order], p[:, order])
    np.testing.assert_allclose(there.upper.value, here.upper.value, rtol=0, atol=ROUNDING)
    np.testing.assert_allclose(there.lower.value, here.lower.value, rtol=0, atol=ROUNDING)


@SOME
@given(problems(), st.data())
def test_coarsening_the_patterns_only_widens(
    problem: tuple[np.ndarray, np.ndarray], data: st.DataObject
) -> None:
    q, p = problem
    counts = data.draw(st.lists(st.integers(1, 9), min_size=len(q), max_size=len(q)))
    low, high = agreement(q, p).mean(counts)
    coarse = [np.average(law, axis=0, weights=counts, keepdims=True) for law in (q, p)]
    wide_low, wide_high = agreement(*coarse).mean()
    assert wide_low <= low + ROUNDING
    assert wide_high >= high - ROUNDING


@SOME
@given(pairs(), st.floats(0, 1), st.floats(0, 1))
def test_more_error_moves_the_ends_outward(
    problem: tuple[np.ndarray, np.ndarray], one: float, other: float
) -> None:
    small, large = sorted((one, other))
    bounds = pair_difference(*problem)
    assert (robust_end(bounds.upper, large) >= robust_end(bounds.upper, small)).all()
    assert (robust_end(bounds.lower, large) <= robust_end(bounds.lower, small)).all()


@SOME
@given(problems())
def test_row_values_average_to_the_bound_and_serve_every_class_at_once(
    problem: tuple[np.ndarray, np.ndarray],
) -> None:
    q, p = problem
    end = agreement(q, p).upper
    rows = row_values(p, np.eye(q.shape[1]), end.potentials, side="upper")
    # The form that a pass over rows uses: p_c where q_c > p_c, else whether h = c.
    in_s = q > p
    by_class = np.where(in_s[:, None, :], p[:, None, :], np.eye(q.shape[1]))
    np.testing.assert_allclose(rows, by_class.sum(axis=2), rtol=0, atol=ROUNDING)
    np.testing.assert_allclose((q * rows).sum(axis=1), end.value, rtol=0, atol=ROUNDING)


def test_ends_that_meet_do_not_cross_by_rounding() -> None:
    # 1 + 0.1 - 1 is more than 0.1 in floats
    low, high = agreement([[1.0, 0.0]], [[0.1, 0.9]]).mean()
    assert low <= high
    assert low == 0.1
