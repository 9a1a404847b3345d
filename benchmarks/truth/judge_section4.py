"""The experiments of section 4 and of the supplement: judges trained on disjoint features, and how
trios of them end.

Run by judge.py. What is kept of an experiment is its tally: eight counts a test, by true label.
They are saved under out/ as they come, so that a killed run goes on where it was; every partition
has its own seed.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.papers.noisy_judges.correlated_judges import (
    blind_spots,
    feature_partition,
    variety_distance,
)
from tallystick.papers.noisy_judges.trio_quadratic import Trios, solve_points, solve_trios

SIZES = (100, 200, 400, 600, 800, 1000, 1500, 2000, 3000, 4000)
SETS = ("twonorm", "mushroom", "adult")
CACHE = Path(__file__).resolve().parents[2] / "out" / "judge-section4"
CELLS = np.array([[k >> 2 & 1, k >> 1 & 1, k & 1] for k in range(8)])
PAIRS = ((0, 1), (0, 2), (1, 2))

Row = dict[str, Any]
Draw = Callable[[np.random.Generator], np.ndarray]


def experiments(folder: Path, *, quick: bool) -> None:
    """Write Figures 2a, 2b and 3 and the supplement's estimated-against-true values."""
    partitions, runs = (60, 5) if quick else (300, 10)
    seconds = (20, 3) if quick else (100, 10)
    solved, never, variety, points = [], [], [], []
    for name in SETS:
        columns, label = features_of(name, folder)
        tests = tallied(
            f"{name}-sizes-{partitions}x{runs}", partitions, by_size(columns, label, runs)
        )
        sensible = is_sensible(tests.sum(axis=-2).reshape(-1, 8)).reshape(
            partitions, runs, len(SIZES)
        )
        solved.append({"set": name, **_by_size(sensible.mean(axis=(0, 1)))})
        never.append({"set": name, **_by_size((~sensible.any(axis=1)).mean(axis=0))})
        second = tallied(
            f"{name}-balanced-{seconds[0]}x{seconds[1]}",
            seconds[0],
            balanced(columns, label, seconds[1]),
        )
        found = [[Evaluation(one) for one in part] for part in second]
        variety.append(_figure_3(name, found))
        points += _supplement(name, found)
        print(
            f"{name}: {partitions} x {runs} and {seconds[0]} x {seconds[1]} evaluations", flush=True
        )
    size = (
        f"{partitions} partitions of features x {runs} runs x {len(SIZES)} test sizes; three"
        " judges, 200 items each."
    )
    reuse = (
        "A run trains three judges once and tests them on the first items of one held-out order, so"
        " sizes are nested."
    )
    record(
        "judge-figure-2a",
        "Share of evaluations with a sensible solution, by test size",
        solved,
        notes=(size, reuse),
    )
    record(
        "judge-figure-2b",
        "Share of partitions that never have one, by test size",
        never,
        notes=(size, reuse),
    )
    each = (
        f"{seconds[0]} partitions x {seconds[1]} runs, trained on 200 items a label, tested on 2000"
        " a label."
    )
    record(
        "judge-figure-3",
        "Distance to the containing variety, and correlation",
        variety,
        notes=(
            each,
            (
                "The distance is zero to rounding for every real solution, correlated or not: it is"
                " no gauge of correlation. Largest pair correlation is over pairs and labels of a"
                " trio."
            ),
        ),
    )
    record(
        "judge-supplement",
        "Estimated against true accuracies, one evaluation a set",
        points,
        notes=(
            each,
            (
                "Each row holds the six label accuracies of three judges. *Least distance* is the"
                " paper's choice: among partitions that are sensible in every run, the evaluation"
                " closest to the containing variety, which is a choice among rounding errors."
                " *Least condition number* is ours, also without labels (`blind_spots`). *Closest"
                " to the truth* needs labels to know."
            ),
            "By its choice the paper found twonorm best, mushroom next and adult worst.",
        ),
    )


