from __future__ import annotations

import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.io import ColumnOptions, assign, check_numbers, label_sets, scan, select, unmatched


def test_blank_nan_none_and_tokens_are_missing_in_every_kind_of_column() -> None:
    table = scan(
        pa.table(
            {
                "s": ["", " \t", "NA", "-1", "x"],
                "i": [-1, 0, 1, None, 2],
                "f": [float("nan"), -1.0, 0.5, None, float("inf")],
                "b": [True, False, None, True, False],
            }
        )
    )
    roles = assign(table, ColumnOptions(missing=("-1", "NA", "inf", "false")))
    assert select(table, roles).fetchall() == [
        (None, None, None, True),
        (None, 0, None, None),
        (None, 1, 0.5, None),
        (None, None, None, True),
        ("x", 2, None, None),
    ]
    assert label_sets(table, roles) == {"s": ("x",), "i": (0, 1, 2), "f": (0.5,), "b": (True,)}


def test_a_token_that_is_a_number_is_found_in_text_however_it_is_written() -> None:
    table = scan(pa.table({"a": ["-1.0", " -1e0 ", "-1", "-10", "1", "-1x", "-1_0", "x"]}))
    roles = assign(table, ColumnOptions(missing=("-1", "-10.0")))
    assert [cell for (cell,) in select(table, roles).fetchall()] == [
        None,
        None,
        None,
        None,
        "1",
        "-1x",
        "-1_0",
        "x",
    ]


def test_tokens_that_stand_nowhere_are_told() -> None:
    table = scan(
        pa.table({"a": ["NA", "-1.0", "x"], "b": [0.5, 7.0, float("nan")], "c": [True, None, True]})
    )
    assert unmatched(table, table.columns, ("NA", "-1", "7", "true")) == ()
    [told] = unmatched(table, table.columns, ("na",))
    assert told.startswith("--missing na: no cell of 'a', 'b', 'c' is 'na'")
    assert len(unmatched(table, ["b"], ("NA", "-1", "true"))) == 3
    wide = scan(pa.table({f"m{j}": ["x", "NA" if j == 450 else "y"] for j in range(451)}))
    assert unmatched(wide, wide.columns, ("NA",)) == ()


def test_text_that_looks_missing_stays_unless_it_is_named() -> None:
    table = scan(pa.table({"a": ["NA", "null", "nan", "None"]}))
    assert label_sets(table, assign(table)) == {"a": ("NA", "None", "nan", "null")}


def test_a_column_of_text_is_not_a_label_column() -> None:
    table = scan(pa.table({"a": [str(i) for i in range(10_001)], "b": ["x"] * 10_001}))
    with pytest.raises(
        InputError, match=r"column 'a' has more than 10,000 different values: it looks like text"
    ):
        label_sets(table, assign(table))
    assert label_sets(table, assign(table), ["b"]) == {"b": ("x",)}


def test_ten_thousand_labels_are_the_most() -> None:
    table = scan(pa.table({"a": list(range(10_000))}))
    assert len(label_sets(table, assign(table))["a"]) == 10_000


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (
            ["1", "x"],
            "row 2 of the table: column 'w' is 'x', but must be a finite number, at least 0",
        ),
        (["1", "inf"], "is 'inf'"),
        (["1", "nan"], "is 'nan'"),
        (["1", None], "is missing"),
        ([1.0, float("nan")], "is missing"),
        ([1.0, float("inf")], "is inf"),
        ([1, -2], "is -2"),
    ],
)
def test_a_weight_is_a_finite_number_from_zero_up(values: list[object], words: str) -> None:
    table = scan(pa.table({"a": ["x", "y"], "w": values}))
    roles = assign(table, ColumnOptions(weight="w"))
    with pytest.raises(InputError, match=words):
        select(table, roles)


def test_weights_come_as_floats() -> None:
    table = scan(pa.table({"a": ["x", "y"], "w": ["1", "0.5"]}))
    assert select(table, assign(table, ColumnOptions(weight="w"))).fetchall() == [
        ("x", 1.0),
        ("y", 0.5),
    ]


def test_a_number_with_underscores_is_none() -> None:
    table = scan(pa.table({"s": ["1", "1_000"]}))
    with pytest.raises(InputError, match=r"row 2.*'1_000', but must be a finite number"):
        check_numbers(table, "s")


def test_scores_may_be_missing_and_have_bounds() -> None:
    table = scan(pa.table({"s": ["0.5", "", "NA", "1"]}))
    check_numbers(table, "s", missing=("NA",), low=0, high=1)
    with pytest.raises(InputError, match=r"row 4 of the table: column 's' is '1', .* at most 0\.9"):
        check_numbers(table, "s", missing=("NA",), low=0, high=0.9)
    with pytest.raises(InputError, match="no column 't'"):
        check_numbers(table, "t")


def test_a_column_called_label_does_not_stand_in_for_the_labels_of_another() -> None:
    table = scan(pa.table({"label": ["x", None, "z"], "a": [1, 2, None]}))
    assert label_sets(table, assign(table), ["a"]) == {"a": (1, 2)}
