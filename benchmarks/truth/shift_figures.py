"""Figures 2 and 4 to 7 of the paper on API shifts, as tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.record import record
from benchmarks.replays import observe, plain, replay, stratified
from benchmarks.truth.shift_cases import (
    Case,
    cases,
    codes,
    digest,
    errors,
    ours_and_masa,
    remembered,
)
from tallystick.clients import ReplayClient
from tallystick.papers.api_shifts import (
    confusion_matrix,
    optimal_allocation,
    partitions,
    uncertainty_score,
)
from tallystick.sampling import (
    Masa,
    Plan,
    Proportional,
    Strata,
    Uniform,
)
from tallystick.verbs.shift import Items, ShiftQuestion, ShiftResult, run

PAPER = {  # Figure 2, in points of accuracy
    "YELP Amazon": 2.0,
    "IMDB Amazon": -1.1,
    "WAIMAI Amazon": 2.5,
    "SHOP Amazon": 1.5,
    "FERPLUS Microsoft": 3.0,
    "EXPW Google": -1.2,
    "DIGIT IBM": 3.3,
    "AUDIOMNIST IBM": -7.1,
    "DIGIT Google": 24.1,
    "AUDIOMNIST Google": 7.5,
    "COMMAND Google": 5.0,
    "DIGIT Microsoft": -1.6,
}


def coded(case: Case) -> tuple[Items, list[dict[str, str]]]:
    """Return the items of a case and the row of each, with the new answer; codes that are no true
    label are empty.
    """
    labels = sorted(set(case.true.tolist()))

    def said(codes: np.ndarray) -> list[str]:
        return [str(code) if code in labels else "" for code in codes.tolist()]

    items = Items.of(
        said(case.true),
        old=said(case.old),
        confidence=case.confidence,
        labels=list(map(str, labels)),
    )
    return items, [{"new": text} for text in said(case.new)]


def replayed(items: Items, rows: list[dict[str, str]], *, alpha: float = 0.05) -> ShiftResult:
    """Return one run of 1000 calls."""
    return run(
        items, ReplayClient("new", columns=["new"]), rows, ShiftQuestion(budget=1000, alpha=alpha)
    )


def figure2(runs: int) -> None:
    """Show the fleet: every shifted case, its accuracy change beside the paper's."""
    table, changed = [], 0
    for case in cases():
        data, api = case.name.split()
        items, rows = coded(case)
        found = replayed(items, rows, alpha=0.05 / len(PAPER))
        change, interval = found.accuracy_change.estimate, found.accuracy_change.interval
        assert isinstance(change, float)
        assert interval is not None
        changed += 0 not in interval
        truth = float((case.new == case.true).mean() - (case.old == case.true).mean())
        row = {
            "API": api,
            "data": data,
            "paper": f"{PAPER[case.name]:+.1f}%",
            "all answers": f"{100 * truth:+.1f}%",
            "1000 calls": f"{100 * change:+.1f}%",
            "interval": f"{100 * interval.low:+.1f} to {100 * interval.high:+.1f}",
            "answers changed": found.flip_rate.estimate,
        }
        table.append(row)
    record(
        "shift-figure2",
        "Changes of accuracy by API and data set",
        table,
        notes=[
            f"{changed} of {len(table)} changed in accuracy.",
            (
                "The shifted cases of Figure 2; 2020 is real, 2021 simulated with the flip rate and"
                " the change of accuracy"
            ),
            "that were observed. Intervals hold together: each has the level 1 - .05/12.",
        ],
    )


def figure4(runs: int) -> None:
    """Remake the case study: Amazon on YELP, two bins by the old API's confidence, 2000 calls."""
    case = next(cases())
    (new,) = codes(case, case.new)
    cells = Strata(partitions(case.true, case.confidence, bins=2))
    plan = Plan(
        strata=cells,
        policy=Masa(),
        budget=2000,
        n_outcomes=int(new.max()) + 1,
        replacement=True,
    )
    done = replay(plan, new, runs=runs, rng=6)
    table = np.zeros((len(cells), plan.n_outcomes))
    np.add.at(table, (cells.of, new), 1)
    sigma = np.sqrt(uncertainty_score(table / cells.sizes[:, None]))
    best = optimal_allocation(cells.shares, sigma, calls=2000)
    seen = observe(plan, done.items[:1], done.outcomes[:1])
    rows = [
        {
            "partition": name,
            "size": int(cells.sizes[k]),
            "uncertainty score": float(sigma[k] ** 2),
            **{
                f"asked by {n}": int((cells.of[done.items[0, :n]] == k).sum())
                for n in (100, 500, 1000, 2000)
            },
            "optimum": float(best[k]),
        }
        for k, name in enumerate(("-, low", "-, high", "+, low", "+, high"))
    ]
    truth = np.bincount(new) / len(new)
    one = stratified(seen).value[0]
    before = np.bincount(codes(case, case.old, case.new)[0], minlength=len(truth)) / len(new)
    names = ("- as -", "- as +", "+ as -", "+ as +")

    def row(title: str, values: np.ndarray) -> str:
        return f"{title}: " + ", ".join(
            f"{n} {100 * v:+.2f}%" for n, v in zip(names, values, strict=True)
        )

    means = {}
    for name, policy, estimate in (
        ("uniform", Uniform(), plain),
        ("stratified", Proportional(), stratified),
        ("MASA", Masa(), stratified),
    ):
        other = replace(plan, policy=policy)
        found = errors(
            other, new, lambda seen, estimate=estimate: estimate(seen).value, runs=runs, seed=7
        )
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
            "(h) mean Frobenius error: "
            + ", ".join(f"{k} {v:.4f}" for k, v in means.items())
            + " (paper: .015, .009, .006).",
        ],
    )


