"""Long simulations of the intervals of dynamic: the fitted correlation and the share of random labels."""

import numpy as np
import pytest
from scipy.stats import binom

from tallystick.dynamic import fit_correlation, noise_share

REPETITIONS = 2000


@pytest.mark.slow
def test_the_profile_interval_of_rho_covers(publish_coverage):
    rows = []
    for rho, items in ((0.4, 300), (0.6, 1000)):
        rng = np.random.default_rng(int(100 * rho) + items)
        hits, widths = 0, 0.0
        for _ in range(REPETITIONS):
            own = rng.standard_normal((5, items))
            errors = rho**0.5 * rng.standard_normal(items) + (1 - rho) ** 0.5 * own > 0.5
            interval = fit_correlation(errors, simulations=1, rng=0).interval
            hits += rho in interval
            widths += interval.width
        rows.append({"rho": rho, "items": items, "coverage": hits / REPETITIONS, "mean width": widths / REPETITIONS})
    publish_coverage(
        "dynamic-correlation",
        f"Profile-likelihood interval of the shared difficulty, five models, nominal .95, {REPETITIONS} repetitions.",
        rows,
    )
    for row in rows:
        assert row["coverage"] >= binom.ppf(1e-4, REPETITIONS, 0.95) / REPETITIONS, row


@pytest.mark.slow
def test_the_profile_interval_of_the_noise_share_covers(publish_coverage):
    rows = []
    for share, error, validators, items in (
        (0.1, 0.05, 3, 500),
        (0.3, 0.05, 3, 500),
        (0.3, 0.1, 5, 500),
        (0.5, 0.1, 3, 1000),
    ):
        rng = np.random.default_rng(int(100 * share) + validators + items)
        hits, widths = 0, 0.0
        for _ in range(REPETITIONS):
            agree = rng.binomial(validators, np.where(rng.random(items) < share, 0.5, 1 - error))
            interval = noise_share(agree, np.full(items, validators)).interval
            hits += share in interval
            widths += interval.width
        rows.append(
            {"share": share, "validator error": error, "validators": validators, "items": items,
             "coverage": hits / REPETITIONS, "mean width": widths / REPETITIONS}
        )  # fmt: skip
    publish_coverage(
        "dynamic-noise",
        f"Profile-likelihood interval of the share of random labels, nominal .95, {REPETITIONS} repetitions.",
        rows,
    )
    for row in rows:
        assert row["coverage"] >= binom.ppf(1e-4, REPETITIONS, 0.95) / REPETITIONS, row
