"""What a table knows of its rows."""

from __future__ import annotations

from dataclasses import replace

import duckdb
import pyarrow as pa
import pytest

from tallystick.table import scan
from tallystick.table import tables as table_module


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
def test_repeated_values_are_found_in_any_order(values, repeats):
    table = scan(pa.table({"id": pa.array(values, pa.string() if "a" in values else pa.int64())}))
    assert table.repeats("id") is repeats


def test_values_of_two_columns_repeat_only_together():
    table = scan(pa.table({"a": [1, 1, 2, 2], "b": ["x", "y", "x", "y"], "c": [1, 1, 1, 1]}))
    assert table.repeats("a")
    assert not table.repeats("a", "b")
    assert table.repeats("a", "c")


@pytest.mark.parametrize("again", [False, True])
def test_a_repeat_that_comes_late_is_found(monkeypatch, again):
    monkeypatch.setattr(table_module, "_BATCH", 50)
    values = [f"v{k:03}" for k in range(400)]
    if again:
        values[399] = values[3]
    assert scan(pa.table({"id": values})).repeats("id") is again
    systems = ["a", "b"] * 200
    pairs = scan(pa.table({"id": sorted(values[:200] * 2), "system": systems}))
    assert not pairs.repeats("id", "system")  # in rising order
    assert scan(pa.table({"id": values[::-1], "system": systems})).repeats("id", "system") is again
    monkeypatch.setattr(table_module, "_MOST_DIGESTS", 10)
    assert scan(pa.table({"id": values[::-1]})).repeats("id") is again


def test_shared_digests_are_not_taken_for_repeats(monkeypatch):
    """With a digest of one value for all, every row has to be compared."""
    monkeypatch.setattr(table_module, "_BATCH", 50)
    values = [f"v{k}" for k in range(400)]
    table = scan(pa.table({"id": values}))
    derive = type(table).derive

    def same(self, sql):
        return derive(self, sql.replace('hash("id")', "0::ubigint"))  # type: ignore[arg-type]

    monkeypatch.setattr(type(table), "derive", same)
    assert not table.repeats("id")


def test_a_query_gives_what_its_derived_relation_gives(tmp_path):
    (tmp_path / "t.csv").write_text("id,a\n1,x\n2,y\n3,x\n")
    sql = "select a, count(*) from rows group by a order by a"
    for source in (str(tmp_path / "t.csv"), pa.table({"id": [1, 2, 3], "a": ["x", "y", "x"]})):
        with scan(source) as held:
            expected = held.derive(sql).fetchall()
            assert held.query(sql) == expected == [("x", 2), ("y", 1)]
            held.query(sql).clear()  # what was remembered is not the caller's to change
            assert held.query(sql) == expected
            assert held.arrow(sql).to_pydict()["a"] == ["x", "y"]
            assert replace(held, relation=held.derive("select * from rows limit 1")).query(
                "select count(*) from rows"
            ) == [(1,)]
            assert held.query("select count(*) from rows") == [(3,)]


def test_a_relation_of_the_callers_connection_is_read_there_each_time():
    connection = duckdb.connect()
    connection.execute("create table mine as select 1 as id, 'x' as a")
    held = scan(connection.table("mine"))
    assert held.query("select a from rows") == [("x",)]
    assert held.arrow("select id from rows").to_pydict() == {"id": [1]}
    connection.execute("insert into mine values (2, 'y')")
    assert held.query("select a from rows order by id") == [("x",), ("y",)]
    assert held.query("select count(*) from rows") == [(2,)]
    connection.close()
