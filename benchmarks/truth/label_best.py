"""Which of k models is the best, within two points: labels where the live models differ."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.truth.label_sets import Population, Table, populations
from tallystick.sampling.contest import (
    Contest,
    advance,
    contest_of,
    contested_draws,
    judged_contest,
    start,
)

MODELS = {"adult": 4, "mushroom": 7, "twonorm": 6, "good3": 3, "llmbar": 6, "bluebirds": 8}
PAGE = {"adult": 330, "mushroom": 92, "twonorm": 1049, "good3": 413, "llmbar": 99, "bluebirds": 54}
EPSILON, MOST = 0.02, 1500


def best(*, runs: int, rng: np.random.Generator) -> Table:
    runs = min(runs, 40)
    rows = []
    for one in populations():
        if one.name in MODELS:
            rows.append(_row(one, runs, rng))
    notes = [
        "The best judges of each set as models. Mean labels until one is named that is within "
        f"{EPSILON:g} of the best, alpha .05, batches of 10, {runs} runs of at most {MOST} labels; "
        "(page) is the figure of the first design, measured before this code was written.",
        "wrong: the model that was named is further behind. open: nobody was named.",
    ]
    return "label-best", "The best of k models, within two points", rows, notes


def _row(one: Population, runs: int, rng: np.random.Generator) -> dict[str, Any]:
    assert one.votes is not None
    columns = one.top(MODELS[one.name])
    answers = one.votes[:, columns]
    contest = contest_of(answers, one.strata.of, guess=one.strata.guess)
    accuracy = (answers == one.truth[:, None]).mean(axis=0)
    labels, wrong, unnamed = np.empty(runs), 0, 0
    for run in range(runs):
        state = start(contest, epsilon=EPSILON)
        while state.named is None and state.drawn.size < MOST:
            batch = contested_draws(state, size=10, rng=rng)
            state = advance(state, batch, one.truth[batch])
        labels[run] = state.drawn.size
        if state.named is None:
            unnamed += 1
        else:
            wrong += accuracy[state.named] < accuracy.max() - EPSILON - 1e-12
    return {
        "set": one.name,
        "models": len(columns),
        "labels": float(labels.mean()),
        "(page)": PAGE[one.name],
        "wrong": wrong / runs,
        "open": unnamed / runs,
    }


SYSTEMS = {
    "3 apart": (0.85, 0.75, 0.6),
    "5 spread": (0.85, 0.8, 0.75, 0.7, 0.6),
    "5, two close": (0.85, 0.84, 0.7, 0.65, 0.6),
    "5 tied": (0.8,) * 5,
}
JUDGE = 0.85
"""How often each of the three judges is right."""


def judged(*, runs: int, rng: np.random.Generator) -> Table:
    """Name the best of several systems whose outputs three judges have graded."""
    runs = min(runs, 40)
    rows = [_judged_row(name, rates, runs, rng) for name, rates in SYSTEMS.items()]
    notes = [
        f"1000 items, three judges who are right on {JUDGE:g} of the outputs, {runs} runs. Mean "
        f"human grades until a system is named that is within {EPSILON:g} of the best, alpha .05, "
        "batches of 10 items; only systems that may still be the best are graded.",
        "without judges: the same with one stratum per system. all systems: had every system been "
        "graded on every drawn item. wrong: the system that was named is further behind.",
    ]
    return "label-best-judged", "The best of k systems that judges have graded", rows, notes


def _judged_row(
    name: str, rates: tuple[float, ...], runs: int, rng: np.random.Generator
) -> dict[str, Any]:
    n, k = 1000, len(rates)
    found: dict[str, list[float]] = {"grades": [], "all systems": [], "without judges": []}
    wrong = 0
    for _ in range(runs):
        truth = np.stack([rng.permutation(n) < round(rate * n) for rate in rates], axis=1)
        right = rng.random((n, k, 3)) < JUDGE
        votes = np.where(right, truth[:, :, None], ~truth[:, :, None]).sum(axis=2)
        guess = np.array([[0.98, 0.02], [0.85, 0.15], [0.15, 0.85], [0.02, 0.98]] * k)
        ours = judged_contest(votes + 4 * np.arange(k), guess=guess)
        alone = judged_contest(np.tile(np.arange(k), (n, 1)), guess=np.full((k, 2), 0.5))
        grades, items, named = _contest(ours, truth, rng)
        found["grades"].append(grades)
        found["all systems"].append(items * k)
        found["without judges"].append(_contest(alone, truth, rng)[0])
        wrong += truth[:, named].mean() < truth.mean(axis=0).max() - EPSILON - 1e-12
    means = {key: float(np.mean(values)) for key, values in found.items()}
    return {"systems": name, **means, "wrong": wrong / runs}


def _contest(contest: Contest, truth: np.ndarray, rng: np.random.Generator) -> tuple[int, int, int]:
    """Return grades, items, and who was named."""
    state, grades = start(contest, epsilon=EPSILON), 0
    while state.named is None:
        batch = contested_draws(state, size=10, rng=rng)
        grades += batch.size * int(state.live.sum())
        state = advance(state, batch, np.where(state.live, truth[batch].astype(float), np.nan))
    return grades, state.drawn.size, state.named
