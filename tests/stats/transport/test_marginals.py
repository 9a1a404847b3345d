from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.transport import (
    agreement,
    joint_event,
    pair_difference,
    programme,
    two_labels,
)
from tallystick.stats.transport_smoothed import robust_end

HALF = [[0.5, 0.5]]


@pytest.mark.parametrize(
    ("p", "says"),
    [
        ([[0.5, 0.5], [0.5, 0.4]], r"p\[1\] sums to 0.9"),
        ([[0.5, 0.5], [1.5, -0.5]], r"p\[1\] holds 1.5"),
        ([[1.0, 0.0], [1.0 + 1e-10, -1e-10]], r"p\[1\] holds -1e-10"),
        ([[0.5, 0.5], [np.nan, 0.5]], r"p\[1\] holds nan"),
        ([[1.0], [1.0]], "at least two labels"),
        ([0.5, 0.5], r"2 dimension\(s\), got shape \(2,\)"),
        (np.zeros((0, 2)), "non-empty"),
    ],
)
def test_a_row_that_is_no_law_is_named(p: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        agreement([[0.5, 0.5]] * 2, p)


def test_a_row_may_miss_one_by_rounding_only() -> None:
    agreement(HALF, [[0.5, 0.5 + 5e-10]])
    with pytest.raises(InputError, match="sums to"):
        agreement(HALF, [[0.5, 0.5 + 5e-9]])


def test_shapes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match="one shape"):
        agreement(HALF, [[0.2, 0.3, 0.5]])
    with pytest.raises(InputError, match="one shape"):
        joint_event([0.5], [0.5, 0.5])
    with pytest.raises(InputError, match="w must have shape"):
        pair_difference([[[0.25, 0.25], [0.25, 0.25]]], [[0.2, 0.3, 0.5]])
    with pytest.raises(InputError, match="for more labels solve a programme"):
        two_labels(HALF, [[0.2, 0.3, 0.5]], np.eye(2))
    with pytest.raises(InputError, match="one row per pattern"):
        programme(HALF, HALF * 2, np.eye(2), side="upper")


def test_a_cost_must_be_finite_and_fit() -> None:
    with pytest.raises(InputError, match=r"cost must have shape \(2, 2\)"):
        two_labels(HALF, HALF, np.eye(3)[:, :2])
    with pytest.raises(InputError, match="cost must be finite"):
        two_labels(HALF, HALF, [[0, np.inf], [0, 0]])


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        ([1, 2, 3], "one entry for each of the 2"),
        ([1, -1], r"weights\[1\] is -1.0"),
        ([0, 0], "all zero"),
    ],
)
def test_weights_that_are_no_shares_are_refused(weights: list[float], says: str) -> None:
    with pytest.raises(InputError, match=says):
        agreement(HALF * 2, HALF * 2).mean(weights)


def test_counts_serve_as_weights() -> None:
    bounds = agreement([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [1.0, 0.0]])
    assert bounds.mean([3, 1]) == (0.75, 0.75)
    assert bounds.mean() == (0.5, 0.5)


@pytest.mark.parametrize("delta", [-0.1, 1.1, np.nan, [[0.1]], [0.1, 0.2]])
def test_an_error_radius_outside_the_unit_interval_is_refused(delta: object) -> None:
    with pytest.raises(InputError, match="delta must be in"):
        robust_end(agreement(HALF, HALF).upper, delta)


def test_a_side_has_two_names() -> None:
    with pytest.raises(InputError, match="side must be 'lower' or 'upper', got 'both'"):
        programme(HALF, HALF, np.eye(2), side="both")
