"""Which alarms the service raises: quiet streams, streams with a daily cycle, and a judge that drifts.

``python -m benchmarks.truth.serve_drift [--write] [--streams 200]``. Every stream has 20,000 rows and
three to five judges; a twentieth of the votes come after the settle time, so that the test never sees
them. In a stream with a cycle the share of good answers goes from .5 to .7 and back within 2,000 rows,
a day; it is tested as it comes, and as ``season: daily`` tests it: each day in a random order. The
judge that drifts falls from .9 to .8 after 10,000 rows. What follows an alarm within 2,000 rows, or on
the next day, is the same event (`tallystick.serve.drift`).
"""

from __future__ import annotations

import sys
import time
from math import sqrt
from typing import Any

import numpy as np

from benchmarks.record import record
from tallystick.errors import NotIdentifiable
from tallystick.table import Tally
from tallystick.verbs.judge.windows import Windows

ROWS, DAY, LATE, ALPHA, CHANGE = 20_000, 2_000, 0.05, 0.05, 10_000


def no_result(tally: Tally) -> None:
    raise NotIdentifiable("only the drift test is measured here")


def votes(rng: np.random.Generator, *, cycle: bool, drift: bool) -> np.ndarray:
    """Return rows x judges of votes 0 and 1, -1 for one that came too late."""
    judges = int(rng.integers(3, 6))
    accuracy, easy = rng.uniform(0.65, 0.95, judges), rng.uniform(0.7, 1.0)
    place = np.arange(ROWS)
    share = 0.6 + (0.1 * np.sin(2 * np.pi * place / DAY) if cycle else 0.0) * np.ones(ROWS)
    truth = (rng.random(ROWS) < share).astype(int)
    # Items that are hard are hard for everybody: judges do not err independently.
    chance = np.where(rng.random(ROWS)[:, None] < easy, accuracy, 0.5)
    if drift:
        chance[:, 0] = np.where(place < CHANGE, 0.9, 0.8)
    right = rng.random((ROWS, judges)) < chance
    cast = np.where(right, truth[:, None], 1 - truth[:, None])
    cast[rng.random(cast.shape) < LATE] = -1
    return cast


def events(
    cast: np.ndarray, key: str, *, season: bool, rng: np.random.Generator
) -> list[dict[str, Any]]:
    """Return the events that one stream is told of, each with its window and its likely cause."""
    size = DAY if season else 1_000
    reach = 1 if season else 2
    stream = Windows(size=size, evaluation=no_result, alpha=ALPHA, key=key)  # type: ignore[arg-type]
    found: list[dict[str, Any]] = []
    last = -10
    for index, start in enumerate(range(0, ROWS, size)):
        rows = cast[start : start + size]
        if season:
            rows = rows[rng.permutation(len(rows))]
        cells = rows.astype(str).astype(object)
        cells[rows < 0] = None
        [window] = stream.push({f"judge {j}": cells[:, j].tolist() for j in range(cells.shape[1])})
        for detail in window.details:
            if index - last > reach:
                found.append({"row": start + size, "likely": detail["likely"]})
            last = index
    return found


def main() -> None:
    n = int(sys.argv[sys.argv.index("--streams") + 1]) if "--streams" in sys.argv else 200
    rows = []
    for name, cycle, drift, season in (
        ("quiet", False, False, False),
        ("quiet, tested by days", False, False, True),
        ("a daily cycle of .5 to .7, tested as it comes", True, False, False),
        ("the same, season: daily", True, False, True),
        ("a judge from .9 to .8", False, True, False),
        ("the same in a daily cycle, season: daily", True, True, True),
    ):
        begun = time.perf_counter()
        told = []
        for seed in range(n):
            rng = np.random.default_rng([39, seed])
            cast = votes(rng, cycle=cycle, drift=drift)
            told.append(events(cast, f"{name} {seed}", season=season, rng=rng))
        after = [[one for one in mine if one["row"] > CHANGE] for mine in told] if drift else []
        hit = [mine[0] for mine in after if mine]
        share = float(np.mean([bool(mine) for mine in told]))
        rows.append(
            {
                "stream": name,
                "streams": n,
                "events per stream": round(float(np.mean([len(mine) for mine in told])), 3),
                "with an event": share,
                "before the change": ""
                if not drift
                else float(np.mean([any(o["row"] <= CHANGE for o in mine) for mine in told])),
                "found": len(hit) / n if drift else "",
                "median delay, rows": float(np.median([one["row"] - CHANGE for one in hit]))
                if hit
                else "",
                "right judge named": float(
                    np.mean([one["likely"] == "judge 0 alone changed" for one in hit])
                )
                if hit
                else "",
                "s a stream": (time.perf_counter() - begun) / n,
            }
        )
        print(rows[-1], flush=True)
    bound = 2 * ALPHA + 3 * sqrt(2 * ALPHA * (1 - 2 * ALPHA) / n)
    record(
        "serve-drift",
        "Serve: alarms of quiet streams, of seasons and of drifts",
        rows,
        notes=(f"Bound for quiet streams of {ROWS:,} rows, with 3 s.e.: {bound:.3f}.",),
    )


if __name__ == "__main__":
    main()
