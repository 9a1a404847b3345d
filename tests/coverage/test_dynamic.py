"""Long simulations of what ``analyse`` reports: every interval, the null of the overlap, and the
test of fit."""

import numpy as np
import pytest
from scipy.stats import binom, norm
from tallystick.dynamic.probit import fit_correlation

from tallystick.dynamic.analyse import _mean_interval
from tallystick.dynamic.population import vote
from tallystick.dynamic.similarity import overlap_test
from tallystick.dynamic.validators import noise_share

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
    """Risk of the majority, items that all get wrong, forgetting, and the set of shares of a
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
            risks.append(_mean_interval(vote(list(errors)), 0.05, (0.0, 1.0)))
            alls.append(_mean_interval(errors.all(axis=0).astype(float), 0.05, (0.0, 1.0)))
            changes.append(_mean_interval(errors[1].astype(float) - errors[0], 0.05, (-1.0, 1.0)))
        setting = f"{models} models, {items} items, wrong on {rate:g}, rho {rho:g}"
        for what, truth, intervals in (
            ("majority risk", majority, risks),
            ("wrong together", together, alls),
            ("forgetting", 0.0, changes),
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
def test_the_null_of_the_overlap_and_the_test_of_fit_have_their_size(publish_coverage):
    rows = []
    for models, items, rate in ((4, 100, 0.2), (5, 200, 0.3)):
        rng = np.random.default_rng([models, items])
        inside, small = [], []
        for _ in range(REPETITIONS):
            found = overlap_test(rng.random((models, items)) < rate, rng=rng, permutations=99)
            small.append(found.p_value <= 0.05)
            if found.z is not None:
                inside.append(found.z_null[0] - 1e-9 <= found.z <= found.z_null[1] + 1e-9)
        setting = f"{models} independent models, {items} items, wrong on {rate:g}"
        rows.append(
            {
                "what": "z inside its null range of 95 %",
                "log": setting,
                "repetitions": len(inside),
                "share": np.mean(inside),
                "least": binom.ppf(1e-4, len(inside), 0.95) / len(inside),
                "most": 1.0,
            }
        )
        rows.append(
            {
                "what": "p of the overlap at most .05",
                "log": setting,
                "repetitions": REPETITIONS,
                "share": np.mean(small),
                "least": 0.0,
                "most": binom.isf(1e-4, REPETITIONS, 0.05) / REPETITIONS,
            }
        )
    rng = np.random.default_rng(5)
    refuted = [
        not fit_correlation(panel(rng, 5, 300, 0.3, 0.5), simulations=199, rng=rng).fits
        for _ in range(300)
    ]
    rows.append(
        {
            "what": "fit refuted at 1 %",
            "log": "5 models, 300 items, wrong on 0.3, rho 0.5, as the fit assumes",
            "repetitions": 300,
            "share": np.mean(refuted),
            "least": 0.0,
            "most": binom.isf(1e-4, 300, 0.01) / 300,
        }
    )
    publish_coverage(
        "dynamic-nulls",
        "Tests of `dynamic analyse` where there is nothing to find; *least* and *most* are where"
        " chance alone leaves the share with probability .9999.",
        rows,
    )
    for row in rows:
        assert row["least"] <= row["share"] <= row["most"], row


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
        rows.append(
            {
                "rho": rho,
                "items": items,
                "coverage": hits / REPETITIONS,
                "mean width": widths / REPETITIONS,
            }
        )
    publish_coverage(
        "dynamic-correlation",
        "Profile-likelihood interval of the shared difficulty, five models, nominal .95,"
        f" {REPETITIONS} repetitions.",
        rows,
    )
    for row in rows:
        assert row["coverage"] >= LEAST, row


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
