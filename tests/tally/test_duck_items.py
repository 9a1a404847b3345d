"""The sketch that is saved with the counts of a file is the sketch of its rows."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from tallystick.table import Tally, scan
from tallystick.table.cells import MOST, ItemSketch, row_key, votes_hash
from tallystick.table.patterns import Recipe


def sketched(folder: Path, sql: str) -> tuple[ItemSketch, ItemSketch]:
    """Return the sketch of a file, and that of all its rows."""
    path = folder / "rows.parquet"
    duckdb.sql(sql).write_parquet(str(path))
    with scan(path) as table:
        counted = Tally.by_recipe(table, Recipe(columns=("a",), item="id"))
        [found] = counted.sources.items.values()
    rows = duckdb.sql(f"select distinct hash(id::varchar), a from '{path}' where id is not null")
    return found, ItemSketch.of(row_key(i, votes_hash({"a": a})) for i, a in rows.fetchall())


@pytest.mark.parametrize("number", [3, 4_000, 50_000])
def test_a_sketch_keeps_the_smallest_hashes(tmp_path: Path, number: int) -> None:
    found, whole = sketched(
        tmp_path,
        f"select i::varchar as id, case when i % 3 = 0 then 'x' when i % 3 = 1 then 'y' end as a"
        f" from range({number}) t(i)",
    )
    assert len(found.rows) >= min(number, MOST // 2)
    assert found.rows == tuple(row for row in whole.rows if row < found.limit)


def test_whole_numbers_are_hashed_as_they_are_written(tmp_path: Path) -> None:
    one, two, three, other = (
        sketched(tmp_path, f"select {cell} as id, 'x' as a from range(20) t(i)")[0]
        for cell in ("i::varchar", "i::int", "i::double", "(i + 1)::varchar")
    )
    assert one == two == three != other


def test_items_that_repeat_and_blank_items_leave_a_sketch_that_is_whole_below_its_limit(
    tmp_path: Path,
) -> None:
    found, whole = sketched(
        tmp_path,
        "select case when i % 5 > 0 then (i % 700)::varchar end as id, 'x' as a"
        " from range(4000) t(i)",
    )
    assert 0 < len(found.rows) <= MOST
    assert found.rows == tuple(row for row in whole.rows if row < found.limit)


def test_data_that_are_not_from_files_have_no_sketch() -> None:
    made = duckdb.sql("select i as id, 'x' as a from range(20) t(i)")
    assert not Tally.by_recipe(made, Recipe(columns=("a",), item="id")).sources.items
