"""Coverage of `score` from labels that the queue of `serve` has drawn: one command.

    python -m benchmarks.truth.serve_queue [--runs 2000] [--write] [--only useless]

Each run draws two frames from one fixed stream (the second is steered by the labels of the first,
after a third of the rows has come in between), labels them, and asks `score` with the probability
of each label (Q1). Half of the runs stop in the middle of the second frame. Volunteered labels
(mostly failures, as complaints are) are left out, which is what the service does, or taken as if
they had been drawn at random, which is what its page calls an assumption.
"""

from __future__ import annotations

import argparse
from collections import Counter
from dataclasses import replace
from unittest import mock

import numpy as np

from benchmarks.record import record
from tallystick.sampling.votes import Consensus, consensus
from tallystick.serve.auth import Span
from tallystick.serve.chances import DrawnFrame, LabelledRow, either
from tallystick.serve.queue import DrawPopulation, plan_frame
from tallystick.stats.adverse_binary import adverse_mean, vote_strata
from tallystick.stats.few_labels import Rows, fit
from tallystick.table.data import RowPatterns

N, OLD = 1_500, 1_000
BUDGETS = (40, 60)
SETS = {
    # how often each judge is right, and the share of passes
    "three judges .9 .8 .65, 75% pass": ((0.9, 0.8, 0.65), 0.75),
    "useless judges, 60% pass": ((0.5, 0.5, 0.5), 0.6),
    "near-perfect judges, 5% fail": ((0.98, 0.95, 0.9), 0.95),
    "one judge .8, 50% pass": ((0.8,), 0.5),
}


def fitted_once() -> None:
    """Let the consensus of a panel be fitted once per stream: thousands of fits to nearly the same
    votes would take hours, and strata may be any that were fixed before the labels.
    """
    known: dict[bytes, Consensus] = {}

    def fitted(patterns: RowPatterns) -> Consensus:
        key = patterns.codes.tobytes()
        if key not in known:
            known[key] = consensus(patterns)
        return known[key]

    mock.patch("tallystick.sampling.draws.consensus", fitted).start()


def stream(judges: tuple[float, ...], rate: float, seed: int) -> tuple[DrawPopulation, np.ndarray]:
    """Return a stream of N rows and their truths."""
    rng = np.random.default_rng(seed)
    truth = (rng.random(N) < rate).astype(np.int64)
    right = rng.random((N, len(judges))) < np.asarray(judges)
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    pattern = votes @ (1 << np.arange(len(judges)))
    found = DrawPopulation(
        as_of=1,
        row=np.arange(N),
        pattern=pattern,
        system=np.zeros(N, np.int64),
        systems=("",),
        votes={p: tuple(p >> j & 1 for j in range(len(judges))) for p in range(1 << len(judges))},
        n_classes=2,
    )
    return found, truth


def part(found: DrawPopulation, rows: np.ndarray, as_of: int) -> DrawPopulation:
    """Return some rows of a stream."""
    names = ("row", "pattern", "system")
    return replace(found, as_of=as_of, **{name: getattr(found, name)[rows] for name in names})


def run(
    found: DrawPopulation, truth: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, ...]:
    """Draw two frames; return the labelled rows and their probabilities."""
    first = plan_frame(
        part(found, np.arange(OLD), 1),
        budget=BUDGETS[0],
        overlap=0,
        seed=int(rng.integers(2**62)),
    )
    known = [one.row for one in first.rows]
    counts = Counter((int(found.pattern[row]), int(truth[row])) for row in known)
    labels = [(found.votes[pattern], value, n) for (pattern, value), n in counts.items()]
    rest = np.setdiff1d(np.arange(N), known)
    second = plan_frame(
        replace(part(found, rest, 2), labels=labels),
        budget=BUDGETS[1],
        overlap=0,
        seed=int(rng.integers(2**62)),
    )
    upto = BUDGETS[1] if rng.random() < 0.5 else BUDGETS[1] // 2
    more = [one.row for one in second.rows[:upto]]
    frames = [
        DrawnFrame(
            as_of,
            Span(),
            [(one.system, one.patterns, one.rate) for one in plan.strata],
            {one.row: one.stratum for one in plan.rows},
            read / len(plan.rows),
        )
        for as_of, plan, read in ((1, first, len(known)), (2, second, upto))
    ]
    rows = np.array([*known, *more])
    p = [
        either(
            frames,
            LabelledRow(
                int(row),
                "",
                0,
                0,
                0,
                0,
                1 if row < OLD else 2,
                int(found.pattern[row]),
            ),
        )
        for row in rows
    ]
    return rows, np.array(p)


def coverage(name: str, runs: int, seed: int) -> list[dict[str, object]]:
    """Return one row per way of taking labels."""
    fitted_once()
    judges, rate = SETS[name]
    found, truth = stream(judges, rate, seed)
    mean = truth.mean()
    values = np.array([bin(p).count("1") for p in found.pattern.tolist()]) / len(judges)
    strata = vote_strata(values)
    sizes = np.bincount(strata, minlength=strata.max() + 1).astype(float)
    rng = np.random.default_rng([seed, runs])
    hits: dict[str, list[bool]] = {
        "drawn, with probabilities": [],
        "volunteered ones as if drawn": [],
    }
    widths: dict[str, list[float]] = {way: [] for way in hits}
    for _ in range(runs):
        rows, p = run(found, truth, rng)
        known, chance = np.full(N, np.nan), np.ones(N)
        known[rows], chance[rows] = truth[rows], p
        few = Rows(y=known, grades=strata[:, None].astype(float), probability=chance)
        weighted = fit(few, pass_fail=True).means().interval[0]
        # Complaints: failures are volunteered three times as often.
        others = np.setdiff1d(np.arange(N), rows)
        chance = np.where(truth[others] == 1, 0.01, 0.03)
        extra = np.concatenate((rows, others[rng.random(others.size) < chance]))
        drawn = adverse_mean(truth[extra], strata[extra], sizes, pass_fail=True).interval
        pairs = [(weighted.low, weighted.high), (drawn.low, drawn.high)]
        for way, (low, high) in zip(hits, pairs, strict=True):
            hits[way].append(low - 1e-9 <= mean <= high + 1e-9)
            widths[way].append(high - low)
    return [
        {
            "stream": name,
            "labels": way,
            "runs": runs,
            "coverage": float(np.mean(hits[way])),
            "width, points": 100 * float(np.mean(widths[way])),
        }
        for way in hits
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=2_000)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default="", help="Streams whose name has this in it.")
    options = parser.parse_args()
    rows = [
        row
        for seed, name in enumerate(SETS, start=41)
        if options.only in name
        for row in coverage(name, options.runs, seed)
    ]
    notes = [
        "Nominal 95%. Two frames of 40 and 60 rows from 1,500, the second steered by the labels of"
        " the first; half of the runs stop in its middle.",
        "Volunteered: 1% of passes and 3% of failures. The service leaves them out unless it is"
        " asked, and then names the assumption.",
    ]
    record(
        "serve_queue", "Labels drawn by the queue of serve: coverage of score", rows, notes=notes
    )


if __name__ == "__main__":
    main()
