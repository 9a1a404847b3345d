from __future__ import annotations

from dataclasses import FrozenInstanceError

import numpy as np
import pytest

from tallystick.stats.transport import Certified, programme


def certified(side: str, value: list[float], primal: list[float]) -> Certified:
    return Certified(
        side=side,
        value=np.array(value),
        primal=np.array(primal),
        potentials=np.zeros((len(value), 2)),
        coupling=np.zeros((len(value), 2, 2)),
    )


def test_the_gap_is_a_distance_on_either_side() -> None:
    np.testing.assert_allclose(certified("upper", [0.5, 0.9], [0.4, 0.9]).gap, [0.1, 0.0])
    np.testing.assert_allclose(certified("lower", [0.3, 0.2], [0.4, 0.2]).gap, [0.1, 0.0])


def test_a_certificate_cannot_be_changed_afterwards() -> None:
    end = certified("upper", [0.5], [0.4])
    with pytest.raises(FrozenInstanceError):
        end.value = np.array([0.4])  # type: ignore[misc]


@pytest.mark.parametrize(("side", "expected"), [("lower", 0.1), ("upper", 0.7)])
def test_the_coupling_attains_what_the_primal_says(side: str, expected: float) -> None:
    """X = Y for two fair-to-biased coins: P(X = Y) between |1 - .6 - .3| and .7 (Fréchet)."""
    q, p, g = np.array([[0.4, 0.6]]), np.array([[0.7, 0.3]]), np.eye(2)
    end = programme(q, p, g, side=side)
    assert end.side == side
    assert end.primal[0] == pytest.approx(expected)
    assert (end.coupling[0] * g).sum() == pytest.approx(end.primal[0])
    assert end.gap[0] < 1e-9
