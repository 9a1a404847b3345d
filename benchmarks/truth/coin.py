"""The coin problem of "Detecting differences", sections 3.2-3.4: the chapter's bounds beside the
exact numbers.

Run: ``python -m benchmarks.truth.coin [--write]``.
"""

from __future__ import annotations

from math import ceil

from benchmarks.record import record
from tallystick.papers.detecting_differences import coin


def main() -> None:
    rows = []
    for epsilon in (0.5, 0.2, 0.1, 0.05, 0.02, 0.01):
        eight = round(8 / epsilon**2)
        rows.append(
            {
                "ε": epsilon,
                "TV < 1/2 below, chapter": ceil(0.5 / epsilon**2),
                "by Hellinger": coin.hellinger_tosses(epsilon),
                "exact": coin.tosses_for_total_variation(epsilon),
                "error sum .1, Chernoff": coin.chernoff_tosses(epsilon, 0.1),
                "mean test": coin.mean_test_tosses(epsilon, 0.1),
                "best test": coin.tosses_for_error(epsilon, 0.1),
                "bound at 8/ε²": float(coin.chernoff_error(epsilon, eight)),
                "error there": float(sum(coin.mean_test_error(epsilon, eight))),
            }
        )
    record(
        "coin",
        "The coin problem: bounds and exact numbers of tosses",
        rows,
        notes=[
            "Exact: TV reaches 1/2 at 1.82/ε² and the error sum .1 at 10.82/ε²; the chapter: 0.5/ε²"
            " and 23.97/ε²"
        ],
    )


if __name__ == "__main__":
    main()
