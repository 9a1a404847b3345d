"""The mean of bounded numbers by strata: the formulas it contains, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_binary import _raw_ends, adverse_stratified_mean, raw_share_ends


def test_passes_and_fails_give_the_ends_of_the_binary_formula():
    sizes, k, x = np.array([28.0, 80.0]), np.array([10, 20]), np.array([3, 19])
    labels = np.concatenate([np.r_[np.ones(a), np.zeros(b - a)] for a, b in zip(x, k, strict=True)])
    each = (sizes - 1) / (sizes - k)
    ends = _raw_ends(labels, np.repeat([0, 1], k), sizes / 108, each, (0.0, 1.0), 0.05)
    wanted = raw_share_ends(sizes[None], (k * each)[None], (x / k)[None])
    assert ends == pytest.approx([float(end[0]) for end in wanted], abs=1e-10)


def test_a_stratum_without_labels_may_lie_anywhere():
    some = adverse_stratified_mean([1.0] * 20, [0] * 20, [100, 100])
    assert some.estimate == 1.0
    assert some.interval.low < 0.5
    assert some.interval.high == 1.0


@pytest.mark.parametrize(
    ("labels", "where", "sizes", "bounds", "text"),
    [
        ([0.5], [0], [10], (0, 5), "bounds must be"),
        ([2.0], [0], [10], (0, 1), "must lie in"),
        ([1.0], [1], [10], (0, 1), "positions"),
        ([1.0, 1.0], [0, 0], [1], (0, 1), "more labels than items"),
        ([], [], [10], (0, 1), "at least one label"),
    ],
)
def test_bad_input_is_refused(labels, where, sizes, bounds, text):
    with pytest.raises(InputError, match=text):
        adverse_stratified_mean(labels, where, sizes, bounds=bounds)
