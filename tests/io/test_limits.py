"""What a run may take: memory, disk, one writer at a time, and nothing from outside."""

from __future__ import annotations

import errno
import gzip
import os
import subprocess
import sys
import time
import zipfile
from pathlib import Path
from types import SimpleNamespace

import duckdb
import pytest

from tallystick.errors import FileError, InputError
from tallystick.table import engine as memory
from tallystick.table import lock, scan
from tallystick.table import sources as module
from tallystick.table.engine import connect, fits, memory_limit, reading, require
from tallystick.table.sources import most_unpacked, scratch, spooling, too_large


def test_no_extension_can_be_loaded_and_no_setting_changed():
    cursor = connect()
    with pytest.raises(duckdb.Error):
        cursor.sql("install httpfs")
    with pytest.raises(duckdb.Error):
        cursor.sql("set memory_limit = '100GB'")
    with pytest.raises(duckdb.Error):
        cursor.sql("select * from read_csv('https://example.org/votes.csv')").fetchall()


def test_a_table_name_in_sql_never_reaches_a_python_variable():
    votes = [1, 2, 3]
    assert votes
    with pytest.raises(duckdb.Error, match="votes"):
        connect().sql("select * from votes").fetchall()


def test_an_error_of_the_engine_becomes_ours():
    with pytest.raises(FileError, match=r"votes\.csv cannot be read"), reading("votes.csv"):
        connect().sql("select cast('x' as integer)").fetchall()


def _python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_scratch_folder_goes_with_the_process():
    code = "from tallystick.table.engine import scratch; print(scratch())"
    done = _python(code)
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.strip()).exists()
    assert scratch().is_dir()


@pytest.mark.parametrize(
    ("text", "size"), [("512MB", 512e6), ("1.5 GB", 1.5e9), ("2KiB", 2048), ("1TB", 1e12)]
)
def test_the_variable_sets_the_limit(text, size, monkeypatch):
    monkeypatch.setenv("TALLYSTICK_MEMORY", text)
    assert memory_limit() == size
    assert fits(size / 2)
    assert not fits(size / 2 + 1)


@pytest.mark.parametrize("text", ["lots", "4", "0GB", "-1GB"])
def test_anything_else_is_refused(text, monkeypatch):
    monkeypatch.setenv("TALLYSTICK_MEMORY", text)
    with pytest.raises(InputError, match="must be a size such as"):
        memory_limit()


def test_a_container_with_less_memory_than_the_machine_counts(monkeypatch, tmp_path):
    monkeypatch.delenv("TALLYSTICK_MEMORY", raising=False)
    held = tmp_path / "memory.max"
    monkeypatch.setattr(memory, "_CONTAINER", held)
    whole = memory_limit()
    held.write_text("max\n", encoding="ascii")
    assert memory_limit() == whole
    held.write_text("100000\n", encoding="ascii")
    assert memory_limit() == 50_000


def test_what_does_not_fit_is_refused_with_the_way_out(monkeypatch):
    monkeypatch.setenv("TALLYSTICK_MEMORY", "2GB")
    require(1e9, "A board", "Give fewer rows.")
    with pytest.raises(InputError, match=r"A board needs about 3\.0 GB .*TALLYSTICK_MEMORY=7GB"):
        require(3e9, "A board", "Give fewer rows.")


def test_the_folder_is_private_and_its_owner_holds_a_lock():
    folder = scratch()
    assert folder == scratch()
    assert (folder / "owner.lock").exists()
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == 0


def test_only_old_folders_that_nobody_holds_are_removed(tmp_path):
    for name in ("tallystick-old", "tallystick-young", "tallystick-without", "other"):
        (tmp_path / name).mkdir()
        if name != "tallystick-without":
            (tmp_path / name / "owner.lock").touch()
    old = time.time() - 3600
    for name in ("tallystick-old", "other"):
        os.utime(tmp_path / name / "owner.lock", (old, old))
    module._remove_leftovers(tmp_path)
    left = {path.name for path in tmp_path.iterdir()}
    assert left == {"tallystick-young", "tallystick-without", "other"}


def test_a_full_disk_names_the_file_and_the_folder():
    told = r"v.csv cannot be read: the disk of .* is full.*TMPDIR"
    with pytest.raises(FileError, match=told), spooling("v.csv"):
        raise OSError(errno.ENOSPC, "No space left on device")
    with pytest.raises(PermissionError), spooling("v.csv"):
        raise PermissionError("no")


def opened(path):
    return os.open(path, os.O_RDWR | os.O_CREAT)


def test_a_second_owner_is_refused_until_the_first_lets_go(tmp_path):
    path = tmp_path / "file"
    first, second = opened(path), opened(path)
    lock(first, "busy")
    with pytest.raises(FileError, match="busy"):
        lock(second, "busy")
    os.close(first)
    lock(second, "busy")
    os.close(second)


def test_windows_locks_a_byte_behind_the_end(tmp_path, monkeypatch):
    calls = []

    def locking(handle, mode, size):
        calls.append((os.lseek(handle, 0, os.SEEK_CUR), mode, size))
        if len(calls) > 1:
            raise OSError("taken")

    monkeypatch.setitem(sys.modules, "fcntl", None)
    monkeypatch.setitem(sys.modules, "msvcrt", SimpleNamespace(locking=locking, LK_NBLCK=2))
    path = tmp_path / "file"
    handle = opened(path)
    lock(handle, "busy")
    assert calls == [(1 << 40, 2, 1)]
    with pytest.raises(FileError, match="busy"):
        lock(handle, "busy")
    os.close(handle)


@pytest.fixture
def bomb(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=9) as stream:
        stream.write(b"a,b\n")
        for _ in range(3):
            stream.write(b"1,1\n" * (1 << 18))
    return path


def test_a_bomb_is_refused_and_the_option_allows_it(bomb, monkeypatch):
    monkeypatch.setenv("TALLYSTICK_UNPACKED", "1MB")
    with pytest.raises(FileError, match=r"bomb.csv.gz unpacks to more than 1 MB.*UNPACKED"):
        scan(bomb)
    monkeypatch.setenv("TALLYSTICK_UNPACKED", "1GB")
    with scan(bomb) as table:
        assert table.query("select count(*) from rows") == [(3 << 18,)]


def test_the_limit_is_a_thousand_times_the_size_at_most_32_gb(tmp_path, monkeypatch):
    small, large = tmp_path / "small", tmp_path / "large"
    small.write_bytes(b"x")
    with large.open("wb") as stream:
        stream.truncate(10**9)
    middle = tmp_path / "middle"
    middle.write_bytes(b"x" * 10**6)
    assert most_unpacked(small) == 1 << 26
    assert most_unpacked(middle) == 10**9
    assert most_unpacked(large) == 32 * 10**9
    monkeypatch.setenv("TALLYSTICK_UNPACKED", "a lot")
    with pytest.raises(InputError, match="TALLYSTICK_UNPACKED must be a size"):
        most_unpacked(small)
    assert "more than 2 MB" in str(too_large(2 * 10**6, "x"))


def test_a_workbook_is_bounded_too(tmp_path, monkeypatch):
    path = tmp_path / "b.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b" " * (3 << 20))
    monkeypatch.setenv("TALLYSTICK_UNPACKED", "1MB")
    with pytest.raises(FileError, match=r"b.xlsx unpacks to more than 1 MB"):
        scan(path)


def test_too_little_memory_names_the_setting():
    with pytest.raises(InputError, match="TALLYSTICK_MEMORY=4GB"), reading("votes.csv"):
        raise duckdb.OutOfMemoryException("full")
