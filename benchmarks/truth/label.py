"""What choosing labels saves, and whether its promises hold: one command.

    python -m benchmarks.truth.label [--runs 300] [--write] [--only PART,PART]

Differences of classifier pairs against the sign e-process, and the best of k models or systems:
pairs, best, judged. What whole sessions cost and cover is measured by `label_sessions`. Real data:
the folder of TALLYSTICK_DATA; without it the generated sets remain.
"""

from __future__ import annotations

import argparse

import numpy as np

from benchmarks.record import record
from benchmarks.truth.label_best import best, judged
from benchmarks.truth.label_pairs import pairs

PARTS = {
    "pairs": pairs,
    "best": best,
    "judged": judged,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=300)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--only", default=",".join(PARTS))
    options, _ = parser.parse_known_args()  # --keep FILE is read where rows are kept
    for name in options.only.split(","):
        rng = np.random.default_rng([19, *name.encode()])
        page, title, rows, notes = PARTS[name](runs=options.runs, rng=rng)
        record(page, title, rows, notes=notes)


if __name__ == "__main__":
    main()
