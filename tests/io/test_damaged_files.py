"""Damaged and odd files: a sentence, never a fault of ours, and never another number."""

from __future__ import annotations

import os
import random
import zipfile

import numpy as np
import openpyxl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tallystick.errors import FileError, FormatError, InputError, TallystickError
from tallystick.table import Tally, scan
from tallystick.table.engine import _database, connect


def test_a_flipped_bit_of_a_saved_tally_never_gives_other_counts(tmp_path):
    path = tmp_path / "votes.tally"
    tally = Tally.of({"gpt": [0, 1, 1, 0] * 9, "claude": ["a", "b", None, "a"] * 9})
    tally.save(path)
    whole, rng = path.read_bytes(), random.Random(0)
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            assert Tally.load(path) == tally
        except TallystickError:
            continue


def test_a_saved_tally_without_a_checksum_is_read_and_its_counts_are_checked(tmp_path, monkeypatch):
    from tallystick.table import tally_files

    path = tmp_path / "old.tally"
    tally = Tally.of({"gpt": [0, 1, 1]})
    tally.save(path)
    table, head = tally_files.read_table(path, "tally")

    def write(counts):
        meta = {tally_files.FORMAT: tally_files.json.dumps(head)}
        place = table.column_names.index("count")
        changed = table.set_column(place, "count", pa.array(counts)).replace_schema_metadata(meta)
        with pa.ipc.new_file(path, changed.schema) as writer:
            writer.write_table(changed)

    write([1, 2])
    assert Tally.load(path) == tally
    write([1, -2])
    with pytest.raises(FormatError, match="a code or a count is out of range"):
        Tally.load(path)


def test_a_damaged_workbook_is_refused_with_a_sentence(tmp_path):
    book = openpyxl.Workbook()
    for row in [["id", "gpt"], *([k, k % 2] for k in range(40))]:
        book.active.append(row)
    good, bad = tmp_path / "good.xlsx", tmp_path / "bad.xlsx"
    book.save(good)
    rng = random.Random(1)
    with zipfile.ZipFile(good) as source:
        parts = {name: source.read(name) for name in source.namelist()}
    for trial in range(120):
        if trial % 2:
            content = bytearray(good.read_bytes())
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
            bad.write_bytes(content)
        else:
            with zipfile.ZipFile(bad, "w") as target:
                for name, held in parts.items():
                    content = bytearray(held)
                    content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
                    target.writestr(name, bytes(content))
        try:
            with scan(bad) as table:
                table.query("select * from rows")
        except TallystickError:
            continue


@pytest.mark.parametrize("name", ["g\0pt", "\0", "g\x1bpt", "gpt\x90"])
def test_a_name_of_a_column_that_nobody_typed_is_refused(tmp_path, name):
    """A damaged stream of Arrow has such names: nothing in it says that a letter was changed."""
    with (tmp_path / "a.arrow").open("wb") as sink:
        table = pa.table({"id": [1], name: [0]})
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    with pytest.raises(InputError, match="the name of column 2 holds a control character"):
        scan(tmp_path / "a.arrow")


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX only")
def test_a_file_whose_name_is_not_utf_8_is_refused(tmp_path):
    with pytest.raises(FileError, match="is not a file"):
        scan(tmp_path / os.fsdecode(b"caf\xe9.csv"))


TABLE = pa.table(
    {"a": ["yes", "no", "maybe"] * 40, "b": ["x", None, "y"] * 40, "l": [[1, 2]] * 120}
)


def arrow(path, *, stream=False):
    make = pa.ipc.new_stream if stream else pa.ipc.new_file
    with make(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE)


def counted(path):
    return Tally.of(path, columns=["a", "b"], apart=["a", "b"])


@pytest.mark.parametrize("stream", [False, True])
def test_wild_offsets_are_refused_and_the_next_file_is_read(tmp_path, stream):
    """An offset outside the file used to end the process."""
    good, bad = tmp_path / "good.arrow", tmp_path / "bad.arrow"
    arrow(good, stream=stream)
    content = good.read_bytes()
    offsets = np.arange(0, 4, dtype="<i4")
    offsets[:] = [0, 3, 5, 10]  # of yes, no, maybe
    place = content.find(offsets.tobytes())
    assert place > 0
    bad.write_bytes(content[:place] + b"\xff\xff\xff\x7f" * 4 + content[place + 16 :])
    with pytest.raises(TallystickError, match=r"bad.arrow is a truncated or damaged Arrow file"):
        counted(bad)
    assert counted(good).n == 120


def test_a_database_that_closed_for_good_is_opened_again(tmp_path):
    good = tmp_path / "good.parquet"
    pq.write_table(TABLE.drop_columns("l"), good)
    connect()
    _database(os.getpid()).close()
    with scan(good) as table:
        assert table.query("select count(*) from rows") == [(120,)]
