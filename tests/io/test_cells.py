from __future__ import annotations

import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table import scan
from tallystick.table.numbers import check_numbers, unmatched


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
