from __future__ import annotations

import csv
import io
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FileError, InputError
from tallystick.table import atomic, scan, unescape, write_csv
from tallystick.table.tables import escape


@pytest.mark.parametrize(
    "cell", ["=1+1", "+x", "-x", "@SUM(A1)", "\tx", "\rx", "-", "=cmd|' /C calc'!A0", "-1+1"]
)
def test_what_a_spreadsheet_would_run_is_escaped(cell):
    assert escape(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["", "x", "1", "-1", "-1.5", "+2e-3", "'", "it's", "a=b"])
def test_what_is_harmless_stays(cell):
    assert escape(cell) == cell


@given(st.text())
def test_escaping_is_undone_and_always_safe(cell):
    assert unescape(escape(cell)) == cell
    assert not escape(cell).startswith(("=", "@", "\t", "\r"))


text = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8
)


@given(st.lists(text, min_size=1, max_size=6))
def test_any_text_comes_back_from_csv(cells):
    stream = io.StringIO(newline="")
    write_csv(stream, {"=a": cells, "b": ["x"] * len(cells)})
    header, *rows = csv.reader(io.StringIO(stream.getvalue(), newline=""))
    assert header == ["'=a", "b"]
    assert [unescape(row[0]) for row in rows] == cells


@pytest.mark.parametrize("ending", ["csv", "tsv", "ndjson", "jsonl", "parquet"])
def test_each_format_comes_back_through_scan(tmp_path, ending):
    path = tmp_path / f"out.{ending}"
    write_csv(
        path, {"item": ["x", "é\n,\t"], "p": np.array([0.25, math.nan]), "n": pa.array([1, None])}
    )
    with scan(path) as table:
        typed = ending in ("ndjson", "jsonl", "parquet")
        assert table.columns == ("item", "p", "n")
        assert table.relation.fetchall()[0] == (("x", 0.25, 1) if typed else ("x", "0.25", "1"))
        assert table.query("select item, n from rows")[1] == ("é\n,\t", None)


@pytest.mark.parametrize(
    ("name", "columns", "words"),
    [
        ("out.xlsx", {"a": [1]}, r"must end in one of \.csv"),
        ("out.ndjson", {"a": [math.inf]}, "infinite number has no JSON form"),
        ("out.parquet", {"a": [1, "x"]}, "mixes types"),
    ],
)
def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path, name, columns, words):
    with pytest.raises(InputError, match=words):
        write_csv(tmp_path / name, columns)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_absent_is_named(tmp_path):
    with pytest.raises(FileError, match="cannot be written: No such file or directory"):
        write_csv(tmp_path / "nowhere" / "out.csv", {"a": [1]})


def test_an_interrupted_write_leaves_the_old_file_whole(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def interrupted():
        with atomic(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
