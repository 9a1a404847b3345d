"""How often intervals for shares and means hold: by enumeration where that is possible, else by
simulation.

An exact interval is held to its level at every share, also just beside the ends of its intervals,
where coverage jumps and its minimum lies."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln, xlog1py, xlogy
from scipy.stats import binom, hypergeom, t

from tallystick._rng import as_rng
from tallystick.stats.anytime import betting
from tallystick.stats.intervals import clopper_pearson, pseudo_t, wilson
from tallystick.stats.urns import hypergeometric, hypergeometric_strata

ROUNDING = 1e-12


def chances(n, p):
    """P(X = x) for every x, one row a share."""
    x = np.arange(n + 1)
    log = (
        gammaln(n + 1)
        - gammaln(x + 1)
        - gammaln(n - x + 1)
        + xlogy(x, p[:, None])
        + xlog1py(n - x, -p[:, None])
    )
    return np.exp(log)


def coverage(found, p):
    """Coverage at each share p of the intervals for 0, 1, .. n successes."""
    inside = (found.low <= p[:, None]) & (p[:, None] <= found.high)
    return (chances(len(found) - 1, p) * inside).sum(axis=1)


def shares(found, low, high, steps):
    """A grid of shares, and the shares just beside each end."""
    ends = np.concatenate([found.low, found.high])
    beside = np.concatenate([ends, np.nextafter(ends, 0), np.nextafter(ends, 1)])
    return np.concatenate(
        [np.linspace(low, high, steps), beside[(beside >= low) & (beside <= high)]]
    )


@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_clopper_pearson_holds_at_every_size_and_share(alpha):
    for n in range(2, 61):
        found = clopper_pearson(np.arange(n + 1), n, alpha=alpha)
        assert coverage(found, shares(found, 0, 1, 501)).min() >= 1 - alpha - ROUNDING, n


def hypergeometric_misses(n, k, alpha):
    """The largest chance, over every K, that the interval from k of n misses K/n."""
    low, high = np.array([tuple(hypergeometric(x, k, n, alpha=alpha)) for x in range(k + 1)]).T
    right = np.arange(n + 1)
    chance = hypergeom.pmf(np.arange(k + 1), n, right[:, None], k)
    share = right[:, None] / n
    return (chance * ~((low <= share) & (share <= high))).sum(axis=1).max()


def test_a_finite_population_is_covered_at_every_size_count_and_sample():
    for n in range(1, 16):
        for k in range(n + 1):
            assert hypergeometric_misses(n, k, 0.05) <= 0.05 + ROUNDING, (n, k)


def strata_misses(n1, n2, k1, k2, alpha):
    """The largest chance, over every (K1, K2), that the two-stratum interval misses their sum."""
    x = np.array(list(product(range(k1 + 1), range(k2 + 1))))
    found = hypergeometric_strata(x, [k1, k2], [n1, n2], alpha=alpha)
    worst = 0.0
    for right in product(range(n1 + 1), range(n2 + 1)):
        chance = hypergeom.pmf(x[:, 0], n1, right[0], k1) * hypergeom.pmf(x[:, 1], n2, right[1], k2)
        worst = max(worst, chance[~found.covers(sum(right) / (n1 + n2))].sum())
    return worst


@pytest.mark.parametrize(("n1", "n2"), [(6, 4), (9, 3), (12, 8)])
@pytest.mark.parametrize("alpha", [0.05, 0.2])
def test_two_strata_are_covered_at_every_division_and_sample(n1, n2, alpha):
    for k1, k2 in product(range(0, n1 + 1, 2), range(0, n2 + 1, 2)):
        assert strata_misses(n1, n2, k1, k2, alpha) <= alpha + ROUNDING, (k1, k2)


def test_betting_on_coins_holds_over_every_sequence():
    """All 2^10 sequences, so that the order is exact too."""
    n, alpha = 10, 0.2
    rows = np.array(list(product([0.0, 1.0], repeat=n)))
    found = betting(rows, alpha=alpha)
    ends = np.unique(np.concatenate([found.low, found.high]))
    p = np.unique(np.clip(np.concatenate([np.linspace(0, 1, 101), ends - 1e-7, ends + 1e-7]), 0, 1))
    x = rows.sum(axis=1)
    for share in p:
        chance = share**x * (1 - share) ** (n - x)
        assert chance[~found.covers(share)].sum() <= alpha + ROUNDING, share


WILSON_FLOOR = 0.83
"""Least coverage over shares in [.001, .5], any n of the table, nominal .95."""
SIZES = (5, 10, 20, 30, 60, 100, 200, 500, 1000)


def wilson_row(n):
    found = wilson(np.arange(n + 1), n)
    grid = np.linspace(0.001, 0.5, 20_001)
    every = shares(found, 0.001, 0.5, 2001)
    at = coverage(found, every)
    return {
        "method": "wilson",
        "n": n,
        "mean": float(coverage(found, grid).mean()),
        "minimum": float(at.min()),
        "at p": float(every[at.argmin()]),
    }


def test_wilson_is_right_on_average():
    for n in (5, 20, 100):
        row = wilson_row(n)
        assert row["mean"] >= 0.945, row
        assert row["minimum"] >= WILSON_FLOOR, row


def test_wilson_falls_to_85_percent_at_20_items_and_a_share_of_8_in_1000():
    found = wilson(np.arange(21), 20)
    assert coverage(found, np.array([0.008]))[0] == pytest.approx(0.8516, abs=1e-4)


@pytest.mark.slow
def test_publish_exact_intervals_for_a_share(publish_coverage):
    rows = []
    for n in (2, 5, 10, 20, 40, 60):
        found = clopper_pearson(np.arange(n + 1), n)
        at = coverage(found, shares(found, 0, 1, 5001))
        assert at.min() >= 0.95 - ROUNDING
        width = (chances(n, np.linspace(0, 1, 101)) * found.width).sum(axis=1).mean()
        rows.append(
            {
                "method": "clopper-pearson",
                "n": n,
                "minimum": float(at.min()),
                "mean width": float(width),
            }
        )
    publish_coverage(
        "binomial-exact",
        "Least coverage over every share in [0, 1], by enumeration, nominal 0.95; the shares just"
        " beside each end, where the minimum lies, are included. Every n from 2 to 60 is held to"
        " nominal; these are shown.",
        rows,
    )


@pytest.mark.slow
def test_publish_approximate_intervals_for_a_share(publish_coverage):
    rows = []
    for n in SIZES:
        row = wilson_row(n)
        assert row["mean"] >= 0.945, row
        assert row["minimum"] >= WILSON_FLOOR, row
        rows.append(row)
    publish_coverage(
        "binomial-approximate",
        "Coverage over shares uniform on [0.001, 0.5], by enumeration, nominal 0.95: the mean, the"
        " minimum and where it lies. Every mean is at least 0.945. Wilson covers a share of 0.008 at"
        " n = 20 with 0.85.",
        rows,
    )


@pytest.mark.slow
def test_publish_finite_populations(publish_coverage):
    rows = []
    for n in (5, 10, 20, 30, 40):
        worst = max(hypergeometric_misses(n, k, 0.05) for k in range(n + 1))
        assert worst <= 0.05 + ROUNDING
        rows.append({"interval": "hypergeometric", "items": str(n), "minimum": 1 - worst})
    for n1, n2 in ((6, 4), (10, 5), (14, 6), (15, 15)):
        worst = max(
            strata_misses(n1, n2, k1, k2, 0.05)
            for k1, k2 in product(range(0, n1 + 1, 2), range(0, n2 + 1, 2))
        )
        assert worst <= 0.05 + ROUNDING
        rows.append({"interval": "two strata", "items": f"{n1} + {n2}", "minimum": 1 - worst})
    publish_coverage(
        "finite-exact",
        "Least coverage over every number of right items and every number of labels (two strata:"
        " every division, every other number of labels), by enumeration, nominal 0.95.",
        rows,
    )


DISTRIBUTIONS = {
    "coin .5": (0.5, lambda rng, size: (rng.random(size) < 0.5).astype(float)),
    "coin .1": (0.1, lambda rng, size: (rng.random(size) < 0.1).astype(float)),
    "coin .01": (0.01, lambda rng, size: (rng.random(size) < 0.01).astype(float)),
    "uniform": (0.5, lambda rng, size: rng.random(size)),
    "beta(8, 2)": (0.8, lambda rng, size: rng.beta(8, 2, size=size)),
    "beta(.1, .9)": (0.1, lambda rng, size: rng.beta(0.1, 0.9, size=size)),
}


def allowed_misses(reps, alpha):
    """The number of misses that a true rate of alpha exceeds with chance 1e-4."""
    return binom.ppf(1 - 1e-4, reps, alpha)


def betting_row(name, n, reps, rng):
    truth, draw = DISTRIBUTIONS[name]
    values = draw(rng, (reps, n))
    found = betting(values)
    missed = int((~found.covers(truth)).sum())
    row = {
        "values": name,
        "n": n,
        "coverage": 1 - missed / reps,
        "median width": np.median(found.width),
    }
    mean, reach = values.mean(axis=1), np.sqrt(np.log(2 / 0.05) / (2 * n))
    hoeffding = np.minimum(mean + reach, 1) - np.maximum(mean - reach, 0)
    assert missed <= allowed_misses(reps, 0.05), row
    return row | {"hoeffding width": float(np.median(hoeffding))}


@pytest.mark.parametrize("name", ["coin .1", "beta(8, 2)"])
def test_betting_holds(name):
    betting_row(name, 100, 2000, as_rng(11))


@pytest.mark.slow
def test_publish_betting(publish_coverage):
    reps, rng = 4000, as_rng(12)
    rows = [betting_row(name, n, reps, rng) for name, n in product(DISTRIBUTIONS, (30, 200, 1000))]
    publish_coverage(
        "betting",
        f"Share of {reps} seeded repetitions in which the betting interval holds, nominal 0.95.",
        rows,
    )


@pytest.mark.slow
def test_publish_pseudo_t(publish_coverage):
    """Paired differences of scores: mostly small, sometimes far away."""
    reps, rng = 10_000, as_rng(13)
    rows = []
    for rare, n in product((0.02, 0.05, 0.2, 1.0), (20, 50, 200, 1000)):
        far = rng.beta(4, 1, size=(reps, n)) * np.where(rng.random((reps, n)) < 0.7, 1, -1)
        values = np.where(rng.random((reps, n)) < rare, far, 0.0)
        truth = rare * 0.8 * 0.4
        mean, variance = values.mean(axis=1), values.var(axis=1, ddof=1)
        found = pseudo_t(mean, variance, n, bounds=(-1, 1))
        half = t.ppf(0.975, n - 1) * np.sqrt(variance / n)
        row = {"values that differ": rare, "n": n, "coverage": float(found.covers(truth).mean())}
        row |= {
            "plain t": float((np.abs(mean - truth) <= half).mean()),
            "median width": float(np.median(found.width)),
        }
        rows.append(row)
    held = [row["coverage"] for row in rows]
    assert np.mean(held) >= 0.945
    assert min(held) >= 0.92
    publish_coverage(
        "pseudo-t",
        f"Coverage over {reps} seeded repetitions of the mean of differences in [-1, 1], nominal"
        f" 0.95: a share of the values differs from 0, by much. Mean {np.mean(held):.4f}, minimum"
        f" {min(held):.4f}.",
        rows,
    )
