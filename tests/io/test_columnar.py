from __future__ import annotations

import datetime
import random
from decimal import Decimal

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

from tallystick.errors import FileError, InputError, TallystickError
from tallystick.table import Tally, scan

VOTES = pa.table(
    {"item": ["x", "y", "z"], "a": pa.array([1, 0, None], pa.int8()), "b": [0.5, float("nan"), 1.0]}
)


def _stream(path, table):
    with path.open("wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)


def _write(path, table, kind):
    writers = {
        "parquet": lambda: pq.write_table(table, path),
        "arrow": lambda: pa.feather.write_feather(table, path),
    }
    writers.get(kind, lambda: _stream(path, table))()


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_typed_files_keep_their_types(tmp_path, kind):
    path = tmp_path / "votes.bin"
    _write(path, VOTES, kind)
    with scan(path) as table:
        assert table.kinds == {"item": "text", "a": "integer", "b": "float"}
        assert [row[:2] for row in table.relation.fetchall()] == [("x", 1), ("y", 0), ("z", None)]
        assert str(table.row_of("a", 0)) == f"row 2 of {path}"
        assert table.row_of("a", "0") is None
        assert table.row_of("a", None) is not None


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_several_files_are_one_table_in_order(tmp_path, kind):
    for number in range(3):
        _write(
            tmp_path / f"{number}.bin",
            pa.table({"a": [number, 10 + number], "b": ["x", "y"]}),
            kind,
        )
    with scan(str(tmp_path / "*.bin")) as table:
        assert [a for a, _ in table.relation.fetchall()] == [0, 10, 1, 11, 2, 12]
        assert str(table.row_of("a", 12)) == f"row 2 of {tmp_path / '2.bin'}"


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_a_truncated_file_is_refused_by_name(tmp_path, kind, keep):
    path = tmp_path / "votes.bin"
    _write(path, pa.table({"a": list(range(5000))}), kind)
    content = path.read_bytes()
    path.write_bytes(content[: int(keep * len(content))])
    with pytest.raises(FileError, match=r"votes\.bin is a truncated"):
        scan(path)


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_no_rows_are_refused(tmp_path, kind):
    _write(tmp_path / "votes.bin", VOTES.slice(0, 0), kind)
    with pytest.raises(FileError, match="has no rows: nothing to count"):
        scan(tmp_path / "votes.bin")


def test_damage_inside_a_parquet_file_is_our_error_or_harmless(tmp_path):
    path = tmp_path / "votes.parquet"
    pq.write_table(pa.table({"a": list(range(1000)), "b": ["x", "y"] * 500}), path)
    whole = path.read_bytes()
    draw = random.Random(1)
    messages = []
    for _ in range(60):
        content = bytearray(whole)
        for _ in range(5):
            content[draw.randrange(4, len(content) - 4)] = draw.randrange(256)
        path.write_bytes(content)
        try:
            with scan(path) as table:
                table.query("select min(a), min(b) from rows")
        except TallystickError as error:
            messages.append(str(error))
    assert messages
    assert all("votes.parquet" in message for message in messages), messages


def test_fields_of_a_struct_are_columns_with_dotted_names(tmp_path):
    human = [{"label": "a", "by": {"score": 0.5, "day": datetime.date(2024, 1, 2)}}, None]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"id": [1, 2], "human": human, "gpt": ["a", "b"]}), path)
    with scan(path) as table:
        assert table.columns == ("id", "human.label", "human.by.score", "human.by.day", "gpt")
        assert table.kinds["human.by.score"] == "float"
        assert table.query('select "human.label", "human.by.day" from rows') == [
            ("a", "2024-01-02"),
            (None, None),
        ]


def test_a_field_that_is_called_like_another_column_is_refused():
    with pytest.raises(InputError, match=r"has 'a\.b' twice .*rename one"):
        scan(pa.table({"a": [{"b": 1}], "a.b": [2]}))


