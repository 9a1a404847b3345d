"""Long simulations of what ``analyse`` reports: every interval."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from tallystick.papers.dynamic_benchmarks.designs import vote
from tallystick.verbs.dynamic.analyse import paired_change, share_wrong

REPETITIONS = 2000
LEAST = binom.ppf(1e-4, REPETITIONS, 0.95) / REPETITIONS


def panel(rng, models, items, rate, rho):
    """Error sets of models that share difficulty, each wrong on *rate* of the items on average."""
    shared, own = rng.standard_normal(items), rng.standard_normal((models, items))
    return rho**0.5 * shared + (1 - rho) ** 0.5 * own > norm.isf(rate)


def truths(models, rate, rho):
    """The shares of items that the majority, and that all, get wrong, by quadrature."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    chance = norm.cdf((rho**0.5 * nodes - norm.isf(rate)) / (1 - rho) ** 0.5)
    wrong = np.arange(models + 1)
    loss = np.where(2 * wrong > models, 1.0, np.where(2 * wrong == models, 0.5, 0.0))
    mass = binom.pmf(wrong[:, None], models, chance) @ weights / weights.sum()
    return float(loss @ mass), float(mass[-1])


@pytest.mark.slow
def test_the_shares_and_changes_of_a_log_cover(publish_coverage):
    """Risk of the majority, items that all get wrong, and paired changes."""
    rows = []
    for models, items, rate, rho in (
        (5, 200, 0.3, 0.5),
        (4, 200, 0.3, 0.5),
        (5, 100, 0.1, 0.7),
        (4, 100, 0.1, 0.3),
    ):
        rng = np.random.default_rng([models, items, int(100 * rate)])
        majority, together = truths(models, rate, rho)
        risks, alls, changes = [], [], []
        for _ in range(REPETITIONS):
            errors = panel(rng, models, items, rate, rho)
            risks.append(share_wrong(vote(list(errors)), 0.05)[1])
            alls.append(share_wrong(errors.all(axis=0).astype(float), 0.05)[1])
            changes.append(
                paired_change(errors[0].astype(float), errors[1].astype(float), "before").interval
            )
        setting = f"{models} models, {items} items, wrong on {rate:g}, rho {rho:g}"
        for what, truth, intervals in (
            ("majority risk", majority, risks),
            ("wrong together", together, alls),
            ("paired change", 0.0, changes),
        ):
            rows.append(
                {
                    "what": what,
                    "panel": setting,
                    "truth": truth,
                    "coverage": np.mean([truth in i for i in intervals]),
                    "mean width": np.mean([i.width for i in intervals]),
                    "guarantee": intervals[0].guarantee,
                }
            )
    publish_coverage(
        "dynamic-log",
        f"What `dynamic analyse` reports of a log, nominal .95, {REPETITIONS} repetitions a row."
        " Majorities of an even number of models have ties that count one half, so their interval"
        " is Student's with pseudo-items; of an odd number it is exact.",
        rows,
    )
    for row in rows:
        assert row["coverage"] >= (LEAST if row["guarantee"] != "approximate" else 0.93), row
