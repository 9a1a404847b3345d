"""Votes as arrays."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.stats import latent_model as module
from tallystick.stats.latent_model import OneHot, as_votes


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"codes": [[0.0, 1.0]]}, "codes must be integers"),
        ({"codes": [0, 1]}, "codes must have 2 dimensions"),
        ({"codes": np.empty((0, 2), dtype=int)}, "at least one pattern"),
        ({"codes": [[0, 2]]}, "judge 1 must be in -1..1, got 2"),
        ({"codes": [[-2, 0]]}, "judge 0 must be in -1..1, got -2"),
        ({"counts": [1, 2]}, "one entry per pattern"),
        ({"counts": [-1]}, "non-negative"),
        ({"counts": [np.nan]}, "finite"),
        ({"counts": [0]}, "not all zero"),
        ({"n_classes": 1}, "n_classes must be at least 2, got 1"),
        ({"n_votes": [2, 1]}, "n_votes must be at least 2, got 1 for judge 1"),
    ],
)
def test_an_unusable_argument_is_named(change: dict, message: str) -> None:
    good = {"codes": [[0, 1]], "counts": [1], "n_classes": 2}
    with pytest.raises(InputError, match=message):
        as_votes(**(good | change))


def test_dense_and_sparse_storage_give_the_same_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    codes = rng.integers(-1, 3, size=(400, 12))
    n_votes = np.full(12, 3)
    dense = OneHot.of(codes, n_votes)
    monkeypatch.setattr(module, "_SPARSE_FROM", 1.0)
    sparse = OneHot.of(codes, n_votes)
    assert isinstance(dense.rows, np.ndarray)
    assert not isinstance(sparse.rows, np.ndarray)
    by_column, by_pattern = rng.normal(size=(2, 36)), rng.normal(size=(2, 400))
    np.testing.assert_allclose(sparse.score(by_column), dense.score(by_column), atol=1e-12)
    np.testing.assert_allclose(sparse.add(by_pattern), dense.add(by_pattern), atol=1e-12)


def test_votes_that_are_mostly_missing_are_stored_sparsely() -> None:
    codes = np.full((800, 100), -1)
    codes[:, :3] = 0
    assert not isinstance(OneHot.of(codes, np.full(100, 2)).rows, np.ndarray)


def test_a_pattern_that_says_nothing_has_no_weight_in_the_fit() -> None:
    votes = as_votes([[0, 1], [-1, -1], [-1, -1]], [1, 5, 2], n_classes=2)
    np.testing.assert_array_equal(votes.weights, [1, 0, 0])
