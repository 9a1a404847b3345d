from __future__ import annotations

import io
import subprocess
import sys

import pytest

from tallystick.errors import InputError
from tallystick.table.sources import resolve


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("vote.csv", r"vote\.csv does not exist: did you mean 'votes\.csv'\?"),
        ("nowhere/votes.csv", r"does not exist in .*nowhere"),
        (".", r"is not a file: name a table, a glob such as 'FOLDER/\*\.csv'"),
        ("*.tsv", r"no file matches '\*\.tsv'"),
        ("http://example.org/a.csv", "local files only; download it first"),
        ("hf://data/x.csv", "local files only; download it first"),
        (["votes.csv", "*.csv"], "given twice"),
        ([], "is not a file: name a table"),
        (["-", "-"], "is given twice"),
        ([3], "is not a file"),
        ("", "is not a file"),
        ("a\0b", "is not a file"),
    ],
)
def test_what_names_no_file_is_refused_with_the_way_out(tmp_path, monkeypatch, source, words):
    (tmp_path / "votes.csv").write_text("a\n1\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=words):
        resolve(source)


def test_a_glob_gives_files_in_order_and_no_folders(tmp_path):
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text("x\n1\n")
    (tmp_path / "c.csv").mkdir()
    assert [file.path.name for file in resolve(str(tmp_path / "*.csv"))] == ["a.csv", "b.csv"]


def test_standard_input_is_spooled():
    [file] = resolve("-", stdin=io.BytesIO(b"a,b\n1,2\n"))
    assert file.name == "standard input"
    assert file.spooled
    assert file.path.read_bytes() == b"a,b\n1,2\n"
    file.path.unlink()


def test_standard_input_is_read_by_content(tmp_path):
    code = (
        "from tallystick.table import scan; t = scan('-'); print(t.columns, t.relation.fetchall(),"
        " t.files, t.source)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"a": 1}\n', capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "('a',) [(1,)] () standard input"
