"""A small compressed file does not fill the disk."""

import gzip
import zipfile

import pytest

from tallystick.errors import FileError, InputError
from tallystick.table import scan
from tallystick.table.sources import most_unpacked, too_large


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
