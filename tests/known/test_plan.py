"""Forecasts are those of the test that `compare` runs."""

import json
import re

import numpy as np
import pytest
from scipy.stats import binom

from tests.known.tables import write


@pytest.fixture
def tallystick(in_process):
    """Run a command with --json in an empty folder and return the object that it prints."""

    def run(*arguments):
        done = in_process(*arguments, "--json")
        assert not done.returncode
        return json.loads(done.stdout)

    return run


def power(n, difference, disagreement, alpha=0.05):
    """The power of McNemar's test by enumeration: mid-p where at most half of the items differ."""
    total = 0.0
    for m in range(int(binom.ppf(1e-9, n, disagreement)), int(binom.isf(1e-9, n, disagreement))):
        wins = np.arange(m + 1)
        least = np.minimum(wins, m - wins)
        p = 2 * binom.cdf(least, m, 0.5)
        p = p - binom.pmf(least, m, 0.5) * (2 * wins != m) if 2 * m <= n else p
        lean = (1 + difference / disagreement) / 2
        total += binom.pmf(m, n, disagreement) * binom.pmf(wins, m, lean)[p <= alpha].sum()
    return total


def test_the_headline_of_a_plan_has_the_power_that_it_says(tallystick):
    answer = tallystick("plan", "--difference", ".05", "--disagreement", ".2")
    items = answer["n_items"]
    assert answer["verdict"].startswith(f"About {items} items show a difference of 5.0 points")
    assert power(items, 0.05, 0.2) >= 0.8 > power(items - 20, 0.05, 0.2)
    assert power(items, 0.05, 0.2) < 0.81


def bounded(n, lead, spread, seed):
    """Scores of two models between 0 and 1 whose difference has this mean and spread."""
    rng = np.random.default_rng(seed)
    old = rng.uniform(0.3, 0.5, n)
    gap = rng.uniform(-1, 1, n)
    gap = (gap - gap.mean()) / max(gap.std(ddof=1), 1e-9)
    return {"id": range(n), "old": old, "new": old + lead + spread * gap}


@pytest.mark.parametrize("n", [8, 12, 16, 24])
def test_few_bounded_scores_are_not_settled_by_one_more_item(tallystick, n):
    """From 8 to 40 items on, all of them said "about 1 more item"."""
    lead, spread = 0.02, 0.06
    write("t.csv", bounded(n, lead, spread, 0))
    answer = tallystick("compare", "t.csv", "--bounds", "0,1")
    assert answer["decision"] == "undecided"
    more = answer["needed"]["count"]
    assert more > 1

    def settled(items):
        write("t.csv", bounded(items, lead, spread, 1))
        return tallystick("compare", "t.csv", "--bounds", "0,1")["decision"] == "decided"

    assert settled(n + more + 1)
    assert not settled(n + 1)


def test_with_as_many_items_as_forecast_most_comparisons_are_settled(tallystick):
    rng = np.random.default_rng(0)

    def decided(n):
        old = rng.uniform(0.3, 0.5, n)
        write("t.csv", {"id": range(n), "old": old, "new": old + rng.normal(0.05, 0.1, n)})
        return tallystick("compare", "t.csv", "--bounds", "0,1")["decision"] == "decided"

    write("t.csv", bounded(12, 0.05, 0.1, 0))
    size = 12 + tallystick("compare", "t.csv", "--bounds", "0,1")["needed"]["count"]
    # Power .8: fewer than 22 of 40 have the probability .0001, and so have all 40.
    assert 22 <= sum(decided(size) for _ in range(40)) <= 39


def test_right_and_wrong_are_forecast_with_the_test_that_compare_runs(tallystick):
    old = np.array([1] * 60 + [0] * 20 + [1] * 10 + [0] * 10)
    new = np.array([1] * 60 + [0] * 20 + [0] * 10 + [1] * 10)
    new[60:63] = 1
    write("t.csv", {"id": range(100), "old": old, "new": new})
    answer = tallystick("compare", "t.csv")
    assert answer["decision"] == "undecided"
    size, gap, apart = 100 + answer["needed"]["count"], 0.03, 0.23
    assert power(size, gap, apart) >= 0.8 > power(size - 40, gap, apart)


def test_few_items_are_not_called_skewed(tallystick):
    rng = np.random.default_rng(0)
    common = rng.normal(100, 5, 20)
    write("t.csv", {"old": common, "new": common + rng.normal(0.5, 3, 20)})
    answer = tallystick("compare", "t.csv")
    said = json.dumps(answer, ensure_ascii=False)
    assert "skewed" not in said
    assert "mean difference" not in said
    assert "exact sign test" in answer["verdict"]


def test_scores_that_are_skewed_are_still_called_so(tallystick):
    rng = np.random.default_rng(0)
    common = rng.lognormal(6, 1.6, 60)
    write("t.csv", {"old": common, "new": common * rng.lognormal(0, 0.3, 60)})
    said = json.dumps(tallystick("compare", "t.csv", "--lower-is-better"))
    assert re.search(r"by 60 items: scores this skewed need about [\d,]+", said)
