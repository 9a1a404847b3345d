from __future__ import annotations

import numpy as np
import pytest

from tallystick.stats.maxt import WIDE, _root, pairwise_max_t, step_down
from tallystick.stats.power import range_critical


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


def test_the_root_of_a_wide_board_is_as_thin_as_its_items():
    scores = (np.random.default_rng(8).random((30, WIDE)) < 0.5).astype(float)
    covariance = np.cov(scores.T, bias=True)
    root = _root(covariance)
    assert root.shape == (WIDE, 29)
    assert np.allclose(root @ root.T, covariance, atol=1e-12)


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
