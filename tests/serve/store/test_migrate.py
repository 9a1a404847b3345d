"""Upgrades: the file is copied first, a step that dies leaves nothing, and the next start goes on."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from tallystick.errors import FileError
from tallystick.results import to_json
from tallystick.serve.answer import answer_stream
from tallystick.serve.app import make_app, make_service
from tallystick.serve.check import check_stream
from tallystick.serve.service import Config
from tallystick.serve.span import Span
from tallystick.serve.store import migrate, open_store
from tallystick.serve.store.sqlite import SqliteStore
from tests.serve.equal import post
from tests.serve.web import Clock, Loop, Web

VERBS = ("judge", "score", "compare", "bound")


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
    now = migrate.migrations("sqlite")[-1].version
    store = SqliteStore(path)
    with store.write() as transaction:
        transaction.run("insert into fact (name, value) values ('before', '1')")
    store.close()
    later = steps / "0099_more.sqlite.sql"
    later.write_text(
        "create table extra (a text); insert into extra values ('x'); create nonsense;"
    )
    with pytest.raises(FileError):
        SqliteStore(path)
    with sqlite3.connect(path) as database:
        names = [name for (name,) in database.execute("select name from sqlite_master")]
        assert "extra" not in names
        assert database.execute("select max(version) from schema_version").fetchone() == (now,)
    later.write_text("create table extra (a text); insert into extra values ('x');")
    upgraded = SqliteStore(path)
    with upgraded.read() as reader:
        assert reader.all("select a from extra") == [("x",)]
        assert reader.all("select value from fact") == [("1",)]
        assert reader.one("select max(version) from schema_version") == (99,)
    upgraded.close()
    with sqlite3.connect(tmp_path / f"x-schema-{now}.sqlite") as copy:  # made before the first try
        assert copy.execute("select value from fact").fetchall() == [("1",)]
        assert copy.execute("select max(version) from schema_version").fetchone() == (now,)


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


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_results_are_the_same_after_an_upgrade_from_the_previous_schema(
    tmp_path: Path, steps: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    address = str(tmp_path / "old.sqlite")
    if engine == "postgres":
        address = request.getfixturevalue("database")
    newest = migrate.migrations(engine)[-1]
    for path in steps.glob(f"{newest.version:04d}_*"):  # as the previous program was shipped
        path.rename(tmp_path / path.name)
    before = _answers(address, fill=True)
    for path in tmp_path.glob(f"{newest.version:04d}_*"):
        path.rename(steps / path.name)
    assert _answers(address, fill=False) == before
    store = open_store(address)
    with store.read() as reader:
        assert reader.one("select max(version) from schema_version") == (newest.version,)
    store.close()


def _answers(address: str, *, fill: bool) -> list[str | None]:
    """Return what a stream answers, field for field; its counts agree with its rows."""
    service = make_service(open_store(address), config=Config(job_pause=0.0), clock=Clock())
    try:
        if fill:
            with Loop() as loop:
                post(Web(make_app(service), loop), "old", 21)
        assert check_stream(service.store, "old").problems == ()
        found = [answer_stream(service.store, "old", verb, {}, Span()) for verb in VERBS]
        return [None if one.result is None else to_json(one.result.to_dict()) for one in found]
    finally:
        service.close()
