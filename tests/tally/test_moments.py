"""What moments say, and what they refuse."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pytest

from tallystick.errors import InputError, MergeError
from tallystick.table import Moments


def test_moments_equal_those_of_numpy() -> None:
    x = np.random.default_rng(1).normal(1e8, 1.0, (500, 3))
    held = Moments.of({f"m{j}": x[:, j] for j in range(3)})
    centred = x - x.mean(axis=0)
    np.testing.assert_allclose(held.centred, centred.T @ centred, rtol=1e-7)
    np.testing.assert_allclose(held.means, x.mean(axis=0), rtol=1e-15)
    assert not held.exact


def test_merging_loses_nothing_to_a_large_mean() -> None:
    x = np.random.default_rng(2).normal(1e8, 1.0, 4000)
    parts = sum(Moments.of({"a": part}) for part in np.split(x, 40))
    assert isinstance(parts, Moments)
    shifted = x - 1e8  # exact: both are floats of one size
    np.testing.assert_allclose(
        parts.centred[0, 0], ((shifted - shifted.mean()) ** 2).sum(), rtol=1e-8
    )


def test_whole_scores_stay_exact_until_their_squares_are_too_large() -> None:
    small = Moments.of({"a": [3, 4]})
    assert small.exact
    assert small.centred[0, 0] == 0.5
    large = Moments.of({"a": [2.0**27, 2.0**27 - 1]})
    assert not large.exact
    assert not (small + large).exact


def test_a_row_that_lacks_a_score_is_dropped_and_counted() -> None:
    held = Moments.of({"a": [1, None, 0, -9], "b": [1, 1, float("nan"), 1]}, missing=[-9])
    assert (held.n, held.dropped) == (1, 3)


def test_columns_are_compared_by_name() -> None:
    a, b = Moments.of({"x": [1, 2], "y": [0, 1]}), Moments.of({"y": [1], "x": [5]})
    assert a + b == b + a
    assert (b + a).names == ("y", "x")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: Moments.of({"a": ["good"]}), "'a' is asked for as numbers"),
        (lambda: Moments.of({"a": [float("inf")]}), "'a' holds an infinite number"),
        (lambda: Moments.of({"a": [1]}, by="g"), "no column 'g'"),
        (lambda: Moments.of({"a": [1], "g": [1]}, columns=["a", "g"], by="g"), "by='g'"),
        (lambda: Moments.of({"a": [1, 2], "g": [1]}, by="g"), "equal lengths"),
        (lambda: Moments.of({"a": np.zeros(0)}).means, "there is no mean"),
        (
            lambda: Moments.of({"a": [1], "topic": ["x"]}, columns=["a"], by="topics"),
            "did you mean",
        ),
    ],
)
def test_what_cannot_be_added_up_is_refused_by_name(call: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        call()


def test_moments_that_do_not_fit_are_refused() -> None:
    a = Moments.of({"a": [1]})
    with pytest.raises(MergeError, match="the scores must be the same"):
        a + Moments.of({"b": [1]})
    with pytest.raises(MergeError, match="by="):
        a + Moments.of({"a": [1], "g": [1]}, by="g")
    assert repr(a) == "<Moments of 1 scores: n = 1, 0 dropped>"


def test_whole_scores_stay_exact_over_many_batches() -> None:
    columns = {"a": np.arange(200_000.0), "b": np.arange(200_000.0)[::-1].copy()}
    found = Moments.of(columns)
    assert found.exact
    assert found.sums.tolist() == [199_999 * 100_000] * 2
    assert found.products[0, 0] == (np.arange(200_000) ** 2).sum()


def test_an_empty_table_has_no_rows_rather_than_no_sums() -> None:
    found = Moments.of(duckdb.connect().from_arrow(pa.table({"a": pa.array([], pa.float64())})))
    assert (found.n, found.dropped, found.sums.tolist()) == (0, 0, [0.0])
