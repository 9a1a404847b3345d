from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest

from tallystick.errors import FileError, InputError
from tallystick.table.sources import resolve


def test_an_absent_file_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "votes.csv").write_text("a\n1\n")
    with pytest.raises(FileError, match=r"vote\.csv does not exist; did you mean .*votes\.csv\?"):
        resolve(tmp_path / "vote.csv")


def test_an_absent_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"there is no folder .*nowhere"):
        resolve(tmp_path / "nowhere" / "votes.csv")


def test_a_directory_is_refused_with_a_glob_to_use(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"is a directory; name its files, for instance .*\*\.csv"):
        resolve(tmp_path)


def test_a_glob_that_matches_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"no file matches '.*\*\.csv'"):
        resolve(str(tmp_path / "*.csv"))


def test_a_glob_gives_files_in_order_and_no_folders(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv"):
        (tmp_path / name).write_text("x\n1\n")
    (tmp_path / "c.csv").mkdir()
    assert [file.path.name for file in resolve(str(tmp_path / "*.csv"))] == ["a.csv", "b.csv"]


def test_a_file_whose_name_holds_glob_signs_is_reached(tmp_path: Path) -> None:
    odd, other = tmp_path / "votes[1].csv", tmp_path / "votes1.csv"
    odd.write_text("x\n1\n")
    other.write_text("x\n1\n")
    assert [file.path for file in resolve(str(odd))] == [odd]


@pytest.mark.parametrize(
    "source", ["http://example.org/a.csv", "s3://bucket/a.parquet", "hf://data/x.csv", "file:///a"]
)
def test_an_address_is_refused_since_nothing_is_downloaded(source: str) -> None:
    with pytest.raises(FileError, match="local files only; download it first"):
        resolve(source)


def test_one_file_given_twice_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x\n1\n")
    with pytest.raises(InputError, match="given twice"):
        resolve([tmp_path / "a.csv", str(tmp_path / "*.csv")])


@pytest.mark.parametrize(
    ("source", "words"),
    [([], "no file was given"), (["-", "-"], "once only"), ([3], "path, got int")],
)
def test_a_source_that_names_no_file_is_refused(source: list[str], words: str) -> None:
    with pytest.raises(InputError, match=words):
        resolve(source)


@pytest.mark.parametrize("source", ["", "a\0b"])
def test_a_name_that_no_file_can_have_is_refused(source: str) -> None:
    with pytest.raises(FileError, match="not the name of a file"):
        resolve(source)


def test_standard_input_is_spooled() -> None:
    [file] = resolve("-", stdin=io.BytesIO(b"a,b\n1,2\n"))
    assert file.name == "standard input"
    assert file.spooled
    assert file.path.read_bytes() == b"a,b\n1,2\n"
    file.path.unlink()


def test_standard_input_is_read_by_content(tmp_path: Path) -> None:
    code = (
        "from tallystick.table import scan; t = scan('-'); print(t.columns, t.relation.fetchall(),"
        " t.files, t.source)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=b'{"a": 1}\n', capture_output=True, check=True
    )
    assert done.stdout.decode().strip() == "('a',) [(1,)] () standard input"
