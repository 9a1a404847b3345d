"""All pairs: adjusted p-values, orders, ranks, plans, several runs per item, skewed scores."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm, studentized_range, ttest_1samp

from tallystick.stats import power as pw
from tallystick.stats.maxt import _root, holm, pairwise_max_t, step_down
from tallystick.stats.power import range_critical
from tallystick.stats.signs import (
    ranks,
    sequential_items,
    sign_log_e,
    sign_stopping,
    step_down_order,
)
from tallystick.stats.skewed import hull_ends, items_for_mean


def outcome(scores, **options):
    return pairwise_max_t(
        scores.sum(axis=0), scores.T @ scores, len(scores), **({"rng": 0, "width": 1.0} | options)
    )


def test_thestep_down_equals_the_plain_algorithm_on_the_same_draws():
    rng = np.random.default_rng(5)
    scores = (rng.random((300, 5)) < [0.5, 0.52, 0.6, 0.6, 0.75]).astype(float)
    tests = outcome(scores, draws=500, rng=9)
    covariance = np.cov(scores.T, bias=True)
    values, vectors = np.linalg.eigh(covariance)
    z = (
        np.random.default_rng(9).standard_normal((500, 5))
        @ (vectors * np.sqrt(np.maximum(values, 0))).T
    )
    order = list(np.argsort(-np.abs(tests.statistic)))
    plain, floor = np.empty(len(order)), 0.0
    for step, pair in enumerate(order):
        live = order[step:]
        i, j = tests.first[live], tests.second[live]
        sd = np.sqrt(np.diag(covariance)[i] + np.diag(covariance)[j] - 2 * covariance[i, j])
        largest = np.max(np.abs(z[:, i] - z[:, j]) / sd, axis=1)
        share = (1 + np.sum(largest >= abs(tests.statistic[pair]))) / 501
        floor = max(floor, share, tests.p_value[pair])
        plain[pair] = floor
    np.testing.assert_allclose(tests.adjusted_p, plain, atol=1e-9)


def test_the_first_critical_value_is_tukeys_for_independent_models():
    rng = np.random.default_rng(7)
    scores = rng.standard_normal((200_000, 8))
    tests = outcome(scores, draws=60_000, width=0.0)
    assert tests.critical == pytest.approx(range_critical(8), abs=0.02)


def test_models_that_agree_everywhere_are_never_told_apart():
    rng = np.random.default_rng(13)
    one = (rng.random((200, 1)) < 0.6).astype(float)
    tests = outcome(np.hstack([one, one, 1 - one]))
    assert tests.adjusted_p[0] == 1
    assert tests.statistic[0] == 0
    assert tests.low[0] < 0 < tests.high[0]


def test_a_constant_lead_is_judged_by_its_number_of_items():
    for n, told in ((3, False), (40, True)):
        tests = outcome(np.tile([1.0, 0.0], (n, 1)))
        assert (tests.adjusted_p[0] <= 0.05) == told


@pytest.mark.parametrize("cells", [1, 100, 4_000_000])
@pytest.mark.parametrize(("models", "draws"), [(2, 1), (5, 63), (20, 300)])
def test_the_draws_that_reach_a_bar_are_those_of_the_whole_table(models, draws, cells, monkeypatch):
    scores = np.random.default_rng(8).random((200, models))
    scores[:, -1] = scores[:, 0]  # a pair without variance
    covariance = np.cov(scores.T, bias=True)
    first, second = np.triu_indices(models, 1)
    bar = np.sort(np.random.default_rng(9).random(first.size) * 4)
    monkeypatch.setattr("tallystick.stats.maxt.CELLS", cells)
    reached, largest = step_down(covariance, first, second, bar, draws, np.random.default_rng(7))

    noise = np.random.default_rng(7).standard_normal((draws, models))
    z = (noise @ _root(covariance).T).astype(np.float32)
    variance = np.var(scores[:, first] - scores[:, second], axis=0)
    scale = np.where(variance > 1e-12, 1 / np.sqrt(np.maximum(variance, 1e-12)), 0.0)
    running = np.maximum.accumulate(np.abs(z[:, first] - z[:, second]) * scale, axis=1)
    assert np.abs(reached - (running >= bar).sum(axis=0)).max() <= 1  # but for rounding
    assert largest == pytest.approx(running[:, -1], rel=1e-4)


def test_models_that_never_differ_keep_the_critical_value_of_one_pair():
    assert outcome(np.ones((50, 2))).critical == pytest.approx(1.96, abs=0.001)


@pytest.mark.parametrize("unit", [1e-60, 1e60])
def test_the_unit_of_the_scores_changes_no_verdict(unit):
    """Single precision held no covariance of large scores: p-values were not adjusted."""
    scores = np.random.default_rng(2).normal(size=(60, 5))
    plain, other = (
        pairwise_max_t(held.sum(axis=0), held.T @ held, 60, rng=0, draws=2000)
        for held in (scores, scores * unit)
    )
    assert other.adjusted_p.tolist() == pytest.approx(plain.adjusted_p.tolist(), abs=2e-3)
    assert other.critical == pytest.approx(plain.critical, rel=1e-3)


# The 15 p-values of Benjamini and Hochberg's kind of example, adjusted by statsmodels 0.14
# (multipletests).
P = [
    0.001,
    0.008,
    0.039,
    0.041,
    0.042,
    0.06,
    0.074,
    0.205,
    0.212,
    0.216,
    0.222,
    0.251,
    0.269,
    0.275,
    0.34,
]
HOLM = [0.015, 0.112, 0.507, 0.507, 0.507, 0.6, 0.666] + [1.0] * 8


def test_the_adjusted_values_equal_statsmodels():
    shuffled = np.random.default_rng(0).permutation(15)
    np.testing.assert_allclose(holm(np.array(P)[shuffled]), np.array(HOLM)[shuffled], atol=1e-9)


# Directions of all pairs, stepped down: the counts, and the level by simulation.


def test_the_numbers_that_are_left_follow_from_what_was_claimed():
    # a > b leaves 12 - 3 (k - 1 = 3 pairs at least), also with a > c; with a > d it is c = 3, then
    # b > c makes four pairs, c > d all but one: a > b > c > d orders six.
    p = np.ones((4, 4))
    steps = [(0, 1), (0, 2), (0, 3), (1, 2), (2, 3), (1, 3)]
    for place, pair in enumerate(steps):
        p[pair] = 1e-6 * 2**place
    found = step_down_order(p)
    counts = [round(found[pair] / p[pair], 6) for pair in steps]
    assert counts == [12, 9, 9, 9, 8, 6]


@pytest.mark.parametrize("means", [(0, 0, 0, 0), (9, 0, 0, 0), (9, 9, 0, 0), (9, 0.05, 0.02, 0)])
def test_a_wrong_order_is_claimed_in_at_most_the_level(means):
    # Differences share their systems, so the directions depend on one another.
    from scipy.special import ndtr

    rng = np.random.default_rng(2)
    mean = np.array(means, float)
    wrong, runs = 0, 4000
    for _ in range(runs):
        x = mean + rng.normal(size=4)
        p = ndtr(-(x[:, None] - x[None]) / np.sqrt(2))
        claims = step_down_order(np.where(np.eye(4, dtype=bool), 1.0, p)) <= 0.05
        wrong += bool((claims & (mean[:, None] <= mean[None])).any())
    assert wrong / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_a_direction_that_contradicts_a_claim_shows_nothing():
    found = step_down_order([[1, 0.001, 1], [0.002, 1, 0.003], [1, 1, 1]])
    assert found[0, 1] == pytest.approx(0.006)
    assert found[1, 2] == 1.0


@given(st.lists(st.integers(0, 3), min_size=2, max_size=8), st.integers(0, 2))
def test_with_every_true_difference_found_the_intervals_are_the_true_ranks(quality, threshold):
    values = np.array(quality, float)
    first, second = np.triu_indices(len(values), 1)
    gap = values[first] - values[second]
    found = ranks(
        first,
        second,
        np.where(np.abs(gap) > threshold, np.sign(gap), 0),
        np.argsort(-values, kind="stable"),
    )
    low = 1 + (values[None, :] > values[:, None]).sum(axis=1)
    high = len(values) - (values[None, :] < values[:, None]).sum(axis=1)
    assert np.all(found.low <= low)
    assert np.all(found.high >= high)
    if threshold == 0:
        assert np.array_equal(found.low, low)
        assert np.array_equal(found.high, high)
        assert len(found.tiers) == len(set(quality))


def test_ties_that_are_not_transitive_make_one_tier():
    first, second = np.triu_indices(3, 1)
    found = ranks(first, second, [0, 1, 0], [0, 1, 2])  # a ~ b, b ~ c, and a beats c
    assert found.tiers == ((0, 1, 2),)
    assert found.contenders == (0, 1)


@given(st.integers(2, 7), st.integers(0, 10**6))
def test_tiers_are_cut_wherever_everyone_above_beats_everyone_below(k, seed):
    first, second = np.triu_indices(k, 1)
    sign = np.random.default_rng(seed).choice([0, 1, 1, 1, 1], first.size)
    beats = np.zeros((k, k), bool)
    beats[first[sign > 0], second[sign > 0]] = True
    cuts = [cut for cut in range(1, k + 1) if beats[:cut, cut:].all()]
    found = ranks(first, second, sign, np.arange(k))
    assert np.cumsum([len(tier) for tier in found.tiers]).tolist() == cuts


signs = st.lists(st.sampled_from([-1, 0, 1]), max_size=60)


@given(st.integers(0, 200), st.integers(0, 200))
def test_the_e_value_equals_its_exact_fraction(b, c):
    exact = Fraction(2 ** (b + c), (b + c + 1) * comb(b + c, b))  # B(b+1, c+1) = 1/((m+1) C(m, b))
    assert float(sign_log_e(b, c)) == pytest.approx(
        log(exact.numerator) - log(exact.denominator), abs=1e-9
    )


def test_the_e_value_has_mean_one_under_equal_models():
    for m in range(12):
        mean = sum(comb(m, b) * np.exp(sign_log_e(b, m - b)) for b in range(m + 1)) / 2**m
        assert mean == pytest.approx(1)


@pytest.mark.parametrize("lean", [0.5, 0.8])
def test_the_stopping_law_equals_the_sum_over_all_runs(lean):
    length, alpha = 12, 0.2
    stopped = np.zeros(length + 1)
    for run in product([1, -1], repeat=length):
        wins = np.cumsum(np.array(run) > 0)
        e = sign_log_e(wins, np.arange(1, length + 1) - wins)
        when = np.flatnonzero(e >= log(1 / alpha))
        if when.size:
            stopped[when[0] + 1 :] += lean ** wins[-1] * (1 - lean) ** (length - wins[-1])
    np.testing.assert_allclose(sign_stopping(lean, length, alpha=alpha), stopped, atol=1e-12)


def test_the_items_of_a_sequential_test_agree_with_simulation():
    by, mean = sequential_items(0.05, 0.2)
    rng = np.random.default_rng(29)
    draws = rng.random((1000, 4 * by))
    wins, losses = (np.cumsum(x, axis=1) for x in (draws < 0.125, (draws >= 0.125) & (draws < 0.2)))
    stop = np.argmax(sign_log_e(wins, losses) >= log(20), axis=1) + 1
    assert np.mean(stop <= by) == pytest.approx(0.8, abs=4 * np.sqrt(0.16 / 1000))
    assert np.mean(stop) == pytest.approx(mean, rel=0.08)


@st.composite
def pairs(draw, least=0.01):
    d = draw(st.floats(least, 1.0))
    return draw(st.floats(least, d)), d


def test_the_sizes_of_the_errata():
    assert pw.leaderboard_items(0.02, 2, 0.02) == 391
    assert pw.leaderboard_items(0.02, 2, 0.1) == 1960


@settings(max_examples=25)
@given(pairs(0.02), st.floats(0.5, 0.99))
def test_the_detectable_difference_inverts_the_items(pair, power):
    n = pw.leaderboard_items(pair[0], 2, pair[1], power=power)
    found = pw.detectable_difference(n, pair[1], power=power)
    assert found <= pair[0] * (1 + 1e-9)
    assert pw.leaderboard_items(found * (1 + 1e-9), 2, pair[1], power=power) <= n


@given(n=st.integers(1, 40), pair=pairs(0.05), alpha=st.floats(0.001, 0.3))
def test_the_exact_power_equals_the_sum_over_all_tables(n, pair, alpha):
    e, d = pair
    win, lose = (d + e) / 2, (d - e) / 2
    total = 0.0
    for b in range(n + 1):
        for c in range(n + 1 - b):
            m, least = b + c, min(b, c)
            p_value = min(1.0, 2 * sum(comb(m, k) for k in range(least + 1)) / 2**m)
            if m and p_value <= alpha:
                total += comb(n, b) * comb(n - b, c) * win**b * lose**c * (1 - d) ** (n - m)
    found = pw.exact_paired_power(n, e, d, alpha=alpha, certified=True)
    assert found == pytest.approx(total, abs=1e-10)


@settings(max_examples=6)
@given(pairs(0.05), st.floats(0.6, 0.95))
def test_exact_items_keep_the_power_from_there_on(pair, power):
    n = pw.exact_paired_items(*pair, power=power)
    assert all(pw.exact_paired_power(n + more, *pair) >= power for more in range(12))
    assert n == 1 or pw.exact_paired_power(n - 1, *pair) < power


@pytest.mark.parametrize("models", [2, 3, 10, 60])
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.2])
def test_the_critical_value_of_all_pairs_is_tukeys(models, alpha):
    peer = studentized_range.ppf(1 - alpha, models, np.inf) / np.sqrt(2)
    assert pw.range_critical(models, alpha) == pytest.approx(peer, rel=1e-6)


@given(pairs(), st.floats(0.5, 0.99))
def test_the_items_reach_the_power_and_one_less_does_not(pair, power):
    difference, disagreement = pair
    spread = np.sqrt(disagreement - difference**2)

    def reached(n):  # (P2), solved for the power
        ahead = abs(difference) * np.sqrt(n) - norm.ppf(0.975) * np.sqrt(disagreement)
        return norm.cdf(ahead / spread) if spread > 0 else float(ahead > 0)

    n = pw.leaderboard_items(difference, 2, disagreement, power=power)
    assert reached(n) >= power - 1e-9
    if n > 1 and disagreement < 1:
        assert reached(n - 1) <= power + 1e-9


# The vectors were computed apart from this code, by the formulas of docs/theory/compare.md.


# The vectors were computed apart from this code, by the formulas of docs/theory/compare.md.


TWELVE = np.array([0.2, 0.4, -0.3, 0.1, 1.5, 0.6, -0.1, 0.3, 4.2, 0.5, -0.4, 0.8])
TWENTY = np.array([3, -1, 2, 5, -2, 1, 0, 4, -6, 2, 1, -3, 7, 1, 2, -1, 0, 3, 2, -9.0])


def rounded(values):
    return [round(float(value), 4) for value in values]


def test_the_page_s_vector_comes_out():
    found = hull_ends(TWELVE)
    assert rounded([found.mean, found.skewness]) == [0.65, 1.9098]
    assert rounded(found.student) == [-0.1312, 1.4312]
    assert rounded(found.hall) == [0.0837, 3.8206]
    assert rounded([found.low, found.high, found.p_value]) == [-0.1312, 3.8206, 0.0943]


def test_the_vector_of_the_corrections_comes_out():
    found = hull_ends(TWENTY)
    assert rounded([found.mean, found.skewness]) == [0.55, -0.8046]
    assert rounded(found.student) == [-1.1577, 2.2577]
    assert rounded(found.hall) == [-1.4662, 2.0595]
    assert rounded([found.p_value]) == [0.5444]


def test_the_p_value_is_the_larger_of_student_s_and_hall_s():
    # The page: t .0943, Hall .0243.
    found = hull_ends(TWELVE)
    assert found.p_value == pytest.approx(ttest_1samp(TWELVE, 0).pvalue)
    mirrored = hull_ends(-TWELVE)
    assert mirrored.p_value == pytest.approx(found.p_value)
    assert (mirrored.low, mirrored.high) == pytest.approx((-found.high, -found.low))


def test_equal_differences_have_no_interval():
    assert np.isnan(hull_ends(np.full((1, 5), 0.1)).low[0])


TEN = [1, 1.2, 0.8, 2, 3.5, 0.9, 1.1, 6, 1.4, 0.7]


def items_at(spread):
    return max(40.0, 40 * np.exp(2 * (spread**2 - 1)))


def test_the_spread_of_the_vector_comes_out():
    # The page's vector, with a 0 as its lowest score: σ is .9289, so 40 items are enough. Three
    # times as far out on a logarithmic scale it is 2.7867.
    assert items_for_mean([*TEN, 0], [np.pi / 3] * 11) == 40
    median = 1.15
    wide = [median * (x / median) ** 3 if x > median else x for x in TEN]
    found = items_for_mean([*wide, median, 0], [np.pi / 3] * 12)
    assert found == pytest.approx(items_at(3 * 0.92891), rel=1e-3)


@pytest.mark.parametrize(("spread", "needed"), [(1.0, 40), (1.25, 123), (1.5, 487), (2.0, 16_100)])
def test_the_rule_asks_for_the_printed_numbers(spread, needed):
    # Half of the scores above 0 lie at M e^spread, half at or below M, so σ is the spread.
    scores = np.r_[0, np.ones(21), np.full(20, np.exp(spread))] * 0.37
    assert items_for_mean(scores, np.full(42, 0.5)) == pytest.approx(needed, rel=0.005)


def test_the_larger_spread_of_the_two_models_decides_and_how_many_are_lowest_plays_no_part():
    rng = np.random.default_rng(0)
    calm, wild = rng.lognormal(0, 0.3, 200), rng.lognormal(0, 1.4, 200)
    wild[:50] = 0
    one = items_for_mean(calm, wild)
    assert one == items_for_mean(wild, calm)
    assert one == items_for_mean(wild[49:], np.full(151, 0.5))
    assert one > 200


def test_small_counts_need_forty_items_and_large_ones_follow_the_rule():
    assert items_for_mean([1, 0, 3, 0, 90] * 8, [2] * 40) == 40
    # tokens: whole numbers, but with a median above 30
    assert items_for_mean([100, 900, 20, 40_000], [200, 300, 100, 250]) > 40
