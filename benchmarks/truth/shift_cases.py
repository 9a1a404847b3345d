"""The data of the paper on API shifts, and the error of a plan on them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from benchmarks.replays import Observed, difference, replay, stratified
from tallystick.papers.api_shifts import partitions
from tallystick.sampling import (
    Flips,
    Masa,
    Plan,
    Strata,
    history_cells,
)

DATA = Path(
    os.environ.get("TALLYSTICK_DATA", Path(__file__).resolve().parents[3] / "shared" / "data")
)
CACHE = Path(__file__).resolve().parents[2] / "out" / "shift-measured.jsonl"
BUDGETS = (200, 500, 2000)


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
        most = max(int(part.max()) for part in (self.true, self.old, self.new))
        return np.asarray(self.true * (most + 1) + answers)


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
    return np.concatenate(
        [((estimate(seen) - truth) ** 2).sum(axis=-1) for seen in result.batches()]
    )


def codes(case: Case, *sides: np.ndarray) -> tuple[np.ndarray, ...]:
    """Return flattened codes of the answers on each side, numbered without gaps over all sides."""
    _, inverse = np.unique(np.concatenate([case.flat(side) for side in sides]), return_inverse=True)
    return tuple(np.split(inverse, len(sides)))


def swaps() -> Iterator[Case]:
    """Yield every pair of vendors on the same data, the first as the old API and the second as the
    new one.
    """
    for name in ("YELP", "IMDB", "WAIMAI", "FERPLUS", "EXPW", "DIGIT", "AUDIOMNIST", "COMMAND"):
        table = pl.read_csv(DATA / "shift" / f"frugalml_2020_{name}.csv.gz")
        apis = [
            c.removeprefix("pred_")
            for c in table.columns
            if c.startswith("pred_") and "github" not in c
        ]
        cheap = next(c for c in table.columns if c.startswith("conf_github"))
        for old, new in permutations(apis, 2):
            columns = ("true", f"pred_{old}", f"pred_{new}", f"conf_{old}", cheap)
            yield Case(f"{name} {old} to {new}", *(table[column].to_numpy() for column in columns))


def drifts() -> Iterator[Case]:
    """Yield the real changes of GPT-3.5 and GPT-4; they have no confidence, so MASA has one bin a
    label.
    """
    table = pl.read_csv(DATA / "shift" / "llmdrift_2023_03_vs_06.csv.gz", infer_schema_length=0)
    for (task, family), part in table.group_by("task", "family", maintain_order=True):
        if part["true"].drop_nulls().n_unique() < 2:
            continue  # OpinionQA and SensitiveQ have no true labels
        texts = [part[name].fill_null("").to_numpy() for name in ("true", "pred_old", "pred_new")]
        _, coded = np.unique(np.concatenate(texts), return_inverse=True)
        none = np.zeros(part.height)
        true, old, new = np.split(coded, 3)
        yield Case(f"{task} {family}", true, old, new, none, none)


def remembered(parts: Iterable[object], measure: Callable[[], Iterable[float]]) -> list[float]:
    """Return what *measure* finds. What was found before, with the same *parts*, is not measured
    again.

    So a page can be made in several sittings. Plans go into *parts* by their fingerprint.
    """
    key = sha256("|".join(map(str, parts)).encode()).hexdigest()
    known = (
        dict(map(json.loads, CACHE.read_text(encoding="utf-8").splitlines()))
        if CACHE.exists()
        else {}
    )
    if key not in known:
        known[key] = list(measure())
        CACHE.parent.mkdir(exist_ok=True)
        with CACHE.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps([key, known[key]]) + "\n")
    found: list[float] = known[key]
    return found


def digest(values: np.ndarray) -> str:
    """Return a name for *values*."""
    return sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def ours_and_masa(case: Case, calls: int, runs: int) -> tuple[float, float]:
    """Return the mean squared error of the default and of MASA, both without replacement."""
    old, new = codes(case, case.old, case.new)
    common: dict[str, Any] = {
        "budget": calls,
        "n_outcomes": int(max(old.max(), new.max())) + 1,
    }
    cells = Strata(partitions(case.true, case.cheap, bins=3))
    masa = Plan(strata=cells, policy=Masa(), **common)
    history = history_cells(case.true, case.old, calls=calls, confidence=case.confidence)
    ours = Plan(strata=history, policy=Flips(), baseline=old, **common)

    def change(seen: Observed) -> np.ndarray:
        return difference(seen).value

    def measure() -> Iterator[float]:
        yield float(errors(ours, new, change, runs=runs, seed=1).mean())
        yield float(
            errors(masa, new, lambda seen: stratified(seen).value, runs=runs, seed=2).mean()
        )

    mine, theirs = remembered(
        ("errors", ours.fingerprint, masa.fingerprint, digest(new), runs), measure
    )
    return mine, theirs
