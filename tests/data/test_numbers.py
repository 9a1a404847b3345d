from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from tallystick import compare
from tallystick.errors import InputError
from tallystick.table import scan
from tallystick.table.numbers import read_numbers


def numbers(cells: list[Any], missing: tuple[str, ...] = (), **limits: float) -> list[float]:
    return read_numbers(scan(pa.table({"s": cells})), ["s"], missing, **limits)[:, 0].tolist()


def test_words_for_no_answer_and_named_tokens_are_missing() -> None:
    np.testing.assert_equal(numbers(["0.5", " n/a ", None, "1e-3"]), [0.5, np.nan, np.nan, 0.001])
    np.testing.assert_equal(numbers([0.5, -1.0], missing=("-1",)), [0.5, np.nan])


def test_marks_count_as_one_and_zero_only_where_nothing_else_is_in_the_column() -> None:
    np.testing.assert_equal(numbers(["pass", "fail", None]), [1.0, 0.0, np.nan])
    assert numbers([True, False]) == [1.0, 0.0]
    with pytest.raises(InputError, match=r"row 2\b.*'s'.*'pass'"):
        numbers(["0.5", "pass"])


@pytest.mark.parametrize("cell", ["1_000", "0x1", "inf", "high"])
def test_text_that_nobody_writes_as_a_score_is_refused_with_its_place(cell: str) -> None:
    with pytest.raises(InputError, match=r"row 2\b.*'s'"):
        numbers(["0.5", cell])


def test_numbers_outside_the_limits_are_refused_and_the_limits_allowed() -> None:
    assert numbers([0.0, 1.0], low=0.0, high=1.0) == [0.0, 1.0]
    with pytest.raises(InputError, match=r"row 2 of the table: column 's' is 1\.01, .* at most 1"):
        numbers([0.5, 1.01], low=0.0, high=1.0)
    with pytest.raises(InputError, match="'s'"):
        numbers([0.5, -0.01], low=0.0)


def test_columns_stand_side_by_side_in_the_order_asked_for() -> None:
    table = scan(pa.table({"a": [1, 2], "b": [3, 4]}))
    assert read_numbers(table, ["b", "a"], ()).tolist() == [[3.0, 1.0], [4.0, 2.0]]
    assert read_numbers(table, [], ()).shape == (0, 0)


def test_many_columns_are_read_as_each_would_be_alone() -> None:
    cells: dict[str, list[Any]] = {f"c{k}": [f"{k}.5", None, "2"] for k in range(60)}
    cells |= {"word": ["pass", "fail", None], "gap": ["1", "n/a", "0"], "flag": [True, None, False]}
    table = scan(pa.table(cells))
    together = read_numbers(table, list(cells), ())
    for k, name in enumerate(cells):
        np.testing.assert_equal(together[:, k], read_numbers(table, [name], ())[:, 0])


FAILED = {
    "id": list(range(40)),
    "old": ["correct", "incorrect"] * 20,
    "new": ["Correct", "Correct", "Incorrect", "error"] * 10,
}


@pytest.mark.parametrize("options", [{}, {"models": ("old", "new")}])
def test_a_failed_call_among_right_and_wrong_is_asked_about_with_both_ways_out(options):
    with pytest.raises(InputError, match="error in new is neither pass nor fail") as refused:
        compare(FAILED, **options)
    assert "--missing=error" in str(refused.value)
    assert "--never-true=error" in str(refused.value)
    assert compare(FAILED, missing=("error",), **options).n_items == 30
    counted = compare(FAILED, never_true=("error",), **options)
    assert counted.n_items == 40
    assert {row.name: row.score for row in counted.models} == {"old": 0.5, "new": 0.5}
