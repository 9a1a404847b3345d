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


def test_a_bad_byte_is_named_with_its_line_and_offset(tmp_path):
    with pytest.raises(
        FileError,
        match=r"a\.csv, line 3: byte 0xe9 at offset 8 is not UTF-8; save the file as UTF-8",
    ):
        _check(tmp_path / "a.csv", "a,b\n1,2\né\x81,3\n".encode("latin-1"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize(("encoding", "called"), [("cp1252", "Latin-1"), ("utf-16", "UTF-16")])
def test_accents_of_windows_and_utf_16_are_read_and_said(tmp_path, pack, encoding, called):
    path = tmp_path / "a.csv"
    path.write_bytes(pack("Frage;gpt\nWäre es schön?;€\n".encode(encoding)))
    with scan(path) as table:
        assert table.relation.fetchall() == [("Wäre es schön?", "€")]
        assert any(called in note for note in table.notes)


@pytest.mark.parametrize(
    ("text", "encoding"),
    [("вопрос,да\nответ,нет\n", "cp1251"), ("質問,はい\n答え,いいえ\n", "shift-jis")],
)
def test_text_whose_letters_stand_together_is_not_taken_for_latin_1(tmp_path, text, encoding):
    with pytest.raises(FileError, match="is not UTF-8; save the file as UTF-8"):
        _check(tmp_path / "a.csv", text.encode(encoding))


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


def test_a_nul_byte_is_named_with_its_place(tmp_path):
    with pytest.raises(FileError, match=r"line 2: a NUL byte at offset 6"):
        _check(tmp_path / "a.csv", b"a,b\n1,\0\n")


def test_a_truncated_gzip_says_after_which_line_it_breaks_off(tmp_path):
    packed = gzip.compress(b"".join(b"%d,x\n" % i for i in range(200_000)))
    with pytest.raises(FileError, match=r"truncated or damaged \.gz file near line [\d,]{6,}"):
        _check(tmp_path / "a.csv.gz", packed[: len(packed) // 2])


def test_a_gzip_with_a_flipped_byte_is_refused(tmp_path):
    packed = bytearray(gzip.compress(b"".join(b"%d,x\n" % i for i in range(1000))))
    packed[-6] ^= 0xFF  # the checksum
    with pytest.raises(FileError, match=r"damaged \.gz"):
        _check(tmp_path / "a.csv.gz", bytes(packed))


def test_a_gzip_of_several_members_is_read_whole(tmp_path):
    assert (
        _check(tmp_path / "a.csv.gz", gzip.compress(b"a\n1\n") + gzip.compress(b"2\n"))[0]
        == b"a\n1\n2\n"
    )


def test_one_endless_line_is_refused_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "MAX_LINE", 1 << 20)
    with pytest.raises(FileError, match="line 2 is longer than 1 MB"):
        _check(tmp_path / "a.csv", b"a\n" + b"x" * (3 << 20))
