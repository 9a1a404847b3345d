"""A mean from few labels and judges: coverage and width of our intervals and of other tools.

    python -m benchmarks.truth.score [--draws 2000] [--cje-draws 20] [--only NAME] [--write]

remakes the table "Measured", all methods on the same draws. Labels are drawn again and again from
populations whose truth is known; the target is the mean of these items. Every cell (population and
number of labels) is kept under out/score/ with its draws and its seed, so a run that was stopped
goes on where it was. The simulated populations and the draws have seeds of their own.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any, cast

import numpy as np

from benchmarks.known import known
from benchmarks.record import record
from benchmarks.truth import score_peers as peers
from benchmarks.truth.post_stratified import poststratified_share
from benchmarks.truth.prediction_powered import prediction_powered_mean
from benchmarks.truth.score_sets import Population, populations
from tallystick.stats.adverse_binary import adverse_shares
from tallystick.stats.few_labels import Estimates, Rows, fit
from tallystick.stats.intervals import Intervals
from tallystick.verbs.score import evaluate

CACHE = Path(__file__).resolve().parents[2] / "out" / "score"
LABELS = (20, 30, 50, 100, 200, 500)
AT_ONCE = 250
"""Draws in memory at once."""
JUDGY_DRAWS = 400
CJE_LABELS = (30, 100)
CJE_EVERY = 3
"""cje takes .3 s a call, so it is asked about every third population only."""
FEWEST = 20
"""A method that answered fewer draws of a cell than this has no coverage there."""
CHECKED = 3
"""Draws per cell on which the written-out peers are held to their packages."""
VERSION = 4
"""Raise it when a method changes, so that no cell of an older one is reused."""

PEERS = {
    "Wilson; t": None,
    "truescore 0.7.4": peers.truescore,
    "ppi-python PPI++": peers.ppi_plus,
    "ppi-python PPI (λ=1)": peers.ppi,
}
OURS, ALONE, JUDGY, CJE = "ours", "ours, labels only", "judgy 0.1.0", "cje-eval 0.9.3"
MOVER, POWERED = "post-stratified MOVER-t (P1)", "prediction_powered (P3)"
METHODS = (OURS, ALONE, *list(PEERS)[:1], MOVER, POWERED, *list(PEERS)[1:], JUDGY, CJE)

Ends = tuple[np.ndarray, np.ndarray]


class Sums:
    """Coverage and width of every method, summed over draws."""

    def __init__(self, truth: float) -> None:
        self.truth = truth
        self.cells: dict[str, list[float]] = {}

    def add(self, method: str, ends: Ends) -> None:
        """Count one batch of draws; NaN ends are draws that the method refused."""
        low, high = ends
        answered = ~np.isnan(low)
        held = (low <= self.truth + 1e-9) & (self.truth <= high + 1e-9)
        cell = self.cells.setdefault(method, [0.0, 0.0, 0.0, 0.0])
        width = np.where(answered, high - low, 0.0).sum()
        for i, value in enumerate((low.size, answered.sum(), (held & answered).sum(), width)):
            cell[i] += float(value)

    def finished(self) -> dict[str, dict[str, float]]:
        """Return draws asked, share answered, coverage and mean width of every method."""
        return {
            method: {
                "asked": asked,
                "answered": answered / asked,
                "coverage": held / max(answered, 1),
                "width": width / max(answered, 1),
            }
            for method, (asked, answered, held, width) in self.cells.items()
        }


def measure(
    population: Population, place: int, m: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Draw m labels again and again; return what each method covered and how wide it was."""
    rng = np.random.default_rng(np.random.SeedSequence(options.seed, spawn_key=(place, m)))
    # judgy's bootstrap has a stream of its own, so that it does not change which labels are drawn.
    resampling = np.random.default_rng(
        np.random.SeedSequence(options.seed, spawn_key=(place, m, 2))
    )
    sums = Sums(float(population.truth.mean()))
    gap, own, done = 0.0, 0.0, 0
    while done < options.draws:
        runs = min(AT_ONCE, options.draws - done)
        n = population.truth.size
        at = np.argpartition(rng.random((runs, n)), m, axis=1)[:, :m]
        y, c = population.truth[at], population.consensus[at]
        for method, ends in intervals(population, at, y, c):
            sums.add(method, ends)
        if population.kind != "numbers" and done < JUDGY_DRAWS:
            some = min(runs, JUDGY_DRAWS - done)
            sums.add(JUDGY, peers.judgy(y[:some], c[:some], population.consensus, resampling))
        if done == 0:
            few = slice(0, min(runs, CHECKED))
            gap = peers.largest_gap(y[few], c[few], population.consensus, at[few])
            own = product_gap(population, at[0], next(iter(intervals(population, at, y, c))))
        done += runs
    return {"methods": sums.finished(), "gap": gap, "own": own, "items": n}


