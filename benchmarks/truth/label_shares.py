"""Labels to ± 5 points: the default, the anytime form, and what others would need."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.truth.label_peers import active_inference, truescore_plan
from benchmarks.truth.label_runs import Sessions, Stopped, planned, sessions, stopped_at_batches
from benchmarks.truth.label_sets import Population, Table, populations
from benchmarks.truth.post_stratified import poststratified_share
from tallystick.sampling.bets import capital, mirrored, moments_before, rectified_steps
from tallystick.sampling.bets import anytime_share

TARGET, MOST = 0.05, 600
PEEKS, PLANS = 5, 10
"""Rare events need more runs than means do: misses with peeking, and coverage of the default."""
PAGE = {
    "alone": (90, 270, 210, 257, 348, 349, 235, 283, 330, 59, 214, 264, 234, 120),
    "(P1)": (75, 118, 210, 201, 141, 123, 131, 113, 328, 51, 73, 256, 185, 83),
    "default": (78, 125, 208, 195, 121, 124, 132, 109, 333, 50, 67, 219, 179, 86),
    "anytime": (96, 158, 317, 295, 152, 148, 177, 139, 467, 68, 91, 319, 242, 104),
}
"""Figures of the first design, in the order of `populations`; its default was S1."""


def shares(*, runs: int, rng: np.random.Generator) -> Table:
    sets = populations()
    rows, ratios = [], []
    for place, one in enumerate(sets):
        rows.append(_row(one, runs, rng, PAGE if len(sets) == len(PAGE["alone"]) else None, place))
        ratios.append(
            [rows[-1][name] / rows[-1]["alone"] for name in ("(P1)", "default", "anytime")]
        )
    geo = np.exp(np.log(ratios).mean(axis=0))
    rows.append(
        {
            "set": "geometric mean, of labels alone",
            **dict(zip(("(P1)", "default", "anytime"), geo.tolist(), strict=True)),
            "cover default": min(row["cover default"] for row in rows),
            "cover active": min(row["cover active"] for row in rows),
            "ever missed": max(row["ever missed"] for row in rows),
        }
    )
    notes = [
        f"Mean labels until the half-width is {TARGET:g}, {runs} runs; (page) is the figure of "
        "the first design, measured before this code was written. "
        "Its default was S1, since replaced by the adverse likelihood, .94 of "
        "its labels. Real sets of more than 3000 items are cut to 3000, which its figures fit.",
        "Coverage is that of the interval a run stopped with; the last row is the worst set. The "
        f"default has {PLANS} times as many runs.",
        "ever missed: the truth is outside the anytime interval after some label, looking after "
        f"each of up to {MOST} labels, w = {TARGET:g}; {PEEKS} times as many runs.",
        "active: Zrnic and Candès, IPW with a rectifier and a normal interval. plan: truescore's "
        "plan after 20 pilot labels, then its own interval; - where it is not installed.",
        "Largest ratio of the default to labels alone: "
        f"{max(row['default'] / row['alone'] for row in rows[:-1]):.3f}.",
    ]
    return "label-shares", "Labels to ± 5 points", rows, notes


def _row(
    one: Population, runs: int, rng: np.random.Generator, page: dict[str, Any] | None, place: int
) -> dict[str, Any]:
    sizes, ones, share = one.strata.sizes, one.ones, one.share
    uniform = sessions(sizes, ones, runs=runs, most=MOST, rng=rng, steered=False)
    default = planned(sizes, ones, target=TARGET, runs=PLANS * runs, rng=rng)
    steered = sessions(sizes, ones, runs=runs, most=MOST, rng=rng)
    anytime = _anytime(steered, one.strata.guess[:, 1])
    peeked = sessions(sizes, ones, runs=PEEKS * runs, most=MOST, rng=rng)
    missed = _ever_missed(peeked, one.strata.guess[:, 1], share)
    alone, poststratified = _random(uniform, one.strata.side)
    active = active_inference(one, TARGET, runs=min(runs, 200), rng=rng)
    plan = truescore_plan(one, TARGET, runs=min(runs, 100), rng=rng)
    found = {
        "alone": alone.labels.mean(),
        "(P1)": poststratified.labels.mean(),
        "default": default.labels.mean(),
        "anytime": anytime.labels.mean(),
    }
    row: dict[str, Any] = {"set": one.name}
    for name, value in found.items():
        row[name] = float(value)
        if page:
            row[f"(page {name})"] = page[name][place]
    return row | {
        "cover alone": alone.covers(share),
        "cover (P1)": poststratified.covers(share),
        "cover default": default.covers(share),
        "ever missed": missed,
        "active": float(active.labels.mean()),
        "cover active": active.covers(share),
        "plan": "-" if plan is None else float(plan.labels.mean()),
        "cover plan": "-" if plan is None else plan.covers(share),
    }


def _random(runs: Sessions, side: np.ndarray) -> tuple[Stopped, Stopped]:
    """Stop labels alone and post-stratified labels on the same uniform draws."""
    most = runs.stratum.shape[1]
    ends = [*range(20, most, 10), most]
    out = []
    for groups in (np.zeros_like(side), np.unique(side, return_inverse=True)[1]):
        join = np.eye(groups.max() + 1)[groups]
        low, high = [], []
        for end in ends:
            k, x = runs.counts(end)
            found = poststratified_share(
                np.tile(runs.sizes @ join, (len(k), 1)).astype(int),
                (k @ join).astype(int),
                (x @ join).astype(int),
            )
            low.append(found.interval.low)
            high.append(found.interval.high)
        out.append(stopped_at_batches(ends, np.stack(low, axis=1), np.stack(high, axis=1), TARGET))
    return out[0], out[1]


def _anytime(runs: Sessions, guess: np.ndarray) -> Stopped:
    """Stop the anytime interval at the first batch end that is narrow enough."""
    n, most = runs.stratum.shape
    ends = [*range(20, most, 10), most]
    labels, low, high = np.empty(n), np.empty(n), np.empty(n)
    for run in range(n):
        journal = runs.journal(run)

        # The interval never widens, so the first batch end that is narrow enough is bisected for.
        left, right = 0, len(ends) - 1
        while left < right:
            middle = (left + right) // 2
            part = rectified_steps(journal, runs.value[run, : ends[middle]], guess)
            if anytime_share(part).width / 2 <= TARGET:
                right = middle
            else:
                left = middle + 1
        part = rectified_steps(journal, runs.value[run, : ends[left]], guess)
        labels[run] = ends[left]
        low[run], high[run] = anytime_share(part)
    return Stopped(labels=labels, low=low, high=high)


def _ever_missed(runs: Sessions, guess: np.ndarray, share: float) -> float:
    """Return the share of runs in which the truth is refuted after some label."""
    missed = 0
    for run in range(len(runs.stratum)):
        steps = rectified_steps(runs.journal(run), runs.value[run], guess)
        bets = 1.25 * TARGET / moments_before(steps.z)[1][:-1]
        mirror = mirrored(steps, bets)
        rise = capital(steps.z, steps.low, bets, share).max()
        missed += max(rise, capital(mirror.z, mirror.low, bets, 1 - share).max()) >= 40
    return missed / len(runs.stratum)
