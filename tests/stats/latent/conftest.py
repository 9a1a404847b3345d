"""Models and their exact pattern frequencies."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tallystick.stats.latent import LatentModel, log_likelihood


@pytest.fixture(scope="session")
def binary() -> LatentModel:
    """Four judges who are better than chance, each in its own way, and an uneven balance."""
    pairs = [(0.9, 0.8), (0.7, 0.85), (0.6, 0.75), (0.95, 0.6)]
    return LatentModel([0.65, 0.35], [[[a, 1 - a], [1 - b, b]] for a, b in pairs])


@pytest.fixture(scope="session")
def ternary() -> LatentModel:
    """Four judges on three classes; the last may also abstain, which tells something of the
    class."""
    rng = np.random.default_rng(5)
    confusion = np.zeros((4, 3, 4))
    confusion[:3, :, :3] = 0.6 * np.eye(3) + 0.4 * rng.dirichlet(np.ones(3), size=(3, 3))
    confusion[3] = [[0.6, 0.1, 0.1, 0.2], [0.1, 0.5, 0.2, 0.2], [0.05, 0.05, 0.3, 0.6]]
    return LatentModel([0.5, 0.3, 0.2], confusion, n_votes=[3, 3, 3, 4])


@pytest.fixture(scope="session")
def frequencies() -> Callable[..., Any]:
    """All patterns of a model with their exact expected counts."""

    def expected(model: LatentModel, n: float = 1.0) -> Any:
        codes = np.array(list(itertools.product(*(range(v) for v in model.n_votes))))
        return codes, n * np.exp(log_likelihood(model, codes))

    return expected
