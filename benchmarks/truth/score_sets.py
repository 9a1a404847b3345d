"""The populations on which :mod:`score` measures: simulated ones, and real ones if they are found.

Every population has a truth and a consensus for each of its items, so that labels can be drawn from
it again and again. Consensus comes from grades only.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tallystick.errors import TallystickError
from tallystick.stats.adverse import graded_strata, two_strata
from tallystick.stats.latent import fit

DATA = Path(
    os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
SEED = 20_240
"""Of the simulated populations; the draws of labels have their own seed."""

Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """Items with a truth and a consensus. *kind*: binary, graded (judge, not label) or numbers."""

    name: str
    kind: str
    real: bool
    truth: np.ndarray
    consensus: np.ndarray

    @property
    def strata(self) -> np.ndarray:
        """The stratum of every item, from the consensus alone."""
        return (graded_strata if self.kind == "graded" else two_strata)(self.consensus)


def populations() -> list[Population]:
    """Return every population that can be made here."""
    made = list(_simulated())
    return made + (list(_real()) if DATA.is_dir() else [])


def vote_consensus(votes: np.ndarray) -> np.ndarray:
    """Return the posterior of a pass by two-coin Dawid-Skene, or the mean vote of 1-2 judges."""
    if votes.shape[1] >= 3:
        patterns, where, counts = np.unique(votes, axis=0, return_inverse=True, return_counts=True)
        try:
            return fit(patterns, counts, n_classes=2).posterior[where.ravel(), 1]
        except TallystickError:
            pass  # useless or unanimous judges: the model says nothing that the mean does not
    return votes.mean(axis=1)


# --- binary judges, binary labels ---------------------------------------------------------------


def _votes(rng: Rng, truth: np.ndarray, tpr: np.ndarray, tnr: np.ndarray) -> np.ndarray:
    chance = np.where(truth[:, None] == 1, tpr, 1 - tnr)
    return (rng.random((truth.size, tpr.size)) < chance).astype(int)


def _binary(
    *, items: int, rate: float, judges: int, tpr: float, tnr: float, shared: float = 0.0
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    """Judges around one TPR and TNR; on a share of the items all of them pass whatever they see."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        truth = (rng.random(items) < rate).astype(int)
        spread = rng.uniform(-0.04, 0.04, (2, judges))
        rates = (
            np.clip(mean + off, 0.005, 1) for mean, off in zip((tpr, tnr), spread, strict=True)
        )
        votes = _votes(rng, truth, *rates)
        votes[rng.random(items) < shared] = 1
        return truth.astype(float), vote_consensus(votes)

    return make


BINARY = {
    "one good judge": _binary(items=1000, rate=0.7, judges=1, tpr=0.88, tnr=0.8),
    "three good judges": _binary(items=1000, rate=0.75, judges=3, tpr=0.85, tnr=0.8),
    "five judges": _binary(items=500, rate=0.6, judges=5, tpr=0.8, tnr=0.7),
    "eight judges": _binary(items=2000, rate=0.8, judges=8, tpr=0.8, tnr=0.75),
    "shared bias": _binary(items=1000, rate=0.6, judges=3, tpr=0.9, tnr=0.85, shared=0.15),
    "strong shared bias": _binary(items=800, rate=0.5, judges=5, tpr=0.9, tnr=0.9, shared=0.35),
    "rare failures": _binary(items=1000, rate=0.97, judges=3, tpr=0.9, tnr=0.8),
    "rare passes": _binary(items=1500, rate=0.05, judges=3, tpr=0.8, tnr=0.9),
    "useless judges": _binary(items=1000, rate=0.7, judges=3, tpr=0.5, tnr=0.5),
    "inverted judges": _binary(items=1000, rate=0.65, judges=3, tpr=0.25, tnr=0.2),
    "lenient judges": _binary(items=1000, rate=0.7, judges=3, tpr=0.97, tnr=0.35),
    "near-perfect judges": _binary(items=1000, rate=0.8, judges=3, tpr=0.985, tnr=0.98),
    **{
        f"half of {1 - rate:.0%} failures missed": _binary(
            items=1000, rate=rate, judges=1, tpr=0.98, tnr=0.5
        )
        for rate in (0.8, 0.9, 0.95, 0.98)
    },
}


# --- a graded judge, binary labels ---------------------------------------------------------------


