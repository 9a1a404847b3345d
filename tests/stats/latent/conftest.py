"""Models and their exact pattern frequencies."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tallystick.stats.latent_model import LatentModel, log_likelihood


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


FOUR = (
    # methods page
    "0000:30 1111:25 0001:8 0010:6 0100:5 1000:4 1110:7 1101:5 1011:4 0111:3 0011:2 0101:1"
)
GAPS = "000:20 111:15 222:10 001:4 112:3 020:3 2.2:4 .11:3 0.1:2 120:1 012:1"  # corrections
EXTRA = (
    "000:40 111:38 001:9 010:7 100:4 110:8 101:6 011:3 002:4 112:5 020:3 121:2 200:2 211:1 021:2 "
    "102:1 220:1"  # methods page: vote 2 is never true
)
ONE_SILENT = "000:30 111:28 001:6 010:5 100:3 110:6 101:4 011:3 020:4 121:3 200:2 211:2 220:1 021:1"  # corrections: the third judge never casts vote 2


@dataclasses.dataclass(frozen=True)
class Panel:
    """Patterns of a printed test vector: names, codes and counts."""

    names: tuple[str, ...]
    codes: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, text: str) -> Panel:
        pairs = [word.split(":") for word in text.split()]
        codes = [[-1 if c == "." else int(c) for c in name] for name, _ in pairs]
        return cls(
            tuple(name for name, _ in pairs), np.array(codes), np.array([int(n) for _, n in pairs])
        )


@pytest.fixture(scope="session")
def four() -> Panel:
    """Four binary judges of the methods page."""
    return Panel.of(FOUR)


@pytest.fixture(scope="session")
def gaps() -> Panel:
    """Three judges on three labels with missing votes, of the corrections."""
    return Panel.of(GAPS)


@pytest.fixture(scope="session")
def extra() -> Panel:
    """Three judges, two labels and a vote that is never true, of the methods page."""
    return Panel.of(EXTRA)


@pytest.fixture(scope="session")
def one_silent() -> Panel:
    """As *extra*, but the third judge never casts the extra vote, of the corrections."""
    return Panel.of(ONE_SILENT)
