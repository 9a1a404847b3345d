from __future__ import annotations

from typing import Any

import duckdb
import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table.cells import MOST_LABELS
from tallystick.table.counting import Counted
from tallystick.table.engines import columns_of, count
from tallystick.table.patterns import Recipe


def relation(**columns: Any) -> duckdb.DuckDBPyRelation:
    return duckdb.connect().from_arrow(pa.table(columns))


def patterns(counted: Counted) -> dict[tuple[Any, ...], float]:
    """What was counted, as labels and their number."""
    return {
        tuple(counted.labels[j][code] for j, code in enumerate(row)): n
        for row, n in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)
    }


def test_rows_are_grouped_and_counted_or_weighed() -> None:
    rows = relation(a=["x", "x", "y"], b=[1, 1, 2], w=[0.5, 0.25, 2.0])
    assert patterns(count(rows, Recipe(columns=("a", "b")))) == {
        ("x", 1): 2,
        ("y", 2): 1,
    }
    assert patterns(count(rows, Recipe(weight="w"))) == {("x", 1): 0.75, ("y", 2): 2.0}


def test_a_bin_holds_its_lower_edge_and_the_last_one_its_upper_edge_too() -> None:
    scores = relation(s=[0.0, 0.24, 0.25, 0.5, 0.99, 1.0, None])
    cut = {"s": (0.0, 0.25, 0.5, 1.0)}
    found = patterns(count(scores, Recipe(cut=cut, missing=frozenset({"0.24"}))))
    assert found == {(0,): 1, (1,): 1, (2,): 3, (None,): 2}


@pytest.mark.parametrize(
    ("scores", "named"),
    [
        ([0.5, -0.1], "holds -0.1, outside"),
        ([0.5, 1.1], "holds 1.1, outside"),
        (["0.5", "high"], "asked for as numbers .cut., but .*high"),
    ],
)
def test_what_fits_no_bin_is_refused(scores: list[Any], named: str) -> None:
    with pytest.raises(InputError, match=named):
        count(relation(s=scores), Recipe(cut={"s": (0.0, 1.0)}))


@pytest.mark.parametrize("weight", [None, -1.0, float("inf"), float("nan")])
def test_a_weight_that_is_no_weight_is_refused_by_its_column(weight: float | None) -> None:
    rows = relation(a=["x", "y"], w=pa.array([1.0, weight]))
    with pytest.raises(InputError, match="'w'"):
        count(rows, Recipe(weight="w"))


def test_free_text_and_lists_are_refused_before_they_are_grouped() -> None:
    with pytest.raises(InputError, match="'a'"):
        count(relation(a=[f"text {i}" for i in range(MOST_LABELS + 1)]), Recipe())
    with pytest.raises(InputError, match=r"'a'.*has type"):
        count(relation(a=[[1], [2]]), Recipe())


def test_columns_are_fetched_as_they_are_named() -> None:
    rows = relation(**{"a": [1, 2], 'odd "name"': ["x", "y"]})
    found = columns_of(rows, ['odd "name"', "a"])
    assert list(found) == ['odd "name"', "a"]
    assert found['odd "name"'].to_pylist() == ["x", "y"]
    with pytest.raises(InputError, match="no column 'b'"):
        columns_of(rows, ["b"])
