from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest

from tallystick.errors import InputError
from tallystick.table.engine_frames import add_up
from tallystick.table.moments import Recipe, Sums


def added(columns: dict[str, Any], *, by: str | None = None, **options: Any) -> Sums:
    names = tuple(name for name in columns if name not in (by, options.get("weight")))
    return add_up(pl.LazyFrame(columns), Recipe(columns=names, **options), by)


def test_whole_scores_keep_exact_products_about_zero() -> None:
    found = added({"a": [1, 2, 3], "b": [0, 1, 5]})
    assert found.exact
    assert found.products.tolist() == [[14.0, 17.0], [17.0, 26.0]]
    assert found.n == 3


def test_other_scores_are_centred_so_that_a_far_origin_costs_no_digits() -> None:
    x = np.array([0.125, 0.25, 0.5, 0.875])
    found = added({"a": 1e8 + x})
    assert not found.exact
    assert found.products[0, 0] == pytest.approx(((x - x.mean()) ** 2).sum(), rel=1e-6)


def test_a_row_without_some_score_is_dropped_whole_and_counted() -> None:
    found = added(
        {"a": [1.0, None, 3.0, -9.0], "b": [1.0, 1.0, float("nan"), 4.0]}, missing=frozenset({"-9"})
    )
    assert found.n == 1
    assert found.dropped == 3
    assert found.total.tolist() == [1.0, 1.0]


def test_groups_come_in_canonical_order_and_missing_ones_are_one_group() -> None:
    found = added(
        {"a": [1, 2, 3, 4], "g": ["z", None, "b", "NA"]}, by="g", missing=frozenset({"NA"})
    )
    sums = dict(zip(found.groups, found.sums[:, 0].tolist(), strict=True))
    assert sums == {"b": 3.0, "z": 1.0, None: 6.0}
    assert found.groups.index("b") < found.groups.index("z")
    assert found.grouped


@pytest.mark.parametrize(
    ("columns", "options", "named"),
    [
        ({"a": ["x"]}, {}, "'a' has type String, and numbers are needed"),
        ({"a": [float("inf")]}, {}, "score 'a' holds an infinite number"),
        ({"a": [1.0], "w": [-1.0]}, {"weight": "w"}, "'w'"),
        ({"a": [1.0, 2.0], "w": [1.0, None]}, {"weight": "w"}, "'w'"),
        ({"a": [1.0], "w": [float("inf")]}, {"weight": "w"}, "'w'"),
    ],
)
def test_scores_and_weights_that_cannot_be_added_are_refused(
    columns: Any, options: Any, named: str
) -> None:
    with pytest.raises(InputError, match=named):
        added(columns, **options)
