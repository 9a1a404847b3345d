"""Train and test in one figure are said."""

from __future__ import annotations

import pytest

from tallystick import compare
from tallystick.table.cautions import pooled_split
from tallystick.table.door import read

MODELS = {"a": [0, 1, 1, 0] * 20, "b": [1, 1, 1, 0] * 20}


@pytest.mark.parametrize("parts", [("train", "test"), ("Training", "Validation"), ("train", "dev")])
def test_pooled_parts_are_a_warning_with_the_way_out(parts) -> None:
    table = {**MODELS, "which": list(parts) * 40}
    result = compare(table, models=("a", "b"))
    assert any("--by which" in text and parts[0] in text for text in result.warnings)
    sliced = compare(table, models=("a", "b"), by="which")
    assert not any("pool" in text for text in sliced.warnings)


@pytest.mark.parametrize("values", [("test", "dev"), ("train", "train"), ("train", "bus"), (0, 1)])
def test_other_columns_are_left_alone(values) -> None:
    table = {**MODELS, "which": list(values) * 40}
    assert pooled_split(read(table, models=("a", "b"))) is None


def test_two_thousand_columns_are_looked_at_by_one_query() -> None:
    wide = {f"c{k}": ["b", "c"] * 3 for k in range(300)}
    table = {**wide, "split": ["train", "test"] * 3, "a": [0, 1] * 3, "b": [1, 1] * 3}
    with read(table, models=("a", "b")) as data:
        asked = []
        query = data.held.query
        object.__setattr__(data.held, "query", lambda sql: asked.append(sql) or query(sql))
        assert pooled_split(data) is not None
    assert len(asked) == 1
