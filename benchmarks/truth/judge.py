"""Judges without labels on real votes, and the paper's experiments, by one command.

    python -m benchmarks.truth.judge [--write] [--quick]

Data: the folder of TALLYSTICK_DATA. ``--quick`` makes the experiments of section 4 smaller.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from record import record

from tallystick import judge
from tallystick.judge.ballots import Ballots
from tallystick.judge.supervised import Supervised
from tallystick.stats.latent import solve_trios
from tallystick.tally import Tally

FOLDER = (
    Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data")) / "judge"
)
PUBLISHED = {
    "bluebirds": (0.105, 0.093, 0.044),
    "llmbar_swap0": (0.235, 0.246, 0.263),
    "adult_lr_judges": (0.092, 0.025, 0.125),
    "mushroom_lr_judges": (0.025, 0.051, 0.041),
    "twonorm_lr_judges": (0.010, 0.002, 0.002),
    "rte": (0.069, None, 0.040),
    "dog": (0.077, None, 0.073),
}
LEAST_VOTES = 20
SIZES = (100, 200, 400, 600, 800, 1000, 1500, 2000, 3000, 4000)


def votes_of(name: str) -> Tally:
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    body = [row for row in rows[1:] if row[1]]
    if name.startswith("llmbar"):
        body = [row for row in body if all(row)]
    return Tally.of({column: [row[j + 1] or None for row in body] for j, column in enumerate(rows[0][1:])})


def table_of_methods() -> None:
    """Mean absolute error of overall accuracy, no labels; the headline is that of ``evaluate``."""
    rows = []
    for name, (mv, trio, ds) in PUBLISHED.items():
        votes = votes_of(name)
        exact = Supervised(Ballots.of(votes, truth="truth"))
        truth = {one: np.divide(*exact.right(one)) for one in exact.names if exact.right(one)[1] >= LEAST_VOTES}
        blind = votes.marginal([column for column in votes.names if column != "truth"])
        result = judge.evaluate(blind, rng=0)
        errors = {estimate.method: _error(estimate.accuracy, truth) for estimate in result.estimates}
        headline = _error({score.name: score.accuracy for score in result.judges}, truth)
        order = sorted((value, method) for method, value in errors.items() if np.isfinite(value))
        rank = 1 + sum(value < headline - 1e-12 for value, _ in order)
        rows.append(
            {
                "set": name,
                "majority": errors["majority"],
                "(before)": mv,
                "trio median": errors.get("independent", float("nan")),
                "(before) ": "–" if trio is None else trio,
                "Dawid-Skene": errors["dawid-skene"],
                "(before)  ": ds,
                "spectral": errors.get("spectral", float("nan")),
                "agreement": errors.get("agreement", float("nan")),
                "majority of the others": errors["majority of the others"],
                "headline": headline,
                "is": result.method,
                "rank": f"{rank} of {len(order)}",
            }
        )
    notes = (
        f"Mean absolute error, against all labels, over judges with at least {LEAST_VOTES} votes; (before) is the "
        "figure that was to be matched.",
        "The headline is what `evaluate` leads with; its rank is among the methods of its row.",
    )
    record("judge-label-free", "Judges without labels, on real votes", rows, notes=notes)


def quartets() -> None:
    """Share of quartets that reject independence at 1 %."""
    rows = []
    for name, before in (
        ("twonorm_lr_judges", "0 of 15"),
        ("mushroom_lr_judges", "35 of 35"),
        ("llmbar_swap0", "63 %"),
    ):
        votes = votes_of(name)
        result = judge.independence(votes, truth="truth", alpha=0.01, most=100)
        rows.append(
            {
                "set": name,
                "rejected": f"{result.n_rejected} of {len(result.quartets)}",
                "(before)": before,
                "family-wise": result.rejected,
                "pair": " & ".join(result.pair),
                "effective judges": result.effective_judges,
                "judges": len(votes.names) - 1,
            }
        )
    record("judge-independence", "G² test of independent errors on quartets, at 1 %", rows)


def _error(found: Any, truth: dict[str, Any]) -> float:
    gaps = [abs(value - truth[name]) for name, value in found.items() if isinstance(value, float) and name in truth]
    return float(np.mean(gaps)) if gaps else float("nan")


def features_of(name: str, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
    """Return each feature as one-hot or standardised columns, and the label 0 / 1."""
    if name == "twonorm":
        label = rng.integers(0, 2, 7400)
        values = rng.normal(size=(7400, 20)) + np.where(label, 1, -1)[:, None] * 2 / np.sqrt(20)
        return [values[:, [j]] for j in range(20)], label
    if name == "mushroom":
        with gzip.open(FOLDER / "agaricus-lepiota.data.gz", "rt", encoding="utf-8") as file:
            rows = list(csv.reader(file))
        label, columns = (
            np.array([row[0] == "p" for row in rows]).astype(int),
            list(zip(*(r[1:] for r in rows), strict=True)),
        )
    else:
        with gzip.open(FOLDER / "adult.data.gz", "rt", encoding="utf-8") as file:
            rows = [[cell.strip() for cell in row] for row in csv.reader(file) if len(row) > 1][1:]
        label = np.array([row[-1].startswith(">50K") for row in rows]).astype(int)
        columns = list(zip(*(r[:-1] for r in rows), strict=True))
    return [_encoded(column) for column in columns], label


def _encoded(column: tuple[str, ...]) -> np.ndarray:
    try:
        values = np.array(column, dtype=float)[:, None]
        return (values - values.mean()) / (values.std() or 1.0)
    except ValueError:
        levels, codes = np.unique(column, return_inverse=True)
        return np.eye(len(levels))[codes]


def trained(parts: list[np.ndarray], label: np.ndarray, train: np.ndarray, test: np.ndarray) -> np.ndarray:
    """Return the votes on *test* of a logistic regression on three features, fitted to *train*."""
    from sklearn.linear_model import LogisticRegression

    if len(set(label[train].tolist())) < 2:
        return np.full(len(test), label[train][0])
    model = LogisticRegression(max_iter=200).fit(np.hstack([part[train] for part in parts]), label[train])
    return np.asarray(model.predict(np.hstack([part[test] for part in parts])))


def experiments(quick: bool) -> None:
    """Figures 2a and 2b: failures by test size; Figure 3 and the supplement: the second set, 2000 items a label."""
    partitions, runs = (60, 5) if quick else (300, 10)
    failing, curves, points = [], [], []
    for name in ("twonorm", "mushroom", "adult"):
        rng = np.random.default_rng(7)
        columns, label = features_of(name, rng)
        sensible = np.zeros((partitions, runs, len(SIZES)), dtype=bool)
        start = time.perf_counter()
        for p in range(partitions):
            chosen = rng.permutation(len(columns))[:9].reshape(3, 3)
            for r in range(runs):
                order = rng.permutation(len(label))
                test = order[600 : 600 + max(SIZES)]
                votes = np.stack(
                    [
                        trained([columns[j] for j in chosen[k]], label, order[200 * k : 200 * (k + 1)], test)
                        for k in range(3)
                    ],
                    axis=1,
                )
                for s, size in enumerate(SIZES):
                    sensible[p, r, s] = _status(votes[:size]) == "sensible"
        seconds = time.perf_counter() - start
        curves.append({"set": name, **{str(size): float(sensible[..., s].mean()) for s, size in enumerate(SIZES)}})
        never = ~sensible.any(axis=1)
        failing.append({"set": name, **{str(size): float(never[:, s].mean()) for s, size in enumerate(SIZES)}})
        points += second_set(name, columns, label, rng, 20 if quick else 100, 3 if quick else 10)
        print(f"{name}: {partitions} partitions x {runs} runs in {seconds:.0f} s", flush=True)
    size = f"{partitions} partitions of features x {runs} runs x {len(SIZES)} test sizes; three judges, 200 items each"
    record("judge-figure-2a", "Share of evaluations with a sensible solution, by test size", curves, notes=(size,))
    record("judge-figure-2b", "Share of partitions that never have one, by test size", failing, notes=(size,))
    record(
        "judge-figure-3",
        "Distance to the containing variety, correlation, and estimated against true accuracies",
        points,
        notes=(
            "Trained on 200 items a label, tested on 2000 a label. The distance is zero to rounding for every real "
            "solution, correlated or not: it is no gauge of correlation.",
            "The best partition is the sensible one whose estimates are closest to the truth, which needs labels to "
            "know; the paper's choice, the smallest distance, is a choice among rounding errors.",
        ),
    )


def _status(votes: np.ndarray) -> str:
    patterns = np.bincount(votes @ [4, 2, 1], minlength=8)
    return str(solve_trios(_CELLS, patterns).status[0])


_CELLS = np.array([[k >> 2 & 1, k >> 1 & 1, k & 1] for k in range(8)])


def second_set(
    name: str, columns: list[np.ndarray], label: np.ndarray, rng: np.random.Generator, partitions: int, runs: int
) -> list[dict[str, Any]]:
    """100 partitions, 200 training items a label, 2000 test items a label: distance, correlation, error."""
    found = []
    solved = total = 0
    for _ in range(partitions):
        chosen = rng.permutation(len(columns))[:9].reshape(3, 3)
        for _ in range(runs):
            total += 1
            pools = [rng.permutation(np.flatnonzero(label == c)) for c in (0, 1)]
            test = np.concatenate([pool[600 : 600 + 2000] for pool in pools])
            trains = [np.concatenate([pool[200 * k : 200 * (k + 1)] for pool in pools]) for k in range(3)]
            votes = np.stack(
                [trained([columns[j] for j in chosen[k]], label, trains[k], test) for k in range(3)], axis=1
            )
            patterns = np.bincount(votes @ [4, 2, 1], minlength=8)
            trios = solve_trios(_CELLS, patterns)
            if trios.status[0] != "sensible":
                continue
            solved += 1
            f = 1 - votes.mean(axis=0)
            balance, accuracy = trios.balance[0], trios.accuracy[0]
            gaps = balance * (accuracy[:, 0] - f) - (1 - balance) * (accuracy[:, 1] - (1 - f))
            truth = label[test]
            true = np.stack([(votes[truth == c] == c).mean(axis=0) for c in (0, 1)], axis=1)
            correlation = max(
                abs(np.cov(votes[truth == c].T, bias=True)[i, j]) for c in (0, 1) for i, j in ((0, 1), (0, 2), (1, 2))
            )
            found.append(
                (float(np.abs(accuracy - true).mean()), float(np.sqrt((gaps**2).sum())), correlation, accuracy, true)
            )
    if not found:
        return [{"set": name, "sensible": f"0 of {total}"}]
    errors = np.array([row[0] for row in found])
    best = found[int(errors.argmin())]
    together = np.corrcoef([row[2] for row in found], errors)[0, 1] if len(found) > 2 else float("nan")
    return [
        {
            "set": name,
            "sensible": f"{solved} of {total}",
            "largest distance": max(row[1] for row in found),
            "pair correlation, median": float(np.median([row[2] for row in found])),
            "error, median": float(np.median(errors)),
            "error and correlation": float(together),
            "best: estimated": " ".join(f"{value:.3f}" for value in best[3].ravel()),
            "best: true": " ".join(f"{value:.3f}" for value in best[4].ravel()),
        }
    ]


def main() -> None:
    if not FOLDER.is_dir():
        sys.exit(f"{FOLDER} is absent: set TALLYSTICK_DATA")
    table_of_methods()
    quartets()
    experiments("--quick" in sys.argv)


if __name__ == "__main__":
    main()
