from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.sampling.policies import Book
from tallystick.sampling.strata import Effects


@given(st.integers(0, 10_000), st.booleans(), st.booleans(), st.integers(1, 30))
def test_running_sums_are_those_of_the_vectors(
    seed: int, dense: bool, baseline: bool, n: int
) -> None:
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(4, 3)) if dense else np.eye(4)
    weights = rng.random((2, 4))
    effects = Effects.of(4, 2, matrix=rows if dense else None, weights=weights)
    k, new = rng.integers(0, 2, n), rng.integers(0, 4, n)
    old = rng.integers(0, 4, n) if baseline else np.full(n, 4)
    book = Book(effects, 2)
    for where, a, b in zip(k.tolist(), new.tolist(), old.tolist(), strict=True):
        book.tell(where, where, a, b)
    x = weights[k, new][:, None] * rows[new]
    if baseline:
        x = np.where((new == old)[:, None], 0, x - weights[k, old][:, None] * rows[old])
    for stratum in (0, 1):
        mine = x[k == stratum]
        assert book.answered[stratum] == len(mine)
        assert book.flips[stratum] == ((mine**2).sum(axis=1) > 0).sum()
        assert book.square[stratum] == pytest.approx((mine**2).sum())
        assert book.length[stratum] == pytest.approx((mine.sum(axis=0) ** 2).sum())


@given(st.integers(0, 10_000))
def test_runs_side_by_side_are_runs_apart_to_the_last_bit(seed: int) -> None:
    rng = np.random.default_rng(seed)
    runs, strata = 3, 2
    effects = Effects.of(4, strata, weights=rng.random(4))
    together = Book(effects, strata, runs)
    apart = [Book(effects, strata) for _ in range(runs)]
    for _ in range(20):
        k, new, old = (
            rng.integers(0, strata, runs),
            rng.integers(0, 4, runs),
            rng.integers(0, 4, runs),
        )
        together.tell(np.arange(runs) * strata + k, k, new, old)
        for book, where, a, b in zip(apart, k.tolist(), new.tolist(), old.tolist(), strict=True):
            book.tell(where, where, a, b)
    assert np.array_equal(together.sums, np.concatenate([book.sums for book in apart], axis=1))
