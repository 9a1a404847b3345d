"""Intervals for shares and means: formulas, laws, and the capital that refutes a mean."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import comb, ndtr
from scipy.stats import t

from tallystick._rng import as_rng
from tallystick.results import Interval
from tallystick.stats.anytime import RateTest, betting, rate_log_e
from tallystick.stats.bets import (
    LAMBDAS,
    PSI,
    Wagers,
    average_log_e,
    bounded_mean_interval,
    bounded_mean_log_e,
    e_holm,
    p_from_log_e,
    stakes_before,
)
from tallystick.stats.intervals import (
    Intervals,
    as_unit,
    from_unit,
    mover_sum,
    pseudo_t,
    score_ends,
    wilson,
)


def some() -> Intervals:
    return Intervals(
        np.array([0.1, 0.4]), np.array([0.3, 0.9]), level=0.9, guarantee="exact", method="m"
    )


def test_an_entry_is_an_interval_with_the_same_promise():
    assert some()[1] == Interval(0.4, 0.9, level=0.9, guarantee="exact", method="m")


def test_covering_is_closed_at_both_ends():
    assert some().covers(0.3).tolist() == [True, False]
    assert some().covers([0.1, 0.9]).tolist() == [True, True]


@pytest.mark.parametrize(
    ("x", "n", "q"), [(3, 10, 1.96), (1, 1000, 2.5), (7.25, 11.5, 4.3), (10, 10, 1.0)]
)
def test_each_end_solves_the_score_equation(x, n, q):
    found = wilson(x, n, alpha=2 * float(ndtr(-q)))
    for end in found:
        if 0 < end < 1:
            assert abs(x / n - end) == pytest.approx(q * np.sqrt(end * (1 - end) / n), rel=1e-12)


def test_the_ends_of_the_scale_are_met_exactly():
    assert wilson(0, 7).low == 0
    assert wilson(7, 7).high == 1


def test_a_tiny_share_keeps_all_its_digits():
    # At x = 1 of n = 10^12 the lower end is p^2 / (p + r/2 + sqrt(p r + r^2/4)); the textbook form
    # loses 8 digits here.
    p, r = 1e-12, 1.96**2 * 1e-12
    expected = p**2 / (p + r / 2 + np.sqrt(p * r + r**2 / 4))
    assert wilson(1, 1e12, alpha=2 * float(ndtr(-1.96))).low == pytest.approx(expected, rel=1e-11)


def test_no_labels_say_nothing_and_endless_labels_say_all():
    low, high = score_ends(np.array([0.25, 0.25]), np.array([0.0, np.inf]), np.array(1.96))
    assert (low.tolist(), high.tolist()) == ([0, 0.25], [1, 0.25])


def test_it_is_the_t_interval_of_the_values_and_half_an_item_at_each_bound():
    d, w = as_rng(3).uniform(-1, 1, size=40), 1.0
    nu = len(d) + 1
    mean = d.sum() / nu
    variance = ((d**2).sum() + w**2 - nu * mean**2) / (nu - 1)
    half = t.ppf(0.975, len(d) - 1) * np.sqrt(variance / nu)
    found = pseudo_t(d.mean(), d.var(ddof=1), len(d), bounds=(-w, w))
    assert found.low == pytest.approx(mean - half, rel=1e-10)
    assert found.high == pytest.approx(mean + half, rel=1e-10)


def test_equal_values_do_not_make_a_point():
    found = pseudo_t([0.0, 0.5, 1.0], 0.0, 100)
    assert (found.width > 0).all()
    assert found.covers([0.0, 0.5, 1.0]).all()


def test_symmetric_parts_add_in_quadrature():
    parts, reach = np.array([1.0, 2.0]), np.array([3.0, 4.0])
    _, low, high = mover_sum(parts, parts - reach, parts + reach, weights=np.ones(2))
    assert (float(low), float(high)) == (-2, 8)


def test_a_difference_takes_the_far_end_of_what_is_subtracted():
    _, low, high = mover_sum(
        np.array([0.5, 0.5]),
        np.array([0.5, 0.4]),
        np.array([0.5, 0.8]),
        weights=np.array([1.0, -1.0]),
    )
    assert float(low) == pytest.approx(-0.3)
    assert float(high) == pytest.approx(0.1)


def test_a_bound_is_met_exactly_and_rounding_is_no_value_outside():
    assert from_unit(np.array(1.0), (0.3, 0.9)) == 0.9
    assert as_unit(1 + 1e-12, (0, 1), name="mean") == 1.0


def plain_capital(x, m, *, alpha):
    """The hedged capital process, once more and from the formulas: its largest value against the
    mean m."""
    up = down = most = 1.0
    total, scatter = 0.5, 0.25
    for i, value in enumerate(x):
        t = i + 1
        bet = np.sqrt(2 * np.log(2 / alpha) / (scatter / t * len(x)))
        up *= 1 + min(bet, 0.5 / m) * (value - m)
        down *= 1 - min(bet, 0.5 / (1 - m)) * (value - m)
        total += value
        scatter += (value - total / (t + 1)) ** 2
        most = max(most, up, down)
    return most / 2


def single(x, **options):
    return betting(x, **options)[0]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_capital_reaches_its_threshold_exactly_at_the_ends(seed):
    x, alpha = as_rng(seed).beta(4, 2, size=100), 0.1
    found = single(x, alpha=alpha)
    for end, outwards in ((found.low, -1e-6), (found.high, 1e-6)):
        assert plain_capital(x, end + outwards, alpha=alpha) > 1 / alpha
        assert plain_capital(x, end - outwards, alpha=alpha) < 1 / alpha


def test_values_that_refute_every_mean_leave_nothing():
    assert tuple(single([1.0] * 200 + [0.0] * 200)) == (0, 1)


# The largest refuted mean, against capital that is multiplied up draw by draw.


def refuted(mean, x, stakes, slope, offset, reach, floor, cut, threshold):
    """(I14) as it is written."""
    capital = 1.0
    for i in range(len(x)):
        price = slope[i] * mean - offset[i]
        if price < floor[i]:
            return True
        stake = stakes[i]
        if stake * (price + reach[i]) > cut:
            stake = cut / (price + reach[i])
        capital *= 1 + stake * (x[i] - price)
        if capital >= threshold:
            return True
    return False


@pytest.mark.parametrize("draws", [1, 7, 60])
def test_the_end_is_refuted_and_the_next_point_of_the_grid_is_not(draws):
    rng = np.random.default_rng(draws)
    rows, halvings = 60, 30
    left = (2 * draws - np.arange(draws)) / (2 * draws)
    reach = rng.random((rows, draws)) * rng.choice([0.0, 0.3], (rows, 1))
    wagers = Wagers(
        x=rng.random((rows, draws)) * rng.choice([0.4, 1.0], (rows, 1)) - 0.2 * reach,
        stakes=rng.random((rows, draws)) * rng.choice([0.2, 3.0], (rows, 1)),
        slope=np.broadcast_to(1 / left, (rows, draws)),
        offset=rng.random((rows, draws)) * 0.1,
        reach=reach,
        floor=rng.choice([-0.05, 0.05], (rows, 1)) * np.ones((1, draws)),
        cut=0.75,
    )
    threshold = rng.choice([1.5, 40.0], rows)
    low, high = np.full(rows, 0.01), np.full(rows, 0.8)
    found = wagers.last_refuted(threshold, low, high, halvings)
    step = (high - low) / 2**halvings
    kinds = set()
    for row in range(rows):
        parts = (wagers.x, wagers.stakes, wagers.slope, wagers.offset, wagers.reach, wagers.floor)
        rest = (*(part[row] for part in parts), wagers.cut, threshold[row])
        if found[row] == math.inf:
            kinds.add("all")
            assert refuted(high[row], *rest)
        elif found[row] == low[row]:
            kinds.add("none")
            assert not refuted(low[row] + step[row], *rest)
        else:
            kinds.add("some")
            assert refuted(found[row] - step[row] / 8, *rest)
            assert not refuted(found[row] + step[row] * 1.125, *rest)
    assert "some" in kinds


def test_stakes_come_from_earlier_values_only():
    x = np.random.default_rng(6).random((1, 40))
    changed = x.copy()
    changed[0, 20:] = 1 - changed[0, 20:]
    log = np.array([3.0])
    one, two = (stakes_before(rows, log)[0] for rows in (x, changed))
    assert (one[:21] == two[:21]).all()
    assert not (one[21:] == two[21:]).any()


def moments(x, axis=-1):
    return x.shape[axis], x.sum(axis=axis), (x**2).sum(axis=axis)


def test_the_e_value_is_the_mean_of_the_parts():
    above, below = bounded_mean_log_e(1000, 80.0, 200.0)
    parts = [np.exp(lam * 40 - psi * 50) for lam, psi in zip(LAMBDAS, PSI, strict=True)]  # y = x/2
    assert above == pytest.approx(np.log(np.mean(parts)))
    parts = [np.exp(-lam * 40 - psi * 50) for lam, psi in zip(LAMBDAS, PSI, strict=True)]
    assert below == pytest.approx(np.log(np.mean(parts)))


@given(low=st.floats(-1, 0.5), rate=st.floats(0.01, 0.99), length=st.integers(1, 6))
def test_the_mean_of_the_e_value_is_at_most_one(low, rate, length):
    # all runs of a two-point variable on the ends of [low, 1], tested at its true mean
    mean = low * (1 - rate) + rate
    hits = np.arange(length + 1)
    weight = comb(length, hits) * rate**hits * (1 - rate) ** (length - hits)
    total = hits + (length - hits) * low
    squares = hits + (length - hits) * low**2
    for side in bounded_mean_log_e(length, total, squares, mean=mean, low=low, high=1.0):
        assert weight @ np.exp(side) <= 1 + 1e-9


@given(st.integers(0, 10**6), st.integers(1, 300))
def test_the_interval_is_what_is_not_refuted(seed, n):
    rng = np.random.default_rng(seed)
    x = rng.beta(0.5, 2, n) * 2 - 1
    low, high = bounded_mean_interval(*moments(x))
    assert -1 <= low <= x.mean() <= high <= 1
    mu = np.linspace(-1, 1, 201)
    above, below = bounded_mean_log_e(*moments(x), mean=mu)
    clear = (np.abs(mu - low) > 1e-9) & (np.abs(mu - high) > 1e-9)
    np.testing.assert_array_equal(
        (np.maximum(above, below) >= np.log(40))[clear], ((mu < low) | (mu > high))[clear]
    )


def test_averages_run_along_the_last_axis_and_survive_huge_values():
    table = np.array([[5000.0, 0.0, -np.inf], [0.0, 0.0, np.log(4)]]).T
    np.testing.assert_allclose(average_log_e(table), [5000 - np.log(2), 0.0, np.log(2)])


def test_a_p_value_is_one_over_e_and_at_most_one():
    np.testing.assert_allclose(p_from_log_e([np.log(20), -3.0, np.inf]), [0.05, 1.0, 0.0])


def test_holm_on_e_values_multiplies_by_what_still_stands():
    np.testing.assert_allclose(e_holm(np.log([1000.0, 50.0, 3.0])), [0.003, 0.04, 1 / 3])


def all_orders(population, events):
    runs = np.zeros((len(list(combinations(range(population), events))), population))
    for row, places in enumerate(combinations(range(population), events)):
        runs[row, list(places)] = 1
    return runs


def test_the_mean_of_e_is_exactly_one_on_the_boundary():
    population, events = 10, 3
    for side in ("below", "above"):
        paths = np.exp(
            rate_log_e(all_orders(population, events), limit=0.3, population=population, side=side)
        )
        for seen in range(population):
            # beyond some point every order is settled one way or the other; until then E is a
            # martingale
            assert paths[:, seen].mean() <= 1 + 1e-9
        assert paths[:, 0].mean() == pytest.approx(1)
        assert paths[:, 3].mean() == pytest.approx(1)


@pytest.mark.parametrize("population", [5, 9, 12])
def test_under_every_null_population_e_stays_below_one_on_average_and_finite(population):
    for limit in (0.1, 0.25, 0.5):
        for events in range(population + 1):
            share = events / population
            orders = all_orders(population, events)
            for side, null in (("below", share >= limit), ("above", share <= limit)):
                if null:
                    paths = rate_log_e(orders, limit=limit, population=population, side=side)
                    assert np.all(paths < np.inf)
                    assert np.all(np.exp(paths).mean(axis=0) <= 1 + 1e-9)


@given(
    st.lists(st.booleans(), max_size=60), st.integers(0, 60), st.sampled_from(["below", "above"])
)
def test_a_stream_equals_the_batch_wherever_it_is_cut(events, cut, side):
    test = RateTest(limit=0.2, population=100, side=side)
    streamed = test.update(events[:cut]).update(events[cut:])
    assert (streamed.items, streamed.events) == (len(events), sum(events))
    if events:
        path = rate_log_e(events, limit=0.2, population=100, side=side)
        assert streamed.log_e == pytest.approx(path[-1])
        assert streamed.peak == pytest.approx(max(0.0, path.max()))
