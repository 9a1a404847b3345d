"""The populations on which :mod:`score` measures: simulated ones, and real ones if they are found.

Every population has a truth and a consensus for each of its items, so that labels can be drawn from
it again and again. Consensus and strata are those that ``score`` itself makes of the grades.
"""

from __future__ import annotations

import csv
import gzip
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from tallystick.table.panel_grades import GradePanel
from tallystick.verbs.score.systems import system_strata

DATA = Path(
    os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
SEED = 20_240
"""Of the simulated populations; the draws of labels have their own seed."""

Rng = np.random.Generator


@dataclass(frozen=True, kw_only=True, eq=False)
class Population:
    """Items with a truth and grades. *kind*: binary, graded (judge, not label) or numbers."""

    name: str
    kind: str
    real: bool
    truth: np.ndarray
    grades: np.ndarray

    @cached_property
    def outputs(self) -> GradePanel:
        """The items as outputs of one system, nothing labelled."""
        n, judges = self.grades.shape
        return GradePanel(
            systems=("all outputs",),
            judges=tuple(f"judge {j + 1}" for j in range(judges)),
            system=np.zeros(n, np.int64),
            grades=self.grades,
            truth=np.full(n, np.nan),
            counts=np.ones(n),
            pass_fail=self.kind != "numbers",
            votes=self.kind == "binary",
        )

    @cached_property
    def consensus(self) -> np.ndarray:
        """The consensus of every item, as ``score`` makes it."""
        return self.outputs.consensus

    @cached_property
    def strata(self) -> np.ndarray:
        """The stratum of every item, as ``score`` makes it."""
        codes = system_strata(self.outputs)
        return np.unique(codes, return_inverse=True)[1].ravel()

    def table(self, labelled: np.ndarray) -> dict[str, np.ndarray]:
        """Return the table that a user would bring, with human grades of these items only."""
        human = np.full(self.truth.size, np.nan)
        human[labelled] = self.truth[labelled]
        judges = zip(self.outputs.judges, self.grades.T, strict=True)
        return {"id": np.arange(human.size), **dict(judges), "human": human}


def populations() -> list[Population]:
    """Return every population that can be made here."""
    made = list(_simulated())
    return made + (list(_real()) if DATA.is_dir() else [])


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
        return truth.astype(float), votes.astype(float)

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
        grade = 1 / (1 + np.exp(-quality - rng.normal(0, 0.25, items)))
        return truth.astype(float), np.round(grade * (steps - 1)) / (steps - 1)

    return make


GRADED = {
    "grades 1-5, sharp": _graded(items=1000, centre=1.0, slope=8.0, steps=5),
    "grades 1-5, mild": _graded(items=1000, centre=0.5, slope=4.0, steps=5),
    "grades 1-10": _graded(items=800, centre=1.5, slope=6.0, steps=10),
    "grades 0-100": _graded(items=2000, centre=0.0, slope=8.0, steps=101),
    "grades, rare failures": _graded(items=1000, centre=6.0, slope=4.0, steps=5),
}


# --- numbers --------------------------------------------------------------------------------------


def _numbers(
    *, items: int, noise: float, scale: float = 1.0, steps: int | None = None
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.beta(2, 1.2, items)
        if steps:
            truth = np.round(truth * (steps - 1)) / (steps - 1)
        grade = 0.5 + scale * (truth - 0.5) + rng.normal(0, noise, items)
        return truth, np.clip(grade, 0, 1)

    return make


def _gross(
    *, items: int, share: float, shape: tuple[float, float], noise: float
) -> Callable[[Rng], tuple[np.ndarray, np.ndarray]]:
    """Let the truth follow the grades, but for a share of items on which it is the opposite."""

    def make(rng: Rng) -> tuple[np.ndarray, np.ndarray]:
        grade = rng.beta(*shape, items)
        truth = np.clip(grade + rng.normal(0, noise, items), 0, 1)
        wrong = rng.permutation(items)[: max(1, round(share * items))]
        truth[wrong] = np.where(grade[wrong] > 0.5, 0, 1)
        return truth, grade

    return make


SHAPES = {"wide": (1.0, 0.6), "flat": (1.5, 1.0), "high": (18.0, 1.5)}
HIDDEN = (
    *((share, "wide", noise) for share in (0.01, 0.03) for noise in (0.02, 0.2, 0.3)),
    *((share, "flat", noise) for share in (0.01, 0.03) for noise in (0.15, 0.25)),
    (0.03, "high", 0.03),
    (0.03, "wide", 0.08),
)
"""Share of gross errors, shape of the grades, noise. How wide the grades are and how noisy was
chosen until labels alone and ppi_python cover and measure about what the first design printed for
them, since its own generator is not known.
"""

NUMBERS = {
    "numbers, good judge": _numbers(items=1000, noise=0.15),
    "numbers, weak judge": _numbers(items=1000, noise=0.4),
    "numbers, useless judge": _numbers(items=600, noise=0.3, scale=0.0),
    "numbers, inverted judge": _numbers(items=1000, noise=0.15, scale=-0.8),
    "numbers 1-5": _numbers(items=2000, noise=0.2, steps=5),
    **{
        f"{share:.0%} hidden gross errors, {shape} grades, noise {noise:g}": _gross(
            items=600 if share < 0.02 else 1000, share=share, shape=SHAPES[shape], noise=noise
        )
        for share, shape, noise in HIDDEN
    },
}


def _simulated() -> Iterator[Population]:
    families = (("binary", BINARY), ("graded", GRADED), ("numbers", NUMBERS))
    made = [(kind, name, make) for kind, family in families for name, make in family.items()]
    for place, (kind, name, make) in enumerate(made):
        truth, grades = make(
            np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(place,)))
        )
        columns = grades.reshape(truth.size, -1)
        yield Population(name=name, kind=kind, real=False, truth=truth, grades=columns)


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
    votes = (rows[:, columns] == passing).astype(float)
    truth = (rows[:, 1] == passing).astype(float)
    return Population(name=name, kind="binary", real=True, truth=truth, grades=votes)


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
        grades=known[:, [grade]].astype(float),
    )
