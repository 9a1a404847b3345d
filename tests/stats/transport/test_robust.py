from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, linprog

from tallystick.errors import InputError
from tallystick.stats.transport import (
    End,
    agreement,
    pair_cost,
    pair_difference,
    programme,
    two_labels,
)
from tallystick.stats.transport_smoothed import (
    breakdown,
    budget_breakdown,
    budget_end,
    robust_end,
    shifted_labels,
)

RNG = np.random.default_rng(11)
Z, K = 12, 4
Q, P = RNG.dirichlet(np.full(K, 0.5), Z), RNG.dirichlet(np.full(K, 0.5), Z)
W = RNG.dirichlet(np.full(K * K, 0.3), Z).reshape(Z, K, K)
COUNTS = RNG.integers(1, 50, Z)
ENDS = [
    *(getattr(agreement(Q, P), side) for side in ("lower", "upper")),
    *(getattr(pair_difference(W, P), side) for side in ("lower", "upper")),
    *(
        getattr(
            two_labels(Q, P[:, :2] / P[:, :2].sum(1, keepdims=True), RNG.normal(size=(K, 2))), side
        )
        for side in ("lower", "upper")
    ),
]


def population(end: End, delta: float) -> float:
    return float(np.average(robust_end(end, delta), weights=COUNTS))


def test_accuracy_moves_by_delta_and_is_clipped() -> None:
    bounds = agreement(Q, P)
    np.testing.assert_allclose(
        robust_end(bounds.lower, 0.1), np.maximum(bounds.lower.value - 0.1, 0), atol=1e-15
    )
    np.testing.assert_allclose(
        robust_end(bounds.upper, 0.1), np.minimum(bounds.upper.value + 0.1, 1), atol=1e-15
    )
    assert budget_end(bounds.lower, 0.05, COUNTS) == pytest.approx(
        bounds.lower.mean(COUNTS) - 0.05, abs=1e-14
    )
    assert budget_end(bounds.upper, 0.05, COUNTS) == pytest.approx(
        bounds.upper.mean(COUNTS) + 0.05, abs=1e-14
    )


@pytest.mark.parametrize("end", ENDS)
def test_without_error_an_end_stays_where_it_is(end: End) -> None:
    np.testing.assert_array_equal(robust_end(end, 0), end.value)
    assert budget_end(end, 0, COUNTS) == end.mean(COUNTS)


@pytest.mark.parametrize("end", ENDS)
def test_a_budget_on_average_allows_at_least_the_same_error_everywhere(end: End) -> None:
    for delta in (0.01, 0.1, 0.4):
        moved, at_most = (
            abs(population(end, delta) - end.mean(COUNTS)),
            abs(budget_end(end, delta, COUNTS) - end.mean(COUNTS)),
        )
        assert moved <= at_most + 1e-12


@pytest.mark.parametrize(("labels", "delta"), [(3, 0.02), (3, 0.15), (4, 0.3)])
def test_a_budget_on_average_equals_one_programme_over_all_patterns(
    labels: int, delta: float
) -> None:
    rng = np.random.default_rng(labels)
    w, p = rng.dirichlet(np.full(labels**2, 0.3), 5), rng.dirichlet(np.full(labels, 0.5), 5)
    share = np.array([0.1, 0.3, 0.2, 0.15, 0.25])
    g, atoms = pair_cost(labels), labels**2
    # Variables, pattern by pattern: the coupling, what each label receives, what it gives away.
    size = atoms * labels + 2 * labels
    cost, rows, right = np.zeros(5 * size), [], []
    spent = np.zeros(5 * size)
    for z in range(5):
        at = z * size
        cost[at : at + atoms * labels] = -share[z] * g.ravel()
        spent[at + atoms * labels + labels : at + size] = share[z]
        for i in range(atoms):
            row = np.zeros(5 * size)
            row[at + i * labels : at + (i + 1) * labels] = 1
            rows.append(row)
            right.append(w[z, i])
        for y in range(labels):
            row = np.zeros(5 * size)
            row[at + y : at + atoms * labels : labels] = 1
            row[at + atoms * labels + y], row[at + atoms * labels + labels + y] = -1, 1
            rows.append(row)
            right.append(p[z, y])
    solved = linprog(
        cost, A_eq=np.array(rows), b_eq=right, A_ub=spent[None], b_ub=[delta], method="highs"
    )
    end = pair_difference(w.reshape(5, labels, labels), p).upper
    assert budget_end(end, delta, share) == pytest.approx(-solved.fun, abs=1e-9)


@pytest.mark.parametrize("end", ENDS)
def test_the_breakdown_is_where_the_end_meets_the_target(end: End) -> None:
    here, there = end.mean(COUNTS), population(end, 1.0)
    for part in (0.1, 0.5, 0.9, 0.999):
        target = here + part * (there - here)
        everywhere = breakdown(end, target, COUNTS)
        assert everywhere == pytest.approx(
            brentq(lambda d, c: population(end, d) - c, 0, 1, (target,), xtol=1e-14), abs=1e-9
        )
        average = budget_breakdown(end, target, COUNTS)
        assert budget_end(end, average, COUNTS) == pytest.approx(target, abs=1e-12)
        assert average <= everywhere + 1e-12