def _graded(
    *, items: int, centre: float, slope: float, steps: int
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    """Let the log odds of a pass follow a hidden quality, and grade that with noise."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        quality = rng.normal(size=items)
        truth = rng.random(items) < 1 / (1 + np.exp(-centre - slope * quality))
        grade = 1 / (1 + np.exp(-quality - rng.normal(0, 0.5, items)))
        return truth.astype(float), np.round(grade * (steps - 1)) / (steps - 1)

    return make


GRADED = {
    "grades 1-5, sharp": _graded(items=1000, centre=1.0, slope=4.0, steps=5),
    "grades 1-5, mild": _graded(items=1000, centre=0.5, slope=1.5, steps=5),
    "grades 1-10": _graded(items=800, centre=1.5, slope=3.0, steps=10),
    "grades 0-100": _graded(items=2000, centre=0.0, slope=5.0, steps=101),
    "grades, rare failures": _graded(items=1000, centre=4.0, slope=1.5, steps=5),
}


# --- numbers --------------------------------------------------------------------------------------


def _numbers(
    *, items: int, noise: float, scale: float = 1.0, steps: int | None = None
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.beta(4, 2, items)
        if steps:
            truth = np.round(truth * (steps - 1)) / (steps - 1)
        grade = 0.5 + scale * (truth - 0.5) + rng.normal(0, noise, items)
        return truth, np.clip(grade, 0, 1)

    return make


def _gross(
    *, items: int, share: float, shape: tuple[float, float], noise: float
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    """Let the truth follow the grades closely, but for a share of items that are worth nothing."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        grade = rng.beta(*shape, items)
        truth = np.clip(grade + rng.normal(0, noise, items), 0, 1)
        truth[rng.permutation(items)[: max(1, round(share * items))]] = 0
        return truth, grade

    return make


NUMBERS = {
    "numbers, good judge": _numbers(items=1000, noise=0.1),
    "numbers, weak judge": _numbers(items=1000, noise=0.35),
    "numbers, useless judge": _numbers(items=600, noise=0.3, scale=0.0),
    "numbers, inverted judge": _numbers(items=1000, noise=0.1, scale=-0.8),
    "numbers 1-5": _numbers(items=2000, noise=0.15, steps=5),
    **{
        f"{share:.1%} hidden losses, {spread} grades, noise {noise:g}": _gross(
            items=items, share=share, shape=shape, noise=noise
        )
        for share, items in ((0.005, 1000), (0.01, 600), (0.03, 1000))
        for spread, shape in (("narrow", (8.0, 3.0)), ("wide", (2.0, 1.2)))
        for noise in (0.02, 0.08)
    },
}


def _simulated() -> Iterator[Population]:
    families = (("binary", BINARY), ("graded", GRADED), ("numbers", NUMBERS))
    made = [(kind, name, make) for kind, family in families for name, make in family.items()]
    for place, (kind, name, make) in enumerate(made):
        truth, consensus = make(
            np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(place,)))
        )
        yield Population(name=name, kind=kind, real=False, truth=truth, consensus=consensus)


# --- real sets ------------------------------------------------------------------------------------


def _table(path: Path) -> tuple[list[str], np.ndarray]:
    with gzip.open(path, "rt", newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return names, np.array(rows, dtype=object)


def _voted(name: str, path: Path, *, passing: str, judges: str = "", most: int = 0) -> Population:
    """Read votes and truth; an item passes if its truth is *passing*, and so does a vote."""
    names, rows = _table(path)
    rows = rows[:most] if most else rows
    columns = [j for j, title in enumerate(names) if j > 1 and title.startswith(judges)]
    votes = (rows[:, columns] == passing).astype(int)
    truth = (rows[:, 1] == passing).astype(float)
    return Population(
        name=name, kind="binary", real=True, truth=truth, consensus=vote_consensus(votes)
    )


def _real() -> Iterator[Population]:
    judge = DATA / "judge"
    for family in ("ChatGPT/", "GPT-4/", "LLaMA2/", "PaLM2/"):
        path = judge / "llmbar_swap0.csv.gz"
        yield _voted(f"llmbar, {family[:-1]}", path, passing="1", judges=family)
    yield _voted("bluebirds", judge / "bluebirds.csv.gz", passing="1")
    yield _voted("adult", judge / "adult_lr_judges.csv.gz", passing="b", most=5000)
    yield _voted("mushroom", judge / "mushroom_lr_judges.csv.gz", passing="a")

    names, rows = _table(DATA / "score" / "arena_4systems.csv.gz")
    system, grade, label = (names.index(part) for part in ("system", "judge_score", "oracle_label"))
    known = rows[(rows[:, system] == "base") & (rows[:, label] != "")]
    yield Population(
        name="arena, base",
        kind="numbers",
        real=True,
        truth=known[:, label].astype(float),
        consensus=known[:, grade].astype(float),
    )
