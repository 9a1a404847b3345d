from __future__ import annotations

import sys

import numpy as np
import pytest

from tallystick.errors import ConvergenceError, InputError
from tallystick.stats.transport import Side, agreement, programme
from tallystick.stats.transport_smoothed import smoothed

SIDES: tuple[Side, ...] = ("lower", "upper")


def outward(side: Side) -> float:
    return 1.0 if side == "upper" else -1.0


@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("seed", range(4))
def test_it_equals_the_programme_within_its_tolerance(side: Side, seed: int) -> None:
    rng = np.random.default_rng(seed)
    patterns, atoms, labels = 6, 40, 4
    g = (
        rng.random((patterns, atoms, labels))
        if seed % 2
        else rng.integers(0, 3, (patterns, atoms, labels)).astype(float)
    )
    p = rng.dirichlet(np.full(labels, 0.3), patterns)
    p[0] = [0.25, 0.75, 0, 0]  # labels that never occur
    p[1] = [1, 0, 0, 0]
    p[2] = [1 - 3e-12, 1e-12, 1e-12, 1e-12]  # labels that hardly ever do
    count = rng.integers(1, 9, (patterns, atoms))
    count[3] = 1
    p[3] = 0.25  # marginals that fit without splitting an atom: the dual optimum is not unique
    order = rng.permutation(patterns * atoms)
    end = smoothed(
        p,
        g.reshape(-1, labels)[order],
        side=side,
        pattern=np.repeat(np.arange(patterns), atoms)[order],
        weight=count.ravel()[order],
    )
    sharp = programme(count / count.sum(axis=1, keepdims=True), p, g, side=side).value
    excess = outward(side) * (end.value - sharp)
    assert (excess >= -1e-12).all()
    assert (excess <= 1e-7).all()
    assert (end.gap <= 1e-7).all()


@pytest.mark.parametrize("side", SIDES)
def test_the_certificate_is_a_coupling_and_attains_the_primal_value(side: Side) -> None:
    rng = np.random.default_rng(9)
    g, p = rng.normal(size=(300, 3)), rng.dirichlet(np.ones(3), 2)
    z, weight = rng.integers(0, 2, 300), rng.random(300)
    end = smoothed(p, g, side=side, pattern=z, weight=weight)
    assert (end.coupling >= 0).all()
    for k in range(2):
        mine = weight[z == k] / weight[z == k].sum()
        np.testing.assert_allclose(end.coupling[z == k].sum(axis=1), mine, rtol=0, atol=1e-14)
        np.testing.assert_allclose(end.coupling[z == k].sum(axis=0), p[k], rtol=0, atol=1e-14)
        assert (end.coupling[z == k] * g[z == k]).sum() == pytest.approx(end.primal[k], abs=1e-13)


@pytest.mark.parametrize("side", SIDES)
def test_as_printed_it_lies_inside_and_without_the_logarithm_outside(side: Side) -> None:
    rng = np.random.default_rng(2)
    q, p = rng.dirichlet(np.ones(5), 20), rng.dirichlet(np.ones(5), 20)
    sharp = getattr(agreement(q, p), side).value
    end = smoothed(
        p,
        np.tile(np.eye(5), (20, 1)),
        side=side,
        pattern=np.repeat(np.arange(20), 5),
        weight=q.ravel(),
        tolerance=0.05,
    )
    out = outward(side)
    assert (out * (end.printed - sharp) <= 1e-12).all()
    assert (out * (end.printed - sharp)).min() < -0.01  # and visibly so
    assert (out * (end.value - sharp) >= -1e-12).all()
    assert (out * (end.soft - end.value) >= -1e-12).all()
    assert (out * (end.soft - sharp) <= end.epsilon * np.log(5) + 1e-4).all()


@pytest.mark.parametrize("side", SIDES)
def test_lbfgs_finds_the_same_bound(side: Side) -> None:
    rng = np.random.default_rng(3)
    g, p = rng.random((80, 3)), rng.dirichlet(np.ones(3), 1)
    quick = smoothed(p, g, side=side)
    slow = smoothed(p, g, side=side, tolerance=1e-4, solver="lbfgs")
    assert slow.value == pytest.approx(quick.value, abs=1e-4)


def test_lbfgs_takes_over_where_newton_does_not_arrive(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    g, p = rng.random((80, 3)), rng.dirichlet(np.ones(3), 1)
    expected = smoothed(p, g, side="upper").value
    module = sys.modules["tallystick.stats.transport_smoothed"]
    monkeypatch.setattr(module, "newton", lambda atoms, a, epsilon, residual: a)
    rescued = smoothed(p, g, side="upper", tolerance=0.05)
    assert rescued.value == pytest.approx(expected, abs=0.05)
    monkeypatch.setattr(module, "lbfgs", lambda atoms, a, epsilon, residual: a)
    with pytest.raises(
        ConvergenceError, match=r"pattern 0: .* raise the tolerance, or solve a programme"
    ):
        smoothed(p, g, side="upper", tolerance=0.05)


def test_a_constant_cost_is_its_own_bound() -> None:
    end = smoothed([[0.2, 0.8]], np.full((10, 2), 3.0), side="upper")
    assert end.value == pytest.approx(3.0)
    assert end.primal == pytest.approx(3.0)


def test_arguments_that_cannot_be_used_are_named() -> None:
    p, g = [[0.5, 0.5], [0.5, 0.5]], np.zeros((3, 2))
    with pytest.raises(InputError, match="pattern must name one of the 2 patterns"):
        smoothed(p, g, side="upper")
    with pytest.raises(
        InputError, match=r"pattern must hold an index in \[0, 2\) for each of the 3 atoms"
    ):
        smoothed(p, g, side="upper", pattern=[0, 1, 2])
    with pytest.raises(InputError, match="pattern 1 has no atom of positive weight"):
        smoothed(p, g, side="upper", pattern=[0, 0, 1], weight=[1, 1, 0])
    with pytest.raises(InputError, match=r"cost must be finite and of shape \(atoms, 2\)"):
        smoothed(p[:1], [[0, np.nan]], side="upper")
    with pytest.raises(InputError, match="tolerance must be positive, got 0"):
        smoothed(p[:1], g, side="upper", tolerance=0)
    with pytest.raises(InputError, match="solver must be 'newton' or 'lbfgs', got 'adam'"):
        smoothed(p[:1], g, side="upper", solver="adam")
