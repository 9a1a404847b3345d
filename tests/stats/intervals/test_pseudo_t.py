from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t

from tallystick._rng import as_rng
from tallystick.stats.intervals import pseudo_t


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