def test_dates_become_text_decimals_floats_and_nested_columns_are_left_out():
    table = scan(
        pa.table(
            {
                "day": pa.array([0], pa.date32()),
                "cost": [Decimal("1.50")],
                "word": pa.array(["x"]).dictionary_encode(),
                "list": [[1]],
                "bytes": [b"x"],
                "none": pa.nulls(1),
            }
        )
    )
    assert table.kinds == {
        "day": "text",
        "cost": "float",
        "word": "text",
        "list": "other",
        "bytes": "other",
        "none": "text",
    }
    assert table.left_out.keys() == {"list", "bytes"}
    with pytest.raises(InputError, match="column 'list' holds"):
        Tally.of(table, columns=["list"])
    assert table.query("select day, cost, word, none from rows") == [("1970-01-01", 1.5, "x", None)]


def test_files_whose_columns_differ_are_refused_by_name(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1], "c": [1]}), tmp_path / "2.parquet")
    with pytest.raises(
        InputError, match=r"1\.parquet has a column 'b', which .*2\.parquet does not have"
    ):
        scan(str(tmp_path / "*.parquet"))


def test_files_whose_types_differ_are_usable_under_coerce_only(tmp_path):
    pq.write_table(pa.table({"a": [1], "b": pa.nulls(1)}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"a": [1.0], "b": ["x"]}), tmp_path / "2.parquet")
    table = scan(str(tmp_path / "*.parquet"))
    assert table.doubtful.keys() == {"a"}
    with pytest.raises(
        InputError, match=r"column 'a' is integer in .*1\.parquet and float in .*2\.parquet"
    ):
        Tally.of(table)
    assert Tally.of(table, coerce=True).n == 2


@pytest.mark.parametrize(
    "name", ["votes[1].parquet", "v*.parquet", "what?.parquet", "it's {a,b}.parquet"]
)
@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_a_name_with_glob_signs_means_that_one_file(tmp_path, name, kind):
    for other in ("votes1.parquet", "whatx.parquet", "va.parquet"):
        _write(tmp_path / other, pa.table({"a": [1]}), kind)
    _write(tmp_path / name, pa.table({"a": [2]}), kind)
    with scan(tmp_path / name) as table:
        assert table.relation.fetchall() == [(2,)]


def test_a_saved_tally_is_refused_with_the_verb_that_takes_it(tmp_path):
    schema = pa.schema([("a", pa.int8())], metadata={"tallystick.format": "1"})
    pa.feather.write_feather(
        pa.table([pa.array([1], pa.int8())], schema=schema), tmp_path / "votes.tally"
    )
    with pytest.raises(
        FileError, match="is a saved tally, not a table: give it to `tallystick judge`"
    ):
        scan(tmp_path / "votes.tally")


def test_duplicate_and_far_too_many_columns_are_refused(tmp_path):
    pq.write_table(pa.table([[1], [2]], names=["a", "A"]), tmp_path / "a.parquet")
    with pytest.raises(InputError, match="alike but for case"):
        scan(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="has 'a' twice"):
        scan(pa.table([[1], [2]], names=["a", "a"]))
    most = [f"c{i}" for i in range(2_000)]
    assert scan(pa.table([[1]] * 2_000, names=most)).columns == tuple(most)


@pytest.mark.parametrize("statistics", [True, False])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()])
@pytest.mark.parametrize("known", [[1.0, 0.0], [1.0, 1.0], [1.0, None], []])
def test_nan_in_parquet_is_no_value_whatever_its_statistics_say(tmp_path, known, kind, statistics):
    values = [*known, float("nan")] * 3
    path = tmp_path / "scores.parquet"
    pq.write_table(
        pa.table({"a": pa.array(values, kind, from_pandas=False)}),
        path,
        write_statistics=statistics,
    )
    wanted = [None if value is None or value != value else value for value in values]
    with scan(path) as table:
        assert [a for (a,) in table.relation.fetchall()] == wanted
        assert table.query("select count(*) from rows where a is null") == [(wanted.count(None),)]
        assert table.query("select count(*) from rows where a = 1") == [(wanted.count(1.0),)]
        assert str(table.row_of("a", None)) == f"row {wanted.index(None) + 1} of {path}"
