"""Two systems and k systems: coverage of all differences, wrong orders claimed, pairs decided.

    python -m benchmarks.truth.score_systems [--runs 1000] [--only TEXT] [--write]

People label m random items for all systems, again and again; score's own functions estimate every
system and compare every pair, as for a table. Exact ties make every claimed order wrong. Every cell
is kept under out/score-systems/, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.record import record
from benchmarks.truth.score_system_sets import PAIRS, SEVERAL, SystemsSet, sets
from tallystick.stats.few_labels import Rows, fit
from tallystick.verbs.score.pairs import compare_pairs
from tallystick.verbs.score.question import ScoreQuestion
from tallystick.verbs.score.systems import estimate_systems, fitted

CACHE = Path(__file__).resolve().parents[2] / "out" / "score-systems"
ALPHA = 0.05
VERSION = 2
"""Raise it when a method changes, so that no cell of an older one is reused."""
TWO, SEVERAL_LABELS = (20, 50, 100, 200), (20, 30, 50, 100)
LARGE = 10
"""From so many systems on a cell takes half of the runs: there are 45 to 190 pairs in each."""
AGAIN, AGAIN_RUNS = 0.045, 3000
"""A tie with more wrong orders than this is measured again on fresh draws: the worst of many short
runs is too high by luck."""
TIE = "(tie)"
APART = ("ten points apart", "exact tie", "rare failures, 97 and 95%")


class Cell:
    """One population, one number of labels: what is covered and claimed, summed over runs."""

    def __init__(self, one: SystemsSet, m: int, common: float) -> None:
        self.one, self.m, self.common = one, m, common
        self.outputs = one.outputs
        self.gap = one.differences()
        self.means = one.truth.mean(axis=0)
        names = ("covered", "wrong", "decided", "alone", "alone wrong", "width", "mean")
        self.sums = dict.fromkeys(names, 0.0)

    def run(self, rng: np.random.Generator) -> None:
        """Draw labels once."""
        n, k = self.one.truth.shape
        mask = np.zeros((n, k), np.bool_)
        if self.common == 1:
            chosen = rng.choice(n, self.m, replace=False)
            mask[chosen] = True
        else:  # every system on items of its own, but for a share that all have in common
            order = rng.permutation(n)
            shared = round(self.common * self.m)
            own = self.m - shared
            mask[order[:shared]] = True
            for s in range(k):
                mask[order[shared + s * own : shared + (s + 1) * own], s] = True
        truth = np.where(mask, self.one.truth, np.nan).ravel()
        outputs = replace(self.outputs, truth=truth)
        question = ScoreQuestion(seed=int(rng.integers(2**31)))
        found = fitted(outputs, question)
        systems = estimate_systems(outputs, question, found)
        pairs = compare_pairs(outputs, systems, question, found)

        sums = self.sums
        truths = [self.gap[pair.first, pair.second] for pair in pairs]
        signs = [pair.sign(ALPHA) for pair in pairs]
        sums["covered"] += all(
            pair.interval.low - 1e-9 <= gap <= pair.interval.high + 1e-9
            for pair, gap in zip(pairs, truths, strict=True)
        )
        sums["wrong"] += _any_wrong(signs, truths)
        sums["decided"] += float(np.mean(np.array(signs) != 0))
        sums["width"] += float(np.mean([pair.interval.width / 2 for pair in pairs]))
        ends = [one.interval for one in systems]
        held = [
            end.low - 1e-9 <= mean <= end.high + 1e-9
            for end, mean in zip(ends, self.means, strict=True)
        ]
        sums["mean"] += float(np.mean(held))
        if self.common == 1:
            known = np.zeros((n, 1), dtype=bool)
            known[chosen] = True
            rows = Rows(
                y=np.where(known, self.one.truth, np.nan).ravel(),
                grades=np.zeros((n * k, 0)),
                system=np.tile(np.arange(k), n),
                item=np.repeat(np.arange(n), k),
            )
            plain = fit(rows, pass_fail=bool(np.isin(self.one.truth, (0.0, 1.0)).all())).pairs(
                rng=rng
            )
            told = np.where(plain.adjusted_p <= ALPHA, np.sign(plain.difference), 0)
            sums["alone"] += float((told != 0).mean())
            sums["alone wrong"] += _any_wrong(told, truths)

    def judges_wrong(self) -> float:
        """Return the share of pairs that the judges' mean grades alone order wrongly."""
        mean = self.one.grades.mean(axis=(0, 2))
        lead = mean[:, None] - mean[None, :]
        first, second = np.triu_indices(mean.size, 1)
        return float((lead[first, second] * self.gap[first, second] <= 1e-12).mean())


