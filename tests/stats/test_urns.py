"""Exact tails of counts, of binomial laws and of urns, and the ranges of arguments."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import hypergeom

from tallystick.errors import InputError
from tallystick.stats.exact_tails import (
    at_least,
    binomial_above,
    binomial_up_to,
    closed_unit,
    open_unit,
    positive,
    whole,
)
from tallystick.stats.urns import (
    hypergeometric,
    hypergeometric_strata,
    smaller_tail,
)


@pytest.mark.parametrize(
    ("x", "k", "n"), [(8, 10, 40), (0, 5, 30), (5, 5, 30), (30, 50, 200), (12, 60, 3000)]
)
def test_the_ends_are_the_last_counts_that_neither_tail_excludes(x, k, n):
    found = hypergeometric(x, k, n)
    counts = np.arange(x, n - (k - x) + 1)
    kept = counts[
        (hypergeom.sf(x - 1, n, counts, k) > 0.025 * (1 - 1e-7))
        & (hypergeom.cdf(x, n, counts, k) > 0.025 * (1 - 1e-7))
    ]
    assert (round(found.low * n), round(found.high * n)) == (kept.min(), kept.max())


def two_stratum_tail(x, k, sizes, counts):
    """P(S >= s), summed over every outcome."""
    first, second = np.arange(k[0] + 1), np.arange(k[1] + 1)
    weight = [size / max(draws, 1) for size, draws in zip(sizes, k, strict=True)]
    reached = (
        weight[0] * first[:, None] + weight[1] * second
        >= weight[0] * x[0] + weight[1] * x[1] - 1e-9
    )
    chance = np.outer(
        hypergeom.pmf(first, sizes[0], counts[0], k[0]),
        hypergeom.pmf(second, sizes[1], counts[1], k[1]),
    )
    return (chance * reached).sum()


def least_over_divisions(x, k, sizes, alpha):
    """The least number of right items that no division excludes, every one tried."""
    inner = [hypergeometric(x[h], k[h], sizes[h], alpha=alpha * 0.05 / 2) for h in (0, 1)]
    ranges = [
        range(round(i.low * n), round(i.high * n) + 1) for i, n in zip(inner, sizes, strict=True)
    ]
    return min(
        k1 + k2
        for k1 in ranges[0]
        for k2 in ranges[1]
        if two_stratum_tail(x, k, sizes, (k1, k2)) > 0.95 * alpha * (1 - 1e-7)
    )


@pytest.mark.parametrize(
    ("x", "k", "sizes"),
    [((4, 1), (5, 4), (20, 12)), ((7, 0), (8, 3), (15, 9)), ((3, 3), (3, 3), (10, 30))],
)
def test_the_lower_end_of_two_strata_is_the_least_count_over_every_division(x, k, sizes):
    found = hypergeometric_strata(x, k, sizes, alpha=0.1)[0]
    assert round(found.low * sum(sizes)) == least_over_divisions(x, k, sizes, 0.05)


def test_strata_that_differ_are_worth_keeping_apart():
    apart = hypergeometric_strata([58, 4], [60, 40], [600, 400])[0]
    assert apart.width < 0.9 * hypergeometric(62, 100, 1000).width


def test_an_unlabelled_stratum_may_hold_anything():
    found = hypergeometric_strata([5, 0], [5, 0], [5, 5])[0]
    assert tuple(found) == (0.5, 1.0)


# The smaller hypergeometric tail, beside scipy's.


def test_small_urns_agree_with_scipy_everywhere() -> None:
    stats = pytest.importorskip("scipy.stats")
    for population, good, draws in ((12, 5, 7), (30, 30, 4), (9, 0, 3), (40, 13, 40), (1, 1, 1)):
        first, last = max(0, draws - (population - good)), min(draws, good)
        for seen in range(first, last + 1):
            law = stats.hypergeom(population, good, draws)
            expected = min(law.cdf(seen), law.sf(seen - 1))
            found = smaller_tail(seen, population, good, draws)
            # On the mean both tails are about a half, and either is far from unusual.
            assert found == pytest.approx(expected, rel=1e-9) or min(found, expected) > 0.2


def test_a_large_urn_takes_a_few_terms() -> None:
    stats = pytest.importorskip("scipy.stats")
    found = smaller_tail(49_000, 10_000_000, 5_000_000, 100_000)
    assert found == pytest.approx(stats.hypergeom.cdf(49_000, 10_000_000, 5_000_000, 100_000), 1e-6)
    assert np.isfinite(smaller_tail(0, 10_000_000, 5_000_000, 100_000))


def mass(n, p):
    rate = Fraction(p)
    return [comb(n, k) * rate**k * (1 - rate) ** (n - k) for k in range(n + 1)]


@settings(max_examples=30)
@given(n=st.integers(0, 40), p=st.floats(0, 1), data=st.data())
def test_both_tails_equal_the_exact_sums(n, p, data):
    k = data.draw(st.integers(-1, n))
    exact = mass(n, p)
    assert binomial_up_to(k, n, p) == pytest.approx(
        float(sum(exact[: k + 1])), rel=1e-12, abs=1e-300
    )
    assert binomial_above(k, n, p) == pytest.approx(
        float(sum(exact[k + 1 :])), rel=1e-12, abs=1e-300
    )


def test_a_far_tail_keeps_its_relative_precision():
    exact = sum(mass(400, "0.5")[300:])
    assert float(binomial_above(299, 400, 0.5)) == pytest.approx(float(exact), rel=1e-11)
    assert float(exact) < 1e-20


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (open_unit, [0.5, [0.1, 0.9]], [0, 1, -0.1, np.nan, [0.5, 1.0]]),
        (closed_unit, [0, 1, [0.0, 1.0]], [-1e-9, 1.1, np.nan]),
        (positive, [1e-300, 5], [0, -1, np.inf, np.nan]),
    ],
)
def test_a_range_accepts_its_inside_and_refuses_the_rest(check, good, bad):
    for value in good:
        check(argument=value)
    for value in bad:
        with pytest.raises(InputError, match="argument must be"):
            check(argument=value)


def test_whole_numbers_may_be_floats_but_not_fractions():
    whole(0, n=[0, 3.0])
    for value in (0.5, -1, np.inf, np.nan):
        with pytest.raises(InputError, match="n must be a whole number"):
            whole(0, n=value)


def test_at_least_names_its_limit():
    at_least(2, n=2)
    with pytest.raises(InputError, match=r"n must be at least 2 and finite, got 1\.5"):
        at_least(2, n=1.5)
