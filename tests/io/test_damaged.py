"""A damaged Arrow or Parquet file is refused, and costs the process and the next file nothing."""

import contextlib
import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tallystick.errors import TallystickError
from tallystick.table import Tally, scan
from tallystick.table.engine import _database, connect

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


def test_bits_flipped_anywhere_in_a_parquet_file_never_cost_the_next_one(tmp_path):
    good, bad = tmp_path / "good.parquet", tmp_path / "bad.parquet"
    pq.write_table(TABLE.drop_columns("l"), good, use_dictionary=False, compression="NONE")
    content = bytearray(good.read_bytes())
    rng = np.random.default_rng(0)
    for place in rng.integers(4, len(content) - 8, 60):
        damaged = content.copy()
        damaged[place] ^= 1 << int(rng.integers(8))
        bad.write_bytes(damaged)
        with contextlib.suppress(TallystickError):  # refused, or a value that no reader can doubt
            counted(bad)
        assert counted(good).n == 120


def test_a_database_that_closed_for_good_is_opened_again(tmp_path):
    good = tmp_path / "good.parquet"
    pq.write_table(TABLE.drop_columns("l"), good)
    connect()
    _database(os.getpid()).close()
    with scan(good) as table:
        assert table.query("select count(*) from rows") == [(120,)]