class Evaluation:
    """One test of three judges: its tally by true label (2 x 8), what the closed form says, and
    what is true.
    """

    def __init__(self, counts: np.ndarray) -> None:
        self.trios: Trios = solve_trios(CELLS, counts.sum(axis=0))
        self.sensible = self.trios.status[0] == "sensible"
        share = counts / counts.sum(axis=1, keepdims=True)
        right = CELLS[None] == np.arange(2)[:, None, None]
        self.true = np.einsum("lp,lpj->jl", share, right)
        both = np.einsum("lp,lpi,lpj->lij", share, right, right)
        gaps = both - np.einsum("il,jl->lij", self.true, self.true)
        self.correlation = max(abs(gaps[c, i, j]) for c in range(2) for i, j in PAIRS)
        if self.sensible:
            self.estimate = self.trios.accuracy[0]
            self.error = float(np.abs(self.estimate - self.true).mean())
            self.condition = float(blind_spots(self.trios).condition[0])
            self.distance = variety_distance(
                1 - self.trios.mean[0], float(self.trios.balance[0]), self.estimate
            )


def tallied(name: str, partitions: int, draw: Draw) -> np.ndarray:
    """Return the tallies of every partition, from the cache as far as it goes."""
    path = CACHE / f"{name}.npz"
    done: list[np.ndarray] = list(np.load(path)["tallies"]) if path.exists() else []
    for p in range(len(done), partitions):
        done.append(draw(np.random.default_rng([7, p])))
        if (p + 1) % 20 == 0 or p + 1 == partitions:
            CACHE.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path.with_suffix(".tmp.npz"), tallies=np.array(done))
            path.with_suffix(".tmp.npz").replace(path)
    return np.array(done)


def by_size(columns: list[np.ndarray], label: np.ndarray, runs: int) -> Draw:
    """Return the first protocol: runs x sizes x labels x 8, 600 training items drawn from all, the
    rest held out.
    """

    def draw(rng: np.random.Generator) -> np.ndarray:
        chosen = feature_partition(len(columns), rng=rng)
        found = []
        for _ in range(runs):
            order = rng.permutation(len(label))
            test = order[600 : 600 + max(SIZES)]
            codes = _codes(
                columns, label, chosen, [order[200 * k : 200 * (k + 1)] for k in range(3)], test
            )
            found.append([np.bincount(codes[:size], minlength=16) for size in SIZES])
        return np.array(found).reshape(runs, len(SIZES), 2, 8)

    return draw


def balanced(columns: list[np.ndarray], label: np.ndarray, runs: int) -> Draw:
    """Return the second protocol: runs x labels x 8, 200 training and 2000 test items of each
    label.
    """

    def draw(rng: np.random.Generator) -> np.ndarray:
        chosen = feature_partition(len(columns), rng=rng)
        found = []
        for _ in range(runs):
            pools = [rng.permutation(np.flatnonzero(label == c)) for c in (0, 1)]
            trains = [
                np.concatenate([pool[200 * k : 200 * (k + 1)] for pool in pools]) for k in range(3)
            ]
            test = np.concatenate([pool[600 : 600 + 2000] for pool in pools])
            found.append(np.bincount(_codes(columns, label, chosen, trains, test), minlength=16))
        return np.array(found).reshape(runs, 2, 8)

    return draw


def _codes(
    columns: list[np.ndarray],
    label: np.ndarray,
    chosen: np.ndarray,
    trains: list[np.ndarray],
    test: np.ndarray,
) -> np.ndarray:
    """Return 8 x true label + vote pattern of each test item."""
    votes = [
        trained([columns[j] for j in features], label, train, test)
        for features, train in zip(chosen.tolist(), trains, strict=True)
    ]
    return np.asarray(8 * label[test] + 4 * votes[0] + 2 * votes[1] + votes[2])


def trained(
    parts: list[np.ndarray], label: np.ndarray, train: np.ndarray, test: np.ndarray
) -> np.ndarray:
    """Return the votes on *test* of a logistic regression on some features, fitted to *train*."""
    from sklearn.linear_model import LogisticRegression

    if len(set(label[train].tolist())) < 2:
        return np.full(len(test), label[train][0])
    model = LogisticRegression(max_iter=200).fit(
        np.hstack([part[train] for part in parts]), label[train]
    )
    return np.asarray(model.predict(np.hstack([part[test] for part in parts])))


