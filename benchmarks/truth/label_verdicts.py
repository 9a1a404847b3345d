"""Labels to a verdict, "is the share above this limit?", looked at after every label."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.truth.label_runs import Sessions, sessions
from benchmarks.truth.label_sets import Population, Table, populations
from benchmarks.truth.post_stratified import poststratified_share
from tallystick.sampling.bets import capital, mirrored, moments_before, rectified_steps, sign_bets
from tallystick.sampling.planned import SMALLEST_LEAD

MOST, LEAD, PEEKS = 1200, 0.08, 5


def verdicts(*, runs: int, rng: np.random.Generator) -> Table:
    rows = []
    for one in populations():
        rows.append(_row(one, runs, rng))
    names = ("interval", "verdict")
    geo = np.exp([np.mean([np.log(row[name] / row["alone"]) for row in rows]) for name in names])
    worst = {name: max(row[name] for row in rows) for name in rows[0] if "wrong" in name}
    row = {"set": "geometric mean, of labels alone", **dict(zip(names, geo.tolist(), strict=True))}
    rows.append(row | worst)
    notes = [
        f"Mean labels until the share is shown to lie on its side of a limit {100 * LEAD:g} points "
        f"away; {runs} runs of at most {MOST} labels. alone: one stratum, no guess. interval: the "
        "anytime interval excludes the limit. verdict: the bets made for this limit.",
        "wrong: a verdict is reached although the share equals the limit (alpha is .05), in "
        f"{PEEKS} times as many runs; the last row is the worst set. peeking: labels alone "
        "(t-Wilson), looked at every 10 labels.",
    ]
    return "label-verdicts", "Labels to a verdict", rows, notes


def _row(one: Population, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    share = one.share
    limit = share - LEAD if share >= 0.5 else share + LEAD
    guess, total = one.strata.guess[:, 1], np.array([one.truth.size])
    steered = sessions(one.strata.sizes, one.ones, runs=runs, most=MOST, rng=rng)
    peeked = sessions(one.strata.sizes, one.ones, runs=PEEKS * runs, most=MOST, rng=rng)
    uniform = sessions(
        total, np.array([one.truth.sum()]), runs=runs, most=MOST, rng=rng, steered=False
    )
    return {
        "set": one.name,
        "alone": _labels(uniform, np.array([0.5]), limit, _verdict_peaks)[0],
        "interval": _labels(steered, guess, limit, _interval_peaks)[0],
        "verdict": _labels(steered, guess, limit, _verdict_peaks)[0],
        "wrong": _labels(peeked, guess, share, _verdict_peaks)[1],
        "peeking": _peeking(uniform, limit)[0],
        "peeking wrong": _peeking(uniform, share)[1],
    }


def _labels(runs: Sessions, guess: np.ndarray, limit: float, peaks: Any) -> tuple[float, float]:
    """Return the mean labels to a verdict, and the share of runs that reach one."""
    n, most = runs.stratum.shape
    at, reached = np.full(n, float(most)), 0
    for run in range(n):
        path = peaks(rectified_steps(runs.journal(run), runs.value[run], guess), limit)
        crossed = path >= 40
        if crossed.any():
            at[run] = crossed.argmax() + 1
            reached += 1
    return float(at.mean()), reached / n


def _verdict_peaks(steps: Any, limit: float) -> np.ndarray:
    up, down = sign_bets(steps.z, limit, start=0.5, least=SMALLEST_LEAD, timid=1.0)
    return _larger(steps, up, down, limit)


def _interval_peaks(steps: Any, limit: float) -> np.ndarray:
    bets = 1.25 * 0.05 / moments_before(steps.z)[1][:-1]
    return _larger(steps, bets, bets, limit)


def _larger(steps: Any, up: np.ndarray, down: np.ndarray, limit: float) -> np.ndarray:
    mirror = mirrored(steps, down)
    rise = capital(steps.z, steps.low, up, limit)
    return np.maximum(rise, capital(mirror.z, mirror.low, mirror.bets, 1 - limit))


def _peeking(runs: Sessions, limit: float) -> tuple[float, float]:
    n, most = runs.stratum.shape
    at, reached = np.full(n, float(most)), np.zeros(n, bool)
    for end in [*range(20, most, 10), most]:
        k, x = runs.counts(end)
        ends = poststratified_share(
            np.tile(runs.sizes, (n, 1)), k.astype(int), x.astype(int)
        ).interval
        # At all labels the interval is the share itself, which excludes nothing that is true.
        out = ~reached & ((ends.low > limit + 1e-9) | (ends.high < limit - 1e-9))
        at[out], reached[out] = end, True
    return float(at.mean()), float(reached.mean())
