import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tallystick.stats.signs import ranks


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
