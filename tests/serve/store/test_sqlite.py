"""SQLite: migrated, copied first, checked without a change, refused where it is newer."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.errors import FileError, FormatError
from tallystick.results import to_json
from tallystick.serve import database as migrate
from tallystick.serve.answer import answer_stream
from tallystick.serve.app import alone, make_app, make_service
from tallystick.serve.auth import Span
from tallystick.serve.client import check_stream
from tallystick.serve.database import SqliteStore, open_kept, open_store
from tallystick.serve.jobs import Config
from tests.serve.web import Clock, Loop, Web


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


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy as docs/operate.md makes it."""
    store = open_store(tmp_path / "live" / "tallystick.sqlite")
    store.close()
    (tmp_path / "copy").mkdir()
    target = tmp_path / "copy" / "tallystick.sqlite"
    with sqlite3.connect(tmp_path / "live" / "tallystick.sqlite") as database:
        database.execute("vacuum into ?", (str(target),))
    return target


def test_a_copy_is_checked_and_stays_as_it_is(copy: Path) -> None:
    before = copy.read_bytes()
    ran = CliRunner().invoke(app, ["serve", "check", "--data", str(copy.parent)])
    assert ran.exit_code == 0, ran.output
    assert "holds no stream" in ran.output
    assert copy.read_bytes() == before
    assert [one.name for one in copy.parent.iterdir()] == ["tallystick.sqlite"]


def test_where_there_is_no_database_the_check_fails_and_makes_none(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["serve", "check", "--data", str(tmp_path / "typo")])
    assert ran.exit_code != 0
    assert not (tmp_path / "typo").exists()
    with pytest.raises(FileError, match="a copy must be called tallystick"):
        open_kept(tmp_path / "tallystick.sqlite")


def test_a_copy_that_was_cut_off_is_called_damaged(copy: Path) -> None:
    whole = copy.read_bytes()
    copy.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(FileError, match="damaged"):
        open_kept(copy)
    copy.write_bytes(b"no database at all" * 100)
    with pytest.raises(FileError, match="damaged"):
        open_kept(copy)


def test_a_copy_of_another_version_is_not_brought_up_to_date(copy: Path) -> None:
    with sqlite3.connect(copy) as database:
        database.execute(
            "delete from schema_version where version = (select max(version) from schema_version)"
        )
    with pytest.raises(FormatError, match="schema"):
        open_kept(copy)
    with sqlite3.connect(copy) as database:
        database.execute("drop table schema_version")
    with pytest.raises(FileError, match="no database of Tallystick"):
        open_kept(copy)


def test_a_folder_has_one_service(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="Windows has no such lock")
    with alone(tmp_path), pytest.raises(Exception, match="another service runs"), alone(tmp_path):
        pass
    with alone(tmp_path):
        pass  # it is free again


VERBS = ("judge", "score", "compare", "bound")
STREAMS = ("graded", "systems")


@pytest.fixture
def steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of migrations to which a test can add one."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrate.FILES, folder)
    monkeypatch.setattr(migrate, "FILES", folder)
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
    later = steps / "0099_more.sql"
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


_KILLED = """
import os, sys
from pathlib import Path
from tallystick.serve import database as migrate
from tallystick.serve.database import open_store
steps = migrate.Migration.statements

def dying(self):
    *most, last = steps(self)
    yield from most
    if self.version == int(sys.argv[2]):
        os.kill(os.getpid(), 9)
    yield last

migrate.Migration.statements = dying
open_store(sys.argv[1])
"""


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_results_are_the_same_after_an_upgrade(
    tmp_path: Path, steps: Path, engine: str, request: pytest.FixtureRequest
) -> None:
    address = str(tmp_path / "old.sqlite")
    if engine == "postgres":
        address = request.getfixturevalue("database")
    newest = migrate.migrations(engine)[-1].version
    assert newest == 5, "a new schema needs a file of the one before it: see _load"
    for path in list(steps.glob("*.sql")):
        if int(path.name[:4]) > 1:
            path.rename(tmp_path / path.name)
    _load(address, engine)
    before = _answers(address)
    for path in tmp_path.glob("*.sql"):
        path.rename(steps / path.name)

    # Once it dies before the last statement of the step: nothing of it may be left.
    words = [sys.executable, "-c", _KILLED, address, str(newest)]
    assert subprocess.run(words).returncode == -signal.SIGKILL
    store = open_store(address, migrate=False)
    with store.read() as reader:
        assert reader.one("select max(version) from schema_version") == (newest - 1,)
    store.close()

    store = open_store(address)
    with store.read() as reader:
        assert reader.one("select max(version) from schema_version") == (newest,)
    store.close()
    assert _answers(address) == before
    _goes_on(address)


def _load(address: str, engine: str) -> None:
    """Make a database as the program of an earlier schema wrote it.

    The file was written by that of schema 3: two streams, labels, a frame with draws, a payload.
    These tables are the same since schema 1. A new schema needs a new file: dump the tables of a
    store before its migration is added.
    """
    kept = json.loads((Path(__file__).parent / "schema_3.json").read_text())
    store = open_store(address)
    with store.write() as transaction:
        for table, held in kept.items():
            marks = ", ".join("?" * len(held["columns"]))
            over = " overriding system value" if engine == "postgres" else ""
            sql = f"insert into {table} ({', '.join(held['columns'])}){over} values ({marks})"
            for row in held["rows"]:
                cells = [bytes.fromhex(one["hex"]) if type(one) is dict else one for one in row]
                transaction.run(sql, cells)
            first = held["columns"][0]
            if engine == "postgres" and first in ("id", "seq") and table != "rows":
                transaction.all(
                    f"select setval(pg_get_serial_sequence('{table}', '{first}'),"
                    f" (select max({first}) from {table}))"
                )
        if engine == "postgres":
            transaction.all("select setval('rows_id', (select max(id) from rows))")
    store.close()


def _answers(address: str) -> list[bytes]:
    """Return what the streams answer."""
    service = make_service(
        open_store(address, migrate=False), config=Config(job_pause=0.0), clock=Clock()
    )
    try:
        found: list[bytes] = []
        with Loop() as loop:
            web = Web(make_app(service), loop)
            for stream in STREAMS:
                for path in ("rows", "rows?window=last:7", "tally"):
                    answer = web.get(f"/v1/streams/{stream}/{path}")
                    assert answer.status_code == 200
                    found.append(answer.content)
                for verb in VERBS:
                    one = answer_stream(service.store, stream, verb, {}, Span())
                    text = one.why if one.result is None else to_json(one.result.to_dict())
                    found.append(str(text).encode())
        return found
    finally:
        service.close()


def _goes_on(address: str) -> None:
    """What was kept before the upgrade can be changed, labelled and deleted after it."""
    service = make_service(open_store(address), config=Config(job_pause=0.0), clock=Clock())
    try:
        with Loop() as loop:
            web = Web(make_app(service), loop)
            url = "/v1/streams/graded"
            records = [{"item": "late0", "votes": {"gpt": "1"}}, {"item": "after the upgrade"}]
            answer = web.post(f"{url}/records", json=records).json()
            assert (answer["new"], answer["changed"]) == (1, 1)
            ask = web.get(f"{url}/next").json()
            label = {"ask": ask["ask"], "value": ask["labels"][0]}
            assert web.post(f"{url}/labels", json=label).json() == {"kept": "label"}
            for stream in STREAMS:
                assert check_stream(service.store, stream).problems == ()
            assert web.delete("/v1/streams/systems").status_code == 200
            assert check_stream(service.store, "graded").problems == ()
    finally:
        service.close()
