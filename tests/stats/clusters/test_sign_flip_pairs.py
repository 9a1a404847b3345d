import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.stats.clusters import sign_flip_columns, sign_flip_pairs

THREE = np.array([
    (0.9, 0.7, 0.5), (0.8, 0.75, 0.6), (0.95, 0.6, 0.65), (0.7, 0.65, 0.3),
    (0.85, 0.8, 0.55), (0.9, 0.6, 0.5), (0.6, 0.62, 0.4), (0.75, 0.55, 0.35),
])  # fmt: skip


def test_the_printed_vector_of_three_models_comes_out():
    found = sign_flip_pairs(THREE, width=1, rng=0)
    assert found.statistic.round(4).tolist() == [1.9385, 2.6207, 2.2049]
    assert found.p_value.tolist() == [16 / 256, 2 / 256, 7 / 256]
    assert found.adjusted_p.tolist() == [16 / 256, 3 / 256, 8 / 256]
    assert round(found.critical, 4) == 2.2014
    assert found.joint_alpha == 7 / 256
    assert found.joint_low.round(4).tolist() == [-0.035, 0.2, 0.025]
    assert found.joint_high.round(4).tolist() == [0.325, 0.45, 0.325]
    assert not found.vacuous.any()


def plain_step_down(values, adverse=0.1):
    """(K3) over all 2^(G+1) signs, s_0 included, pair by pair."""
    first, second = np.triu_indices(values.shape[1], 1)
    d = values[:, first] - values[:, second]
    clusters = len(d)
    signs = 1 - 2.0 * ((np.arange(2 ** (clusters + 1))[:, None] >> np.arange(clusters + 1)) & 1)
    scale = np.sqrt((d**2).sum(axis=0) + adverse**2)
    observed = np.maximum(0, np.abs(d.sum(axis=0)) - adverse) / scale
    extra = signs[:, -1:] * np.sign(d.sum(axis=0).round(9)) * adverse
    flipped = np.abs(signs[:, :-1] @ d - extra) / scale
    own = np.mean(flipped >= observed - 1e-9, axis=0)
    own[np.abs(d.sum(axis=0)) <= adverse + 1e-12] = 1
    adjusted, floor = np.empty(len(own)), 0.0
    live = list(np.argsort(-observed, kind="stable"))
    while live:
        pair = live[0]
        share = np.mean(flipped[:, live].max(axis=1) >= observed[pair] - 1e-9)
        floor = max(floor, share, own[pair])
        adjusted[pair] = floor
        live.pop(0)
    return observed, own, adjusted


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.integers(6, 9), st.integers(2, 5))
def test_the_step_down_equals_the_plain_algorithm_over_all_signs(seed, clusters, models):
    values = np.random.default_rng(seed).integers(0, 21, (clusters, models)) / 20
    found = sign_flip_pairs(values, width=1, rng=0)
    observed, own, adjusted = plain_step_down(values)
    assert found.statistic == pytest.approx(observed)
    assert found.p_value == pytest.approx(own)
    assert found.adjusted_p == pytest.approx(adjusted)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.sampled_from([7, 15]))
def test_each_pair_alone_is_the_one_pair_test_on_the_same_subsets(seed, clusters):
    values = np.random.default_rng(seed).random((clusters, 4))
    found = sign_flip_pairs(values, width=1, rng=7)
    for pair, (i, j) in enumerate(zip(found.first, found.second, strict=True)):
        one = sign_flip_columns(values[:, [i]] - values[:, [j]], width=1, rng=7)
        assert found.p_value[pair] == one.p_value[0]
        for name in ("low", "high", "holds_below", "difference"):
            assert getattr(found, name)[pair] == pytest.approx(getattr(one, name)[0])


def test_pairs_that_did_not_all_meet_are_tested_as_columns():
    table = THREE[:, [0, 0, 1]] - THREE[:, [1, 2, 2]]
    columns, pairs = (
        sign_flip_columns(table, width=1, rng=0),
        sign_flip_pairs(THREE, width=1, rng=0),
    )
    assert np.array_equal(columns.adjusted_p, pairs.adjusted_p)
    assert columns.first.tolist() == [0, 1, 2]


def test_joint_intervals_of_few_clusters_are_marked_as_vacuous():
    found = sign_flip_pairs(np.random.default_rng(0).random((6, 5)), width=1, rng=0)
    assert found.vacuous.all()
    assert not np.any((found.low <= -1) & (found.high >= 1))


def test_the_joint_level_never_falls_to_zero():
    """Models that differ on two clusters only: no T* of such a pair reaches c."""
    values = np.zeros((16, 5))
    values[:3, 1], values[3:6, 2], values[6:9, 3], values[:, 4] = 0.5, 0.5, 0.5, 0.8
    found = sign_flip_pairs(values, width=1, rng=0)
    assert found.joint_alpha >= 0.05 / 10
    assert not found.vacuous.any()


def test_blocks_do_not_change_the_numbers(monkeypatch):
    values = np.random.default_rng(0).random((14, 3))
    monkeypatch.setattr("tallystick.stats.clusters.CELLS", 7)
    cut = sign_flip_pairs(values, width=1, rng=1)
    monkeypatch.undo()
    again = sign_flip_pairs(values, width=1, rng=1)
    assert np.array_equal(cut.adjusted_p, again.adjusted_p)
    assert cut.joint_low == pytest.approx(again.joint_low, abs=1e-12)


def test_equal_models_are_never_told_apart():
    same = np.tile(np.linspace(0.1, 0.9, 8)[:, None], (1, 3))
    found = sign_flip_pairs(same, width=1, rng=0)
    assert found.p_value.tolist() == found.adjusted_p.tolist() == [1, 1, 1]
    assert found.statistic.tolist() == [0, 0, 0]
    without = sign_flip_pairs(same, width=1, rng=0, adverse=0)
    assert without.adjusted_p.tolist() == [1, 1, 1]
    assert without.statistic.tolist() == [0, 0, 0]
