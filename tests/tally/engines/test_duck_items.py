"""The sketch that DuckDB makes while it counts is the sketch of the rows."""

from __future__ import annotations

import duckdb
import pytest

from tallystick.table.cells import MOST, ItemSketch, row_key, votes_hash
from tallystick.table.engines import count_relation
from tallystick.table.patterns import Recipe


def expected(rows: list[tuple[int, str | None]]) -> ItemSketch:
    return ItemSketch.of(row_key(item, votes_hash({"a": vote})) for item, vote in rows)


@pytest.mark.parametrize("number", [3, 4_000, 50_000])
def test_one_scan_counts_and_keeps_the_smallest_hashes(number: int) -> None:
    made = duckdb.sql(
        f"select i::varchar as id, case when i % 3 = 0 then 'x' when i % 3 = 1 then 'y' end as a"
        f" from range({number}) t(i)"
    )
    counted = count_relation(made, Recipe(columns=("a",), item="id"), rows=number)
    [found] = counted.sketch.values()
    rows = duckdb.sql("select hash(id), a from made").fetchall()
    whole = expected(rows)
    assert len(found.rows) >= min(number, MOST // 2)
    assert found.rows == tuple(row for row in whole.rows if row < found.limit)
    assert counted.counts.sum() == number


def test_whole_numbers_are_hashed_as_they_are_written() -> None:
    def sketch(cell: str) -> object:
        made = duckdb.sql(f"select {cell} as id, 'x' as a from range(20) t(i)")
        return count_relation(made, Recipe(columns=("a",), item="id"), rows=20).sketch

    assert sketch("i::varchar") == sketch("i::int") == sketch("i::double")
    assert sketch("i::varchar") != sketch("(i + 1)::varchar")


def test_items_that_repeat_and_blank_items_leave_a_sketch_that_is_whole_below_its_limit() -> None:
    made = duckdb.sql(
        "select case when i % 5 > 0 then (i % 700)::varchar end as id, 'x' as a"
        " from range(4000) t(i)"
    )
    [found] = count_relation(made, Recipe(columns=("a",), item="id"), rows=4_000).sketch.values()
    rows = duckdb.sql("select distinct hash(id), a from made where id is not null").fetchall()
    assert 0 < len(found.rows) <= MOST
    assert found.rows == tuple(
        sorted(
            row for row in {row_key(i, votes_hash({"a": a})) for i, a in rows} if row < found.limit
        )
    )


def test_data_that_are_not_from_files_have_no_sketch() -> None:
    made = duckdb.sql("select i as id, 'x' as a from range(20) t(i)")
    assert count_relation(made, Recipe(columns=("a",), item="id")).sketch == {}
