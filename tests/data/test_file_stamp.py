"""A stamp tells whether a file was written again."""

from __future__ import annotations

import os

from tallystick.table.session import file_stamps


def test_a_file_that_nobody_touched_keeps_its_stamp(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("x" * 1_000_000)
    assert file_stamps([path]) == file_stamps([str(path)])


def test_another_content_of_the_same_size_and_time_is_seen_where_a_block_is_looked_at(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * 1_000_000)
    held = path.stat()
    one = file_stamps([path])
    with path.open("r+b") as stream:  # in place: the inode stays
        stream.write(b"y")
    os.utime(path, ns=(held.st_atime_ns, held.st_mtime_ns))
    assert path.stat().st_mtime_ns == held.st_mtime_ns
    assert file_stamps([path]) != one


def test_a_change_between_the_blocks_with_its_time_set_back_is_the_known_limit(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"x" * 10_000_000)
    held = path.stat()
    one = file_stamps([path])
    with path.open("r+b") as stream:
        stream.seek(10_000_000 // 65 + 4096)  # just after the first block
        stream.write(b"y")
    assert file_stamps([path]) != one  # the time tells
    os.utime(path, ns=(held.st_atime_ns, held.st_mtime_ns))
    assert file_stamps([path]) == one


def test_a_copy_and_what_is_no_plain_file_have_no_equal_stamp(tmp_path):
    path, copy = tmp_path / "a.csv", tmp_path / "b.csv"
    path.write_text("a")
    copy.write_text("a")
    assert file_stamps([path]) != file_stamps([copy])
    for other in (tmp_path, tmp_path / "*.csv", tmp_path / "gone.csv", "s3://bucket/a.csv"):
        assert file_stamps([path, other]) is None
    assert file_stamps([]) is None
