"""The stratified adverse likelihood: its vectors, its laws, its definition by plain halving, and
its coverage by enumeration; and the strata made from a consensus.
"""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from tallystick.stats.adverse_binary import adverse_mean, graded_strata, least_mean

DIGITS = 5.01e-5

# sizes, labelled, passes, estimate, whole items
WHOLE = [
    ([28, 80], [10, 20], [3, 19], 0.7815, (0.6574, 0.8704)),
    ([108], [30], [22], 0.7333, (0.5741, 0.8611)),
    ([15], [13], [0], 0.0, (0.0, 0.0667)),
    ([400, 300, 300], [12, 9, 9], [12, 6, 1], 0.6333, (0.5030, 0.7560)),
    ([200, 200, 100], [20, 12, 8], [20, 9, 1], 0.7250, (0.6000, 0.8280)),
    ([400, 400, 200], [16, 10, 14], [16, 10, 14], 1.0, (0.8960, 1.0)),
    ([30, 10], [10, 10], [9, 4], 0.7750, (0.5750, 0.8250)),
    # A stratum of a hundredth hardly counts, so nearly half a label is seen (AL2).
    ([990, 10], [12, 3], [0, 0], 0.0, (0.0, 0.2260)),
]


def passes(sizes, labelled, right):
    """Return the estimate and both ends of labels that are passes and fails."""
    strata = zip(labelled, right, strict=True)
    labels = np.concatenate([np.arange(k) < x for k, x in strata]).astype(float)
    found = adverse_mean(labels, np.repeat(np.arange(len(sizes)), labelled), sizes, pass_fail=True)
    return found.estimate, tuple(found.interval)


@pytest.mark.parametrize(("sizes", "labelled", "right", "estimate", "ends"), WHOLE)
def test_the_vectors_of_the_page_are_reached(sizes, labelled, right, estimate, ends):
    found, interval = passes(sizes, labelled, right)
    assert found == pytest.approx(estimate, abs=DIGITS)
    assert interval == pytest.approx(ends, abs=DIGITS)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=4), st.integers(0, 60))
def test_all_labels_give_the_mean(sizes, most):
    right = [min(most, n) for n in sizes]
    mean = sum(right) / sum(sizes)
    assert passes(sizes, sizes, right) == (mean, (mean, mean))


def choose(n, k):
    possible = (k >= 0) & (k <= n)
    k = np.where(possible, k, 0)
    return np.where(possible, gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1), -np.inf)


def enumerated(sizes, m, rights):
    """Coverage of every population in *rights*, summed over all outcomes of m random labels."""
    n1, n2 = sizes
    outcomes = [
        (a, x1, x2)
        for a in range(max(0, m - n2), min(m, n1) + 1)
        for x1, x2 in product(range(a + 1), range(m - a + 1))
    ]
    a, x1, x2 = np.array(outcomes).T
    low, high = np.array([passes(sizes, [a, m - a], [x1, x2])[1] for a, x1, x2 in outcomes]).T
    for r1, r2 in rights:
        ways = choose(r1, x1) + choose(n1 - r1, a - x1) + choose(r2, x2)
        ways = ways + choose(n2 - r2, m - a - x2) - choose(n1 + n2, np.array(m))
        true = (r1 + r2) / (n1 + n2)
        yield np.exp(ways) @ ((low <= true + 1e-12) & (true - 1e-12 <= high))


@pytest.mark.parametrize("sizes", [(2, 2), (6, 1), (5, 4)])
def test_coverage_is_held_over_every_outcome_population_and_number_of_labels(sizes):
    rights = list(product(range(sizes[0] + 1), range(sizes[1] + 1)))
    held = [c for m in range(1, sum(sizes) + 1) for c in enumerated(sizes, m, rights)]
    # Approximate intervals promise .925 at worst; on these grids the worst is .973.
    assert min(held) >= 0.97


def by_halving(strata, share, each, pseudo, bar):
    """(AL19) as it is written, with a halving for each ν inside one for μ."""

    def stratum(tilt, labels, w, a):
        size = a + w * len(labels)
        low, high = a * 1e-9, size
        for _ in range(200):
            nu = (low + high) / 2
            mass = a / nu + sum(w / (nu + tilt * d) for d in labels)
            low, high = (nu, high) if mass > 1 else (low, nu)
        lost = a * math.log(nu / size) + sum(w * math.log((nu + tilt * d) / size) for d in labels)
        return lost, sum(w * d / (nu + tilt * d) for d in labels)

    def both(t):
        found = [
            stratum(math.exp(t) * W, labels, w, pseudo * math.sqrt(W))
            for labels, W, w in zip(strata, share, each, strict=True)
        ]
        return 2 * sum(lost for lost, _ in found), sum(
            W * mean for W, (_, mean) in zip(share, found, strict=True)
        )

    low, high = -12.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if both(middle)[0] < bar else (low, middle)
    return both(high)[1]


def test_the_end_is_that_of_the_definition_with_ties():
    rng = np.random.default_rng(5)
    for _ in range(4):
        strata = [rng.choice([0.0, 1.0, 2.0], 6), rng.random(4), np.full(3, 0.5)]
        share, each = rng.dirichlet(np.ones(3)), rng.uniform(1, 2, 3)
        of = np.repeat(np.arange(3), [6, 4, 3])
        found = least_mean(np.concatenate(strata), of, each[of], share, 0.25, 3.84)
        assert found == pytest.approx(by_halving(strata, share, each, 0.25, 3.84), abs=1e-9)


def test_labels_at_the_least_value_have_the_least_mean():
    of = np.zeros(3, dtype=np.int64)
    assert least_mean(np.zeros(3), of, np.ones(3), np.full(2, 0.5), 0.25, 3.84) == 0.0


def test_where_most_items_are_labelled_grades_are_widened_by_one_item():
    found = adverse_mean([0.2, 0.8, 0.5, 0.9, 1, 0.4, 0.6, 0.3], [0] * 5 + [1] * 3, [7, 5])
    assert (found.estimate, *found.interval) == pytest.approx((0.577222, 0.391667, 0.725), abs=1e-6)


def test_a_stratum_without_labels_may_lie_anywhere():
    some = adverse_mean([1.0] * 20, [0] * 20, [100, 100])
    assert some.estimate == 1.0
    assert some.interval.low < 0.5
    assert some.interval.high == 1.0


@given(st.lists(st.integers(1, 5), min_size=1, max_size=60))
def test_equal_grades_stay_together_and_bins_follow_the_grades(grades):
    codes = graded_strata(grades)
    assert all(len(set(codes[np.array(grades) == g].tolist())) <= 1 for g in range(1, 6))
    assert (np.diff(codes[np.argsort(grades, kind="stable")]) >= 0).all()
    assert set(codes.tolist()) == set(range(codes.max() + 1))  # no empty bin is left
    values, counts = np.unique(grades, return_counts=True)
    assert graded_strata(values, counts)[np.searchsorted(values, grades)].tolist() == codes.tolist()


def test_the_cuts_are_the_third_and_two_third_quantiles():
    grades = np.arange(90) / 89
    low, high = np.quantile(grades, [1 / 3, 2 / 3])
    expected = np.where(grades < low, 0, np.where(grades < high, 1, 2))
    assert graded_strata(grades).tolist() == expected.tolist()
    # The middle of the second value lies exactly on a cut.
    assert graded_strata([0.1, 0.5, 0.9], counts=[1, 2, 3]).tolist() == [0, 1, 2]
