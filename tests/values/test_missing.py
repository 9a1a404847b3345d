"""The Python rule and the SQL rule for missing cells are one rule."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import duckdb
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tallystick.table import Label, is_missing, without_missing
from tallystick.table.cells import _BLANKS, Kind, numbers_among

TYPES: dict[Kind, str] = {
    "text": "varchar",
    "integer": "bigint",
    "float": "double",
    "boolean": "boolean",
}
CONNECTION = duckdb.connect()

# NUL cannot stand in the text of a query, and lone surrogates in no file.
characters = st.characters(exclude_characters="\0", exclude_categories=["Cs"])
spelled_numbers = st.sampled_from(
    ["-1", "-1.0", "+1", "1.", ".5", "1e3", "1000", "007", "7", "-0", "1e-400", "1e999", "1_000"]
)
words = st.sampled_from(["NA", "na", " NA\t", "", " \u3000", "inf", "-INF", "nan", "TRUE", "false"])
texts = (
    st.text(characters, max_size=4)
    | spelled_numbers
    | words
    | st.integers().map(str)
    | st.floats(allow_nan=False, allow_infinity=False).map(repr)
)
# What the two rules could easily read differently is drawn often, as a cell and as a token.
texts |= st.sampled_from(["1_000", "1000", "1e3"])
tokens = st.lists(texts, max_size=6)

CELLS: dict[Kind, st.SearchStrategy[Any]] = {
    "text": texts,
    "integer": st.integers(-(2**63), 2**63 - 1) | st.integers(-2, 2) | st.just(1000),
    "float": st.floats()
    | st.integers(-2, 2).map(float)
    | st.sampled_from([0.1, math.inf, -math.inf]),
    "boolean": st.booleans(),
}


def missing_in_sql(cells: Sequence[Any], kind: Kind, named: Sequence[str]) -> list[bool]:
    cell = without_missing("a cell", kind, named)
    rows = CONNECTION.execute(
        f'select {cell} is null from (select unnest(?::{TYPES[kind]}[]) as "a cell")',
        [list(cells)],
    ).fetchall()
    return [found for (found,) in rows]


@pytest.mark.parametrize("kind", TYPES)
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_python_and_sql_agree_on_what_is_missing(kind: Kind, data: st.DataObject) -> None:
    named = data.draw(tokens)
    cells = data.draw(st.lists(CELLS[kind], min_size=1, max_size=6))
    # A token is mostly one of the cells, in some spelling, so that matches are common.
    named += [f" {cell}" for cell in data.draw(st.lists(st.sampled_from(cells), max_size=2))]
    rule = [is_missing(cell, frozenset(named)) for cell in cells]
    assert missing_in_sql(cells, kind, named) == rule


@pytest.mark.parametrize(
    ("label", "token", "kind"),
    [
        (-1, "-1.0", "integer"),
        (-1.0, "-1", "float"),
        ("-1.00", "-1", "text"),
        (2**53 + 1, str(2**53 + 1), "integer"),
        (0.1 + 0.2, "0.30000000000000004", "float"),
        (math.inf, "inf", "float"),
        (math.nan, "x", "float"),
        (True, "TRUE", "boolean"),
        ("NA", " NA ", "text"),
        (" \u2003\x85", "x", "text"),
        (None, "x", "text"),
    ],
)
def test_a_cell_is_missing_in_both(label: Label, token: str, kind: Kind) -> None:
    assert is_missing(label, frozenset({token}))
    assert missing_in_sql([label], kind, [token]) == [True]


@pytest.mark.parametrize(
    ("label", "token", "kind"),
    [
        (2**53 + 1, str(2**53), "integer"),
        (1, "True", "integer"),
        (True, "1", "boolean"),
        ("na", "NA", "text"),
        ("1_000", "1000", "text"),
        ("NA or so", "NA", "text"),
        (0, "", "integer"),
    ],
)
def test_a_cell_is_an_answer_in_both(label: Label, token: str, kind: Kind) -> None:
    assert not is_missing(label, frozenset({token}))
    assert missing_in_sql([label], kind, [token]) == [False]


def test_sql_takes_off_the_blanks_that_python_does() -> None:
    assert set(_BLANKS) == {chr(i) for i in range(sys.maxunicode + 1) if chr(i).isspace()}


@given(st.lists(texts))
@example(["1e999", "-1e999"])
def test_numbers_among_tokens_are_finite(named: list[str]) -> None:
    assert all(map(math.isfinite, numbers_among(frozenset(named))))
