"""One system, pass or fail: the coverage of its interval enumerated, not simulated.

    python -m benchmarks.truth.score_enumeration [--only TEXT] [--write]

For strata of known sizes, every number of labels m below N and every number of passes in each
stratum, coverage is a finite sum: labels are drawn uniformly, so how many fall into each stratum,
and how many of these pass, are hypergeometric. Nothing here is random. Every design is kept under
out/score-enumeration/, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import gammaln

from benchmarks.record import record
from tallystick.stats.adverse_binary import adverse_shares

CACHE = Path(__file__).resolve().parents[2] / "out" / "score-enumeration"
VERSION = 2
FLOOR = 0.925
"""What the first design asked of the worst case."""
TINY = 1e-9
"""Splits of the labels over the strata that are rarer than this are left out, and count as missed:
what is printed is never too high."""


@dataclass(frozen=True)
class Design:
    """Strata, the numbers of labels, and for each stratum the numbers of passes that are tried."""

    sizes: tuple[int, ...]
    labels: tuple[int, ...]
    passes: tuple[tuple[int, ...], ...] | None = None

    @property
    def name(self) -> str:
        """The sizes of the strata."""
        return " + ".join(map(str, self.sizes))

    @property
    def tried(self) -> list[np.ndarray]:
        """The numbers of passes of each stratum."""
        if self.passes is None:
            return [np.arange(size + 1) for size in self.sizes]
        return [np.array(part) for part in self.passes]


def _every(*sizes: int) -> Design:
    return Design(sizes, tuple(range(1, sum(sizes))))


EDGES = (0, 1, 2, 3, 5, 7, 10, 15, 30, 60, 100)
"""Passes, and fails, near the two ends of a large stratum."""


def _grid(size: int) -> tuple[int, ...]:
    ends = [k for k in EDGES if k <= size // 2]
    middle = [round(size * share) for share in (0.25, 0.4, 0.5)]
    low = {*ends, *middle}
    return tuple(sorted(low | {size - k for k in low}))


FEW = (*range(1, 18), 20, 24, 30, 50, 100)
"""Labels where one stratum has its worst cases, and some more."""

DESIGNS = (
    *(_every(n) for n in (10, 20, 50, 108, 200, 500)),
    Design((1000,), (*range(1, 60), *range(60, 1000, 20), *range(980, 1000))),
    Design((5000,), (*range(1, 60), *range(60, 400, 20), 500, 1000, 2500, 4900, 4990)),
    *(_every(a, n - a) for n in (8, 14, 20) for a in range(1, n // 2 + 1)),
    *(_every(a, 50 - a) for a in (2, 5, 15, 25)),
    _every(28, 80),
    *(
        # Nearly one stratum: here a of (AL1) falls from .5 to .35.
        Design((a, 1000 - a), FEW, (tuple(sorted({0, a // 2, a})), tuple(range(0, 1001 - a, 4))))
        for a in (1, 3, 10, 30, 50)
    ),
    _every(4, 4, 4),
    _every(3, 8, 9),
    *(
        Design((a, 1000 - a), (2, 5, 10, 20, 30, 45, 70, 100, 200), (_grid(a), _grid(1000 - a)))
        for a in (100, 300, 500)
    ),
)


def log_choose(n: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return ln C(n, k), -inf where it is 0."""
    inside = (k >= 0) & (k <= n)
    k = np.where(inside, k, 0)
    found = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.where(inside, found, -np.inf)


def chances(size: int, passes: np.ndarray, labels: int) -> np.ndarray:
    """Return, for each number of passes, the chance of x = 0, 1, … passes among the labels."""
    x = np.arange(labels + 1)
    top = log_choose(passes[:, None], x) + log_choose(size - passes[:, None], labels - x)
    return np.asarray(np.exp(top - log_choose(np.array(size), np.array(labels))))


def splits(sizes: tuple[int, ...], m: int) -> Iterator[tuple[tuple[int, ...], float]]:
    """Return how m labels fall into the strata, and with which chance."""
    whole = comb(sum(sizes), m)
    heads = product(*(range(min(size, m) + 1) for size in sizes[:-1]))
    for head in heads:
        last = m - sum(head)
        if 0 <= last <= sizes[-1]:
            k = (*head, last)
            ways = 1
            for size, labels in zip(sizes, k, strict=True):
                ways *= comb(size, labels)
            chance = ways / whole
            if chance > TINY:
                yield k, chance


def coverage(design: Design, m: int) -> np.ndarray:
    """Return the coverage for every combination of passes, one axis per stratum."""
    sizes, tried = design.sizes, design.tried
    total = sum(sizes)
    grid = np.ix_(*tried)
    truth = sum(grid[1:], grid[0])
    found = np.zeros(truth.shape)
    values = np.unique(truth)
    for k, chance in splits(sizes, m):
        low, high = _ends(sizes, k)
        p = [
            chances(size, part, labels) for size, part, labels in zip(sizes, tried, k, strict=True)
        ]
        for t in values:
            held = (low <= t / total + 1e-12) & (t / total - 1e-12 <= high)
            if not held.any():
                continue
            mass = held.astype(float)
            for part in p:  # one stratum after the other: x_h gives way to K_h
                mass = np.moveaxis(np.tensordot(part, mass, axes=(1, 0)), 0, -1)
            mine = truth == t
            found[mine] += chance * mass[mine]
    return found


