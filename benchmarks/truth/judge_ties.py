"""Votes that are never true: what ties do to accuracies.

    python -m benchmarks.truth.judge_ties [--write]

Ties at 7%, errors independent: the model of ``--method dawid-skene`` is then true.
"""

from __future__ import annotations

import numpy as np

from benchmarks.known import known
from benchmarks.record import record
from tallystick.results import Unknown
from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge import grade
from tallystick.verbs.judge.models import dawid_skene

TABLES = 500
TIES = 0.07
PANELS = {3: (0.9, 0.85, 0.8), 5: (0.9, 0.85, 0.8, 0.78, 0.75)}


def drawn(
    rng: np.random.Generator, n: int, accuracy: tuple[float, ...]
) -> tuple[Panel, np.ndarray]:
    """Return panel of a panel with ties, and how often each judge is right on these items."""
    truth = rng.integers(0, 2, n)
    right = rng.random((n, len(accuracy))) < accuracy
    votes = np.where(right, truth[:, None], 1 - truth[:, None])
    votes[rng.random(votes.shape) < TIES] = 2
    words = np.array(["a", "b", "tie"])
    tally = Tally.of({f"j{j}": words[votes[:, j]].tolist() for j in range(len(accuracy))})
    return Panel.of(tally, never_true=["tie"]), (votes == truth[:, None]).mean(axis=0)


def main() -> None:
    rows = []
    for judges, accuracy in PANELS.items():
        for n in (200, 1000):
            errors, held, claimed = [], [], 0
            for r in range(TABLES):
                rng = np.random.default_rng([13, judges, n, r])
                panel, true = drawn(rng, n, accuracy)
                scores = dawid_skene(panel).judges
                errors.append(np.abs([s.accuracy for s in scores] - true).mean())
                if r < TABLES // 10:  # the refits of the default cost most
                    free = grade(panel, rng=0).judges
                    claimed += sum(not isinstance(score.interval, Unknown) for score in free)
                    held += [
                        known(score.range)[0] <= t <= known(score.range)[1]
                        for score, t in zip(free, true, strict=True)
                    ]
            rows.append(
                {
                    "judges": judges,
                    "items": n,
                    "mean error": float(np.mean(errors)),
                    "default: intervals": claimed,
                    "default: range held": float(np.mean(held)),
                }
            )
            print(rows[-1], flush=True)
    record(
        "judge-ties",
        "Ties at 7%: the model on request, and the range by default",
        rows,
        notes=(
            f"{TABLES} tables per row (the default on a tenth of them), accuracies"
            f" {' '.join(map(str, PANELS[5]))} (the first three of them with three judges).",
            "Measured again on 2026-11-16 with the code of that day: no figure changed.",
        ),
    )


if __name__ == "__main__":
    main()
