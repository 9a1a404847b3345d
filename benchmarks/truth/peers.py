"""What the error bars of other tools are worth: coverage with few labels, and pairs told apart on a
leaderboard.

``python -m benchmarks.truth.peers [--write]``. The intervals of other tools are computed by those
tools where they are Python functions (ppi_python, statsmodels); the standard errors of evaluation
harnesses are ``s / sqrt(n)``, as they print them, and a reader's usual ``± 1.96`` of it.
"""

from __future__ import annotations

import os
from importlib.metadata import version
from pathlib import Path

import numpy as np
from ppi_py import ppi_mean_ci
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

from benchmarks.known import known
from benchmarks.record import record
from benchmarks.truth.prediction_powered import prediction_powered_mean
from tallystick.stats.intervals import clopper_pearson
from tallystick.verbs.compare import evaluate

ROOT = Path(__file__).resolve().parents[2]
DATA = Path(os.environ.get("TALLYSTICK_DATA", ROOT.parent / "shared" / "data"))
RUNS, ITEMS = 2000, 2000


def one_run(draw: np.random.Generator, mean: float, labels: int) -> dict[str, tuple[float, float]]:
    """Draw items whose right answers are guessed by a calibrated chance, label some, and return
    every interval.
    """
    chance = draw.beta(6 * mean, 6 * (1 - mean), ITEMS)
    truth = (draw.random(labels) < chance[:labels]).astype(float)
    guess, rest = chance[:labels], chance[labels:]
    share, error = truth.mean(), truth.std(ddof=1) / np.sqrt(labels)
    ours = prediction_powered_mean(truth, guess, chance, target="population").interval
    ppi_low, ppi_high = ppi_mean_ci(truth, guess, rest, alpha=0.05)
    wilson = proportion_confint(truth.sum(), labels, method="wilson")
    exact = clopper_pearson(int(truth.sum()), labels)
    return {
        "labels only: ± 1.96 standard errors, as harnesses print them": (
            share - 1.96 * error,
            share + 1.96 * error,
        ),
        "labels only: Wilson, statsmodels": (float(wilson[0]), float(wilson[1])),
        "labels only: exact, Tallystick": (float(exact.low), float(exact.high)),
        "with guesses: ppi_python": (float(np.ravel(ppi_low)[0]), float(np.ravel(ppi_high)[0])),
        "with guesses: Tallystick": (float(ours.low[0]), float(ours.high[0])),
    }


def few_labels() -> None:
    rows = []
    for mean in (0.8, 0.95):
        for labels in (20, 50, 200):
            draw = np.random.default_rng([int(100 * mean), labels])
            runs = [one_run(draw, mean, labels) for _ in range(RUNS)]
            for name in runs[0]:
                low, high = np.array([run[name] for run in runs]).T
                cover = float(((low <= mean) & (mean <= high)).mean())
                rows.append(
                    {
                        "mean": mean,
                        "labels": labels,
                        "interval": name,
                        "coverage": cover,
                        "mean width": float((np.minimum(high, 1) - np.maximum(low, 0)).mean()),
                    }
                )
    record(
        "peers-few-labels",
        "Error bars with few labels: what they cover",
        rows,
        notes=[
            (
                f"{RUNS} seeded draws a row of {ITEMS} items; nominal coverage .95, so that below"
                " .94 it is too small by more than two standard errors. Widths are those of the"
                " part within [0, 1]."
            ),
            (
                f"ppi_python {version('ppi_python')} at its defaults, statsmodels"
                f" {version('statsmodels')}."
            ),
            (
                "Every item has a guess: the chance that it is right, calibrated. ppi_python takes"
                " the guesses of the unlabelled items, Tallystick those of all of them."
            ),
        ],
    )


def leaderboard() -> None:
    import pyarrow.parquet as pq

    table = pq.read_table(DATA / "compare" / "helm_lite_binary.parquet")
    marks = [
        name
        for name in table.column_names
        if str(table.schema.field(name).type) in ("int8", "uint8", "int64")
    ]
    scores = {
        name: table[name].to_numpy().astype(int)
        for name in marks
        if set(np.unique(table[name])) <= {0, 1}
    }
    board = np.stack(list(scores.values()))
    means, errors = board.mean(axis=1), board.std(axis=1, ddof=1) / np.sqrt(board.shape[1])
    i, j = np.triu_indices(len(board), 1)
    apart = np.abs(means[i] - means[j])
    p = 2 * norm.sf(apart / np.sqrt(errors[i] ** 2 + errors[j] ** 2))
    bars = int((apart > 1.96 * (errors[i] + errors[j])).sum())
    holm = int(multipletests(p, method="holm")[0].sum())
    ours = evaluate({name: values.tolist() for name, values in scores.items()}, rng=0)
    told = sum(known(pair.adjusted_p) <= ours.alpha for pair in ours.pairs)
    found = {
        "error bars of ± 1.96 standard errors do not overlap": (bars, "none named"),
        "two standard errors in one z-test, Holm over all pairs": (holm, "family-wise"),
        f"Tallystick: {ours.adjustment}, on the same items": (told, "family-wise"),
    }
    rows = [
        {"how": how, "pairs told apart": count, "error held": held}
        for how, (count, held) in found.items()
    ]
    record(
        "peers-leaderboard",
        f"Pairs of HELM Lite told apart, of {len(i)}",
        rows,
        notes=[
            f"{len(board)} models on {board.shape[1]:,} items (compare/helm_lite_binary.parquet),"
            " level .05."
        ],
    )


if __name__ == "__main__":
    few_labels()
    if DATA.is_dir():
        leaderboard()
