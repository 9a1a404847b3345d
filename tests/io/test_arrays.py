from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table import Door, Tally, read
from tallystick.table.engine import as_arrow, as_numpy, codes_of, present

COLUMNS = [
    pa.array([1, 2, 3], pa.int8()),
    pa.array([1, None, 3], pa.int64()),
    pa.array([], pa.float64()),
    pa.array([0.5, None, float("nan")]),
    pa.array([1.5, 2.5], pa.float32()),
    pa.array([True, False, True]),
    pa.array([True, None]),
    pa.array([7, 8, 9, 10], pa.uint16()).slice(1, 2),
    pa.array([True, False, True, True]).slice(1, 2),
    pa.array(["a", None]),
    pa.chunked_array([[1, 2], [3]]),
    pa.chunked_array([[0.5, None], [1.0]]),
    pa.chunked_array([], pa.int32()),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.type))
def test_a_column_is_what_arrow_makes_of_it(column: pa.Array) -> None:
    chunked = isinstance(column, pa.ChunkedArray)
    expected = column.to_numpy() if chunked else column.to_numpy(zero_copy_only=False)
    ours = as_numpy(column)
    np.testing.assert_array_equal(ours, expected)
    assert ours.dtype == expected.dtype


def test_codes_of_words_say_where_nothing_stands() -> None:
    coded = pa.array(["b", None, "a", "b"]).dictionary_encode()
    assert codes_of(coded, missing=-1).tolist() == [0, -1, 1, 0]
    assert codes_of(coded.slice(1, 2), missing=9).tolist() == [9, 1]
    assert codes_of(pa.array(["b"]).dictionary_encode(), missing=-1).tolist() == [0]
    assert present(coded).tolist() == [True, False, True, True]


@pytest.mark.parametrize("numbers", [[1, 2, 3], [0.5, float("nan")], []])
def test_numbers_come_back_from_arrow_as_they_went(numbers: list[float]) -> None:
    held = np.array(numbers)
    np.testing.assert_array_equal(as_numpy(as_arrow(held[::-1])), held[::-1])


@pytest.mark.parametrize("verb", ["judge", "compare"])
def test_a_verdict_from_a_file_does_not_wake_pandas(tmp_path: Path, verb: str) -> None:
    table = tmp_path / "votes.csv"
    rows = [f"{i},{i % 2},{int(i % 3 > 0)},{int(i % 5 > 1)}" for i in range(60)]
    table.write_text("item,a,b,c\n" + "\n".join(rows) + "\n")
    program = (
        "import sys; from tallystick.cli import main\n"
        f"try: main([{verb!r}, {str(table)!r}])\n"
        "except SystemExit: pass\n"
        "sys.exit('pandas' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_a_list_of_objects_is_a_table_whose_late_keys_are_blank_before():
    rows = [{"id": k, "gpt": k % 2, "more": {"by": "ann"}} for k in range(4)] + [
        {"id": 4, "x": "a"}
    ]
    with read(rows, Door()) as data:
        assert data.table.query('select id, gpt, x, "more.by" from rows where id > 2') == [
            (3, 1, None, "ann"),
            (4, None, "a", None),
        ]
    assert Tally.of([{"gpt": 1}, {"gpt": 0}, {}]).labels == {"gpt": (0, 1, None)}
    with pytest.raises(InputError, match="row 2 of the list is 7, and no object"):
        Tally.of([{"gpt": 1}, 7])
