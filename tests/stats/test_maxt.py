from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtri

from tallystick.stats.maxt import WIDE, _root, holm, pairwise_max_t, step_down
from tallystick.stats.power import range_critical


def outcome(scores, **options):
    return pairwise_max_t(
        scores.sum(axis=0), scores.T @ scores, len(scores), **({"rng": 0, "width": 1.0} | options)
    )


@st.composite
def tables(draw):
    n, k = draw(st.integers(2, 60)), draw(st.integers(2, 6))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    return (rng.random((n, k)) < rng.random(k)).astype(float)


@settings(max_examples=60)
@given(tables())
def test_adjusted_p_values_are_never_below_the_raw_ones_and_keep_their_order(scores):
    tests = outcome(scores, draws=200)
    assert np.all(tests.adjusted_p >= tests.p_value - 1e-12)
    assert np.all(tests.adjusted_p <= 1)
    order = np.argsort(-np.abs(tests.statistic))
    assert np.all(np.diff(tests.adjusted_p[order]) >= -1e-12)
    assert np.all((tests.low <= tests.difference + 1e-9) & (tests.difference <= tests.high + 1e-9))


def test_the_statistic_comes_from_the_items():
    rng = np.random.default_rng(3)
    scores = rng.random((50, 4))
    tests = outcome(scores)
    for pair, (i, j) in enumerate(zip(tests.first, tests.second, strict=True)):
        d = scores[:, i] - scores[:, j]
        assert tests.statistic[pair] == pytest.approx(d.sum() / np.sqrt((d**2).sum()))
        assert tests.difference[pair] == pytest.approx(d.mean())


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


def test_it_finds_more_than_holm_where_pairs_depend():
    rng = np.random.default_rng(11)
    scores = (rng.random((1500, 20)) < np.linspace(0.5, 0.62, 20)).astype(float)
    tests = outcome(scores)
    assert np.sum(tests.adjusted_p <= 0.05) > np.sum(holm(tests.p_value) <= 0.05)


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


def test_the_same_seed_gives_the_same_numbers_whatever_the_size_of_a_block(monkeypatch):
    rng = np.random.default_rng(17)
    scores = rng.random((80, 6))
    once = outcome(scores, rng=4)
    monkeypatch.setattr("tallystick.stats.maxt.CELLS", 100)
    again = outcome(scores, rng=4)
    np.testing.assert_allclose(once.adjusted_p, again.adjusted_p, atol=1e-12)
    assert once.critical == pytest.approx(again.critical)


def test_the_family_wise_error_is_held_with_exact_ties():
    rng = np.random.default_rng(19)
    truth = np.array([0.6] * 4 + [0.7] * 3 + [0.9])
    wrong, missed, runs = 0, 0, 400
    equal = truth[:, None] == truth[None, :]
    for run in range(runs):
        # items differ in difficulty, so models are correlated
        ability = rng.standard_normal((400, 1))
        noise = rng.standard_normal((400, 8))
        scores = (0.6 * ability + 0.8 * noise < ndtri(truth)).astype(float)
        tests = outcome(scores, rng=run, draws=1000)
        null = equal[tests.first, tests.second]
        wrong += bool(np.any(tests.adjusted_p[null] <= 0.05))
        gap = truth[tests.first] - truth[tests.second]
        missed += not np.all((tests.low <= gap) & (gap <= tests.high))
    # above 38 a binomial count of 400 at .05 comes once in 10,000 times
    assert wrong <= 38
    assert missed <= 38


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


def test_the_root_of_a_wide_board_is_as_thin_as_its_items():
    scores = (np.random.default_rng(8).random((30, WIDE)) < 0.5).astype(float)
    covariance = np.cov(scores.T, bias=True)
    root = _root(covariance)
    assert root.shape == (WIDE, 29)
    assert np.allclose(root @ root.T, covariance, atol=1e-12)
