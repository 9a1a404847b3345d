"""Every way of counting integers gives the same counts: bits, cells of bytes, packed rows."""

from __future__ import annotations

from collections import Counter as Plain
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tallystick.table import counting as counter
from tallystick.table import counting as kernel
from tallystick.table.counting import Counter, count_integers


def _same(columns: list[np.ndarray[Any, Any]]) -> None:
    values, counts = count_integers(columns)
    found: Plain[tuple[int, ...]] = Plain()
    for row, n in zip(values.tolist(), counts.tolist(), strict=True):
        found[tuple(row)] += n
    assert found == Plain(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
@pytest.mark.parametrize(
    ("k", "size"),
    [(1, 2), (2, 2), (3, 2), (4, 2), (8, 2), (3, 5), (1, 256), (2, 200), (5, 40), (40, 3)],
)
@pytest.mark.parametrize("low", [0, 3])
@pytest.mark.parametrize("many", [1, 10**9])
def test_all_kernels_count_alike(
    monkeypatch: pytest.MonkeyPatch, dtype: type, k: int, size: int, low: int, many: int
) -> None:
    monkeypatch.setattr(counter, "_CHUNK", 1000)
    monkeypatch.setattr(counter, "_MANY_ROWS", many)
    monkeypatch.setattr(kernel, "MANY", many)
    rng = np.random.default_rng(k * size)
    top = min(low + size, int(np.iinfo(dtype).max) + 1)
    _same([rng.integers(low, top, 2503).astype(dtype) for _ in range(k)])


def test_a_layout_grows_with_what_it_meets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counter, "_CHUNK", 64)
    column = np.concatenate(
        [np.zeros(64), np.ones(64), np.full(64, -128), np.full(64, 127)]
    ).astype(np.int8)
    _same([column, np.arange(256).astype(np.int8), column[::-1]])


@settings(max_examples=60)
@given(
    n=st.integers(0, 40),
    shift=st.integers(0, 9),
    bad=st.sampled_from([None, 2, 128, 255]),
    seed=st.integers(0, 99),
)
def test_intersections_count_or_leave_the_table_alone(
    n: int, shift: int, bad: int | None, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    n *= 100  # more than one run of words, and a rest that fills no word
    n += shift
    a, b, c = (rng.integers(0, 2, n + 9, dtype=np.uint8)[shift : shift + n] for _ in range(3))
    if bad is not None and n:
        b[rng.integers(n)] = bad
    table = np.zeros(8, np.int64)
    done = kernel.add_intersections([a, b, c], table)
    if bad is not None and n:
        assert not done
        assert not table.any()
    else:
        assert done
        assert table.tolist() == np.bincount(4 * a.astype(int) + 2 * b + c, minlength=8).tolist()


def test_a_counter_says_how_many_rows_it_took() -> None:
    wide = [np.arange(5000) * 7 % 4999 for _ in range(3)]
    assert Counter(3, weighted=False).add(wide) == 0
    _same(wide)


def test_weights_are_added_up_in_both_forms() -> None:
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 9, 500) / 8
    for k in (2, 40):
        columns = [rng.integers(0, 2, 500) for _ in range(k)]
        values, counts = count_integers(columns, weights)
        assert counts.sum() == weights.sum()
        assert values.shape[1] == k
