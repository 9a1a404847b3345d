"""Which of k models is the best, within two points: labels where the live models differ."""

from __future__ import annotations

from typing import Any

import numpy as np
from label_sets import Population, Table, populations

from tallystick.sampling.labels import advance, contest_of, contested_draws, start

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
        "(page) is methods/label.md.",
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
