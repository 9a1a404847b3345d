from __future__ import annotations

import math
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table import engine_frames as scores
from tallystick.table.engine_frames import add_up
from tallystick.table.moments import Recipe

COLUMNS = {
    "a": [0.5, 1.5, float("nan"), 2.0],
    "b": [1.0, 0.0, 1.0, 3.0],
    "w": [1.0, 2.0, 1.0, 0.5],
    "topic": ["law", "art", "law", "law"],
}


def sources() -> dict[str, Any]:
    table = pa.table(COLUMNS)
    return {
        "columns": COLUMNS,
        "relation": duckdb.connect().from_arrow(table),
        "eager": pl.from_arrow(table),
        "lazy": pl.from_arrow(table).lazy(),
    }


@pytest.mark.parametrize("where", ["columns", "relation", "eager", "lazy"])
def test_rows_with_every_score_are_added_up_by_group(where: str) -> None:
    found = add_up(sources()[where], Recipe(columns=("a", "b"), weight="w"), "topic")
    assert found.names == ("a", "b")
    assert found.groups == ("art", "law")
    assert found.counts.tolist() == [2.0, 1.5]
    np.testing.assert_allclose(found.sums, [[3.0, 0.0], [1.5, 2.5]])
    assert found.dropped == 1
    # Weighted second moments of the three complete rows, about zero.
    raw = [[0.25 + 2 * 2.25 + 2.0, 0.5 + 3.0], [3.5, 1.0 + 4.5]]
    np.testing.assert_allclose(found.raw_products(), raw)


def test_whole_scores_stay_exact_and_batches_add_up_to_the_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    columns = {"a": np.arange(25.0), "b": np.arange(25.0)[::-1].copy()}
    whole = add_up(columns, Recipe(), None)
    monkeypatch.setattr(scores, "_BATCH", 4)
    for source in (columns, duckdb.connect().from_arrow(pa.table(columns))):
        parts = add_up(source, Recipe(), None)
        assert parts.exact
        assert parts.n == whole.n == 25
        assert np.array_equal(parts.sums, whole.sums)
        assert np.array_equal(parts.products, whole.products)


def test_an_empty_relation_has_no_rows_rather_than_no_sums() -> None:
    empty = duckdb.connect().from_arrow(pa.table({"a": pa.array([], pa.float64())}))
    found = add_up(empty, Recipe(), None)
    assert (found.n, found.dropped) == (0, 0)
    assert found.total.tolist() == [0.0]


def test_scores_that_cannot_be_added_are_refused_by_name() -> None:
    with pytest.raises(InputError, match="score 'a' holds an infinite number"):
        add_up({"a": [0.5, math.inf]}, Recipe(), None)
    with pytest.raises(InputError, match=r"equal lengths, got \{'a': 1, 'b': 2\}"):
        add_up({"a": [0.5], "b": [0.5, 1.0]}, Recipe(), None)
    with pytest.raises(InputError, match="no column 'topics': did you mean 'topic'"):
        add_up(COLUMNS, Recipe(columns=("a",)), "topics")
