"""The latent-class model against crowd-kit's Dawid-Skene: the same votes, the same start, the same
stopping point.

crowd-kit 1.4.2 stops as soon as its loss falls, which on real data happens after a few steps and
far from the maximum (its bound counts the class balance once a vote). So it is also run with that
test disabled, for as many plain EM steps as reach the tolerance of our fit; those estimates are the
ones compared.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import time
import types
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.record import record
from tallystick.stats.latent_checks import simulate
from tallystick.stats.latent_model import (
    LatentFit,
    LatentModel,
    LatentOptions,
    Problem,
    as_votes,
    fit,
    majority_share,
)

DATA = Path(
    os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)


def crowd_kit() -> Any:
    """Return crowd-kit's DawidSkene class without importing its unrelated models and what they
    need.
    """
    spec = importlib.util.find_spec("crowdkit")
    if spec is None or spec.submodule_search_locations is None:
        raise SystemExit("this benchmark compares with crowd-kit: pip install crowd-kit==1.4.2")
    root = Path(spec.submodule_search_locations[0])
    for name in ("crowdkit.aggregation", "crowdkit.aggregation.classification"):
        package = types.ModuleType(name)
        package.__path__ = [str(root.joinpath(*name.split(".")[1:]))]
        sys.modules[name] = package
    return importlib.import_module("crowdkit.aggregation.classification.dawid_skene").DawidSkene


def clock(work: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Return the median of *repeat* times in CPU seconds, and the last result.

    A busy machine would stretch the peer's long runs on the wall clock and leave our short ones
    alone.
    """
    times = []
    for _ in range(repeat):
        begin = time.process_time()
        out = work()
        times.append(time.process_time() - begin)
    return float(np.median(times)), out


def patterns(
    codes: np.ndarray[Any, Any], n_labels: int
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Count patterns of complete votes: a mixed-radix number an item, then one bincount."""
    n_judges = codes.shape[1]
    packed = np.zeros(codes.shape[0], dtype=np.int64)
    for j in range(n_judges):
        packed = packed * n_labels + codes[:, j]
    counts = np.bincount(packed, minlength=n_labels**n_judges)
    seen = np.flatnonzero(counts)
    grid = np.stack(np.unravel_index(seen, (n_labels,) * n_judges), axis=1)
    return grid, counts[seen]


def long_table(codes: np.ndarray[Any, Any]) -> pd.DataFrame:
    task, worker = np.nonzero(codes >= 0)
    return pd.DataFrame({"task": task, "worker": worker, "label": codes[task, worker]})


def gap(peer: Any, ours: LatentFit) -> float:
    """Return the largest difference of balance and confusion, over rows that both have."""
    n_classes = ours.model.n_classes
    worst = float(np.abs(peer.priors_.sort_index().to_numpy() - ours.balance).max())
    for (judge, label), row in peer.errors_.iterrows():
        there = np.array([row[c] for c in range(n_classes)])
        worst = max(worst, float(np.abs(there - ours.confusion[judge, :, label]).max()))
    return worst


def plain_steps(codes: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], n_classes: int) -> int:
    """Return how many steps EM takes without extrapolation."""
    votes = as_votes(codes, counts, n_classes=n_classes)
    problem = Problem.of(votes, n_classes, LatentOptions())
    table, steps = problem.maximise(majority_share(votes, n_classes)), 0
    while True:
        step, steps = problem.maximise(problem.expect(table).responsibility), steps + 1
        if np.abs(step - table).max() <= LatentOptions().tolerance:
            return steps
        table = step


def compare(
    name: str, codes: np.ndarray[Any, Any], n_classes: int, dense: bool
) -> list[dict[str, Any]]:
    dawid_skene = crowd_kit()

    def peer_fit(**options: float) -> Any:
        return dawid_skene(**options).fit(frame)

    frame = long_table(codes)
    grid, counts = patterns(codes, n_classes) if dense else (codes, np.ones(codes.shape[0]))
    ours_s, ours = clock(lambda: fit(grid, counts, n_classes=n_classes), 20)
    whole_s, _ = (
        clock(lambda: fit(*patterns(codes, n_classes), n_classes=n_classes), 5)
        if dense
        else (ours_s, None)
    )
    steps = plain_steps(grid, counts, n_classes)
    rows = []
    settings: dict[str, dict[str, float]] = {
        "its defaults": {},
        f"{steps} steps": {"n_iter": steps, "tol": -np.inf},
    }
    for setting, options in settings.items():
        peer_s, peer = clock(partial(peer_fit, **options), 3)
        rows.append(
            {
                "votes": name,
                "crowd-kit runs": f"{setting} ({len(peer.loss_history_)} steps)",
                "crowd-kit s": peer_s,
                "ours from patterns s": ours_s,
                "ours with counting s": whole_s,
                "ratio": peer_s / ours_s,
                "ratio with counting": peer_s / whole_s,
                "largest difference": gap(peer, ours),
            }
        )
    return rows


def main() -> None:
    accuracy = [(0.9, 0.8), (0.85, 0.75), (0.7, 0.8), (0.65, 0.9), (0.8, 0.8)]
    model = LatentModel([0.6, 0.4], [[[a, 1 - a], [1 - b, b]] for a, b in accuracy])
    codes, _ = simulate(model, 100_000, rng=1)
    rows = compare("100,000 x 5, complete", codes, 2, dense=True)
    if DATA.is_dir():
        frame = pd.read_csv(DATA / "judge" / "rte.csv.gz").drop(columns=["item", "truth"])
        rows += compare(
            "rte 800 x 164, 10 votes an item",
            frame.fillna(-1).to_numpy().astype(np.int64),
            2,
            dense=False,
        )
    record(
        "latent",
        "Speed: the latent-class model",
        rows,
        notes=(
            (
                "Medians of CPU seconds in one process. Ours runs to a tolerance of 1e-8 on every"
                " probability; crowd-kit's DataFrame is made outside its time."
            ),
            (
                "At its defaults crowd-kit stops when its loss falls, before the maximum; the"
                " second row of each pair runs both to the same point."
            ),
        ),
    )


if __name__ == "__main__":
    main()
