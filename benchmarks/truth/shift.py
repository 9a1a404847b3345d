"""Remake the tables and figures of the paper on API shifts, and ours against MASA.

    python benchmarks/truth/shift.py [SECTION…] [--write] [--runs 1000]

Sections: masa (error of the policies), default (ours against MASA), real (the same on real changes and vendor swaps),
table1 (calls to 1 % error), figure4 (the case of Amazon on YELP), figure5 (error against budget), figure7 (K); all
without a name. Data: the folder shift/ under TALLYSTICK_DATA (default ../shared/data). Section masa takes the real 2020
predictions as the answers (that is the side on which the reference figures were measured: their oracle column is
reproduced to all printed digits), the others the simulated 2021 predictions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import permutations
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
    observe,
    plain,
    replay,
    stratified,
)
from tallystick.shift.masa import optimal_allocation
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
PAPER = {  # Table 1: MASA, uniform
    "YELP Amazon": ("4.5K", "19.7K"), "IMDB Amazon": ("10.3K", "20.8K"), "WAIMAI Amazon": ("7.8K", "18.0K"),
    "FERPLUS Microsoft": ("2.6K", "19.9K"), "EXPW Google": ("4.2K", "17.9K"), "DIGIT IBM": ("3.6K", "17.0K"),
    "AUDIOMNIST IBM": ("2.4K", "18.5K"), "DIGIT Google": ("4.2K", "17.0K"), "AUDIOMNIST Google": ("1.1K", "18.5K"),
    "COMMAND Google": ("1.6K", "15.2K"), "DIGIT Microsoft": ("3.3K", "17.0K"),
}  # fmt: skip
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


def swaps() -> Iterator[Case]:
    """Yield every pair of vendors on the same data, the first as the old API and the second as the new one."""
    for name in ("YELP", "IMDB", "WAIMAI", "FERPLUS", "EXPW", "DIGIT", "AUDIOMNIST", "COMMAND"):
        table = pl.read_csv(DATA / "shift" / f"frugalml_2020_{name}.csv.gz")
        apis = [c.removeprefix("pred_") for c in table.columns if c.startswith("pred_") and "github" not in c]
        cheap = next(c for c in table.columns if c.startswith("conf_github"))
        for old, new in permutations(apis, 2):
            columns = ("true", f"pred_{old}", f"pred_{new}", f"conf_{old}", cheap)
            yield Case(f"{name} {old} to {new}", *(table[column].to_numpy() for column in columns))


def drifts() -> Iterator[Case]:
    """Yield the real changes of GPT-3.5 and GPT-4; they have no confidence, so MASA has one bin a label."""
    table = pl.read_csv(DATA / "shift" / "llmdrift_2023_03_vs_06.csv.gz", infer_schema_length=0)
    for (task, family), part in table.group_by("task", "family", maintain_order=True):
        if part["true"].drop_nulls().n_unique() < 2:
            continue  # OpinionQA and SensitiveQ have no true labels
        texts = [part[name].fill_null("").to_numpy() for name in ("true", "pred_old", "pred_new")]
        _, coded = np.unique(np.concatenate(texts), return_inverse=True)
        none = np.zeros(part.height)
        yield Case(f"{task} {family}", *np.split(coded, 3), none, none)


def real(runs: int) -> None:
    """Ours against MASA without replacement on real changes and swaps of vendors."""
    rows: list[dict[str, Any]] = []
    for case in (*drifts(), *swaps()):
        two = len(np.unique(case.true)) == 2
        row: dict[str, Any] = {"case": case.name, "flips": float((case.old != case.new).mean())}
        for calls in PUBLISHED:
            if calls < len(case.true):
                ours, masa = ours_and_masa(case, calls, max(runs, 3000) if two else runs)
                row[f"ours / MASA, N = {calls}"] = ours / masa
        rows.append(row)
        print(row, flush=True)
    values = np.array([value for row in rows for key, value in row.items() if key.startswith("ours")])
    for name, part in (("real changes", rows[: len(rows) - 48]), ("vendor swaps", rows[-48:])):
        summary: dict[str, Any] = {"case": f"geometric mean, {name}"}
        for calls in PUBLISHED:
            key = f"ours / MASA, N = {calls}"
            found = [row[key] for row in part if key in row]
            if found:
                summary[key] = float(np.exp(np.mean(np.log(found))))
        rows.append(summary)
    record(
        "shift-real",
        "Ours against MASA on real changes",
        rows,
        notes=[
            "Squared Frobenius error, both without replacement. LLMDrift (GPT-3.5, GPT-4, March to June 2023) and the",
            f"48 ordered pairs of vendors inside the 2020 files; {runs} runs, at least 3000 for two labels.",
            f"{len(values)} cells: {100 * (values <= 1.05).mean():.1f} % at most 1.05, largest {values.max():.3f}.",
        ],
    )


def quantile_at(case: Case, calls: int, runs: int) -> float:
    """Return the 95 % quantile of ours' Frobenius error at *calls*."""
    old, new = codes(case, case.old, case.new)
    history = history_cells(case.true, case.old, calls=calls, confidence=case.confidence)
    plan = Plan(
        strata=history,
        policy=Flips(),
        budget=Budget(calls=calls),
        n_outcomes=int(max(old.max(), new.max())) + 1,
        baseline=old,
        in_flight=64,
    )
    found = errors(plan, new, lambda seen: difference(seen).value, runs=runs, seed=3)
    return float(np.sqrt(np.quantile(found, 0.95)))


