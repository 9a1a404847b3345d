"""What choosing labels saves, and whether its promises hold: one command.

    python -m benchmarks.truth.label [--runs 300] [--write] [--only PART,PART]

Labels to ± 5 points and to a verdict on real and generated populations, against labels alone,
random labels with post-stratification, active inference and truescore's plan; differences of
classifier pairs against the sign e-process; the best of k models; labels that were there already.
The parts: shares, verdicts, existing, pairs, best, judged. Real data: the folder of
TALLYSTICK_DATA; without it the generated sets remain. truescore is measured if it is installed.
"""

from __future__ import annotations

import argparse

import numpy as np
from benchmarks.truth.label_existing import existing
from benchmarks.truth.label_shares import shares
from benchmarks.truth.label_verdicts import verdicts

from benchmarks.record import record
from benchmarks.truth.label_best import best, judged
from benchmarks.truth.label_pairs import pairs

PARTS = {
    "shares": shares,
    "verdicts": verdicts,
    "existing": existing,
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
