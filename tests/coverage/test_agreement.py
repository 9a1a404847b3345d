"""Coverage of the agreement intervals for new items, on populations with known pattern shares."""

from __future__ import annotations

import itertools
from functools import partial

import numpy as np
import pytest

from tallystick.stats.agreement import (
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    raw_agreement,
)

REPETITIONS = 2000
SIZES = (10, 20, 50, 200)
STATISTICS = {
    "raw": raw_agreement,
    "cohen": cohen_kappa,
    "fleiss": fleiss_kappa,
    "ac1": gwet_ac1,
    "alpha": krippendorff_alpha,
    "alpha, ordinal": partial(krippendorff_alpha, metric="ordinal"),
}
# Label shares, raters, and how often a rater gives the true label (the rest is spread evenly).
POPULATIONS = {
    "two labels, .85": ((0.5, 0.5), 3, 0.85),
    "rare label, .9": ((0.9, 0.1), 3, 0.9),
    "near perfect": ((0.6, 0.4), 4, 0.98),
    "four labels, .75": ((0.4, 0.3, 0.2, 0.1), 3, 0.75),
    "no better than chance": ((0.5, 0.5), 4, 0.5),
}


def population(shares, raters, right):
    """Return all patterns and the chance of each."""
    labels = len(shares)
    patterns = np.array(list(itertools.product(range(labels), repeat=raters)))
    table = np.full((labels, labels), (1 - right) / (labels - 1))
    np.fill_diagonal(table, right)
    chance = sum(share * table[y, patterns].prod(axis=1) for y, share in enumerate(shares))
    return patterns, chance / chance.sum()


def covered(name, statistic, patterns, chance, n, rng):
    """Return how often the interval holds the population's value, and its mean width."""
    labels = int(patterns.max()) + 1
    if name == "cohen":
        patterns = patterns[:, :2]
    known = statistic(patterns, np.rint(1e12 * chance), n_labels=labels).estimate
    hits, width = 0, 0.0
    for counts in rng.multinomial(n, chance, REPETITIONS):
        interval = statistic(patterns, counts, n_labels=labels).interval
        hits += known in interval
        width += interval.width
    return hits / REPETITIONS, width / REPETITIONS


@pytest.mark.slow
def test_intervals_hold_on_average_and_in_the_worst_population(publish_coverage):
    rows, shares = [], []
    for place, (name, parts) in enumerate(POPULATIONS.items()):
        patterns, chance = population(*parts)
        for n in SIZES:
            row = {"population": name, "items": n}
            for which, statistic in STATISTICS.items():
                rng = np.random.default_rng([place, n])
                share, width = covered(which, statistic, patterns, chance, n, rng)
                row[which] = share
                row[f"width of {which}"] = round(width, 2)
                shares.append(share)
            rows.append(row)
    sentence = (
        f"Share of {REPETITIONS:,} tables whose 95% interval holds the value of the population, "
        "and mean width. Approximate: the hull of three jackknife-t intervals; raw agreement of "
        "two raters would be exact."
    )
    publish_coverage("agreement", sentence, rows)
    assert np.mean(shares) >= 0.96
    assert min(shares) >= 0.93
