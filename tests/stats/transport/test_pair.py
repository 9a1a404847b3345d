from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.transport import outer_bound, pair_cost, pair_difference


def test_two_classes_follow_the_formula_in_u_and_v() -> None:
    rng = np.random.default_rng(1)
    w, p = rng.dirichlet(np.ones(4), 200).reshape(200, 2, 2), rng.dirichlet(np.ones(2), 200)
    u, v, p1 = w[:, 1, 0], w[:, 0, 1], p[:, 1]
    upper = u + v - 2 * np.maximum(u - p1, 0) - 2 * np.maximum(v - 1 + p1, 0)
    lower = -(u + v - 2 * np.maximum(v - p1, 0) - 2 * np.maximum(u - 1 + p1, 0))
    bounds = pair_difference(w, p)
    np.testing.assert_allclose(bounds.upper.value, upper, rtol=0, atol=1e-14)
    np.testing.assert_allclose(bounds.lower.value, lower, rtol=0, atol=1e-14)


@pytest.mark.parametrize("labels", [2, 3, 4, 5])
def test_the_closed_form_is_the_least_over_all_potentials_in_zero_one_two(labels: int) -> None:
    rng = np.random.default_rng(labels)
    w, p = rng.dirichlet(np.full(labels**2, 0.3), 30), rng.dirichlet(np.full(labels, 0.5), 30)
    every = [
        outer_bound(w, p, pair_cost(labels), np.tile(np.array(a, float), (30, 1)), side="upper")
        for a in product((0, 1, 2), repeat=labels)
    ]
    closed = pair_difference(w.reshape(30, labels, labels), p).upper.value
    np.testing.assert_allclose(closed, np.min(every, axis=0), rtol=0, atol=1e-13)


def test_predictors_that_always_agree_differ_by_nothing() -> None:
    bounds = pair_difference([np.diag([0.2, 0.3, 0.5])], [[0.1, 0.1, 0.8]])
    assert bounds.mean() == (0.0, 0.0)


def test_a_cost_of_one_label_is_refused() -> None:
    with pytest.raises(InputError, match="labels must be at least 2"):
        pair_cost(1)
