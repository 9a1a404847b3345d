"""Names, text and numbers survive being written into SQL."""

from __future__ import annotations

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.table.cells import double, identifier, kind_of, literal


@pytest.mark.parametrize("name", ["select", 'a"b', "a b", "ü", "a;drop table x", "'"])
def test_any_name_can_be_quoted(name: str) -> None:
    relation = duckdb.connect().sql(f"select {literal(name)} as {identifier(name)}")
    assert relation.columns == [name]
    assert relation.fetchall() == [(name,)]


@given(st.floats(allow_nan=False))
def test_a_double_keeps_every_bit(number: float) -> None:
    [(found,)] = duckdb.sql(f"select {double(number)}").fetchall()
    assert found == number


@pytest.mark.parametrize(
    ("sql_type", "kind"),
    [("UTINYINT", "integer"), ("FLOAT", "float"), ("VARCHAR", "text"), ("INTEGER[]", "other")],
)
def test_a_type_holds_one_kind_of_label(sql_type: str, kind: str) -> None:
    assert kind_of(sql_type) == kind
