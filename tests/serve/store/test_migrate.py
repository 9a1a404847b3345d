"""Upgrades: the file is copied first, a step that dies leaves nothing, and the next start goes on."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from tallystick.errors import FileError
from tallystick.serve.store import migrate
from tallystick.serve.store.sqlite import SqliteStore


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of migrations to which a test can add one."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate._FILES, folder)
    monkeypatch.setattr(migrate, "_FILES", folder)
    return folder


def test_a_step_that_dies_leaves_nothing_and_the_next_start_goes_on(
    tmp_path: Path, steps: Path
) -> None:
    path = tmp_path / "x.sqlite"
    store = SqliteStore(path)
    with store.write() as transaction:
        transaction.run("insert into fact (name, value) values ('before', '1')")
    store.close()
    later = steps / "0002_more.sqlite.sql"
    later.write_text(
        "create table extra (a text); insert into extra values ('x'); create nonsense;"
    )
    with pytest.raises(FileError):
        SqliteStore(path)
    with sqlite3.connect(path) as database:
        names = [name for (name,) in database.execute("select name from sqlite_master")]
        assert "extra" not in names
        assert database.execute("select max(version) from schema_version").fetchone() == (1,)
    later.write_text("create table extra (a text); insert into extra values ('x');")
    upgraded = SqliteStore(path)
    with upgraded.read() as reader:
        assert reader.all("select a from extra") == [("x",)]
        assert reader.all("select value from fact") == [("1",)]
        assert reader.one("select max(version) from schema_version") == (2,)
    upgraded.close()
    with sqlite3.connect(tmp_path / "x-schema-1.sqlite") as copy:  # made before the first try
        assert copy.execute("select value from fact").fetchall() == [("1",)]
        assert copy.execute("select max(version) from schema_version").fetchone() == (1,)


def test_both_engines_have_the_same_steps_and_tables() -> None:
    steps = [
        [(one.version, one.name) for one in migrate.migrations(engine)]
        for engine in ("sqlite", "postgres")
    ]
    assert steps[0] == steps[1]
    for one, other in zip(
        migrate.migrations("sqlite"), migrate.migrations("postgres"), strict=True
    ):
        made = [
            sorted(line.split()[2] for line in step.statements() if line.startswith("create table"))
            for step in (one, other)
        ]
        assert made[0] == made[1]
