"""Step-down max-T on leaderboards with exact ties: family-wise error and simultaneous intervals, by
simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ndtri

from tallystick.stats.maxt import pairwise_max_t

RUNS = 2000
WORST = 138  # a binomial count of 2000 at .05 lies above this once in 10,000 times

SETTINGS = {
    "20 equal models": [0.7] * 20,
    "4 tied groups of 5": [0.5] * 5 + [0.6] * 5 + [0.7] * 5 + [0.8] * 5,
    "10 tied, 10 spread": [0.6] * 10 + list(np.linspace(0.65, 0.95, 10)),
    "near the ceiling": [0.97] * 10 + [0.99] * 10,
}


@pytest.mark.slow
def test_max_t_holds_the_family_wise_error_with_exact_ties(publish_coverage):
    rows = []
    for n in (200, 1000):
        for shared in (0.0, 0.7):
            for seed, (name, truth) in enumerate(SETTINGS.items()):
                rows.append(
                    {"models": name, "items": n, "correlation": shared}
                    | _measure(truth, n, shared, seed)
                )
    publish_coverage(
        "max-t",
        f"Step-down max-T over all pairs of 20 models at α = .05, {RUNS} runs each, 1000 draws a"
        " run. *Family-wise error*: share of runs in which any pair of equal models is told apart."
        " *All intervals*: share of runs in which every simultaneous interval holds the true"
        " difference. *Told apart*: mean share of unequal pairs found. Correlation is that of the"
        " latent scores, which makes items easy or hard for all models at once.",
        rows,
    )
    for row in rows:
        assert row["family-wise error"] * RUNS <= WORST, row
        assert (1 - row["all intervals"]) * RUNS <= WORST, row


def _measure(truth, n, shared, seed):
    rng = np.random.default_rng([seed, n, int(10 * shared)])
    accuracy = np.asarray(truth)
    wrong = missed = 0
    found = []
    for _ in range(RUNS):
        latent = np.sqrt(shared) * rng.standard_normal((n, 1)) + np.sqrt(
            1 - shared
        ) * rng.standard_normal((n, 20))
        scores = (latent < ndtri(accuracy)).astype(float)
        tests = pairwise_max_t(
            scores.sum(axis=0), scores.T @ scores, n, rng=rng, draws=1000, width=1.0
        )
        gap = accuracy[tests.first] - accuracy[tests.second]
        told = tests.adjusted_p <= 0.05
        wrong += bool(np.any(told[gap == 0]))
        missed += not np.all((tests.low <= gap) & (gap <= tests.high))
        if np.any(gap != 0):
            found.append(told[gap != 0].mean())
    return {
        "family-wise error": wrong / RUNS,
        "all intervals": 1 - missed / RUNS,
        "told apart": float(np.mean(found)) if found else "",
    }