def figure5(runs: int) -> None:
    """Show the expected squared Frobenius error against the budget."""
    rows: list[dict[str, Any]] = []
    for case in cases():
        (new,) = codes(case, case.new)
        share = np.bincount(new) / len(new)
        for calls in (200, 500, 1000, 2000):
            if calls < len(new):
                ours, masa = ours_and_masa(case, calls, runs)
                left = (len(new) - calls) / (len(new) - 1)
                plainly = float(left * (1 - (share**2).sum()) / calls)
                rows.append(
                    {
                        "case": case.name,
                        "calls": calls,
                        "uniform": plainly,
                        "MASA": masa,
                        "ours": ours,
                    }
                )
    record(
        "shift-figure5",
        "Squared Frobenius error against budget",
        rows,
        notes=[f"{runs} runs; no replacement."],
    )


def figure6(runs: int) -> None:
    """Show confusion matrices before and after with their shift, and what one run of 1000 calls
    says of it.
    """
    shown = ("IMDB Amazon", "WAIMAI Amazon", "DIGIT Google")
    rows: list[dict[str, Any]] = []
    notes = [
        "2020 is real, 2021 simulated (shift/semisynthetic_2020_to_2021.csv.gz); one run of 1000"
        " calls each."
    ]
    for case in (case for case in cases() if case.name in shown):
        items, answers = coded(case)
        result = replayed(items, answers)
        new = np.array([items.code(row["new"]) for row in answers])
        assert items.matrix is not None  # there are old answers
        before = items.matrix
        after = confusion_matrix(items.truth, new, shape=before.shape)
        shift = after - before
        largest = np.argsort(-np.abs(shift), axis=None, kind="stable")[:8]
        for i, j in sorted((int(at) // shift.shape[1], int(at) % shift.shape[1]) for at in largest):
            if before[i, j] or after[i, j]:
                found = result.interval[i][j]
                rows.append(
                    {
                        "case": case.name,
                        "true": items.labels[i],
                        "answered": items.columns[j],
                        "2020": f"{100 * before[i, j]:.2f}%",
                        "2021": f"{100 * after[i, j]:.2f}%",
                        "shift": f"{100 * shift[i, j]:+.2f}%",
                        "estimate": f"{100 * result.shift[i][j]:+.2f}%",
                        "interval": f"{100 * found.low:+.2f} to {100 * found.high:+.2f}",
                    }
                )
        notes.append(
            f"{case.name}: accuracy {100 * np.trace(shift):+.2f}%, recalls "
            + ", ".join(
                f"{items.labels[i]} {100 * shift[i, i] / items.mass[i]:+.1f}%"
                for i in range(len(items.labels))
            )
            + "; most surprising:"
            f" {', '.join(f'{cell.true} as {cell.answered}' for cell in result.top_cells[:3])}."
        )
    notes.append("The eight largest changes of each case; '(other)' is the empty answer.")
    record(
        "shift-figure6", "Confusion matrices of 2020 and 2021, and their shifts", rows, notes=notes
    )


def figure7(runs: int) -> None:
    """MASA's error against the number of difficulty bins."""
    rows: list[dict[str, Any]] = []
    for case in cases():
        (new,) = codes(case, case.new)
        row: dict[str, Any] = {"case": case.name}
        for bins in (1, 2, 3, 5, 10):
            plan = Plan(
                strata=Strata(partitions(case.true, case.cheap, bins=bins)),
                policy=Masa(),
                budget=2000,
                n_outcomes=int(new.max()) + 1,
                replacement=True,
            )

            def measure(plan: Plan = plan, new: np.ndarray = new) -> Iterator[float]:
                yield float(
                    errors(plan, new, lambda seen: stratified(seen).value, runs=runs, seed=8).mean()
                )

            (row[f"K = {bins}"],) = remembered(
                ("figure7", plan.fingerprint, digest(new), runs), measure
            )
        rows.append(row)
    record(
        "shift-figure7",
        "MASA's squared error against K, 2000 calls",
        rows,
        notes=[
            f"{runs} runs with replacement, new side of shift/semisynthetic_2020_to_2021.csv.gz."
        ],
    )
