"""These items or new ones."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats.adverse_binary import check_population, widen_for_new


def test_other_words_are_refused():
    with pytest.raises(InputError, match="'these' or 'new', got 'items'"):
        check_population("items")


def test_new_items_add_their_own_variance_under_the_root():
    raw = np.array([0.4]), np.array([0.7])
    low, high = widen_for_new(np.array([0.5]), raw, np.array([0.01]), alpha=0.05, bounds=(0, 1))
    z = 1.959963984540054
    assert low[0] == pytest.approx(0.5 - np.sqrt(0.01 + z**2 * 0.01))
    assert high[0] == pytest.approx(0.5 + np.sqrt(0.04 + z**2 * 0.01))


def test_the_ends_stay_on_the_scale():
    raw = np.array([-0.9]), np.array([0.9])
    low, high = widen_for_new(np.array([0.0]), raw, np.array([1.0]), alpha=0.05, bounds=(-1, 1))
    assert (low[0], high[0]) == (-1, 1)
