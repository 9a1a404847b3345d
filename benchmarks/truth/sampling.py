"""Remake the error table of the sampling policies on semi-synthetic API shifts, and ours against MASA.

    python benchmarks/truth/sampling.py [--write] [--runs 1000]

Data: shift/semisynthetic_2020_to_2021.csv.gz under TALLYSTICK_DATA (default ../shared/data). Table 1 takes the real
2020 predictions as the answers (that is the side on which the reference figures were measured: their oracle column is
reproduced to all printed digits), table 2 the simulated 2021 predictions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from record import record

from tallystick.sampling import (
    Budget,
    Flips,
    Masa,
    Observed,
    Plan,
    Policy,
    Proportional,
    Uniform,
    difference,
    difficulty_cells,
    history_cells,
    plain,
    replay,
    stratified,
)
from tallystick.stats.ustat import uncertainty_score

DATA = Path(os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data"))
REFERENCE = {  # squared Frobenius error, N = 2000, K = 3, a = 1, with replacement, 200 runs (s.e. 7-10 %)
    "YELP Amazon": (2.73e-4, 1.15e-4, (7.7e-5, 9.8e-5), 8.46e-5),
    "IMDB Amazon": (2.91e-4, 1.70e-4, (1.5e-4, 1.6e-4), 1.49e-4),
    "WAIMAI Amazon": (2.73e-4, 1.45e-4, (1.3e-4, 1.3e-4), 1.40e-4),
    "FERPLUS Microsoft": (4.24e-4, 1.41e-4, (1.34e-4, 1.34e-4), 1.27e-4),
    "EXPW Google": (4.37e-4, 2.00e-4, (1.92e-4, 1.92e-4), 1.95e-4),
    "AUDIOMNIST IBM": (4.53e-4, 1.54e-5, (1.2e-5, 1.2e-5), 8.7e-6),
    "COMMAND Google": (4.92e-4, 9.8e-5, (8.2e-5, 8.2e-5), 7.6e-5),
}
REFERENCE_SE = 0.085  # of the reference figures, relative
PUBLISHED = {200: 0.34, 500: 0.28, 2000: 0.15}  # geometric means of ours / MASA without replacement


@dataclass(frozen=True)
class Case:
    """One API on one data set: codes and ranks by item."""

    name: str
    true: np.ndarray
    old: np.ndarray
    new: np.ndarray
    confidence: np.ndarray
    cheap: np.ndarray

    def flat(self, answers: np.ndarray) -> np.ndarray:
        """Return (true, answer) as one code."""
        return self.true * (max(self.true.max(), self.old.max(), self.new.max()) + 1) + answers


def cases() -> Iterator[Case]:
    table = pl.read_csv(DATA / "shift" / "semisynthetic_2020_to_2021.csv.gz")
    for (data, api), part in table.group_by("dataset", "api", maintain_order=True):
        names = ("true", "pred_2020_real", "pred_2021_simulated", "conf_2020", "cheap_model_conf")
        yield Case(f"{data} {api}", *(part[name].to_numpy() for name in names))


def errors(plan: Plan, answers: np.ndarray, estimate: Any, *, runs: int, seed: int) -> np.ndarray:
    """Return the squared Frobenius error of every run."""
    truth = np.bincount(answers, minlength=plan.n_outcomes) / len(answers)
    if plan.baseline is not None:
        truth = truth - np.bincount(plan.baseline, minlength=plan.n_outcomes) / len(answers)
    result = replay(plan, answers, runs=runs, rng=seed)
    return np.concatenate([((estimate(seen) - truth) ** 2).sum(axis=-1) for seen in result.batches()])


def codes(case: Case, *sides: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return flattened codes of the answers on each side, numbered without gaps over all sides."""
    _, inverse = np.unique(np.concatenate([case.flat(side) for side in sides]), return_inverse=True)
    return tuple(np.split(inverse, len(sides)))