def product_gap(population: Population, at: np.ndarray, ours: tuple[str, Ends]) -> float:
    """Return how far ``score.evaluate`` is from our interval of the first draw."""
    scale = None if population.kind == "binary" else (0.0, 1.0)
    judges = population.outputs.judges
    result = evaluate(population.table(at), judges=judges, truth="human", item="id", scale=scale)
    found = known(result.systems[0].interval)
    low, high = ours[1]
    return max(abs(found.low - float(low[0])), abs(found.high - float(high[0])))


def measure_cje(
    population: Population, place: int, m: int, options: argparse.Namespace
) -> dict[str, Any]:
    """Measure cje alone, which is slow, on fewer draws of the same kind."""
    rng = np.random.default_rng(np.random.SeedSequence(options.seed, spawn_key=(place, m, 1)))
    at = np.argsort(rng.random((options.cje_draws, population.truth.size)), axis=1)[:, :m]
    y, c = population.truth[at], population.consensus[at]
    sums = Sums(float(population.truth.mean()))
    sums.add(CJE, peers.cje(y, c, population.consensus, at))
    plain = peers.student if population.kind == "numbers" else peers.wilson
    sums.add("Wilson; t", plain(y, population.truth.size))
    return {"methods": sums.finished(), "items": population.truth.size}


def intervals(
    population: Population, at: np.ndarray, y: np.ndarray, c: np.ndarray
) -> Iterable[tuple[str, Ends]]:
    """Return the ends of every fast method, one row per draw."""
    every, found = population.consensus, cast(Any, None)
    if population.kind == "numbers":
        found = shared_means(at, y, every)
        yield OURS, (found.interval.low, found.interval.high)
        yield "Wilson; t", peers.student(y, every.size)
    else:
        codes = population.strata
        sizes = np.bincount(codes)
        masks = [codes[at] == h for h in range(sizes.size)]
        labelled = np.stack([mask.sum(axis=1) for mask in masks], axis=1)
        passes = np.stack([(mask * y).sum(axis=1) for mask in masks], axis=1)
        rows = np.tile(sizes, (len(y), 1))
        yield OURS, adverse_shares(rows, labelled, passes)[1]
        yield "Wilson; t", peers.wilson(y, every.size)
        older = poststratified_share(rows, labelled, passes).interval
        yield MOVER, (older.low, older.high)
        whole = (part.sum(axis=1, keepdims=True) for part in (rows, labelled, passes))
        yield ALONE, adverse_shares(*whole)[1]
    powered = prediction_powered_mean(y, c, np.broadcast_to(every, (len(y), every.size))).interval
    yield POWERED, (powered.low, powered.high)
    for name, make in PEERS.items():
        if make is not None:
            yield name, make(y, c, every)


def shared_means(at: np.ndarray, y: np.ndarray, every: np.ndarray) -> Estimates:
    """Return the estimator that all verbs share, draw by draw."""
    found = []
    for chosen, labels in zip(at, y, strict=True):
        known = np.full(every.size, np.nan)
        known[chosen] = labels
        found.append(fit(Rows(y=known, grades=every[:, None]), pass_fail=False).means())
    ends = []
    for part in ("interval", "labels_only"):
        low = np.concatenate([getattr(one, part).low for one in found])
        high = np.concatenate([getattr(one, part).high for one in found])
        ends.append(Intervals(low, high))
    estimate, worth = (
        np.concatenate([getattr(one, part) for one in found])
        for part in ("estimate", "labels_worth")
    )
    return Estimates(estimate=estimate, interval=ends[0], labels_only=ends[1], labels_worth=worth)


