"""Probability per item: how well calibrated, with 0, 20, 50 and 100 labels, on real and drawn votes.

    python benchmarks/truth/judge_items.py [--write]

Data: the folder of TALLYSTICK_DATA. Everything is measured on the items without a label.
"""

from __future__ import annotations

import csv
import gzip
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
sys.path.insert(0, str(Path(__file__).resolve().parent))
from judge_headline import copies, hard_items, independent
from record import record

from tallystick.judge.ballots import Ballots
from tallystick.judge.dawid_skene import fit_ballots
from tallystick.judge.item_support import item_support
from tallystick.judge.vote_model import fit_vote_model
from tallystick.stats.latent import expected_calibration_error
from tallystick.tally import Tally

FOLDER = Path(
    os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
LABELS = (0, 20, 50, 100)
DRAWS = 8
SETS = {"llmbar_swap0": "five", "rte": "all", "dog": "all"}
DRAWN = {
    "hard items": hard_items,
    "6 judges": lambda rng: independent(rng, judges=6, items=1000),
    "2 of 6 copy": lambda rng: copies(rng, judges=6, items=1000, copiers=2, share=0.5),
}


def real(name: str, judges: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return codes (items x judges, -1 for none) and the truth of one set."""
    with gzip.open(FOLDER / "judge" / f"{name}.csv.gz", "rt", encoding="utf-8") as file:
        _head, *rows = list(csv.reader(file))
    rows = [row for row in rows if row[1] and (not name.startswith("llmbar") or all(row))]
    labels = sorted({row[1] for row in rows})
    table = np.array(
        [[labels.index(cell) if cell in labels else -1 for cell in row[1:]] for row in rows]
    )
    chosen = np.arange(1, table.shape[1])
    if judges == "five":
        chosen = np.sort(rng.choice(chosen, 5, replace=False))
    return table[:, chosen], table[:, 0]


def measured(votes: np.ndarray, truth: np.ndarray, labels: int, rng: np.random.Generator) -> Any:
    """Return stated values and whether the consensus was right, for us and for Dawid-Skene."""
    known = np.full(len(truth), -1)
    if labels:
        drawn = rng.choice(len(truth), labels, replace=False)
        known[drawn] = truth[drawn]
    columns: dict[str, list[int | None]] = {
        f"j{j}": [None if v < 0 else int(v) for v in votes[:, j]] for j in range(votes.shape[1])
    }
    gold = [None if v < 0 else int(v) for v in known]
    n_labels = int(max(votes.max(), truth.max())) + 1
    ballots = Ballots.of(
        Tally.of({**columns, "gold": gold}), truth="gold", labels=list(range(n_labels))
    )
    blind = ballots.blind
    model = fit_vote_model(blind, blind, rng=0)
    items = item_support(ballots, model.support)
    name = "probability" if "probability" in items.columns else "support"
    places = np.asarray(ballots.votes.locate(columns))
    open_items = known < 0
    at = places[open_items]
    stated = np.array([items.columns[name][k] for k in at], dtype=float)
    right = np.array([items.columns["consensus"][k] for k in at]) == truth[open_items]

    by_place = np.full(ballots.votes.patterns, -1)
    by_place[blind.place] = np.arange(len(blind.place))
    plain = fit_ballots(blind).posterior[by_place[at]]
    plain_right = np.array(ballots.classes)[plain.argmax(axis=1)] == truth[open_items]
    return stated, right.astype(float), plain.max(axis=1), plain_right.astype(float)


def main() -> None:
    rows, table = [], []
    for place, (name, source) in enumerate({**SETS, **DRAWN}.items()):
        for labels in LABELS:
            errors, peers, top, at_top = [], [], [], []
            for draw in range(DRAWS):
                rng = np.random.default_rng([7, place, draw])
                pair = real(name, source, rng) if isinstance(source, str) else source(rng)
                stated, right, plain, plain_right = measured(*pair, labels, rng)
                errors.append(expected_calibration_error(stated, right))
                peers.append(expected_calibration_error(plain, plain_right))
                edge = np.quantile(stated, 0.8)
                top.append(float(stated[stated >= edge].mean()))
                at_top.append(float(right[stated >= edge].mean()))
            rows.append(
                {
                    "set": name,
                    "kind": "real" if isinstance(source, str) else "drawn",
                    "labels": labels,
                    "column": "support" if labels < 20 else "probability",
                    "calibration error": float(np.mean(errors)),
                    "worst draw": float(np.max(errors)),
                    "Dawid-Skene posterior": float(np.mean(peers)),
                    "top fifth: stated": float(np.mean(top)),
                    "top fifth: right": float(np.mean(at_top)),
                }
            )
            print(rows[-1], flush=True)
    for kind in ("real", "drawn"):
        for labels in LABELS:
            part = [r for r in rows if r["kind"] == kind and r["labels"] == labels]
            table.append(
                {
                    "sets": kind,
                    "labels": labels,
                    "calibration error": float(np.mean([r["calibration error"] for r in part])),
                    "Dawid-Skene posterior": float(
                        np.mean([r["Dawid-Skene posterior"] for r in part])
                    ),
                }
            )
    notes = (
        f"{DRAWS} draws of labels (and, for llmbar_swap0, of five of its 65 judges); measured on the"
        " items without a label, in ten bins of equal mass.",
        "Asked for: at most .065 on real sets and .045 on drawn ones with 100 labels.",
    )
    record("judge-items", "Probability per item: calibration error", rows, notes=notes)
    record("judge-items-means", "Probability per item: means over sets", table, notes=notes)


if __name__ == "__main__":
    main()
