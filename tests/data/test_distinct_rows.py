"""The distinct rows of codes are those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.table.session_rows import distinct_rows


@pytest.mark.parametrize(("columns", "size"), [(1, 1), (3, 4), (60, 5)])
def test_distinct_rows_are_those_of_numpy(columns, size):
    codes = np.random.default_rng(columns).integers(-1, size, (400, columns)).astype(np.int32)
    first, counts, place = distinct_rows(codes, size)
    rows = codes[first]
    expected, often = np.unique(codes, axis=0, return_counts=True)
    assert rows.tolist() == expected.tolist()
    assert counts.tolist() == often.tolist()
    assert (rows[place] == codes).all()
