"""Every closed form equals its linear programme on 504 instances of 2 to 10 labels, a third of them
degenerate."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tallystick.stats.transport import (
    Bounds,
    agreement,
    joint_event,
    pair_cost,
    pair_difference,
    programme,
    two_labels,
)
from tallystick.stats.transport_smoothed import robust_end

LABELS = range(2, 11)
EACH = 56
TOLERANCE = 1e-7


@cache
def instances(labels: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng([3, labels])
    sharpness = rng.choice([0.1, 0.5, 1.0, 5.0], EACH)
    p = np.array([rng.dirichlet(np.full(labels, s)) for s in sharpness])
    q = np.array([rng.dirichlet(np.full(labels, s)) for s in rng.permutation(sharpness)])
    w = np.array([rng.dirichlet(np.full(labels**2, s)) for s in sharpness])
    q[:5] = p[:5]  # the kink
    q[5:8] = np.eye(labels)[0]
    p[7:10] = np.eye(labels)[1]
    p[10:13] = 1 / labels
    p[13:16, 0] = 0
    w[:3] = np.eye(labels**2)[[0, 1, labels]]  # always agreed, always apart
    w[3:6, :: labels + 1] = 0  # never agreed
    w[6:9] = (q[6:9, :, None] * p[6:9, None, :]).reshape(3, -1)
    delta = rng.choice([0.0, 0.01, 0.1, 0.3, 1.0], EACH)
    return {"q": whole(q), "p": whole(p), "w": whole(w), "delta": delta}


def whole(laws: np.ndarray) -> np.ndarray:
    return np.asarray(laws / laws.sum(axis=1, keepdims=True))


def largest_difference(
    bounds: Bounds, q: np.ndarray, p: np.ndarray, cost: np.ndarray, delta: np.ndarray
) -> float:
    worst = 0.0
    for radius in (np.zeros_like(delta), delta):
        for end in (bounds.lower, bounds.upper):
            solved = programme(q, p, cost, side=end.side, delta=radius)
            closed = robust_end(end, radius)
            worst = max(
                worst, np.abs(closed - solved.value).max(), np.abs(closed - solved.primal).max()
            )
    return float(worst)


@pytest.mark.parametrize("labels", LABELS)
def test_agreement_equals_its_programme(labels: int) -> None:
    it = instances(labels)
    bounds = agreement(it["q"], it["p"])
    assert largest_difference(bounds, it["q"], it["p"], np.eye(labels), it["delta"]) <= TOLERANCE


@pytest.mark.parametrize("labels", LABELS)
def test_a_joint_event_equals_its_programme(labels: int) -> None:
    it = instances(labels)
    q, p = it["q"][:, 0], it["p"][:, 0]
    both = np.array([[0.0, 0.0], [0.0, 1.0]])
    two = np.column_stack([1 - q, q]), np.column_stack([1 - p, p])
    assert largest_difference(joint_event(q, p), *two, both, it["delta"]) <= TOLERANCE


@pytest.mark.parametrize("labels", LABELS)
def test_a_pair_difference_equals_its_programme(labels: int) -> None:
    it = instances(labels)
    bounds = pair_difference(it["w"].reshape(EACH, labels, labels), it["p"])
    assert largest_difference(bounds, it["w"], it["p"], pair_cost(labels), it["delta"]) <= TOLERANCE


@pytest.mark.parametrize("atoms", LABELS)
def test_two_labels_equal_their_programme_for_any_cost(atoms: int) -> None:
    it, rng = instances(atoms), np.random.default_rng(atoms)
    p = instances(2)["p"]
    cost = np.concatenate(
        [rng.normal(size=(EACH // 2, atoms, 2)), rng.integers(-1, 2, (EACH // 2, atoms, 2))]
    )
    assert (
        largest_difference(two_labels(it["q"], p, cost), it["q"], p, cost, it["delta"]) <= TOLERANCE
    )
