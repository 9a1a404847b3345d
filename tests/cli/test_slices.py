import io
import json
from contextlib import redirect_stdout

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tallystick.cli.slices import MOST_SLICES, by_slice

from tallystick.cli.deliver import deliver
from tallystick.errors import InputError, NotIdentifiable
from tallystick.io import scan
from tallystick.results import Result

TABLE = {"lang": ["en", "de", "en", None, "de", "en"], "vote": [1, 0, 1, 1, 0, 0]}


def count(table, alpha):
    [(n,)] = table.query("select count(*) from rows")
    if n == 1:
        raise NotIdentifiable("one item is too few")
    return Result(verdict=f"{n} items at {alpha:.4f}", n_items=n)


def test_every_value_is_a_slice_and_the_level_is_shared():
    slices = by_slice(scan(pa.table(TABLE)), "lang", count, alpha=0.06)
    assert [(part.label, str(part)) for part in slices] == [
        ("de", "de: 2 items at 0.0200"),
        ("en", "en: 3 items at 0.0200"),
        (None, "(blank): one item is too few"),
    ]


def test_nan_is_the_blank_slice(tmp_path):
    column = pa.array([1.0, 1.0, float("nan"), float("nan"), None], from_pandas=False)
    pq.write_table(pa.table({"part": column, "vote": [1, 0, 1, 1, 0]}), tmp_path / "votes.parquet")
    with scan(tmp_path / "votes.parquet") as table:
        slices = by_slice(table, "part", count, alpha=0.06)
    assert list(map(str, slices)) == ["1.0: 2 items at 0.0300", "(blank): 3 items at 0.0300"]
    assert [part.to_dict()["slice"] for part in slices] == [1.0, None]


def test_slices_stand_in_the_one_json_object():
    slices = by_slice(scan(pa.table(TABLE)), "lang", count, alpha=0.06)
    out = io.StringIO()
    with redirect_stdout(out):
        deliver(Result(verdict="6 items", n_items=6), as_json=True, slices=slices)
    parts = json.loads(out.getvalue())["slices"]
    assert [part["slice"] for part in parts] == ["de", "en", None]
    assert parts[0]["n_items"] == 2
    assert parts[2]["verdict"] is None
    assert parts[2]["unknown"] == {"verdict": "one item is too few"}


def test_a_column_of_too_many_values_is_refused_by_name():
    table = scan(pa.table({"user": list(range(MOST_SLICES + 1))}))
    with pytest.raises(InputError, match="column 'user' has 201 values"):
        by_slice(table, "user", count, alpha=0.05)
