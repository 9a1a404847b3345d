"""One file: it is migrated, copied first, refused where it is newer, and named where it fails."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from tallystick.errors import FileError, FormatError
from tallystick.serve.database import SqliteStore, open_store


def test_a_new_file_has_every_table(tmp_path: Path) -> None:
    store = open_store(tmp_path / "a" / "x.sqlite")
    with store.read() as reader:
        names = {name for (name,) in reader.all("select name from sqlite_master")}
        assert reader.one("select max(version) from schema_version") == (5,)
    wanted = "stream batch rows tally payload windows seen frame draw label posted alert hook"
    assert set(wanted.split()) <= names
    assert {"delivery", "key", "session", "job", "fact"} <= names
    assert store.size() > 0
    store.close()


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    SqliteStore(path).close()
    with sqlite3.connect(path) as database:
        database.execute("insert into schema_version values (999, 'later', 0)")
    with pytest.raises(FormatError, match=r"999.*newer Tallystick"):
        SqliteStore(path)


def test_a_file_that_is_no_database_or_may_not_be_written_is_named(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    path.write_bytes(b"not a database, but long enough to be looked at" * 100)
    with pytest.raises(FileError, match=r"x\.sqlite is damaged"):
        SqliteStore(path)
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match="give a folder"):
        SqliteStore(tmp_path / "file" / "x.sqlite")


def test_readers_see_only_what_was_committed_and_cannot_write(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "x.sqlite")
    with store.write() as transaction:
        transaction.run("insert into fact (name, value) values ('a', '1')")
        with store.read() as reader:
            assert reader.all("select * from fact") == []
    with store.read() as reader:
        assert reader.all("select * from fact") == [("a", "1")]
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.all("delete from fact")
    with store.snapshot() as before:
        assert before.one("select count(*) from fact") == (1,)
        with store.write() as transaction:
            transaction.run("insert into fact (name, value) values ('b', '2')")
        assert before.one("select count(*) from fact") == (1,)  # one state until the end
    assert store.checkpoint() == 0
    store.close()
