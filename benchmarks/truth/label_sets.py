"""Populations that labels are bought for: real votes with their truth, and generated ones."""

from __future__ import annotations

import csv
import gzip
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tallystick.sampling.draws import LabelStrata, score_strata, vote_strata
from tallystick.sampling.votes import consensus, patterns_of

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TALLYSTICK_DATA", ROOT.parent / "shared" / "data"))
Table: TypeAlias = tuple[str, str, list[dict[str, Any]], list[str]]
"""What a part of the benchmark returns: the page's name, its title, the rows and the notes."""
DOG_CLASS = "3"
LARGEST = 3000
"""Larger real sets are cut to this many items at random, the size that label.md's figures fit."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """Items with their true value, what judges made of them, and the strata from the judges."""

    name: str
    truth: NDArray[np.int64]
    votes: NDArray[np.int64] | None
    posterior: NDArray[np.float64]
    strata: LabelStrata

    @property
    def share(self) -> float:
        """The share of ones."""
        return float(self.truth.mean())

    def top(self, count: int) -> list[int]:
        """Return the judges that are right most often, to be compared as classifiers."""
        if self.votes is None:
            return []
        right = (self.votes == self.truth[:, None]).mean(axis=0)
        return [int(place) for place in np.argsort(-right, kind="stable")[:count]]

    @property
    def ones(self) -> NDArray[np.int64]:
        """How many ones each stratum holds."""
        return np.bincount(self.strata.of, weights=self.truth).astype(np.int64)


def from_votes(name: str, votes: NDArray[np.int64], truth: NDArray[np.int64]) -> Population:
    patterns = patterns_of(votes, n_classes=2)
    posterior = consensus(patterns).posterior[patterns.place, 1]
    return Population(
        name=name, truth=truth, votes=votes, posterior=posterior, strata=vote_strata(votes)
    )


def read(name: str) -> tuple[list[str], list[list[str]]]:
    """Return the judges' names and the rows (truth first) of one real set."""
    with gzip.open(DATA / "judge" / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    body = [row[1:] for row in rows[1:] if row[1]]
    if name.startswith("llmbar"):
        body = [row for row in body if all(row)]
    return rows[0][2:], body


def real(name: str, one: str) -> Population:
    """Return a real set with the label *one* as 1 and every other as 0."""
    _, rows = read(name)
    table = np.array(rows)
    if len(table) > LARGEST:
        table = table[np.random.default_rng(len(table)).permutation(len(table))[:LARGEST]]
    codes = np.where(table == "", -1, (table == one).astype(np.int64))
    return from_votes(name.partition("_")[0], codes[:, 1:], codes[:, 0])


def judged(
    name: str, n: int, share: float, right: list[tuple[float, float]], seed: int
) -> Population:
    """Return items judged by independent judges, each right on ones and on zeros at its rates."""
    rng = np.random.default_rng(seed)
    truth = rng.permutation(np.arange(n) < round(share * n)).astype(np.int64)
    rates = np.array(right)
    chance = np.where(truth[:, None] == 1, rates[:, 0], rates[:, 1])
    votes = np.where(rng.random(chance.shape) < chance, truth[:, None], 1 - truth[:, None])
    return from_votes(name, votes, truth)


def adverse(seed: int) -> Population:
    """Return judges who are good but for one blind spot: 4% of items they all pass, all bad."""
    rng = np.random.default_rng(seed)
    n = 2000
    truth = (rng.random(n) < 0.74).astype(np.int64)
    seen = truth.copy()
    blind = np.flatnonzero(truth == 0)[:80]
    seen[blind] = 1
    votes = np.where(rng.random((n, 3)) < 0.8, seen[:, None], 1 - seen[:, None])
    votes[blind] = 1
    return from_votes("adverse", votes, truth)


def miscalibrated(seed: int) -> Population:
    """Return one judge whose score ranks well and is far too sure of itself, and too lenient."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(1.3, 1.5, 2000)
    truth = (rng.random(2000) < 1 / (1 + np.exp(-quality))).astype(np.int64)
    score = 1 / (1 + np.exp(-(3 * quality + 3 + rng.normal(0, 2, 2000))))
    return Population(
        name="score", truth=truth, votes=None, posterior=score, strata=score_strata(score)
    )


def populations() -> list[Population]:
    """Return all sets; real ones only where their data is."""
    sets = []
    if DATA.is_dir():
        sets = [
            real("bluebirds", "1"),
            real("rte", "1"),
            real("llmbar_swap0", "2"),
            real("adult_lr_judges", "b"),
            real("mushroom_lr_judges", "b"),
            real("twonorm_lr_judges", "b"),
            real("dog", DOG_CLASS),
        ]
    return [
        *sets,
        judged("good3", 2000, 0.7, [(0.85, 0.85)] * 3, 1),
        judged("useless", 2000, 0.5, [(0.5, 0.5)] * 3, 2),
        judged("rare 2%", 2000, 0.98, [(0.98, 0.8)] * 3, 3),
        judged("perfect", 2000, 0.8, [(0.98, 0.98)] * 3, 4),
        adverse(5),
        miscalibrated(6),
        judged("N = 150", 150, 0.65, [(0.85, 0.85)] * 3, 7),
    ]
