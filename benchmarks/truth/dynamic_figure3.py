"""Figures 3a and 5a of [SAH23] from the predictions of dynamic_figure3_deep.py, beside the paper.

``python -m benchmarks.truth.dynamic_figure3 --from FOLDER [--write]`` reads figure3_base*.npz
and prints the tables; with ``--write`` it keeps them in dynamic_figure3.json
beside this file. Without ``--from`` it prints what was kept.

The paper does not say which majority the score z of round 4 looks at, so both readings are given:
the majority of those four rounds, or the majority of all 25. Under the second, z and the final risk
look at the same set, and a correlation comes about by construction.
"""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import record
from benchmarks.truth.dynamic import rank_persistence
from benchmarks.truth.dynamic_figure3_files import BaseRollouts, load_base
from tallystick.papers.dynamic_benchmarks import similarity
from tallystick.papers.dynamic_benchmarks.rollouts import curves, plurality

KEPT = Path(__file__).resolve().parent / "dynamic_figure3.json"
EARLY, SHOWN = 4, (1, 3, 4, 10, 25)
PAPER = {"z": 0.46, "risk": 0.18}
Row = dict[str, Any]


def correlation(x: np.ndarray, y: np.ndarray) -> tuple[float, int] | None:
    """Return Pearson's r and the number of rollouts; None where one side does not vary."""
    known = ~(np.isnan(x) | np.isnan(y))
    x, y = x[known], y[known]
    if x.size < 4 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    return float(np.corrcoef(x, y)[0, 1]), int(x.size)


def interval(r: float, weight: float) -> list[float]:
    """Return Fisher's 95% interval; *weight* is n - 3, summed over base models where pooled."""
    half = float(1.959964 / np.sqrt(weight))
    middle = float(np.arctanh(np.clip(r, -0.9999, 0.9999)))
    return [math.tanh(middle - half), math.tanh(middle + half)]


def shown(r: float, weight: float) -> str:
    low, high = interval(r, weight)
    return f"{r:.2f} [{low:.2f}, {high:.2f}]"


def analysed(base: BaseRollouts) -> dict[str, Any]:
    """Return the curves of one base model's rollouts and what early rounds say of the last."""
    calls, truth = base.predictions, base.labels
    path = curves(calls, truth)
    final = path.risk[:, -1]
    errors = calls != truth
    votes = {
        "majority of the 4 rounds": plurality(calls[:, :EARLY], truth),
        "majority of all rounds": plurality(calls, truth),
    }
    return {
        "plan": json.loads(base.plan),
        "items": int(truth.size),
        "rollouts": len(calls),
        "rounds": calls.shape[1],
        "risk": path.risk.mean(axis=0).tolist(),
        "spread": path.risk.std(axis=0, ddof=1).tolist(),
        "binary_risk": path.binary_risk.mean(axis=0).tolist(),
        "epsilon": path.epsilon.mean(axis=0).tolist(),
        "persistence": [None if np.isnan(v) else v for v in rank_persistence(path.risk).tolist()],
        "r": {
            **{
                f"z, {name}": correlation(similarity(errors[:, :EARLY], majority=vote), final)
                for name, vote in votes.items()
            },
            "z, majority of the 4 rounds, right or wrong only": correlation(
                similarity(errors[:, :EARLY]), path.binary_risk[:, -1]
            ),
            "risk of round 4": correlation(path.risk[:, EARLY - 1], final),
        },
    }


def tables(found: dict[str, Any]) -> None:
    """Print what was found, beside the paper."""
    bases = found["bases"]
    rows: list[Row] = []
    for number, base in enumerate(bases, start=1):
        risk = {f"round {t}": base["risk"][t - 1] for t in SHOWN if t <= base["rounds"]}
        rows.append(
            {
                "base model": number,
                "kept": f"{base['items']:,} of {base['plan']['images']:,}",
                "rollouts x rounds": f"{base['rollouts']} x {base['rounds']}",
                **risk,
                "spread at the end": base["spread"][-1],
                "ranks of round 4 and the end": base["persistence"][min(EARLY, base["rounds"]) - 1],
            }
        )
    plan = bases[0]["plan"]
    record(
        "dynamic-figure3",
        "Dynamic benchmarks: Figure 3a at full size",
        rows,
        notes=(
            "Mean risk of the plurality of all models so far, on the training images that the base "
            "model gets right. The paper: one base model at 73%, 100 rollouts, a curve only.",
            f"The paper's network of 42,442 parameters, {plan['epochs']} epochs, batches of "
            f"{plan['batch']}, every rollout with its own order of batches.",
        ),
    )

    lines: list[Row] = []
    for name in bases[0]["r"]:
        each = [base["r"][name] for base in bases]
        row: Row = {"what foretells the final risk": name}
        for number, pair in enumerate(each, start=1):
            row[f"base model {number}"] = shown(pair[0], pair[1] - 3) if pair else "no spread"
        known = [pair for pair in each if pair]
        if known:
            weights = [n - 3 for _, n in known]
            centre = np.average([np.arctanh(r) for r, _ in known], weights=weights)
            row["both"] = shown(float(np.tanh(centre)), sum(weights))
        row["paper"] = PAPER["risk"] if name.startswith("risk") else PAPER["z"]
        lines.append(row)
    record(
        "dynamic-figure5",
        "Dynamic benchmarks: Figure 5a, early signs of a bad rollout",
        lines,
        notes=(
            "Pearson's r over rollouts with Fisher's 95% interval; *both*: base models pooled.",
            "The paper does not say which majority z looks at. With the majority of all rounds the "
            "score and the final risk look at the same set of items.",
        ),
    )


def main() -> None:
    if "--from" in sys.argv:
        folder = Path(sys.argv[sys.argv.index("--from") + 1])
        files = sorted(folder.glob("figure3_base*.npz"))
        if not files:
            raise SystemExit(
                f"{folder} has no figure3_base*.npz: run dynamic_figure3_deep.py first"
            )
        found = {
            "bases": [analysed(load_base(file)) for file in files],
        }
        if "--write" in sys.argv:
            KEPT.write_text(json.dumps(found, indent=1), encoding="utf-8")
    elif KEPT.exists():
        found = json.loads(KEPT.read_text(encoding="utf-8"))
    else:
        print("Figure 3 has not been run yet: see dynamic_figure3_deep.py")
        return
    tables(found)


if __name__ == "__main__":
    main()
