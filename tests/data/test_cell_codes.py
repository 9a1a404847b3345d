"""Cells become codes batch by batch, as if the whole column had been read at once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tallystick.table import data as module
from tallystick.table import scan
from tallystick.table.data import cell_codes, cell_groups
from tallystick.table.session_rows import distinct_rows


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr(module, "_BATCH", 64)
    monkeypatch.setattr(module, "_AT_ONCE", 2)


def _column(rng, words):
    return [None if k < 0 else words[k] for k in rng.integers(-1, len(words), 500).tolist()]


def test_codes_stand_for_the_words_of_each_column_in_every_batch():
    rng = np.random.default_rng(0)
    held = {
        "a": _column(rng, ["x", "y"]),
        "b": _column(rng, [3, 1, 2]),
        "c": _column(rng, [True, False]),
        "d": _column(rng, [f"w{k}" for k in range(200)]),
        "e": [None] * 500,
    }
    codes, words = cell_codes(scan(pa.table(held)), list(held))
    for j, column in enumerate(held.values()):
        assert [None if k < 0 else words[j][k] for k in codes[:, j].tolist()] == column
        assert words[j] == list(dict.fromkeys(one for one in column if one is not None))


def test_groups_are_equal_exactly_where_cells_are():
    rng = np.random.default_rng(1)
    column = _column(rng, [f"item {k}" for k in range(130)])
    found = cell_groups(scan(pa.table({"id": column})), "id").tolist()
    pairs = set(zip(column, found, strict=True))
    assert len(pairs) == len(set(column)) == len(set(found))
    assert (None, -1) in pairs


def test_a_table_without_rows_has_no_codes():
    empty = scan(pa.table({"a": pa.array([], pa.string())}))
    assert cell_codes(empty, ["a"])[0].shape == (0, 1)
    assert cell_groups(empty, "a").size == 0


@pytest.mark.parametrize(("columns", "size"), [(1, 1), (3, 4), (60, 5)])
def test_distinct_rows_are_those_of_numpy(columns, size):
    codes = np.random.default_rng(columns).integers(-1, size, (400, columns)).astype(np.int32)
    first, counts, place = distinct_rows(codes, size)
    expected, often = np.unique(codes, axis=0, return_counts=True)
    assert codes[first].tolist() == expected.tolist()
    assert counts.tolist() == often.tolist()
    assert (codes[first][place] == codes).all()
