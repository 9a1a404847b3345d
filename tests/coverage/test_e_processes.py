"""False stops of the e-processes when one looks after every item, on the boundary of their null
hypotheses."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.anytime import rate_log_e
from tallystick.stats.bets import bounded_mean_log_e
from tallystick.stats.signs import sign_log_e

RUNS = 10_000
WORST = 583  # a binomial count of 10,000 at .05 lies above this once in 10,000 times
STOP = np.log(20)


def _signs(rng, length):
    wins = np.cumsum(rng.random((RUNS, length)) < 0.5, axis=1)
    return sign_log_e(wins, np.arange(1, length + 1) - wins)


def _rate(rng, length, population, events, side):
    runs, hits = np.zeros((RUNS, length), dtype=np.int8), np.zeros(RUNS)
    for t in range(length):
        runs[:, t] = rng.random(RUNS) < (events - hits) / (population - t)
        hits += runs[:, t]
    limit = events / population
    blocks = np.array_split(runs, 10)
    return np.vstack(
        [rate_log_e(block, limit=limit, population=population, side=side) for block in blocks]
    )


def _mean(rng, length, values, chances, side):
    x = rng.choice(values, p=chances, size=(RUNS, length))
    at = np.arange(5, length + 1, 5)
    total, squares = (np.cumsum(y, axis=1)[:, at - 1] for y in (x, x**2))
    return bounded_mean_log_e(at, total, squares)[side]


CASES = {
    "discordant signs, 2000 signs": lambda rng: _signs(rng, 2000),
    "rate below 1%, M = 20,000, 1500 items": lambda rng: _rate(rng, 1500, 20_000, 200, "below"),
    "rate below 1%, M = 1000, all but 100": lambda rng: _rate(rng, 900, 1000, 10, "below"),
    "rate below 5%, M = 20,000, 500 items": lambda rng: _rate(rng, 500, 20_000, 1000, "below"),
    "rate above 1%, M = 20,000, 1500 items": lambda rng: _rate(rng, 1500, 20_000, 200, "above"),
    "rate above 1%, M = 1000, all but 100": lambda rng: _rate(rng, 900, 1000, 10, "above"),
    "rate above 5%, M = 20,000, 500 items": lambda rng: _rate(rng, 500, 20_000, 1000, "above"),
    "mean above 0, differences -1, 0, 1": lambda rng: _mean(
        rng, 1000, [-1.0, 0.0, 1.0], [0.05, 0.9, 0.05], 0
    ),
    "mean above 0, skewed": lambda rng: _mean(rng, 1000, [-0.1, 0.9], [0.9, 0.1], 0),
    "mean below 0, skewed": lambda rng: _mean(rng, 1000, [-0.1, 0.9], [0.9, 0.1], 1),
}


@pytest.mark.slow
def test_false_stops_are_at_most_alpha_at_any_stopping_time(publish_coverage):
    rows = []
    for seed, (name, draw) in enumerate(CASES.items()):
        stops = np.mean(draw(np.random.default_rng([53, seed])).max(axis=1) >= STOP)
        rows.append({"e-process": name, "false stops": float(stops)})
    publish_coverage(
        "e-processes",
        f"Share of {RUNS} runs on the boundary of the null hypothesis in which E reaches 20 (α ="
        " .05) although one looks all the time. By Ville's inequality it is at most .05. For the"
        " signs the exact probability is `sign_stopping(0.5, horizon)`: .0370 at 2000 signs.",
        rows,
    )
    for row in rows:
        assert row["false stops"] * RUNS <= WORST, row
