"""Which of two classifiers is better: labels on disagreements, against the sign e-process."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from benchmarks.truth.label_sets import Population, Table, populations
from tallystick.sampling.draws import DrawJournal
from tallystick.sampling.duels import classifier_difference, disagreement_strata
from tallystick.sampling.votes import consensus, patterns_of
from tallystick.stats.signs import sign_log_e

MODELS = {"bluebirds": 4, "llmbar": 4, "adult": 4, "mushroom": 5, "twonorm": 5, "good3": 3}
"""How many of the best judges of a set are compared as classifiers: 41 pairs."""


def pairs(*, runs: int, rng: np.random.Generator) -> Table:
    runs = min(runs, 200)
    rows = []
    for one in populations():
        for a, b in combinations(one.top(MODELS.get(one.name, 0)), 2):
            row = _row(one, a, b, runs, rng)
            if row is not None:
                rows.append(row)
    ratio = np.array([row["labels"] / row["sign test"] for row in rows])
    random = np.array([row["random items"] / row["labels"] for row in rows])
    rows.append(
        {
            "set": f"geometric mean of {len(rows)}",
            "labels": float(np.exp(np.log(ratio).mean())),
            "random items": float(np.exp(np.log(random).mean())),
            "wrong": max(row["wrong"] for row in rows),
        }
    )
    notes = [
        f"Mean labels until the sign is decided at any time, alpha .05, {runs} runs in batches "
        "of 10. sign test: the Beta-mixture e-process of compare on the same labels. random items: "
        "our labels, had items been drawn at random instead of among disagreements.",
        f"The last row is ours over the sign test (worst {ratio.max():.2f}), random items over "
        "ours, and the worst share of wrong signs. In the first design: .85 (worst 1.11), 4.75, "
        ".022.",
    ]
    return "label-pairs", "Which of two classifiers is better", rows, notes


def _row(
    one: Population, a: int, b: int, runs: int, rng: np.random.Generator
) -> dict[str, Any] | None:
    assert one.votes is not None
    patterns = patterns_of(one.votes, n_classes=2)
    posterior = consensus(patterns).posterior[patterns.place]
    strata, guess = disagreement_strata(one.votes[:, a], one.votes[:, b], posterior)
    apart = np.flatnonzero(strata.of >= 0)
    first = (one.votes[apart, a] == one.truth[apart]).astype(float)
    M, N = apart.size, one.truth.size
    lead = (2 * first.mean() - 1) * M / N
    if not lead:
        return None
    n = M
    ours, sign, wrong = np.empty(runs), np.empty(runs), 0
    for run in range(runs):
        order = rng.permutation(M)[:n]
        values, where = first[order], strata.of[apart[order]].astype(np.int64)
        batch = np.arange(n) // 10
        journal = DrawJournal(
            sizes=strata.sizes, item=order, stratum=where, q=np.empty(n), batch=batch,
            spreads=np.ones((batch[-1] + 1, len(strata))),
        )  # fmt: skip
        found = classifier_difference(journal, (values, values), guess)
        certain = _certain(values, M)
        up, down = found.above >= 40, found.below >= 40
        ours[run] = _first(up | down | certain)
        if not certain[int(ours[run]) - 1]:
            called = up[int(ours[run]) - 1]
            wrong += bool(called) != (lead > 0) and bool(called or down[int(ours[run]) - 1])
        wins = np.cumsum(values)
        log_e = sign_log_e(wins, np.arange(1, n + 1) - wins)
        sign[run] = _first((log_e >= np.log(20)) | certain)
    return {
        "set": one.name,
        "pair": f"{a}-{b}",
        "lead": round(float(lead), 3),
        "disagreements": M,
        "labels": float(ours.mean()),
        "sign test": float(sign.mean()),
        "random items": float(ours.mean() * (N + 1) / (M + 1)),
        "wrong": wrong / runs,
    }


def _certain(values: np.ndarray, total: int) -> np.ndarray:
    wins = np.cumsum(values)
    return np.asarray((wins > total / 2) | (np.arange(1, values.size + 1) - wins > total / 2))


def _first(done: np.ndarray) -> int:
    return int(done.argmax()) + 1 if done.any() else done.size