def masa_table(case: Case, runs: int) -> dict[str, Any]:
    strata = difficulty_cells(case.true, case.cheap, bins=3)
    (answers,) = codes(case, case.old)
    tables = np.zeros((len(strata), answers.max() + 1))
    np.add.at(tables, (strata.of, answers), 1)
    sigma = np.sqrt(uncertainty_score(tables / strata.sizes[:, None]))
    oracle = float((strata.shares * sigma).sum() ** 2 / 2000)
    row: dict[str, Any] = {"case": case.name}
    worst = abs(oracle / REFERENCE[case.name][3] - 1)
    policies: tuple[tuple[str, Policy, Any], ...] = (
        ("uniform", Uniform(), lambda seen: plain(seen).value),
        ("proportional", Proportional(), lambda seen: stratified(seen).value),
        ("MASA", Masa(exploration=1.0), lambda seen: stratified(seen).value),
    )
    for j, (name, policy, estimate) in enumerate(policies):
        plan = Plan(
            strata=strata, policy=policy, budget=Budget(calls=2000), n_outcomes=int(answers.max()) + 1, replacement=True
        )
        error = errors(plan, answers, estimate, runs=runs, seed=j)
        mean, se = error.mean(), error.std() / np.sqrt(runs)
        low, high = np.broadcast_to(REFERENCE[case.name][j], 2)
        nearest = np.clip(mean, low, high)
        row[name] = float(mean)
        row[f"{name}, reference"] = f"{low:.3g}" if low == high else f"{low:.3g}-{high:.3g}"
        row[f"{name}, s.e. apart"] = f"{(mean - nearest) / np.hypot(se, REFERENCE_SE * nearest):+.1f}"
    row["oracle"] = oracle
    row["oracle, reference"] = REFERENCE[case.name][3]
    row["oracle off by"] = f"{100 * worst:.1f} %"
    return row


def ours_and_masa(case: Case, calls: int, runs: int) -> tuple[float, float]:
    """Return the mean squared error of the default and of MASA, both without replacement."""
    old, new = codes(case, case.old, case.new)
    common: dict[str, Any] = {"budget": Budget(calls=calls), "n_outcomes": int(max(old.max(), new.max())) + 1}
    cells = difficulty_cells(case.true, case.cheap, bins=3)
    masa = Plan(strata=cells, policy=Masa(), **common)
    history = history_cells(case.true, case.old, calls=calls, confidence=case.confidence)
    ours = Plan(strata=history, policy=Flips(), baseline=old, **common)

    def change(seen: Observed) -> np.ndarray:
        return difference(seen).value

    return (
        float(errors(ours, new, change, runs=runs, seed=1).mean()),
        float(errors(masa, new, lambda seen: stratified(seen).value, runs=runs, seed=2).mean()),
    )


def main() -> None:
    if not DATA.is_dir():
        raise SystemExit("real data is absent: set TALLYSTICK_DATA to its folder")
    runs = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else 1000
    everything = list(cases())
    rows = [masa_table(case, runs) for case in everything if case.name in REFERENCE]
    record(
        "sampling-masa",
        "Sampling policies: squared Frobenius error with 2000 questions",
        rows,
        notes=[
            f"{runs} runs with replacement on shift/semisynthetic_2020_to_2021.csv.gz, real 2020 side, K = 3, a = 1.",
            "'s.e. apart' counts combined standard errors between our mean and the reference (200 runs, 8.5 %).",
        ],
    )
    print()
    ratios: list[dict[str, Any]] = []
    for case in everything:
        row: dict[str, Any] = {"case": case.name}
        for calls in PUBLISHED:
            if calls < len(case.true):
                ours, masa = ours_and_masa(case, calls, runs)
                row[f"MASA, N = {calls}"], row[f"ours / MASA, N = {calls}"] = masa, ours / masa
        ratios.append(row)
    mean: dict[str, Any] = {"case": "geometric mean"}
    for calls, reference in PUBLISHED.items():
        logs = [
            np.log(max(row[f"ours / MASA, N = {calls}"], 1e-12)) for row in ratios if f"ours / MASA, N = {calls}" in row
        ]
        mean[f"MASA, N = {calls}"] = f"(reference {reference})"
        mean[f"ours / MASA, N = {calls}"] = float(np.exp(np.mean(logs)))
    record(
        "sampling-default",
        "The default against MASA, both without replacement",
        [*ratios, mean],
        notes=[
            f"{runs} runs on shift/semisynthetic_2020_to_2021.csv.gz, simulated 2021 side; DIGIT has 2000 items in all."
        ],
    )


if __name__ == "__main__":
    main()
