"""Judges without labels on real votes, and the paper's experiments, by one command.

    python -m benchmarks.truth.judge [--write] [--quick]

Data: the folder of TALLYSTICK_DATA. ``--quick`` makes the experiments of section 4 smaller; in full
they take about ten minutes, and a killed run goes on where it was.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import record
from benchmarks.truth.judge_section4 import experiments
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs import judge

FOLDER = (
    Path(
        os.environ.get(
            "TALLYSTICK_DATA", Path(__file__).resolve().parents[2].parent / "shared" / "data"
        )
    )
    / "judge"
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


def votes_of(name: str) -> Tally:
    with gzip.open(FOLDER / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        rows = list(csv.reader(file))
    body = [row for row in rows[1:] if row[1]]
    if name.startswith("llmbar"):
        body = [row for row in body if all(row)]
    return Tally.of(
        {column: [row[j + 1] or None for row in body] for j, column in enumerate(rows[0][1:])}
    )


def table_of_methods() -> None:
    """Mean absolute error of overall accuracy, no labels; the headline is that of ``evaluate``."""
    rows = []
    cases = [*((name, LEAST_VOTES) for name in PUBLISHED), ("dog", 1)]
    for name, least in cases:
        mv, trio, ds = PUBLISHED[name]
        votes = votes_of(name)
        labelled = judge.supervised(votes, truth="truth").judges
        truth = {
            score.name: score.accuracy
            for score in labelled
            if score.votes >= least and isinstance(score.accuracy, float)
        }
        blind = votes.marginal([column for column in votes.names if column != "truth"])
        result = judge.evaluate(blind, rng=0)
        errors = {
            estimate.method: _error(estimate.accuracy, truth) for estimate in result.estimates
        }
        headline = _error({score.name: score.accuracy for score in result.judges}, truth)
        held = [
            score.range[0] <= truth[score.name] <= score.range[1]
            for score in result.judges
            if score.name in truth and isinstance(score.range, tuple)
        ]
        order = sorted((value, method) for method, value in errors.items() if np.isfinite(value))
        rank = 1 + sum(value < headline - 1e-6 for value, _ in order)
        rows.append(
            {
                "set": name if least > 1 else f"{name}, all judges",
                "majority": errors["majority"],
                "(before)": mv,
                "trio median": errors.get("independent", "–"),
                "(before) ": "–" if trio is None else trio,
                "Dawid-Skene": errors["dawid-skene"],
                "(before)  ": ds,
                "spectral": errors.get("spectral", "–"),
                "agreement": errors.get("agreement", "–"),
                "majority of the others": errors["majority of the others"],
                "headline": headline,
                "range held": float(np.mean(held)) if held else "–",
                "crowd-kit": _crowd_kit(votes, truth),
                "rank": f"{rank} of {len(order)}",
            }
        )
    notes = (
        (
            f"Mean absolute error, against all labels, over judges with at least {LEAST_VOTES}"
            " votes (the last row: all judges, however few their votes); (before) is the figure"
            " that was to be matched."
        ),
        "The headline is what `evaluate` leads with (Dawid-Skene with unreadable items, pulled"
        " towards the majority of the others); its rank is among the methods of its row.",
        "Until measured misfit pulled to the majority of the others alone, the headline had .0495,"
        " .2358, .0658, .0443, .0016, .0372 and .0715 on the first seven rows (mean .0722, now .0703)"
        " and was the worst of majority, Dawid-Skene, majority of the others and crowd-kit on"
        " mushroom. The change was fixed on simulated panels.",
        "*Range held* is the share of judges whose accuracy lies in the range. crowd-kit is its"
        " DawidSkene(n_iter=100), where it is installed; its judges are graded by its labels.",
    )
    record("judge-label-free", "Judges without labels, on real votes", rows, notes=notes)


def _crowd_kit(votes: Tally, truth: dict[str, Any]) -> Any:
    """Return the error of crowd-kit's Dawid-Skene: judges graded by the labels that it gives."""
    try:
        from crowdkit.aggregation.classification.dawid_skene import DawidSkene
    except ImportError:
        return "–"
    import pandas as pd

    panel = Panel.of(votes, truth="truth")
    rows = np.repeat(np.arange(len(panel.counts)), panel.counts.astype(int))
    codes = panel.codes[rows]
    task, worker = np.nonzero(codes >= 0)
    frame = pd.DataFrame({"task": task, "worker": worker, "label": codes[task, worker]})
    labels = DawidSkene(n_iter=100).fit_predict(frame).reindex(range(len(codes))).to_numpy()
    right = (codes == labels[:, None]).sum(axis=0) / (codes >= 0).sum(axis=0)
    return _error(dict(zip(panel.names, map(float, right), strict=True)), truth)


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
    gaps = [
        abs(value - truth[name])
        for name, value in found.items()
        if isinstance(value, float) and name in truth
    ]
    return float(np.mean(gaps)) if gaps else float("nan")


def main() -> None:
    if not FOLDER.is_dir():
        sys.exit(f"{FOLDER} is absent: set TALLYSTICK_DATA")
    table_of_methods()
    quartets()
    experiments(FOLDER, quick="--quick" in sys.argv)


if __name__ == "__main__":
    main()
