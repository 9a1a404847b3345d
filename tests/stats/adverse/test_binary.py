"""The stratified adverse likelihood: its vectors, its laws, its coverage by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import gammaln

from tallystick.stats.adverse_binary import (
    adverse_shares,
    effective_labels,
    pseudo_label,
    raw_share_ends,
)

DIGITS = 5.01e-5

PAGES = 0.35
"""The factor of methods/score.md, which the raw ends of one stratum are printed for there."""

# sizes, labelled, passes, estimate, whole items, raw ends
WHOLE = [
    ([28, 80], [10, 20], [3, 19], 0.7815, (0.6574, 0.8704), (0.6630, 0.8629)),
    ([108], [30], [22], 0.7333, (0.5741, 0.8611), (0.5807, 0.8530)),
    ([15], [13], [0], 0.0, (0.0, 0.0667), (0.0, 0.0326)),
    ([400, 300, 300], [12, 9, 9], [12, 6, 1], 0.6333, (0.5030, 0.7560), None),
    ([200, 200, 100], [20, 12, 8], [20, 9, 1], 0.7250, (0.6000, 0.8280), None),
    ([400, 400, 200], [16, 10, 14], [16, 10, 14], 1.0, (0.8960, 1.0), None),
    ([30, 10], [10, 10], [9, 4], 0.7750, (0.5750, 0.8250), None),
]


def one(sizes, labelled, passes):
    """Return the estimate and both ends of one row of strata."""
    found, (low, high) = adverse_shares([sizes], [labelled], [passes])
    return float(found[0]), (float(low[0]), float(high[0]))


def raw(sizes, labelled, passes):
    n, k, x = (np.array([part], dtype=float) for part in (sizes, labelled, passes))
    share = np.divide(x, k, out=np.zeros_like(x), where=k > 0)
    star = effective_labels(n, k, k == n)
    low, high = raw_share_ends(n, star, share, pseudo=PAGES)
    return low[0], high[0]


@pytest.mark.parametrize(("sizes", "labelled", "passes", "estimate", "ends", "raw_ends"), WHOLE)
def test_the_vectors_of_the_page_are_reached(sizes, labelled, passes, estimate, ends, raw_ends):
    found, interval = one(sizes, labelled, passes)
    assert found == pytest.approx(estimate, abs=DIGITS)
    assert interval == pytest.approx(ends, abs=DIGITS)
    if raw_ends:
        assert raw(sizes, labelled, passes) == pytest.approx(raw_ends, abs=DIGITS)


def test_one_stratum_sees_half_a_label_and_strata_worth_the_name_see_the_pages_factor():
    shares = [0.0, 0.001, 0.01, 0.03, 0.049, 0.26, 0.5]
    found = pseudo_label(np.array([[1 - small, small] for small in shares]))
    assert found[0] == 0.5
    assert (np.diff(found[:5]) < 0).all()
    assert (found[4:] == PAGES).all()


@st.composite
def counts(draw):
    strata = draw(st.integers(1, 4))
    sizes = [draw(st.integers(1, 60)) for _ in range(strata)]
    labelled = [draw(st.integers(0, n)) for n in sizes]
    return sizes, labelled, [draw(st.integers(0, k)) for k in labelled]


@given(counts())
def test_all_labels_give_the_mean(data):
    sizes, _, passes = data
    right = [min(x, n) for x, n in zip(passes, sizes, strict=True)]
    mean = sum(right) / sum(sizes)
    assert one(sizes, sizes, right) == (mean, (mean, mean))


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
    _, (low, high) = adverse_shares(
        np.tile(sizes, (len(a), 1)), np.stack([a, m - a], axis=1), np.stack([x1, x2], axis=1)
    )
    for r1, r2 in rights:
        ways = choose(r1, x1) + choose(n1 - r1, a - x1) + choose(r2, x2)
        ways = ways + choose(n2 - r2, m - a - x2) - choose(n1 + n2, np.array(m))
        true = (r1 + r2) / (n1 + n2)
        yield np.exp(ways) @ ((low <= true + 1e-12) & (true - 1e-12 <= high))


@pytest.mark.parametrize("sizes", [(2, 2), (6, 1), (5, 5), (9, 4), (12, 8)])
def test_coverage_is_held_over_every_outcome_population_and_number_of_labels(sizes):
    rights = list(product(range(sizes[0] + 1), range(sizes[1] + 1)))
    held = [c for m in range(1, sum(sizes) + 1) for c in enumerated(sizes, m, rights)]
    # Approximate intervals promise .925 at worst; on these grids the worst is .973.
    assert min(held) >= 0.925
    assert min(held) >= 0.97
