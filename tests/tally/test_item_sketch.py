"""A sketch finds rows that two tables share, and does not take shared ids for shared rows."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import duckdb
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.table import Tally, scan
from tallystick.table.cells import MOST, WHOLE, ItemSketch, row_key, votes_hash
from tallystick.table.patterns import Recipe

ROWS = st.sets(st.integers(0, WHOLE - 1), max_size=600)


def hashes(number: int, seed: int = 0) -> list[int]:
    draw = np.random.default_rng(seed).integers(0, WHOLE - 1, number, np.uint64, endpoint=True)
    return [int(one) for one in draw]


def sketch(items: Iterable[int], votes: Iterable[int]) -> ItemSketch:
    return ItemSketch.of(row_key(item, vote) for item, vote in zip(items, votes, strict=True))


@given(ROWS, ROWS, ROWS)
def test_sketches_join_in_any_order_into_the_sketch_of_all_rows(
    a: set[int], b: set[int], c: set[int]
) -> None:
    one, two, three = map(ItemSketch.of, (a, b, c))
    assert one.joined(two) == two.joined(one)
    assert (
        one.joined(two).joined(three) == one.joined(two.joined(three)) == ItemSketch.of(a | b | c)
    )
    assert one.joined(ItemSketch()) == one == one.joined(one)


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 60)), max_size=900))
def test_the_rows_of_an_item_stay_or_go_together(pairs: list[tuple[int, int]]) -> None:
    rows = {row_key(item << 50, votes) for item, votes in pairs}
    kept = ItemSketch.of(rows)
    assert len(kept.rows) <= MOST
    assert set(kept.rows) == {row for row in rows if row < kept.limit}


def test_a_cumulative_export_is_found_with_its_share() -> None:
    items, votes = hashes(30_000), np.random.default_rng(1).integers(0, 8, 30_000).tolist()
    monday, both = sketch(items[:10_000], votes[:10_000]), sketch(items, votes)
    shared = monday.shared(both)
    assert shared is not None
    assert shared.share == 1.0
    # 85 of the 256 rows below the limit are expected from Monday: 11% standard error, five of them.
    assert 10_000 * 0.45 < shared.rows < 10_000 * 1.55
    assert str(shared).startswith("about ")


def test_small_tables_are_compared_exactly() -> None:
    items = hashes(200)
    shared = sketch(items[:120], [1] * 120).shared(sketch(items[100:], [1] * 100))
    assert shared is not None
    assert (shared.rows, shared.share, shared.exact) == (20, 0.2, True)


@pytest.mark.parametrize("days", [1, 2, 10, 40])
def test_ids_that_start_again_each_day_are_other_rows(days: int) -> None:
    items, draw = hashes(500), np.random.default_rng(2)
    total = ItemSketch()
    for _ in range(days):
        total = total.joined(sketch(items, draw.choice(8, 500, p=[0.6, *[0.4 / 7] * 7]).tolist()))
    assert total.shared(sketch(items, draw.integers(0, 8, 500).tolist())) is None


def test_two_systems_on_the_same_questions_are_other_rows() -> None:
    """Hard questions are hard for both: their votes agree more often than by chance."""
    items, draw = hashes(5_000), np.random.default_rng(3)
    hard = draw.random(5_000)
    one, two = ((draw.random(5_000) < hard).astype(int).tolist() for _ in range(2))
    assert sketch(items, one).shared(sketch(items, two)) is None


def test_some_corrected_rows_do_not_hide_a_copy() -> None:
    items, draw = hashes(1_000), np.random.default_rng(4)
    votes = draw.integers(0, 8, 1_000)
    corrected = np.where(draw.random(1_000) < 0.1, 9, votes)
    assert sketch(items, votes.tolist()).shared(sketch(items, corrected.tolist())) is not None


def test_a_sketch_comes_back_as_it_was_saved_and_is_small() -> None:
    whole = sketch(hashes(10_000), [3] * 10_000)
    assert ItemSketch.from_json(whole.to_json()) == whole
    assert len(str(whole.to_json())) < 3_000


def test_votes_are_compared_by_their_meaning() -> None:
    assert votes_hash({"a": "NA"}, frozenset({"NA"})) == votes_hash({"a": None})
    assert votes_hash({"a": 1.0}) == votes_hash({"a": "1"}) != votes_hash({"a": "0"})
    assert votes_hash({"a": 1, "b": 0}) != votes_hash({"a": 0, "b": 1})


# The sketch that is saved with the counts of a file.


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
