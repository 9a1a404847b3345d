from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from tallystick.errors import InputError
from tallystick.table.cells import MOST_LABELS
from tallystick.table.counting import Counted
from tallystick.table.engines import checked_names, columns_of, count
from tallystick.table.patterns import Recipe


def patterns(counted: Counted) -> dict[tuple[Any, ...], float]:
    """What was counted, as labels and their number."""
    return {
        tuple(counted.labels[j][code] for j, code in enumerate(row)): n
        for row, n in zip(counted.codes.tolist(), counted.counts.tolist(), strict=True)
    }


def both(columns: dict[str, Any], recipe: Recipe) -> list[dict[tuple[Any, ...], float]]:
    frame = pl.DataFrame(columns)
    return [
        patterns(count(frame, recipe)),
        patterns(count(frame.lazy(), recipe)),
    ]


def test_an_eager_and_a_lazy_frame_count_alike() -> None:
    votes = {"a": ["x", "x", None], "b": [1, 1, 2], "w": [0.5, 0.25, 2.0]}
    for found in both(votes, Recipe(columns=("a", "b"))):
        assert found == {("x", 1): 2, (None, 2): 1}
    for found in both(votes, Recipe(weight="w")):
        assert found == {("x", 1): 0.75, (None, 2): 2.0}


def test_a_bin_holds_its_lower_edge_and_the_last_one_its_upper_edge_too() -> None:
    scores = {"s": [0.0, 0.24, 0.25, 0.5, 1.0, None, float("nan")]}
    recipe = Recipe(cut={"s": (0.0, 0.25, 0.5, 1.0)}, missing=frozenset({"0.24"}))
    for found in both(scores, recipe):
        assert found == {(0,): 1, (1,): 1, (2,): 2, (None,): 3}


@pytest.mark.parametrize(
    ("columns", "recipe", "named"),
    [
        ({"s": [0.5, -0.1]}, Recipe(cut={"s": (0.0, 1.0)}), "holds -0.1, outside"),
        ({"s": [0.5, 1.1]}, Recipe(cut={"s": (0.0, 1.0)}), "holds 1.1, outside"),
        ({"s": ["low"]}, Recipe(cut={"s": (0.0, 1.0)}), "asked for as numbers .cut., but .*low"),
        ({"a": ["x"], "w": [-1.0]}, Recipe(weight="w"), "'w'"),
        ({"a": ["x"], "w": [float("nan")]}, Recipe(weight="w"), "'w'"),
        ({"a": ["x"], "w": pl.Series([None], dtype=pl.Float64)}, Recipe(weight="w"), "'w'"),
        ({"a": [[1], [2]]}, Recipe(), "'a'.*has type"),
        ({"a": [f"text {i}" for i in range(MOST_LABELS + 1)]}, Recipe(), "'a'"),
    ],
)
def test_a_lazy_frame_refuses_by_column(columns: Any, recipe: Recipe, named: str) -> None:
    with pytest.raises(InputError, match=named):
        count(pl.LazyFrame(columns), recipe)


def test_names_must_be_text_and_come_once() -> None:
    assert checked_names(["a", "b"]) == ("a", "b")
    with pytest.raises(InputError, match="named by text, got 3"):
        checked_names(["a", 3])
    with pytest.raises(InputError, match="more than one column 'a'"):
        checked_names(["a", "b", "a"])


def test_numbers_of_pandas_are_handed_over_without_a_copy() -> None:
    frame = pd.DataFrame({"n": [1, 2, 3], "t": ["x", "y", "z"]})
    found = columns_of(frame, ["n"])
    assert np.shares_memory(found["n"], frame["n"].to_numpy())
    assert found["n"].tolist() == [1, 2, 3]
