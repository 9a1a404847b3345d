"""New clusters and battles: sign-flips of one pair and of all."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.stats.battles import (
    battles,
    battles_by_item,
    battles_crossed,
    battles_of_pairs,
    shares,
)
from tallystick.stats.clusters import (
    allowed,
    fewest_clusters,
    sign_flip_columns,
    sign_flip_pairs,
    subsets_of,
)
from tallystick.stats.two_accuracies import exact_score, tango

# The vectors were computed apart from this code, by the formulas of docs/theory/compare.md.


EIGHT = [0.12, 0.05, 0.20, -0.03, 0.08, 0.15, 0.02, 0.10]
SIX = [0.10, 0.20, 0.15, 0.30, 0.12, 0.25]
TEN = [0.3, -0.1, 0.25, 0.4, 0.2, 0.15, 0.35, 0.1, 0.05, 0.3]
SEVEN = [-0.2, 0.05, -0.1, -0.3, -0.15, -0.25, -0.05]


def sign_flip(d, **options):
    """One pair: the only column."""
    found = sign_flip_columns(np.asarray(d, dtype=float)[:, None], **options)
    names = ("difference", "p_value", "low", "high", "holds_below")
    return SimpleNamespace(**{name: float(getattr(found, name)[0]) for name in names})


def rounded(found):
    return [round(x, 4) for x in (found.difference, found.p_value, found.low, found.high)]


@pytest.mark.parametrize(
    ("d", "expected", "margin"),
    [
        (EIGHT, [0.0862, 0.0781, -0.0150, 0.1850], 0.07),
        (SIX, [0.1867, 0.0469, 0.0200, 0.3500], 0.12),
        (TEN, [0.2000, 0.0137, 0.0667, 0.3250], 0.35),
        (SEVEN, [-0.1429, 0.0859, -0.3000, 0.0250], 0.05),
        ([0.3] * 8, [0.3, 0.0078, 0.25, 0.35], 0.6),
        ([0.0] * 8, [0.0, 1.0, -0.05, 0.05], 0.0),
    ],
)
def test_the_printed_vectors_come_out(d, expected, margin):
    found = sign_flip(d, width=1, rng=0)
    # .08625 is printed as .0863 and rounds to .0862 in binary
    assert rounded(found) == pytest.approx(expected, abs=1e-9)
    assert found.holds_below == pytest.approx(margin, abs=1e-12)


def test_without_an_adverse_cluster_it_is_the_plain_sign_flip_test():
    found = sign_flip(EIGHT, width=1, rng=0, adverse=0)
    assert rounded(found)[1:] == [0.0234, 0.0233, 0.1500]


clusters = st.lists(st.integers(-30, 30).map(lambda x: x / 100), min_size=6, max_size=11)


@settings(max_examples=60)
@given(clusters)
def test_p_value_and_interval_agree(d):
    found = sign_flip(d, width=1, rng=0)
    assert (found.p_value <= 0.05) == (found.low > 0 or found.high < 0)
    assert found.low <= found.difference <= found.high


@settings(max_examples=30)
@given(clusters, st.integers(0, 100))
def test_the_p_value_is_the_share_of_flips_at_least_as_extreme(d, shift):
    """(K1) against a plain loop over the signs of the clusters and of the adverse one."""
    found = sign_flip(d, width=1, rng=0)
    lead = abs(sum(d)) - 0.1
    if lead <= 1e-12:
        assert found.p_value == 1
        return
    sign = 1 if sum(d) > 0 else -1
    count = 0
    for code in range(2 ** len(d)):
        signed = sum(x if code >> g & 1 else -x for g, x in enumerate(d))
        count += abs(signed - sign * 0.1) >= lead - 1e-9
    assert found.p_value == pytest.approx(count / 2 ** len(d))


def test_five_clusters_have_an_interval_at_a_lower_level():
    # at 90% five clusters are enough: the smallest p-value is 2/2^5
    assert sign_flip(SIX[:5], width=1, rng=0, alpha=0.1, adverse=0).p_value == 2 / 32


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


def test_up_to_twelve_clusters_every_subset_occurs_once():
    for clusters in (1, 5, 12):
        found = subsets_of(clusters, rng=0)
        assert len(np.unique(found, axis=0)) == len(found) == 2**clusters


def test_beyond_twelve_clusters_the_full_subset_is_one_of_ten_thousand():
    found = subsets_of(13, rng=0)
    assert found.shape == (10_000, 13)
    assert found[0].all()


def test_a_share_of_subsets_is_counted_without_rounding_error():
    # .0273 is 7 of 256; as a float product it may come out as 6.999…
    assert allowed(0.0273437499999, 256) == 7
    assert allowed(0.05, 10_000) == 500


@pytest.mark.parametrize(("alpha", "least"), [(0.05, 6), (0.1, 5), (0.01, 8), (2**-4, 5)])
def test_the_fewest_clusters_are_those_whose_smallest_p_value_reaches_the_level(alpha, least):
    assert fewest_clusters(alpha) == least
    assert 2 / 2**least <= alpha < 2 / 2 ** (least - 1)


# The vectors were computed apart from this code, by the formulas of docs/theory/compare.md.


def sign_flip_of_battles(d):
    return sign_flip_columns(np.asarray(d, dtype=float)[:, None], width=1, rng=0)


def rates(ends):
    return [round(50 + 50 * x, 1) for x in ends]


def percent(found):
    return [round(100 * x, 1) for x in (found.win_rate, found.low, found.high)]


def test_the_printed_vector_comes_out_by_tango_and_by_the_exact_score():
    found = battles(30, 10, 20)
    assert percent(found) == [58.3, 46.8, 69.0]
    assert round(found.p_value, 4) == 0.2026
    assert rates(exact_score(30, 20, 60)) == [46.5, 69.5]


def test_the_vectors_of_the_corrections_come_out():
    twenty = battles(12, 5, 3)
    assert percent(twenty) == [72.5, 53.7, 85.3]
    assert round(twenty.p_value, 4) == 0.0352
    # The vector is Tango's; the same page asks for the exact score below 20 battles.
    assert rates(tango(0, 0, 10)[0]) == [36.1, 63.9]
    assert percent(battles(0, 10, 0)) == [50, 34.4, 65.6]


def test_several_battles_per_item_are_the_sign_flip_test_on_item_means():
    rng = np.random.default_rng(0)
    items = rng.integers(0, 9, 60)
    outcomes = rng.choice([-1, 0, 1], 60, p=[0.2, 0.2, 0.6])
    means = np.array([outcomes[items == i].mean() for i in range(9)])
    found, expected = battles_by_item(outcomes, items, rng=0), sign_flip_of_battles(means)
    assert found.win_rate == pytest.approx(0.5 + means.mean() / 2)
    assert (found.low, found.high) == pytest.approx(
        (0.5 + expected.low[0] / 2, 0.5 + expected.high[0] / 2)
    )
    assert (found.p_value, found.items) == (expected.p_value[0], 9)


def test_graded_preferences_are_means_with_a_pseudo_item():
    d = np.random.default_rng(0).uniform(-0.6, 1, 80)
    found = shares(d)
    assert found.win_rate == pytest.approx(0.5 + d.mean() / 2)
    assert found.low < found.win_rate < found.high
    assert (found.p_value <= 0.05) == (found.low > 0.5)
    assert shares([1.0] * 50).low < 1
    assert (shares([0.4]).low, shares([0.4]).p_value) == (0, 1)


def test_pairs_that_met_on_some_items_only_are_tested_together():
    rng = np.random.default_rng(3)
    items, pairs = np.repeat(np.arange(30), 3), np.tile(np.arange(3), 30)
    lead = np.array([0.9, 0.0, -0.3])[pairs]
    outcomes = np.where(rng.random(90) < 0.5 + lead / 2, 1, -1)
    met = rng.random(90) < 0.7
    found = battles_of_pairs(outcomes[met], items[met], pairs[met], rng=0)
    sums = [outcomes[met & (pairs == q)].sum() for q in range(3)]
    assert found.difference * len(np.unique(items[met])) == pytest.approx(sums)
    assert found.adjusted_p[0] < 0.05 < found.adjusted_p[1]
    # without an adverse cluster the statistic is the plain sum over its root mean square
    d = np.zeros((30, 3))
    np.add.at(d, (items[met], pairs[met]), outcomes[met])
    assert found.statistic == pytest.approx(np.abs(d.sum(axis=0)) / np.sqrt((d**2).sum(axis=0)))


def crossed(rng, items, people, spread):
    by_item, by_person = rng.normal(0, spread, items), rng.normal(0, spread, people)
    lean = by_item[:, None] + by_person
    outcomes = np.where(rng.random((items, people)) < 1 / (1 + np.exp(-lean)), 1, -1)
    return outcomes.ravel(), np.repeat(np.arange(items), people), np.tile(np.arange(people), items)


def test_crossed_reaches_add_up_as_squares():
    outcomes, items, people = crossed(np.random.default_rng(0), 15, 9, 1.0)
    found = battles_crossed(outcomes, items, people, rng=0)
    by = [
        sign_flip_of_battles([outcomes[codes == i].mean() for i in range(codes.max() + 1)])
        for codes in (items, people)
    ]
    down = np.hypot(*(float(one.difference[0] - one.low[0]) for one in by))
    assert found.win_rate == pytest.approx(0.5 + outcomes.mean() / 2)
    assert found.win_rate - found.low == pytest.approx(down / 2)
    assert (found.items, found.these_annotators) == (15, False)


def test_new_annotators_are_covered_where_items_alone_are_not():
    rng = np.random.default_rng(5)
    wrong, items_only = 0, 0
    for _ in range(60):
        table = crossed(rng, 40, 10, 1.2)
        found, alone = battles_crossed(*table, rng=0), battles_by_item(*table[:2], rng=0)
        wrong += not found.low <= 0.5 <= found.high
        items_only += not alone.low <= 0.5 <= alone.high
    assert wrong <= 9  # 1e-3 quantile at .055
    assert items_only > 12


def test_few_annotators_are_spoken_of_as_these_ones():
    outcomes, items, people = crossed(np.random.default_rng(1), 20, 4, 1.0)
    found = battles_crossed(outcomes, items, people, rng=0)
    alone = battles_by_item(outcomes, items, rng=0)
    assert found.these_annotators
    assert (found.low, found.high) == pytest.approx((alone.low, alone.high))