def _ends(sizes: tuple[int, ...], k: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return both ends of the interval for every combination of passes among the labels."""
    x = np.indices([labels + 1 for labels in k]).reshape(len(k), -1).T
    rows = len(x)
    _, (low, high) = adverse_shares(np.tile(sizes, (rows, 1)), np.tile(k, (rows, 1)), x)
    shape = [labels + 1 for labels in k]
    return low.reshape(shape), high.reshape(shape)


def one_stratum(design: Design, m: int) -> np.ndarray:
    """Return the coverage of one stratum for every number of passes, all at once."""
    [size], [passes] = design.sizes, design.tried
    low, high = _ends((size,), (m,))
    held = (low <= passes[:, None] / size + 1e-12) & (passes[:, None] / size - 1e-12 <= high)
    return np.asarray((chances(size, passes, m) * held).sum(axis=1))


def wilson(design: Design, m: int) -> np.ndarray:
    """Return the coverage of Wilson's interval, which knows neither judges nor these items."""
    [size], [passes] = design.sizes, design.tried
    x, z2 = np.arange(m + 1), 1.959964**2
    centre, half = (x + z2 / 2) / (m + z2), np.sqrt(z2 * (x * (m - x) / m + z2 / 4)) / (m + z2)
    share = passes[:, None] / size
    held = (centre - half <= share + 1e-12) & (share - 1e-12 <= centre + half)
    return np.asarray((chances(size, passes, m) * held).sum(axis=1))


def measure(design: Design) -> dict[str, Any]:
    """Enumerate one design; return the worst cases and what share of them is below the level."""
    total = sum(design.sizes)
    cover = one_stratum if len(design.sizes) == 1 else coverage
    parts = {m: cover(design, m) for m in design.labels}
    half = [part.min() for m, part in parts.items() if 2 * m <= total]
    worst = min(parts, key=lambda m: parts[m].min())
    place = np.unravel_index(parts[worst].argmin(), parts[worst].shape)
    everything = np.concatenate([part.ravel() for part in parts.values()])
    plain = min(wilson(design, m).min() for m in parts) if len(design.sizes) == 1 else None
    return {
        "wilson": None if plain is None else float(plain),
        "cases": everything.size,
        "mean": float(everything.mean()),
        "worst": float(everything.min()),
        "half": float(min(half)) if half else None,
        "m": worst,
        "passes": [int(part[i]) for part, i in zip(design.tried, place, strict=True)],
        "under .95": float((everything < 0.95).mean()),
        "under .93": float((everything < 0.93).mean()),
    }


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for design in DESIGNS:
        if options.only and options.only not in design.name:
            continue
        path = CACHE / f"{'-'.join(map(str, design.sizes))}.json"
        kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
        if kept is None or kept["version"] != VERSION:
            kept = {"version": VERSION, **measure(design)}
            CACHE.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(kept), encoding="utf-8")
        print(design.name, kept, file=sys.stderr)
        rows.append(_row(design, kept))
    return rows


def _row(design: Design, kept: dict[str, Any]) -> dict[str, Any]:
    every = len(design.labels) == sum(design.sizes) - 1
    m = f"1 to {design.labels[-1]}" if every else f"{len(design.labels)} from {design.labels[0]}"
    return {
        "strata": design.name,
        "labels m": m + ("" if every else f" to {design.labels[-1]}"),
        "passes": "all" if design.passes is None else "near the ends and middle",
        "cases": kept["cases"],
        "mean": _short(kept["mean"]),
        "worst": _short(kept["worst"]),
        "Wilson": _short(kept["wilson"]) if kept.get("wilson") is not None else "",
        "worst, m ≤ N/2": "" if kept["half"] is None else _short(kept["half"]),
        "worst at m": kept["m"],
        "and passes": " + ".join(map(str, kept["passes"])),
        "under .95": _share(kept["under .95"]),
        "under .93": _share(kept["under .93"]),
    }


def _worst(what: str, rows: list[dict[str, Any]]) -> list[str]:
    """Say the worst case of some designs."""
    if not rows:
        return []
    row = min(rows, key=lambda row: float(row["worst"]))
    at = f"strata of {row['strata']}, m = {row['worst at m']}, passes {row['and passes']}"
    return [f"{what}: the worst of {sum(r['cases'] for r in rows):,} is {row['worst']} ({at})."]


def _short(value: float) -> str:
    return f"{value:.4f}".removeprefix("0")


def _share(value: float) -> str:
    return f"{100 * value:.2f}%"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="designs whose sizes hold this text")
    parser.add_argument("--write", action="store_true", help="keep it in benchmarks/results")
    options = parser.parse_args()
    rows = run(options)
    cases = sum(row["cases"] for row in rows)
    alone = [row for row in rows if "+" not in row["strata"]]
    judged = [row for row in rows if "+" in row["strata"]]
    notes = [
        f"{cases:,} cases: strata, labels m and passes in each stratum. The coverage of each is a "
        "finite sum over all samples, so these figures have no error of simulation. The interval "
        "is the default of score for pass/fail labels at 95%, for these items. The half label of one "
        "stratum was chosen on such cases; nothing else was tuned on them.",
        *_worst("Two and three strata, which is what judges make", judged),
        *_worst("One stratum, which is labels alone (or judges who say one thing of all)", alone),
        f"Asked was at least {_short(FLOOR)} over all m up to N: it holds in every case. Until a of"
        " (AL1) depended on the strata it was .9127 with one stratum of 1,000 (m = 6, 612 pass) and"
        " .9141 with 3 + 997 items.",
        "Wilson's interval, without judges, is beside one stratum.",
    ]
    record("score-enumeration", "One system: coverage by enumeration", rows, notes=notes)


if __name__ == "__main__":
    main()