def smallest(error: Any, low: int, high: int) -> int:
    """Return the smallest number of calls, to 3 %, at which *error* is at most 1 %."""
    while high > 1.03 * low:
        middle = (low + high) // 2
        low, high = (low, middle) if error(middle) <= 0.01 else (middle, high)
    return high


def table1(runs: int) -> None:
    """Count the calls until the Frobenius error is below 1 % with probability 95 %."""
    rows: list[dict[str, Any]] = []
    for case in cases():
        (new,) = codes(case, case.new)
        M, J = len(new), int(new.max()) + 1
        truth = np.bincount(new, minlength=J) / M
        cells = difficulty_cells(case.true, case.cheap, bins=3)
        most = min(M, 12_000)
        masa = Plan(strata=cells, policy=Masa(), budget=Budget(calls=most), n_outcomes=J, in_flight=64)
        run = replay(masa, new, runs=runs, rng=4)

        def by_masa(calls: int, run: Any = run, masa: Plan = masa, truth: np.ndarray = truth) -> float:
            # MASA does not know its budget, so a longer run holds every shorter one.
            step = max(1, 20_000_000 // (len(masa.strata) * masa.n_outcomes))
            found = []
            for first in range(0, len(run.items), step):
                part = slice(first, first + step)
                seen = observe(masa, run.items[part, :calls], run.outcomes[part, :calls])
                found.append(((stratified(seen).value - truth) ** 2).sum(axis=-1))
            return float(np.sqrt(np.quantile(np.concatenate(found), 0.95)))

        def uniform(calls: int, M: int = M, truth: np.ndarray = truth) -> float:
            rng = np.random.default_rng(5)
            draws = rng.multivariate_hypergeometric((truth * M).round().astype(int), calls, size=2000)
            return float(np.sqrt(np.quantile(((draws / calls - truth) ** 2).sum(axis=1), 0.95)))

        least = 2 * len(cells)
        mine = smallest(lambda calls, case=case: quantile_at(case, calls, runs), 40, min(M, 12_000))
        row = {
            "case": case.name,
            "uniform": smallest(uniform, 40, M),
            "MASA": smallest(by_masa, least, most),
            "ours": mine,
        }
        row["ours / MASA"] = row["ours"] / row["MASA"]
        row["paper: MASA"], row["paper: uniform"] = PAPER.get(case.name, ("", ""))
        rows.append(row)
        print(row, flush=True)
    ratio = float(np.exp(np.mean([np.log(row["ours / MASA"]) for row in rows])))
    rows.append({"case": "geometric mean", "ours / MASA": ratio})
    record(
        "shift-table1",
        "Calls to 1 % Frobenius error with probability 95 %",
        rows,
        notes=[
            f"{runs} runs without replacement, a search to 3 %, new side of shift/semisynthetic_2020_to_2021.csv.gz.",
            "The paper draws with replacement and stops by a bound, so its figures are larger for uniform sampling.",
        ],
    )


def figure4(runs: int) -> None:
    """Remake the case study: Amazon on YELP, two bins by the old API's confidence, 2000 calls."""
    case = next(cases())
    (new,) = codes(case, case.new)
    cells = difficulty_cells(case.true, case.confidence, bins=2)
    plan = Plan(strata=cells, policy=Masa(), budget=Budget(calls=2000), n_outcomes=int(new.max()) + 1, replacement=True)
    run = replay(plan, new, runs=runs, rng=6)
    table = np.zeros((len(cells), plan.n_outcomes))
    np.add.at(table, (cells.of, new), 1)
    sigma = np.sqrt(uncertainty_score(table / cells.sizes[:, None]))
    best = optimal_allocation(cells.shares, sigma, calls=2000)
    seen = observe(plan, run.items[:1], run.outcomes[:1])
    rows = [
        {
            "partition": name,
            "size": int(cells.sizes[k]),
            "uncertainty score": float(sigma[k] ** 2),
            **{f"asked by {n}": int((cells.of[run.items[0, :n]] == k).sum()) for n in (100, 500, 1000, 2000)},
            "optimum": float(best[k]),
        }
        for k, name in enumerate(("-, low", "-, high", "+, low", "+, high"))
    ]
    truth = np.bincount(new) / len(new)
    one = stratified(seen).value[0]
    before = np.bincount(codes(case, case.old, case.new)[0], minlength=len(truth)) / len(new)
    names = ("- as -", "- as +", "+ as -", "+ as +")

    def row(title: str, values: np.ndarray) -> str:
        return f"{title}: " + ", ".join(f"{n} {100 * v:+.2f} %" for n, v in zip(names, values, strict=True))

    means = {}
    for name, policy, estimate in (
        ("uniform", Uniform(), plain),
        ("stratified", Proportional(), stratified),
        ("MASA", Masa(), stratified),
    ):
        other = replace(plan, policy=policy)
        found = errors(other, new, lambda seen, estimate=estimate: estimate(seen).value, runs=runs, seed=7)
        means[name] = np.sqrt(found).mean()
    record(
        "shift-figure4",
        "The case of Amazon on YELP",
        rows,
        notes=[
            row("(a) 2020", before),
            row("(b) 2021, simulated", truth),
            row("(c) shift", truth - before),
            row("(d) MASA's shift from 2000 calls", one - before),
            "(h) mean Frobenius error: " + ", ".join(f"{k} {v:.4f}" for k, v in means.items())
            + " (paper: .015, .009, .006).",
        ],
    )  # fmt: skip


def figure5(runs: int) -> None:
    """Show the expected squared Frobenius error against the budget."""
    rows: list[dict[str, Any]] = []
    for case in cases():
        (new,) = codes(case, case.new)
        share = np.bincount(new) / len(new)
        for calls in (250, 500, 1000, 2000):
            if calls < len(new):
                ours, masa = ours_and_masa(case, calls, runs)
                left = (len(new) - calls) / (len(new) - 1)
                plainly = float(left * (1 - (share**2).sum()) / calls)
                rows.append({"case": case.name, "calls": calls, "uniform": plainly, "MASA": masa, "ours": ours})
    record("shift-figure5", "Squared Frobenius error against budget", rows, notes=[f"{runs} runs; no replacement."])


def figure7(runs: int) -> None:
    """MASA's error against the number of difficulty bins."""
    rows: list[dict[str, Any]] = []
    for case in cases():
        (new,) = codes(case, case.new)
        row: dict[str, Any] = {"case": case.name}
        for bins in (1, 2, 3, 5, 10):
            plan = Plan(
                strata=difficulty_cells(case.true, case.cheap, bins=bins),
                policy=Masa(),
                budget=Budget(calls=2000),
                n_outcomes=int(new.max()) + 1,
                replacement=True,
            )
            row[f"K = {bins}"] = float(errors(plan, new, lambda seen: stratified(seen).value, runs=runs, seed=8).mean())
        rows.append(row)
    record(
        "shift-figure7",
        "MASA's squared error against K, 2000 calls",
        rows,
        notes=[f"{runs} runs with replacement, new side of shift/semisynthetic_2020_to_2021.csv.gz."],
    )


def main() -> None:
    if not DATA.is_dir():
        raise SystemExit("real data is absent: set TALLYSTICK_DATA to its folder")
    runs = int(sys.argv[sys.argv.index("--runs") + 1]) if "--runs" in sys.argv else 1000
    sections = {
        "masa": masa_section,
        "default": default_section,
        "real": real,
        "table1": table1,
        "figure4": figure4,
        "figure5": figure5,
        "figure7": figure7,
    }
    for name in [name for name in sections if name in sys.argv[1:]] or list(sections):
        sections[name](runs)
        print()


def masa_section(runs: int) -> None:
    """Hold the policies of the paper to the reference figures."""
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


def default_section(runs: int) -> None:
    """Ours against MASA on the shifted cases."""
    ratios: list[dict[str, Any]] = []
    for case in cases():
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
