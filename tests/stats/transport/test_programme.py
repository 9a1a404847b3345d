from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from tallystick.stats.transport import outer_bound, programme


def plainly(q: np.ndarray, p: np.ndarray, g: np.ndarray, sign: float) -> float:
    """The transport programme of one pattern, written out."""
    atoms, labels = g.shape
    rows = [[float(i == k) for i in range(atoms) for _ in range(labels)] for k in range(atoms)]
    columns = [[float(y == k) for _ in range(atoms) for y in range(labels)] for k in range(labels)]
    return float(
        sign * linprog(sign * g.ravel(), A_eq=rows + columns, b_eq=[*q, *p], method="highs").fun
    )


def test_every_block_equals_the_programme_written_out() -> None:
    rng = np.random.default_rng(5)
    q, p, g = (
        rng.dirichlet(np.ones(6), 25),
        rng.dirichlet(np.ones(4), 25),
        rng.normal(size=(25, 6, 4)),
    )
    for side, sign in (("lower", 1.0), ("upper", -1.0)):
        end = programme(q, p, g, side=side)
        expected = [plainly(*one, sign) for one in zip(q, p, g, strict=True)]
        np.testing.assert_allclose(end.value, expected, rtol=0, atol=1e-9)
        np.testing.assert_allclose(end.primal, expected, rtol=0, atol=1e-9)


def test_it_is_enclosed_from_both_sides_across_blocks() -> None:
    rng = np.random.default_rng(6)
    q, p, g = (
        rng.dirichlet(np.ones(60), 40),
        rng.dirichlet(np.ones(3), 40),
        rng.normal(size=(60, 3)),
    )
    end = programme(q, p, g, side="upper")
    assert (end.value >= end.primal - 1e-12).all()
    assert end.gap.max() < 1e-12
    np.testing.assert_allclose(end.coupling.sum(axis=2), q, rtol=0, atol=1e-9)
    np.testing.assert_allclose(end.coupling.sum(axis=1), p, rtol=0, atol=1e-9)
    proved = outer_bound(q, p, g, end.potentials, side="upper")
    np.testing.assert_allclose(end.value, proved, rtol=0, atol=1e-14)


def test_the_worst_label_law_stays_within_its_own_radius() -> None:
    rng = np.random.default_rng(7)
    q, p, g = rng.dirichlet(np.ones(5), 30), rng.dirichlet(np.ones(3), 30), rng.normal(size=(5, 3))
    delta = rng.uniform(0, 0.3, 30)
    end = programme(q, p, g, side="lower", delta=delta)
    assert (np.abs(end.coupling.sum(axis=1) - p).sum(axis=1) / 2 <= delta + 1e-9).all()
    assert end.gap.max() < 1e-9
    assert (end.value <= programme(q, p, g, side="lower").value + 1e-12).all()


@pytest.mark.parametrize("side", ["lower", "upper"])
def test_a_constant_cost_is_its_own_bound(side: str) -> None:
    end = programme([[0.3, 0.7]], [[0.1, 0.9]], np.full((2, 2), 2.5), side=side)
    assert end.value == pytest.approx(2.5)
