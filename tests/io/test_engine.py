from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from tallystick.errors import FileError, InputError
from tallystick.table.engine import connect, reading
from tallystick.table.sources import scratch


def test_no_extension_can_be_loaded_and_no_setting_changed() -> None:
    cursor = connect()
    with pytest.raises(duckdb.Error):
        cursor.sql("install httpfs")
    with pytest.raises(duckdb.Error):
        cursor.sql("set memory_limit = '100GB'")
    with pytest.raises(duckdb.Error):
        cursor.sql("select * from read_csv('https://example.org/votes.csv')").fetchall()


def test_a_table_name_in_sql_never_reaches_a_python_variable() -> None:
    votes = [1, 2, 3]
    assert votes
    with pytest.raises(duckdb.Error, match="votes"):
        connect().sql("select * from votes").fetchall()


def test_an_error_of_the_engine_becomes_ours() -> None:
    with pytest.raises(FileError, match=r"votes\.csv cannot be read"), reading("votes.csv"):
        connect().sql("select cast('x' as integer)").fetchall()


def test_too_little_memory_names_the_setting() -> None:
    with pytest.raises(InputError, match="TALLYSTICK_MEMORY=4GB"), reading("votes.csv"):
        raise duckdb.OutOfMemoryException("full")


def _python(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_scratch_folder_goes_with_the_process() -> None:
    code = "from tallystick.table.engine import scratch; print(scratch())"
    done = _python(code)
    assert done.returncode == 0, done.stderr
    assert not Path(done.stdout.strip()).exists()
    assert scratch().is_dir()
