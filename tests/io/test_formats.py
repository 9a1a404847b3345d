from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from tallystick.errors import FileError
from tallystick.table.scanning import detect
from tallystick.table.sources import File


def _detect(path, content):
    path.write_bytes(content)
    return detect(File(path, path.name))


@pytest.mark.parametrize(
    ("name", "content", "wanted"),
    [
        ("a.csv", b"a,b\n1,2\n", "delimited"),
        ("a.parquet", b"a,b\n1,2\n", "delimited"),
        ("a.txt", b'{"a": 1}\n', "json"),
        ("a.csv", gzip.compress(b'{"a": 1}\n', mtime=0), "json"),
        ("a.csv", b"PAR1....", "parquet"),
        ("a.csv", b"ARROW1\0\0....", "arrow-file"),
        ("a.csv", b"\xff\xff\xff\xff\x10", "arrow-stream"),
        ("a.csv", b"{x,y\n1,2\n", "delimited"),
        ("a.csv", b"[x],y\n1,2\n", "delimited"),
        ("a.jsonl", b'{"a": \n', "json"),
        ("a.csv", b"PK,vote\n1,2\n", "delimited"),
        ("a.csv", b"\x80uro,vote\n1,2\n", "delimited"),
        ("a.json", b' [\n {"a": 1}]', "json"),
        ("a.json", gzip.compress(b'[{"a": 1}]', mtime=0), "json"),
    ],
)
def test_content_decides_before_the_name(tmp_path, name, content, wanted):
    assert _detect(tmp_path / name, content) == wanted


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"PARE", "encrypted Parquet file"),
        (b"FEA1", "a Feather 1 file"),
        (b"BZh9", "bzip2"),
        (b"\xfd7zXZ\0", "xz"),
        (b"\x28\xb5\x2f\xfd", "zstd"),
        (b"\xd0\xcf\x11\xe0", "locked Office file, which is not read: .* save the table as CSV"),
        (b"SQLite format 3\0", "SQLite"),
        (b"12345678DUCK", "DuckDB file"),
        (b"\x93NUMPY", "NumPy file"),
        (b"%PDF-1.4", "PDF"),
        (b"\x80\x04\x95", "a pickle file, which is not read"),
        (b"\x80\x02}q", "a pickle file, which is not read"),
        (b"<!DOCTYPE html><html>", "web page"),
        (gzip.compress(b"PAR1xx", mtime=0), "gzipped parquet"),
        (gzip.compress(b"a,b\n", mtime=0)[:9], "truncated or damaged .gz"),
        (b"\x1f\x8bgarbage that is no deflate stream", "truncated or damaged .gz"),
        (b"PK\x03\x04 and no more", "a zip file, which is not read: unpack"),
    ],
)
def test_what_is_not_a_table_is_refused_by_the_name_of_what_it_is(tmp_path, content, words):
    with pytest.raises(FileError, match=words):
        _detect(tmp_path / "votes.dat", content)


def test_a_file_that_may_not_be_read_says_so(tmp_path, monkeypatch):
    path = tmp_path / "votes.csv"
    path.write_text("a\n1\n")

    def refuse(self, mode):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(FileError, match=r"votes\.csv cannot be read: Permission denied"):
        detect(File(path, path.name))
