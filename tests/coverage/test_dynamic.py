"""Long simulations of what ``analyse`` reports: every interval."""

import numpy as np
import pytest
from scipy.stats import binom, norm

from tallystick.papers.dynamic_benchmarks.designs import vote
from tallystick.verbs.dynamic.analyse import mean_interval
from tallystick.verbs.dynamic.validators import noise_share

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
    """Risk of the majority, items that all get wrong, paired changes, and the set of shares of a
    filtered log."""
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
            risks.append(mean_interval(vote(list(errors)), 0.05, (0.0, 1.0)))
            alls.append(mean_interval(errors.all(axis=0).astype(float), 0.05, (0.0, 1.0)))
            changes.append(mean_interval(errors[1].astype(float) - errors[0], 0.05, (-1.0, 1.0)))
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
    rows += _filtered_rows()
    publish_coverage(
        "dynamic-log",
        f"What `dynamic analyse` reports of a log, nominal .95, {REPETITIONS} repetitions a row."
        " Majorities of an even number of models have ties that count one half, so their interval"
        " is Student's with pseudo-items; of an odd number it is exact. The last rows are the sets"
        " of shares of random labels that a filtered log allows.",
        rows,
    )
    for row in rows:
        assert row["coverage"] >= (LEAST if row["guarantee"] != "approximate" else 0.93), row


def _filtered_rows():
    """Two validators, a third where they disagree, and only items kept whose validators mostly
    agree with the label."""
    for share, error in ((0.1, 0.05), (0.3, 0.0), (0.3, 0.1)):
        rng = np.random.default_rng([int(100 * share), int(100 * error)])
        hits, widths, truths_ = 0, 0.0, []
        for _ in range(REPETITIONS):
            coin = rng.random(600) < share
            said = rng.random((3, 600)) < np.where(coin, 0.5, 1 - error)
            first = said[:2].sum(axis=0)
            agree, count = np.where(first == 1, first + said[2], first), np.where(first == 1, 3, 2)
            kept = 2 * agree > count
            found = noise_share(agree[kept], count[kept]).interval
            chance = [p**2 + 2 * p * (1 - p) * p for p in (0.5, 1 - error)]
            truth = share * chance[0] / (share * chance[0] + (1 - share) * chance[1])
            hits += truth in found
            widths += found.width
            truths_.append(truth)
        yield {
            "what": "random labels, filtered",
            "panel": f"600 items, {share:g} random, validators err on {error:g}",
            "truth": float(np.mean(truths_)),
            "coverage": hits / REPETITIONS,
            "mean width": widths / REPETITIONS,
            "guarantee": "under",
        }


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
            {
                "share": share,
                "validator error": error,
                "validators": validators,
                "items": items,
                "coverage": hits / REPETITIONS,
                "mean width": widths / REPETITIONS,
            }
        )
    publish_coverage(
        "dynamic-noise",
        f"Profile-likelihood interval of the share of random labels, nominal .95, {REPETITIONS}"
        " repetitions.",
        rows,
    )
    for row in rows:
        assert row["coverage"] >= LEAST, row
