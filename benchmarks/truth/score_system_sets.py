"""Several systems on the same items, with judges and a known truth: ties, favourites, hidden losses.

A population is fixed by its seed; what is random in a benchmark is which items people label. All
have three judges unless said, right on 85% of the outputs of every system.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tallystick.table import read
from tallystick.table.panel_grades import GradePanel, read_outputs
from tallystick.verbs.score import CAPABILITY

SEED = 14
Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True, eq=False)
class SystemsSet:
    """Items x systems of truth on [0, 1], and items x systems x judges of grades."""

    name: str
    truth: np.ndarray
    grades: np.ndarray
    graded: bool = False

    @property
    def systems(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(f"s{k:02d}" for k in range(self.truth.shape[1]))

    @property
    def judges(self) -> tuple[str, ...]:
        """Their names, in order."""
        return tuple(f"j{k}" for k in range(self.grades.shape[2]))

    @cached_property
    def table(self) -> dict[str, list[Any]]:
        """One row per output, with a complete human grade."""
        n, k = self.truth.shape
        columns: dict[str, list[Any]] = {
            "item": [f"i{i:05d}" for i in range(n) for _ in range(k)],
            "system": [name for _ in range(n) for name in self.systems],
            "human": self.truth.ravel().tolist(),
        }
        for j, judge in enumerate(self.judges):
            columns[judge] = self.grades[:, :, j].ravel().tolist()
        return columns

    @cached_property
    def outputs(self) -> GradePanel:
        """What score reads of it, every output with its human grade."""
        roles = {"item": "item", "system": "system", "judges": self.judges, "truth": "human"}
        scale = (0.0, 1.0) if self.graded else None
        with read(self.table, CAPABILITY.door, **roles) as data:
            return read_outputs(data, scale=scale)

    def differences(self) -> np.ndarray:
        """Systems x systems: the true differences of their means."""
        mean = self.truth.mean(axis=0)
        return np.asarray(mean[:, None] - mean[None, :])


def _passes(rng: Rng, n: int, rate: float) -> np.ndarray:
    """Exactly rate x n passes."""
    return (rng.permutation(n) < round(rate * n)).astype(float)


def _votes(rng: Rng, truth: np.ndarray, right: float, judges: int = 3) -> np.ndarray:
    hit = rng.random((*truth.shape, judges)) < right
    return np.where(hit, truth[..., None], 1 - truth[..., None])


def _plain(
    rates: tuple[float, ...], *, n: int = 600, right: float = 0.85, favoured: int = 0
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    """Independent systems; *favoured* judges pass every output of the last one."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        truth = np.stack([_passes(rng, n, rate) for rate in rates], axis=1)
        votes = _votes(rng, truth, right)
        votes[:, -1, :favoured] = 1.0
        return truth, votes

    return make


def _alike(
    changed: int, *, n: int = 600, rate: float = 0.75, lost: bool = False
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    """Two systems that differ on few items; *lost*: the second only loses, and no judge sees it."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        first = _passes(rng, n, rate)
        where = rng.permutation(np.flatnonzero(first) if lost else n)[:changed]
        second = first.copy()
        second[where] = 1 - second[where]
        truth = np.stack((first, second), axis=1)
        votes = _votes(rng, truth, 0.85)
        if lost:
            votes[:, 1] = votes[:, 0]
        return truth, votes

    return make


def _grades(
    shifts: tuple[float, ...], *, n: int = 600, noise: float = 0.15
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    """Human grades are numbers; two graders follow them with noise."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        base = rng.beta(2, 1.5, (n, 1))
        truth = np.clip(base + np.array(shifts) + rng.normal(0, 0.15, (n, len(shifts))), 0, 1)
        grades = truth[..., None] + rng.normal(0, noise, (*truth.shape, 2))
        return truth, np.clip(grades, 0, 1)

    return make


PAIRS = {
    "ten points apart": _plain((0.8, 0.7)),
    "exact tie": _plain((0.7, 0.7)),
    "tie, one judge favours the second": _plain((0.7, 0.7), favoured=1),
    "tie at 95%": _plain((0.95, 0.95)),
    "rare failures, 97 and 95%": _plain((0.97, 0.95)),
    "2% of items differ": _alike(12),
    "hidden losses on 3%": _alike(18, lost=True),
    "useless judges": _plain((0.7, 0.6), right=0.5),
    "near-perfect judges": _plain((0.75, 0.7), right=0.98),
    "120 items": _plain((0.75, 0.6), n=120),
}

SEVERAL = {
    "5 spread": _plain((0.85, 0.8, 0.75, 0.7, 0.6), favoured=1),
    "5 tied": _plain((0.7,) * 5, favoured=1),
    "5 tied at 90%": _plain((0.9,) * 5, favoured=1),
    "5 tied at 98%": _plain((0.98,) * 5, favoured=1),
    "10 of numbers": _grades(tuple(np.linspace(0, 0.18, 10))),
    "20 spread": _plain(tuple(np.linspace(0.5, 0.88, 20)), favoured=1),
    "3, hidden losses on 3% and 5%": None,
}
NUMBERS = {"two of numbers": _grades((0.05, 0.0)), "two of numbers, tied": _grades((0.0, 0.0))}
GRADED = {"10 of numbers", *NUMBERS}


def _hidden(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    n = 600
    first = _passes(rng, n, 0.8)
    columns = [first]
    for share in (0.03, 0.05):
        lost = first.copy()
        lost[rng.permutation(np.flatnonzero(first))[: round(share * n)]] = 0
        columns.append(lost)
    truth = np.stack(columns, axis=1)
    votes = np.repeat(_votes(rng, first[:, None], 0.85), 3, axis=1)
    return truth, votes


def sets(names: dict[str, Any]) -> list[SystemsSet]:
    """Make the named populations, each from a seed of its own."""
    made = []
    for place, (name, make) in enumerate(names.items()):
        rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(place, len(names))))
        truth, grades = (make or _hidden)(rng)
        made.append(SystemsSet(name=name, truth=truth, grades=grades, graded=name in GRADED))
    return made