def cell(key: str, settings: dict[str, Any], make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Return a kept cell if its settings are the same, otherwise measure it and keep it."""
    path = CACHE / f"{key}.json"
    if path.exists():
        kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if kept["settings"] == settings:
            return kept
    found = {"settings": settings, **make()}
    CACHE.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(found), encoding="utf-8")
    return found


def run(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure every cell, or read it, and return one row per cell and method."""
    rows = []
    for place, population in enumerate(populations()):
        if options.only and options.only not in population.name:
            continue
        for m in (m for m in LABELS if m < population.truth.size):
            key = "".join(s if s.isalnum() else "-" for s in f"{population.name} {m}")
            settings = {"version": VERSION, "draws": options.draws, "seed": options.seed}
            found = cell(key, settings, partial(measure, population, place, m, options))
            rows += cell_rows(population, m, found, set(METHODS) - {CJE})
            if options.cje_draws and place % CJE_EVERY == 0 and m in CJE_LABELS:
                settings = settings | {"draws": options.cje_draws}
                slow = partial(measure_cje, population, place, m, options)
                rows += cell_rows(population, m, cell(f"cje-{key}", settings, slow), {CJE})
            print(f"{population.name}, m = {m}: {found['methods'][OURS]}", file=sys.stderr)
    return rows


def cell_rows(
    population: Population, m: int, found: dict[str, Any], wanted: set[str]
) -> list[dict[str, Any]]:
    """Return one row per wanted method of a cell, with its width against labels alone."""
    head = {"population": population.name, "kind": population.kind, "real": population.real, "m": m}
    plain = found["methods"]["Wilson; t"]["width"]
    return [
        {
            **head,
            "method": method,
            "gap": found.get("gap", 0.0),
            "own": found.get("own", 0.0),
            "ratio": values["width"] / plain,
        }
        | values
        for method, values in found["methods"].items()
        if method in wanted
    ]


def summary(rows: list[dict[str, Any]], method: str, kinds: tuple[str, ...]) -> dict[str, str]:
    """Return mean and worst coverage, then by m the worst coverage and the mean width ratio."""
    mine = [row for row in rows if row["method"] == method and row["kind"] in kinds]
    if not mine:
        return {}
    label = "binary" if "binary" in kinds else kinds[0]
    held = [row["coverage"] for row in mine]
    line = {f"{label}, mean/worst": f"{_short(np.mean(held))}/{_short(min(held))}"}
    for m in LABELS:
        here = [row for row in mine if row["m"] == m]
        worst, ratio = (
            f([r[k] for r in here]) if here else None
            for f, k in ((min, "coverage"), (np.mean, "ratio"))
        )
        line[f"{label}, m={m}"] = "" if worst is None else f"{_short(worst)} {ratio:.2f}"
    return line


def _has_coverage(row: dict[str, Any]) -> bool:
    return bool(row["asked"] * row["answered"] >= FEWEST - 0.5)


def _short(value: float) -> str:
    return f"{value:.3f}".removeprefix("0")


def tables(rows: list[dict[str, Any]], options: argparse.Namespace) -> None:
    binary = [row for row in rows if row["kind"] != "numbers"]
    judged = [row for row in binary if row["method"] == JUDGY]
    raised = [1 - row["answered"] for row in judged]
    unanswered = sum(not _has_coverage(row) for row in judged)
    rows = [row for row in rows if _has_coverage(row)]
    every = [
        {
            "method": method,
            **summary(rows, method, ("binary", "graded")),
            **summary(rows, method, ("numbers",)),
        }
        for method in METHODS
        if any(row["method"] == method for row in rows)
    ]
    names = {row["population"] for row in rows}
    real = {row["population"] for row in rows if row["real"]}
    gap, own = (max(row[name] for row in rows) for name in ("gap", "own"))
    notes = [
        f"{len(names)} populations ({len(real)} real), {options.draws} draws of m labels each, the "
        f"same for all methods; judgy the first {JUDGY_DRAWS} of them, cje {options.cje_draws} "
        f"draws of its own on every third population at m = {CJE_LABELS[0]} and {CJE_LABELS[1]}.",
        "First mean and worst coverage over all populations and m at nominal .95; then by m the "
        "worst coverage, and the mean width divided by that of labels alone (Wilson's interval, "
        "for numbers Student's, both corrected for drawing from these items).",
        "Consensus and strata are those of score; on the first draw of each cell score.evaluate "
        f"itself, given the table, returns the same interval to {own:.0e}.",
        "The populations are those of the first design, without newsroom (not in the "
        "data here). Its generator of numbers is not known: ours was set so that labels alone and "
        "ppi_python come out about as printed there.",
        "The target is the mean of these items. Peers get our consensus as their judge. truescore "
        "and ppi_python aim at new items, so on these they are too wide where m is a large share.",
        f"truescore {version('truescore')} and ppi_python {version('ppi_python')} are written out "
        f"for many draws at once; on {CHECKED} draws per cell they differ from the packages by "
        f"{gap:.0e} at most. judgy {version('judgy')} raises on "
        f"{np.mean(raised) if raised else 0:.0%} of its draws, which are left out, and so are "
        f"{unanswered} cells in which it answered fewer than {FEWEST}. It is given the votes on "
        "all items.",
        "A worst coverage is a minimum over many cells, and so too low by luck. For cje, with so "
        "few draws, it is no more than a hint.",
    ]
    for title, some in (
        ("Graded judge, binary labels", [row for row in rows if row["kind"] == "graded"]),
        ("Real sets", [row for row in rows if row["real"]]),
    ):
        for method in (OURS, "truescore 0.7.4"):
            mine = [row for row in some if row["method"] == method]
            if mine:
                held = [row["coverage"] for row in mine]
                widths = [[row["ratio"] for row in mine if row["m"] == m] for m in LABELS]
                text = " ".join(f"{np.mean(part):.2f}" for part in widths if part)
                head = f"{title}, {method}: {_short(np.mean(held))}/{_short(min(held))}"
                notes.append(f"{head}, width {text} at m = 20, 30, 50, 100, 200, 500")
    record("score", "A mean from few labels and judges: coverage and width", every, notes=notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000, help="draws of labels per cell")
    parser.add_argument("--cje-draws", type=int, default=20, help="draws for cje; 0 leaves it out")
    parser.add_argument("--seed", type=int, default=14, help="seed of the draws")
    parser.add_argument("--only", default="", help="populations whose name holds this text")
    parser.add_argument("--write", action="store_true", help="keep it in benchmarks/results")
    options = parser.parse_args()
    tables(run(options), options)


if __name__ == "__main__":
    main()