def is_sensible(counts: np.ndarray) -> np.ndarray:
    """Return whether each tally of three judges (tests x 8) has a sensible solution."""
    share = counts / counts.sum(axis=1, keepdims=True)
    mean = share @ CELLS
    first, second = [1, 0, 0], [2, 2, 1]  # the pair without judge 0, 1, 2
    covariance = share @ (CELLS[:, first] * CELLS[:, second]) - mean[:, first] * mean[:, second]
    third = share @ CELLS.prod(axis=1) - mean.prod(axis=1) - (mean * covariance).sum(axis=1)
    judges = np.broadcast_to(np.arange(3), (len(counts), 3))
    return np.asarray(solve_points(judges, mean, covariance, third).status == "sensible")


def _by_size(values: np.ndarray) -> Row:
    return {str(size): float(value) for size, value in zip(SIZES, values, strict=True)}


def _figure_3(name: str, found: list[list[Evaluation]]) -> Row:
    every = [one for part in found for one in part]
    good = [one for one in every if one.sensible]
    row: Row = {"set": name, "sensible": f"{len(good)} of {len(every)}"}
    row["sensible in every run"] = (
        f"{sum(all(one.sensible for one in part) for part in found)} of {len(found)}"
    )
    rejected = [one.correlation for one in every if not one.sensible]
    if good:
        error = np.array([one.error for one in good])
        correlation = np.array([one.correlation for one in good])
        row |= {
            "largest distance": max(one.distance for one in good),
            "largest pair correlation, median": float(np.median(correlation)),
            "the same, rejected trios": float(np.median(rejected)) if rejected else "–",
            "error, median": float(np.median(error)),
            "r(distance, correlation)": float(
                np.corrcoef([one.distance for one in good], correlation)[0, 1]
            ),
            "r(error, correlation)": float(np.corrcoef(error, correlation)[0, 1]),
        }
    return row


def _supplement(name: str, found: list[list[Evaluation]]) -> list[Row]:
    steady = [one for part in found if all(one.sensible for one in part) for one in part]
    good = [one for part in found for one in part if one.sensible]
    chosen: list[tuple[str, Evaluation]] = []
    if steady:
        chosen.append(("least distance", min(steady, key=lambda one: one.distance)))
        chosen.append(("least condition number", min(steady, key=lambda one: one.condition)))
    if good:
        chosen.append(("closest to the truth", min(good, key=lambda one: one.error)))
    return [
        {
            "set": name,
            "chosen by": rule,
            "estimated": " ".join(f"{value:.3f}" for value in one.estimate.ravel()),
            "true": " ".join(f"{value:.3f}" for value in one.true.ravel()),
            "mean error": one.error,
            "largest pair correlation": float(one.correlation),
        }
        for rule, one in chosen
    ]


def features_of(name: str, folder: Path) -> tuple[list[np.ndarray], np.ndarray]:
    """Return each feature as one-hot or standardised columns, and the label 0 / 1."""
    if name == "twonorm":
        rng = np.random.default_rng(7)
        label = rng.integers(0, 2, 7400)
        values = rng.normal(size=(7400, 20)) + np.where(label, 1, -1)[:, None] * 2 / np.sqrt(20)
        return [values[:, [j]] for j in range(20)], label
    file = folder / ("agaricus-lepiota.data.gz" if name == "mushroom" else "adult.data.gz")
    with gzip.open(file, "rt", encoding="utf-8") as opened:
        rows = [[cell.strip() for cell in row] for row in csv.reader(opened) if len(row) > 1]
    if name == "mushroom":
        label = np.array([row[0] == "p" for row in rows]).astype(int)
        return [_encoded(column) for column in zip(*(row[1:] for row in rows), strict=True)], label
    rows = rows[1:]  # the header
    label = np.array([row[-1].startswith(">50K") for row in rows]).astype(int)
    return [_encoded(column) for column in zip(*(row[:-1] for row in rows), strict=True)], label


def _encoded(column: tuple[str, ...]) -> np.ndarray:
    try:
        values = np.array(column, dtype=float)[:, None]
        return np.asarray((values - values.mean()) / (values.std() or 1.0))
    except ValueError:
        levels, codes = np.unique(column, return_inverse=True)
        return np.eye(len(levels))[codes]
