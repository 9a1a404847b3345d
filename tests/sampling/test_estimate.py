from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from benchmarks.replays import difference, observe, plain, replay, stratified
from tallystick.errors import InputError, NotIdentifiable
from tallystick.sampling import (
    Plan,
    Proportional,
    Strata,
)

STRATA = Strata(np.array([0, 0, 0, 0, 1, 1, 1]))
NEW = np.array([0, 1, 1, 2, 0, 0, 2])
OLD = np.array([0, 0, 1, 2, 2, 0, 2])


def plan_of(**change: Any) -> Plan:
    basic: dict[str, Any] = {
        "strata": STRATA,
        "policy": Proportional(),
        "budget": 4,
        "n_outcomes": 3,
    }
    return Plan(**basic | {"baseline": OLD} | change)


def samples() -> np.ndarray:
    """Return every way to draw two items from each stratum."""
    pairs = itertools.product(
        itertools.combinations(range(4), 2), itertools.combinations(range(4, 7), 2)
    )
    return np.array([a + b for a, b in pairs])


@pytest.mark.parametrize("beta", [None, 0.0, 0.4, 1.0])
def test_the_mean_and_its_variance_are_unbiased_by_enumeration(beta: float | None) -> None:
    items = samples()
    seen = observe(plan_of(), items, NEW[items])
    truth = np.bincount(NEW, minlength=3) / 7
    if beta is None:
        estimate = stratified(seen)
    else:
        estimate, truth = difference(seen, beta=beta), truth - np.bincount(OLD, minlength=3) / 7
    assert estimate.value.mean(axis=0) == pytest.approx(truth)
    assert estimate.variance.mean(axis=0) == pytest.approx(estimate.value.var(axis=0))


def test_beta_is_the_pooled_regression_shrunk_towards_one() -> None:
    items = np.array([0, 1, 3, 4, 5])
    seen = observe(plan_of(), items, NEW[items])
    num = den = 0.0
    for k, rows in ((0, items[:3]), (1, items[3:])):
        new, old = np.eye(3)[NEW[rows]], np.eye(3)[OLD[rows]]
        n, size, p = len(rows), STRATA.sizes[k], STRATA.shares[k]
        factor = p**2 * (1 - n / size) / n
        num += factor * sum(np.cov(new[:, j], old[:, j])[0, 1] for j in range(3))
        den += factor * sum(np.var(old[:, j], ddof=1) for j in range(3))
    expected = min(max((num + 0.1 * den) / (1.1 * den), 0), 1)
    assert 0 < expected < 1
    assert difference(seen).beta == pytest.approx(expected)


def test_when_everything_was_asked_the_answer_is_exact() -> None:
    seen = replay(plan_of(budget=7), NEW, runs=2, rng=0).observed()
    truth = np.bincount(NEW, minlength=3) / 7
    for estimate, target in (
        (stratified(seen), truth),
        (plain(seen), truth),
        (difference(seen), truth - np.bincount(OLD, minlength=3) / 7),
    ):
        assert estimate.value == pytest.approx(np.tile(target, (2, 1)))
        assert estimate.variance == pytest.approx(np.zeros((2, 3)))


def test_what_cannot_be_estimated_is_refused() -> None:
    seen = observe(plan_of(), np.array([0, 1]), np.array([0, 1]))
    with pytest.raises(NotIdentifiable, match=r"strata \[1\] have no answer"):
        stratified(seen)
    with pytest.raises(NotIdentifiable, match="nothing was answered"):
        plain(observe(plan_of(), np.array([0]), np.array([-1])))
    bare = observe(plan_of(baseline=None), np.array([0, 4]), np.array([0, 1]))
    with pytest.raises(InputError, match="needs a baseline"):
        difference(bare)
