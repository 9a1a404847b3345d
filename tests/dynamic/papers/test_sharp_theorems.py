from fractions import Fraction

import numpy as np
import pytest
from tests.exact_adversaries import disturbed_hierarchy, random_hierarchy, random_path

from tallystick.dynamic.papers import (
    any_rounds_bound,
    sharp_construction,
    sharp_hierarchical_bound,
    three_round_lemma,
)


def hierarchies(number, *, seed):
    """Yield as many adversaries, half with another initial distribution, and their mixing."""
    rng = np.random.default_rng(seed)
    sharp = {
        (mixing, shifted): [
            sharp_construction(
                Fraction(1, 10**k), mixing=mixing, distance=Fraction(1, 20) if shifted else None
            )
            for k in (3, 4, 6)
        ]
        for mixing in ("flat", "nested")
        for shifted in (False, True)
    }
    for k in range(number):
        mixing, shifted = ("flat", "nested")[k // 2 % 2], k % 2 == 1
        if k // 4 % 2:
            found = sharp[mixing, shifted]
            yield mixing, disturbed_hierarchy(found[k // 8 % len(found)], rng=rng)
        else:
            yield mixing, random_hierarchy(mixing=mixing, rng=rng, shifted=shifted)


def closest(number, *, seed):
    """Return the highest ratio of risk to bound, having checked that none exceeds 1."""
    worst = {"flat": Fraction(0), "nested": Fraction(0)}
    for mixing, cells in hierarchies(number, seed=seed):
        epsilon = max(cells.hierarchy_budgets(mixing))
        bound = sharp_hierarchical_bound(epsilon, cells.distance, mixing=mixing)
        risk = cells.hierarchy_risk()
        assert risk <= bound
        worst[mixing] = max(worst[mixing], risk / bound)
    return worst


def test_three_hundred_adversaries_stay_below_the_sharpened_theorem():
    worst = closest(300, seed=0)
    assert min(worst.values()) > Fraction(4, 5)  # some come near, so the test could fail


@pytest.mark.slow
def test_ten_thousand_adversaries_stay_below_the_sharpened_theorem():
    worst = closest(10_000, seed=1)
    assert min(worst.values()) > Fraction(9, 10)


def paths_hold(number, *, seed):
    rng = np.random.default_rng(seed)
    nearest = Fraction(0)
    for k in range(number):
        rounds = 3 + k % 6
        cells = random_path(rounds, rng=rng, shifted=k // 6 % 2 == 1)
        epsilon = max(cells.path_budgets(rounds))
        risk, bound = cells.path_risk(rounds), any_rounds_bound(epsilon, rounds, cells.distance)
        assert risk <= bound
        if rounds == 3:
            assert risk <= three_round_lemma(epsilon, cells.distance)
        nearest = max(nearest, risk / bound)
    return nearest


def test_three_hundred_paths_stay_below_the_bound_for_any_rounds():
    assert paths_hold(300, seed=0) > Fraction(1, 2)


@pytest.mark.slow
def test_ten_thousand_paths_stay_below_the_bound_for_any_rounds():
    assert paths_hold(10_000, seed=1) > Fraction(3, 4)
