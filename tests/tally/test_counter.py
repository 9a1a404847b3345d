"""Every way of counting integers gives the same counts: cells, and packed rows."""

from __future__ import annotations

from collections import Counter as Plain
from typing import Any

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import Tally, counting
from tallystick.table.counting import count_integers


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
def test_every_way_of_counting_counts_alike(
    monkeypatch: pytest.MonkeyPatch, dtype: type, k: int, size: int, low: int
) -> None:
    monkeypatch.setattr(counting, "_CHUNK", 1000)
    rng = np.random.default_rng(k * size)
    top = min(low + size, int(np.iinfo(dtype).max) + 1)
    _same([rng.integers(low, top, 2503).astype(dtype) for _ in range(k)])


def test_negative_bytes_and_large_numbers_are_counted_as_they_are() -> None:
    bytes_ = np.concatenate([np.full(64, -128), np.arange(64), np.full(64, 127)]).astype(np.int8)
    _same([bytes_, bytes_[::-1]])
    _same([np.array([2**62 + 5, 2**62 + 6], np.uint64), np.array([-(2**62), -(2**62) + 1])])
    with pytest.raises(InputError, match=r"beyond 2\^53"):
        Tally.of({"a": np.array([2**63 + 5, 2**63 + 6], np.uint64)})


def test_weights_are_added_up_in_both_forms() -> None:
    rng = np.random.default_rng(3)
    weights = rng.integers(0, 9, 500) / 8
    for k in (2, 40):
        columns = [rng.integers(0, 2, 500) for _ in range(k)]
        values, counts = count_integers(columns, weights)
        assert counts.sum() == weights.sum()
        assert values.shape[1] == k
