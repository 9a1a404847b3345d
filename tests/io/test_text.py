from __future__ import annotations

import gzip

import pytest

from tallystick.errors import FileError
from tallystick.table import scan
from tallystick.table import texts as text_module
from tallystick.table.sources import CHUNK, File
from tallystick.table.texts import checked


def _check(path, content):
    path.write_bytes(content)
    with checked(File(path, path.name)) as text:
        return text.path.read_bytes(), text.quoted, text.lines


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_plain_text_comes_through(tmp_path, pack):
    content = 'a,b\n"é",2\n'.encode()
    assert _check(tmp_path / "a.csv", pack(content)) == (content, True, 2)


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(("encoding", "called"), [("cp1252", "Latin-1"), ("utf-16", "UTF-16")])
def test_accents_of_windows_and_utf_16_are_read_and_said(tmp_path, pack, encoding, called):
    path = tmp_path / "a.csv"
    path.write_bytes(pack("Frage;gpt\nWäre es schön?;€\n".encode(encoding)))
    with scan(path) as table:
        assert table.relation.fetchall() == [("Wäre es schön?", "€")]
        assert any(called in note for note in table.notes)


def test_a_bad_byte_far_into_the_file_is_placed_exactly(tmp_path):
    line = b"12345678,abcdef\n"
    content = line * (CHUNK // 8) + b"\xc3"
    with pytest.raises(
        FileError, match=rf"line {CHUNK // 8 + 1}: byte 0xc3 at offset {16 * (CHUNK // 8):,} "
    ):
        _check(tmp_path / "a.csv", content)


def test_a_character_cut_by_the_chunk_is_no_fault(tmp_path):
    content = b"a" * (CHUNK - 1) + "é\n".encode()
    assert _check(tmp_path / "a.csv", content)[0] == content


def test_a_gzip_of_several_members_is_read_whole(tmp_path):
    assert (
        _check(tmp_path / "a.csv.gz", gzip.compress(b"a\n1\n") + gzip.compress(b"2\n"))[0]
        == b"a\n1\n2\n"
    )


def test_one_endless_line_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "MAX_LINE", 1 << 20)
    with pytest.raises(FileError, match="line 2 is longer than 1 MB"):
        _check(tmp_path / "a.csv", b"a\n" + b"x" * (3 << 20))


LINES = b"".join(b"%d,x\n" % i for i in range(200_000))
FLIPPED = bytearray(gzip.compress(LINES[:9000]))
FLIPPED[-6] ^= 0xFF  # the checksum


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "a,b\n1,2\né\x81,3\n".encode("latin-1"),
            "line 3: byte 0xe9 at offset 8 is not UTF-8 text;",
        ),
        # Letters beyond ASCII that stand together are not those of Windows-1252.
        ("вопрос,да\nответ,нет\n".encode("cp1251"), "is not UTF-8 text; save the file as UTF-8"),
        (
            "質問,はい\n答え,いいえ\n".encode("shift-jis"),
            "is not UTF-8 text; save the file as UTF-8",
        ),
        (b"a,b\n1,\0\n", "line 2: byte 0x00 at offset 6"),
        (gzip.compress(LINES)[:200_000], r"line [\d,]{6,} is a truncated or damaged \.gz file"),
        (bytes(FLIPPED), r"truncated or damaged \.gz"),
    ],
)
def test_what_is_no_whole_text_is_refused_with_its_place(tmp_path, content, words):
    with pytest.raises(FileError, match=rf"a\.csv.*{words}"):
        _check(tmp_path / "a.csv", content)
