from __future__ import annotations

import duckdb
import pytest

from tallystick.errors import InputError
from tallystick.table import Door, read, scan
from tallystick.table.tables import Place


def test_a_relation_of_any_connection_can_be_scanned():
    relation = duckdb.connect().sql("select * from (values (1, 'x'), (2, 'y')) t(a, b)")
    table = scan(relation)
    assert table.columns == ("a", "b")
    assert table.source == "the table"
    assert table.row_of("b", "y") == Place(2, "the table")
    assert table.row_of("b", "z") is None


def test_other_objects_are_refused():
    with pytest.raises(InputError, match=r"data must be a mapping .* or a path, got a object"):
        scan(object())


def test_csv_files_of_a_glob_are_matched_by_name_and_counted_by_file(tmp_path):
    (tmp_path / "1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "2.csv").write_text("b,a\n4,3\n")
    with scan(str(tmp_path / "*.csv")) as table:
        assert table.relation.fetchall() == [("1", "2"), ("3", "4")]
        assert table.row_of("a", "3") == Place(1, str(tmp_path / "2.csv"), 2)
        assert table.source.endswith("1.csv and 1 more")
        assert len(table.files) == 2


def test_lines_are_counted_within_each_file(tmp_path):
    (tmp_path / "1.csv").write_text('a,b\n"1",2\n"3",2\n')
    (tmp_path / "2.csv").write_text('a,b\n"5",6\n')
    (tmp_path / "3.csv").write_text('a,b\n"x\ny",6\n7,8\n')
    with scan(str(tmp_path / "*.csv")) as table:
        assert table.row_of("a", "5") == Place(1, str(tmp_path / "2.csv"), 2)
        assert table.row_of("a", "7") == Place(2, str(tmp_path / "3.csv"), None)


def test_a_missing_column_is_refused_with_the_nearest_name(tmp_path):
    (tmp_path / "1.csv").write_text("item,truth\n1,2\n")
    with pytest.raises(
        InputError,
        match=r"has no column 'truht': did you mean 'truth'\? \(columns: 'item', 'truth'\)",
    ):
        scan(tmp_path / "1.csv").row_of("truht", "2")


def test_real_weak_labels_have_their_abstentions_missing(shared_data):
    path = shared_data / "bound" / "youtube.parquet"
    with read(path, Door(want="weak"), weak=["lf_*"], truth="y", missing=["-1"]) as data:
        labels = data.tally("weak").labels
        assert set().union(*labels.values()) == {0, 1, None}


def test_a_real_file_without_a_header_is_refused(shared_data):
    with pytest.raises(
        InputError, match="if the first line is data, put a line with column names above it"
    ):
        scan(shared_data / "judge" / "agaricus-lepiota.data.gz")


def test_files_of_two_formats_are_refused_by_both_names(tmp_path):
    (tmp_path / "a.csv").write_text("x\n1\n", encoding="utf-8")
    (tmp_path / "b.ndjson").write_text('{"x": 1}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.csv is delimited and .*b\.ndjson is json: read"):
        scan([tmp_path / "a.csv", tmp_path / "b.ndjson"])
