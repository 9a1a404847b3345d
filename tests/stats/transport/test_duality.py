from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.transport import coupling_value, outer_bound, row_values

HALF = [[0.5, 0.5]]


def test_a_constant_added_to_the_potentials_proves_the_same() -> None:
    rng = np.random.default_rng(8)
    p, a, g = rng.dirichlet(np.ones(3), 4), rng.normal(size=(4, 3)), rng.normal(size=(5, 3))
    for side in ("lower", "upper"):
        here = row_values(p, g, a, side=side, delta=0.2)
        there = row_values(p, g, a + np.array([[1.0], [-2.0], [3.0], [0.5]]), side=side, delta=0.2)
        np.testing.assert_allclose(here, there, rtol=0, atol=1e-12)


def test_error_in_the_labels_costs_the_range_of_the_potentials() -> None:
    plain = row_values(HALF, np.eye(2), [[0.0, -1.0]], side="upper")
    np.testing.assert_allclose(
        row_values(HALF, np.eye(2), [[0.0, -1.0]], side="upper", delta=0.25), plain + 0.25
    )
    plain = row_values(HALF, np.eye(2), [[0.0, 3.0]], side="lower")
    np.testing.assert_allclose(
        row_values(HALF, np.eye(2), [[0.0, 3.0]], side="lower", delta=0.25), plain - 0.75
    )


def test_potentials_and_laws_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InputError, match=r"potentials must be finite and of shape \(1, 2\)"):
        row_values(HALF, np.eye(2), [[0.0, 1.0, 2.0]], side="upper")
    with pytest.raises(InputError, match="potentials must be finite"):
        row_values(HALF, np.eye(2), [[0.0, np.inf]], side="upper")
    with pytest.raises(InputError, match=r"coupling must have shape"):
        coupling_value(np.eye(2), np.eye(2))
    with pytest.raises(InputError, match=r"q must have shape \(1, 2\)"):
        outer_bound([[0.2, 0.3, 0.5]], HALF, np.eye(2), [[0.0, 0.0]], side="upper")
