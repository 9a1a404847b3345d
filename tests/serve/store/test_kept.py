"""A check of a copy makes nothing, changes nothing, and fails where there is no whole database."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from click.testing import CliRunner

from tallystick.cli.app import app
from tallystick.errors import FileError, FormatError
from tallystick.serve.app import alone
from tallystick.serve.database import open_kept, open_store


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
    ran = CliRunner().invoke(app, ["serve", "check", "--folder", str(copy.parent)])
    assert ran.exit_code == 0, ran.output
    assert "holds no stream" in ran.output
    assert copy.read_bytes() == before
    assert [one.name for one in copy.parent.iterdir()] == ["tallystick.sqlite"]


def test_where_there_is_no_database_the_check_fails_and_makes_none(tmp_path: Path) -> None:
    ran = CliRunner().invoke(app, ["serve", "check", "--folder", str(tmp_path / "typo")])
    assert ran.exit_code != 0
    assert not (tmp_path / "typo").exists()
    (tmp_path / "backup-2026.sqlite").write_bytes(b"")
    with pytest.raises(FileError, match=r"backup-2026.sqlite: a copy must be called tallystick"):
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
    with pytest.raises(FileError, match="no Tallystick database"):
        open_kept(copy)


def test_a_folder_has_one_service(tmp_path: Path) -> None:
    pytest.importorskip("fcntl", reason="Windows has no such lock")
    with alone(tmp_path), pytest.raises(Exception, match="another service runs"), alone(tmp_path):
        pass
    with alone(tmp_path):
        pass  # it is free again
