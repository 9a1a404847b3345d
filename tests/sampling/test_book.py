from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sampling import Plan, Strata, Uniform
from tallystick.sampling.policies import Book


@given(st.integers(0, 10_000), st.booleans(), st.integers(1, 30))
def test_running_sums_are_those_of_the_vectors(seed: int, baseline: bool, n: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.random((2, 4))
    k, new = rng.integers(0, 2, n), rng.integers(0, 4, n)
    old = rng.integers(0, 4, n) if baseline else np.full(n, 4)
    plan = Plan(strata=Strata([0, 0, 1]), policy=Uniform(), budget=3, n_outcomes=4, weights=weights)
    book = Book(plan)
    for where, a, b in zip(k.tolist(), new.tolist(), old.tolist(), strict=True):
        book.tell(where, a, b)
    x = weights[k, new][:, None] * np.eye(4)[new]
    if baseline:
        x = np.where((new == old)[:, None], 0, x - weights[k, old][:, None] * np.eye(4)[old])
    for stratum in (0, 1):
        mine = x[k == stratum]
        assert book.answered[stratum] == len(mine)
        assert book.flips[stratum] == ((mine**2).sum(axis=1) > 0).sum()
        assert book.square[stratum] == pytest.approx((mine**2).sum())
        assert book.length[stratum] == pytest.approx((mine.sum(axis=0) ** 2).sum())