def _any_wrong(signs: Iterable[float], truths: list[float]) -> bool:
    return any(sign and sign * gap <= 1e-12 for sign, gap in zip(signs, truths, strict=True))


def cells() -> list[Cell]:
    found = [Cell(one, m, 1.0) for one in sets(PAIRS) for m in TWO if m < len(one.truth)]
    found += [Cell(one, 50, c) for one in sets(PAIRS) if one.name in APART for c in (0.0, 0.5)]
    for one in sets(SEVERAL):
        labels = (50,) if one.truth.shape[1] >= LARGE else SEVERAL_LABELS
        found += [Cell(one, m, 1.0) for m in labels]
    return found


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    rows = []
    for cell in cells():
        name = f"{cell.one.name}, m = {cell.m}, common {cell.common:g}"
        if options.only and options.only not in name:
            continue
        large = cell.one.truth.shape[1] >= LARGE
        kept = kept_cell(cell, name, options.runs // 2 if large else options.runs, options.seed)
        row = _row(cell, kept)
        if row["decided"] == TIE and kept["wrong"] > AGAIN:
            fresh = Cell(cell.one, cell.m, cell.common)
            more = kept_cell(fresh, f"{name}, again", AGAIN_RUNS, options.seed + 1)
            row["again"] = _short(more["wrong"])
        rows.append(row)
    return rows


def kept_cell(cell: Cell, name: str, runs: int, seed: int) -> dict[str, Any]:
    """Return a cell that was measured before, or measure it and keep it."""
    path = CACHE / ("".join(c if c.isalnum() else "-" for c in name) + ".json")
    settings = {"version": VERSION, "runs": runs, "seed": seed}
    kept = json.loads(path.read_text(encoding="utf-8")) if path.exists() else None
    if kept is None or kept["settings"] != settings:
        key = [sum(map(ord, cell.one.name)), cell.m, round(10 * cell.common)]
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=key))
        for _ in range(runs):
            cell.run(rng)
        kept = {"settings": settings, **{a: float(b) / runs for a, b in cell.sums.items()}}
        CACHE.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(kept), encoding="utf-8")
    print(name, kept, file=sys.stderr)
    return kept


def _row(cell: Cell, kept: dict[str, Any]) -> dict[str, Any]:
    same = cell.common == 1
    label = "" if same else f", {cell.common:.0%} common items"
    tied = bool(np.allclose(cell.gap, 0))
    return {
        "set": cell.one.name + label,
        "k": cell.one.truth.shape[1],
        "m": cell.m,
        "scores": _short(kept["mean"]),
        "all pairs": _short(kept["covered"]),
        "±": _short(kept["width"]),
        "wrong order": _short(kept["wrong"]),
        "again": "",
        "decided": TIE if tied else _short(kept["decided"]),
        "labels alone": "" if tied or not same else _short(kept["alone"]),
        "wrong, alone": _short(kept["alone wrong"]) if same else "",
        "judges wrong": _short(cell.judges_wrong()),
    }


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=41)
    parser.add_argument("--only", default="", help="cells whose name holds this text")
    parser.add_argument("--write", action="store_true", help="keep it in benchmarks/results")
    options = parser.parse_args()
    rows = run(options)
    ties = [row for row in rows if row["decided"] == TIE]
    rates = [float(row["again"] or row["wrong order"]) for row in ties]
    worst = _short(max(rates)) if rates else "not measured"
    notes = [
        f"{options.runs} draws of m labelled items per row, half as many from {LARGE} systems on; "
        "600 items unless the set says otherwise. In all sets of several systems one judge passes "
        "every output of the last system, except the numbers and the hidden losses.",
        "scores: coverage of the systems' own intervals. all pairs: the intervals shown hold the "
        "true differences of all pairs at once, at nominal .95; ± is their mean half-width. wrong "
        "order: share of draws in which any pair is ordered wrongly. decided: share of the pairs "
        "that are ordered. labels alone: the same test without judges. judges wrong: pairs that "
        "the judges' mean grades order wrongly, ties included.",
        "For exact ties every order is wrong; asked was at most .05. Ties with more than "
        f"{_short(AGAIN)} were measured again on {AGAIN_RUNS} fresh draws (again), since the worst "
        f"of many short runs is too high by luck. The worst is {worst}.",
        "common items: the systems were labelled on different items, or share half of them. Their "
        "pairs come from the two scores instead of paired differences.",
    ]
    record(
        "score-systems", "Two systems and several: what is covered and claimed", rows, notes=notes
    )


if __name__ == "__main__":
    main()
