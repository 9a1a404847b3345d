"""Coverage of the intervals of shift, on real and semi-synthetic changes, at the default
strategy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.replays import replay
from tallystick.sampling import Plan
from tallystick.verbs.shift import Answers, Items, assess, design, part_of

pytestmark = pytest.mark.slow

RUNS, ALPHA = 1000, 0.05
BLOCK = 250
"""Runs that are made together, from a seed of their own."""
LEAST = 0.9220
"""The 1e-4 quantile of the coverage of 1000 runs of an interval that covers 95%."""


def coded(
    true: list[str], old: list[str], new: list[str], confidence: Any = None
) -> tuple[Items, np.ndarray]:
    labels = sorted(set(true))
    items = Items.of(true, old=[o if o in labels else "" for o in old], confidence=confidence)
    return items, np.array([items.code(text) for text in new])


def cases(folder: Path) -> Iterator[tuple[str, Items, np.ndarray, tuple[int, ...]]]:
    import polars as pl

    table = pl.read_csv(folder / "shift" / "semisynthetic_2020_to_2021.csv.gz")
    kept = {
        "YELP Amazon": "YELP",
        "FERPLUS Microsoft": "FER+",
        "AUDIOMNIST IBM": "AMNIST",
        "COMMAND Google": "CMD",
    }
    for (data, api), part in table.group_by("dataset", "api", maintain_order=True):
        if (name := kept.get(f"{data} {api}")) is None:
            continue
        texts = [
            [str(value) for value in part[column]]
            for column in ("true", "pred_2020_real", "pred_2021_simulated")
        ]
        items, new = coded(*texts, part["conf_2020"].to_numpy())
        yield name, items, new, (200, 2000)
        if name == "YELP":
            yield "nothing changed", items, items.old.copy(), (200, 2000)
            yield "everything changed", items, np.where(items.old == 0, 1, 0), (200, 2000)
    drift = pl.read_csv(folder / "shift" / "llmdrift_2023_03_vs_06.csv.gz", infer_schema_length=0)
    for (task, family), part in drift.group_by("task", "family", maintain_order=True):
        if part["true"].drop_nulls().n_unique() > 1:
            texts = [
                part[column].fill_null("").to_list() for column in ("true", "pred_old", "pred_new")
            ]
            items, new = coded(*texts)
            yield f"{task} {family}", items, new, (200, 500) if len(items) > 600 else (200,)


def measure(items: Items, new: np.ndarray, calls: int) -> dict[str, Any]:
    """Return the share of runs in which each interval holds the truth."""
    plan = design(items, calls=calls, window=16)
    blocks = [block(plan, items, new, seed) for seed in range(RUNS // BLOCK)]
    hit = {name: np.sum([block[name] for block in blocks], axis=0) / RUNS for name in blocks[0]}
    L = len(items.labels)
    moved = shares(items, new) != shares(items, items.old)
    return {
        "strata": len(plan.strata),
        "flip rate": float((new != items.old).mean()),
        "worst entry": float(hit["entries"].min()),
        "worst entry, truth not 0": float(hit["entries"][moved].min()) if moved.any() else "",
        "worst recall": float(hit["entries"][np.arange(L) * (L + 1) + np.arange(L)].min()),
        **{name: float(hit[name]) for name in ("accuracy", "flips")},
    }


def shares(items: Items, answers: np.ndarray) -> np.ndarray:
    L = len(items.labels)
    return np.bincount(items.truth * (L + 1) + answers, minlength=L * (L + 1)) / len(items)


def block(plan: Plan, items: Items, new: np.ndarray, seed: int) -> dict[str, Any]:
    L = len(items.labels)
    known = new if plan.n_outcomes == L + 1 else items.truth * (L + 1) + new
    run = replay(plan, known, runs=BLOCK, rng=seed)
    change = shares(items, new) - shares(items, items.old)
    accuracy = (new == items.truth).mean() - (items.old == items.truth).mean()
    hit: dict[str, Any] = {"entries": np.zeros(L * (L + 1)), "accuracy": 0, "flips": 0}

    def inside(interval: Any, value: float) -> bool:
        return bool(interval.low <= value + 1e-12 and value - 1e-12 <= interval.high)

    for asked, blind in zip(run.items, run.blind, strict=True):
        answers = Answers.of(asked, new[asked], blind=blind)
        found = assess(items, plan.strata, answers, alpha=ALPHA, answers_are="deterministic")
        cells = [one for row in found.interval for one in row]
        hit["entries"] += [inside(*pair) for pair in zip(cells, change, strict=True)]
        hit["accuracy"] += inside(found.accuracy_change.interval, accuracy)
        hit["flips"] += inside(found.flip_rate.interval, float((new != items.old).mean()))
    return {name: np.asarray(value).tolist() for name, value in hit.items()}


def test_intervals_cover_as_promised(shared_data, publish_coverage):
    rows = []
    for name, items, new, budgets in cases(shared_data):
        for calls in budgets:
            rows.append({"case": name, "calls": calls, **measure(items, new, calls)})
    kinds = ("worst entry", "worst recall", "accuracy", "flips")
    rows.append(
        dict.fromkeys(rows[0], "")
        | {"case": "minimum"}
        | {k: min(row[k] for row in rows) for k in kinds}
    )
    publish_coverage(
        "shift",
        "Share of 1000 runs whose 95% interval holds the truth, at the default strategy. Entries"
        " of the matrix each by itself (the worst of all of them), recalls, accuracy, share of"
        " flips. FER+, AMNIST, CMD and YELP: semi-synthetic"
        " changes; the others are real (LLMDrift), or YELP with nothing, or everything, changed.",
        rows,
    )
    for kind in kinds:
        assert rows[-1][kind] >= LEAST, kind


def slice_row(name: str, items: Items, new: np.ndarray, calls: int, parts: int) -> dict[str, Any]:
    """Return how often the intervals of slices hold; a slice is a range of the confidence, which
    foretells change."""
    assert items.confidence is not None
    cuts = np.quantile(items.confidence, np.arange(1, parts) / parts)
    group = np.searchsorted(cuts, items.confidence, side="right")
    plan = design(items, calls=calls, window=16)
    L = len(items.labels)
    run = replay(
        plan, new if plan.n_outcomes == L + 1 else items.truth * (L + 1) + new, runs=RUNS, rng=7
    )
    hit = np.zeros((parts, 2))
    width = np.zeros((parts, 2))
    for asked, blind in zip(run.items, run.blind, strict=True):
        whole = assess(items, plan.strata, Answers.of(asked, new[asked], blind=blind))
        for part in range(parts):
            mine = group == part
            found = part_of(whole, mine)
            accuracy = (new[mine] == items.truth[mine]).mean() - (
                items.old[mine] == items.truth[mine]
            ).mean()
            true = accuracy, (new[mine] != items.old[mine]).mean()
            for k, change in enumerate((found.accuracy_change, found.flip_rate)):
                low, high = change.interval
                hit[part, k] += low <= true[k] + 1e-12 and true[k] - 1e-12 <= high
                width[part, k] += high - low
    worst = hit.min(axis=0) / RUNS
    return {
        "case": name,
        "calls": calls,
        "slices": parts,
        "repetitions": RUNS,
        "accuracy, worst slice": float(worst[0]),
        "flips, worst slice": float(worst[1]),
        "mean width of accuracy": float(width[:, 0].mean() / RUNS),
    }


def test_intervals_of_slices_cover_as_promised(shared_data, publish_coverage):
    found = {name: (items, new) for name, items, new, _ in cases(shared_data)}
    asked = (("YELP", 200, 2), ("YELP", 1000, 4), ("FER+", 600, 3), ("nothing changed", 200, 2))
    rows = [slice_row(name, *found[name], calls, parts) for name, calls, parts in asked]
    publish_coverage(
        "shift-slices",
        "How often the intervals of slices (`shift --by`, `part_of`), nominal 95% each, hold what"
        " is true of all items of the slice. Slices are ranges of the old confidence of equal size,"
        " so that they change unequally; the calls were allocated for the whole.",
        rows,
    )
    for kind in ("accuracy, worst slice", "flips, worst slice"):
        assert min(row[kind] for row in rows) >= LEAST