def test_the_breakdown_on_average_of_accuracy_is_a_distance() -> None:
    end = agreement(Q, P).lower
    assert budget_breakdown(end, 0.05, COUNTS) == pytest.approx(end.mean(COUNTS) - 0.05, abs=1e-14)


@pytest.mark.parametrize("solve", [breakdown, budget_breakdown])
def test_a_breakdown_is_zero_when_passed_and_infinite_when_out_of_reach(
    solve: type[breakdown],
) -> None:
    end = agreement(Q, P).lower
    assert solve(end, end.mean(COUNTS) + 0.01, COUNTS) == 0
    assert solve(end, -0.01, COUNTS) == math.inf
    assert solve(end, 0.0, COUNTS) <= end.value.max() + 1e-12  # the very last reachable value
    with pytest.raises(InputError, match="target must be a finite number"):
        solve(end, math.nan, COUNTS)


@pytest.mark.parametrize(("joint", "in_h", "in_y"), [(1, 1, 0), (1, 0, 1), (2, 1, 1)])
def test_a_claim_on_a_ratio_breaks_where_the_worst_ratio_meets_it(
    joint: float, in_h: float, in_y: float
) -> None:
    rng = np.random.default_rng(2)
    q, p, share = rng.beta(5, 2, 8), rng.beta(5, 2, 8), rng.dirichlet(np.ones(8))
    claim = 0.3
    cost = np.array([[0, -claim * in_y], [-claim * in_h, joint - claim * (in_h + in_y)]])
    two = np.column_stack([1 - q, q]), np.column_stack([1 - p, p])
    delta = breakdown(two_labels(*two, cost).lower, 0.0, share)
    assert 0 < delta < 1
    worst = np.clip(1 - q, p - delta, p + delta)
    ratio = (
        joint
        * (share @ np.maximum(q + worst - 1, 0))
        / (in_h * (share @ q) + in_y * (share @ worst))
    )
    assert ratio == pytest.approx(claim, abs=1e-12)


def test_a_claim_that_nothing_can_move_never_breaks() -> None:
    end = agreement([[0.5, 0.5]], [[0.5, 0.5]]).lower
    assert breakdown(end, -0.1) == math.inf


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_shifted_labels_attain_the_robust_end_within_the_radius(side: str) -> None:
    for delta in (0.0, 0.05, 0.3, 1.0):
        shifted = shifted_labels(Q, P, delta, side=side)
        assert (np.abs(shifted - P).sum(axis=1) / 2 <= delta + 1e-12).all()
        assert (shifted >= 0).all()
        attained = getattr(agreement(Q, shifted), side).value
        np.testing.assert_allclose(
            attained, robust_end(getattr(agreement(Q, P), side), delta), rtol=0, atol=1e-12
        )


def test_a_law_that_gives_everything_away_stays_a_law() -> None:
    q, p = [[1.0, 0.0]], [[0.1, 0.9]]  # 1 + 0.1 - 1 is more than 0.1 in floats
    shifted = shifted_labels(q, p, 0.5, side="lower")
    assert agreement(q, shifted).mean() == (0.0, 0.0)


def test_two_labels_shift_by_clipping() -> None:
    q, p = Q[:, :2] / Q[:, :2].sum(1, keepdims=True), P[:, :2] / P[:, :2].sum(1, keepdims=True)
    low, high = p[:, 1] - 0.1, p[:, 1] + 0.1
    np.testing.assert_allclose(
        shifted_labels(q, p, 0.1, side="upper")[:, 1], np.clip(q[:, 1], low, high), atol=1e-14
    )
    np.testing.assert_allclose(
        shifted_labels(q, p, 0.1, side="lower")[:, 1], np.clip(q[:, 0], low, high), atol=1e-14
    )


@pytest.mark.parametrize("side", ["lower", "upper"])
@pytest.mark.parametrize(
    ("metric", "joint", "in_h", "in_y"),
    [("precision", 1, 1, 0), ("recall", 1, 0, 1), ("f1", 2, 1, 1)],
)
def test_the_shifted_labels_of_two_classes_are_the_worst_for_every_ratio(
    metric: str, joint: float, in_h: float, in_y: float, side: str
) -> None:
    """A ratio N/D reaches c and no more exactly if the programme of N - cD has the value 0."""
    rng = np.random.default_rng(len(metric))
    q, p, share = rng.dirichlet([1, 1], 8), rng.dirichlet([1, 1], 8), rng.dirichlet(np.ones(8))
    for delta in (0.0, 0.07, 0.2):
        worst = shifted_labels(q, p, delta, side=side)[:, 1]
        t = np.minimum(q[:, 1], worst) if side == "upper" else np.maximum(q[:, 1] + worst - 1, 0)
        ratio = joint * (share @ t) / (in_h * (share @ q[:, 1]) + in_y * (share @ worst))
        cost = np.array([[0, -ratio * in_y], [-ratio * in_h, joint - ratio * (in_h + in_y)]])
        solved = programme(q, p, cost, side=side, delta=delta)
        assert share @ solved.value == pytest.approx(0, abs=1e-9)
