"""What a table knows of its rows."""

from __future__ import annotations

import pytest

from tallystick.io import scan


@pytest.mark.parametrize(
    ("values", "repeats"),
    [
        ([1, 2, 3], False),
        ([3, 1, 2], False),
        ([1, 2, 2], True),
        ([2, 1, 2], True),
        ([1, None, 1], True),
        ([1, None, 2], False),
        ([None, None], True),
        (["b", "a", "b"], True),
        ([], False),
    ],
)
def test_repeated_values_are_found_in_any_order(values: list[object], repeats: bool) -> None:
    import pyarrow as pa

    table = scan(pa.table({"id": pa.array(values, pa.string() if "a" in values else pa.int64())}))
    assert table.repeats("id") is repeats


def test_values_of_two_columns_repeat_only_together() -> None:
    import pyarrow as pa

    table = scan(pa.table({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "c": [1, 1, 1, 1]}))
    assert table.repeats("a")
    assert not table.repeats("a", "b")
    assert table.repeats("a", "c")
