from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FileError, InputError
from tallystick.table import delimited, scan, sources, texts
from tallystick.table.sources import Spool, scratch


def _scan(path, content, **options):
    path.write_bytes(content)
    return scan(path, **options)


def _rows(path, content, **options):
    return _scan(path, content, **options).relation.fetchall()


@pytest.mark.parametrize(
    ("content", "rows"),
    [
        (
            b"a,b\n1,1.0\nTrue,NULL\nNA,nan\nnull,-0\n",
            [("1", "1.0"), ("True", "NULL"), ("NA", "nan"), ("null", "-0")],
        ),
        (b"a,b\n 1 ,2\t\n", [(" 1 ", "2\t")]),
        (b"a,b\n1,2", [("1", "2")]),
        (b"a,b\r\n1,2\n3,4\r\n", [("1", "2"), ("3", "4")]),
        (b"a,b\r1,2\r", [("1", "2")]),
        (b"\xef\xbb\xbfa,b\n1,2\n", [("1", "2")]),
        (b'a,b\n"x\ny",2\n', [("x\ny", "2")]),
        (b'a,b\n"x\r\ny",2\r\n', [("x\r\ny", "2")]),
        (b'a,b\n"x""y",2\n', [('x"y', "2")]),
        (b'a,b\n x"y,"p,q"\n', [(' x"y', "p,q")]),
        (b'a,b\n"",2\n,\n', [(None, "2"), (None, None)]),
        (b"a,b\n1,2\n\n3,4\n\n", [("1", "2"), ("3", "4")]),
        (b"a,b\n#1,2\n", [("#1", "2")]),
        ("a;b\nx\u2028y;1,2\n".encode(), [("x\u2028y", "1,2")]),
        (b"a\n1\n\n2\n", [("1",), (None,), ("2",)]),
        (b'a\n"1"\n\n2\n', [("1",), (None,), ("2",)]),
        (b"a,b\n2024-01-01,1e5\n", [("2024-01-01", "1e5")]),
        (b'a,b\n\\N,\\"x\n', [("\\N", '\\"x')]),
    ],
)
def test_cells_are_kept_exactly_as_written(tmp_path, content, rows):
    assert _rows(tmp_path / "votes.csv", content) == rows


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"a,b\n", "has no rows: nothing to count"),
        (b"a,b", "has no rows: nothing to count"),
        (
            b"a,b\n1,2\n3\n",
            r"line 3 has 1 field, the header has 2: there is no 'b'",
        ),
        (
            b"a,b\n1,2\n3,4,5\n",
            r"line 3 has 3 fields, the header has 2: there is '5' beyond them.* quote a cell .* comma",
        ),
        (b'a,b\n"1\n2",2\n3,4,5\n', r"line 4 has 3 fields"),
        (b"a,b\n1,2\n  \n", "line 3 has 1 field"),
        (b'a,b\n1,2\n"3,4\n5,6\n', r'line 3: a quote \("\) is not closed'),
        (b'a,b\n1,"2\n', r'line 2: a quote \("\) is not closed'),
        (b'a,b\n"x"y,2\n', r"line 2: a quote .* or text follows it"),
        (b'"a,b\n1,2\n', r'line 1: a quote \("\) is not closed'),
        (b"\na,b\n1,2\n", "line 1 is blank: the first line must name the columns"),
    ],
)
def test_a_broken_record_is_refused_with_its_line(tmp_path, content, words):
    with pytest.raises(FileError, match=r"votes\.csv.*" + words):
        _scan(tmp_path / "votes.csv", content)


def test_a_quote_that_runs_on_is_reported_before_it_fills_the_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "MAX_CELL", 1000)
    with pytest.raises(FileError, match=r"line 2: a quote .* not closed"):
        _scan(tmp_path / "votes.csv", b'a,b\n1,"x\n' + b"1,2\n" * 1000)
    assert csv.field_size_limit() == 131_072


def test_a_cell_longer_than_the_standard_limit_is_read(tmp_path):
    long = "x" * 200_000
    assert _rows(tmp_path / "votes.csv", f'a,b\n"{long}",1\n'.encode()) == [(long, "1")]


@pytest.mark.parametrize(
    ("name", "content", "columns"),
    [
        ("a.csv", b"a;b\n1,5;2,5\n", ("a", "b")),
        ("a.txt", b"a\tb\n1\t2\n", ("a", "b")),
        ("a.csv", b"a|b\n1|2\n", ("a", "b")),
        ("a.csv", b"a,b;c\n1,2;3\n", ("a", "b;c")),
        ("a.tsv", b"a,b\tc\n1,2\t3\n", ("a,b", "c")),
        ("a.csv", b"a\n1\n", ("a",)),
        ("a.csv", b'"x;y",b\n"1;2",3\n', ("x;y", "b")),
    ],
)
def test_the_separator_is_found_by_content_then_by_name(tmp_path, name, content, columns):
    assert _scan(tmp_path / name, content).columns == columns


def test_two_possible_separators_are_not_guessed_between(tmp_path):
    content = b"a,b;c\n1,2;3\n"
    with pytest.raises(FileError, match=r"comma \(','\) and semicolon \(';'\): call it \.csv"):
        _scan(tmp_path / "a.txt", content)
    assert _scan(tmp_path / "a.csv", content).columns == ("a", "b;c")
    assert _scan(tmp_path / "a.csv", b"a;b\n1;2\n").columns == ("a", "b")


def test_columns_may_be_named_anything(tmp_path):
    header = 'select,"from ""x""",tab le,naïve,"a,b",*,lr_?\n'
    table = _scan(tmp_path / "a.csv", (header + "1,2,3,4,5,6,7\n").encode())
    assert table.columns == ("select", 'from "x"', "tab le", "naïve", "a,b", "*", "lr_?")
    for position, column in enumerate(table.columns, start=1):
        assert str(table.row_of(column, str(position))).startswith("row 1 of")


def test_a_nameless_column_gets_a_name_and_a_note(tmp_path):
    table = _scan(tmp_path / "a.csv", b",a\n0,x\n")
    assert table.columns == ("column_1", "a")
    assert "column 1 has no name and is called 'column_1'" in table.notes[0]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("a,b,a", r"has 'a' twice \(columns 1 and 3\): rename one"),
        ("a,A", "has both 'a' and 'A', alike but for case"),
        (",column_1", "'column_1' twice"),
        (
            ",".join(f"c{i}" for i in range(2_001)),
            "has 2,001 columns, more than 2,000. Items go in rows",
        ),
    ],
)
def test_column_names_that_cannot_be_told_apart_are_refused(tmp_path, header, words):
    row = ",".join("1" for _ in header.split(","))
    with pytest.raises(InputError, match=words):
        _scan(tmp_path / "a.csv", f"{header}\n{row}\n".encode())


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)


@given(
    rows=st.lists(st.tuples(cells, cells, st.just("x")), min_size=1, max_size=8),
    quoting=st.sampled_from([0, 1]),
)
def test_any_text_goes_through_csv_unchanged(tmp_path_factory, rows, quoting):
    text = io.StringIO()
    writer = csv.writer(
        text, quoting=quoting, lineterminator="\r\n"
    )  # so that it quotes a lone CR, which ends a line too
    writer.writerow(["a", "b", "c"])
    writer.writerows(rows)
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_bytes(text.getvalue().encode())
    with scan(path) as table:
        assert table.relation.fetchall() == [tuple(cell or None for cell in row) for row in rows]


def test_a_quote_that_stands_where_it_should_keeps_the_fast_parser(tmp_path, monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(delimited, "_parse_strictly", refuse)
    content = b'"it, em",a\n1,"x ""y"""\n2,"p\nq"\n'
    assert _rows(tmp_path / "a.csv", content) == [("1", 'x "y"'), ("2", "p\nq")]


@pytest.mark.parametrize("name", ['5" screen', 'the "best" one', '"a"'])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_quote_in_the_header_keeps_the_fast_parser(tmp_path, monkeypatch, name, mark):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr(delimited, "_parse_strictly", refuse)
    path = tmp_path / "a.csv"
    path.write_text(f"{mark}id,{name}\n1,x\n2,y\n", encoding="utf-8")
    with scan(path) as table:
        assert table.columns == ("id", name.strip('"'))
        assert table.relation.fetchall() == [("1", "x"), ("2", "y")]
        assert str(table.row_of("id", "2")).endswith("(line 3)")


@given(
    rows=st.lists(
        st.lists(st.sampled_from(['"', "a", ",", "\n", '""', ";"]), max_size=9), max_size=6
    ),
    size=st.integers(1, 7),
)
def test_where_quotes_are_odd_both_parsers_refuse_or_agree(tmp_path_factory, rows, size):
    path = tmp_path_factory.getbasetemp() / "odd.csv"
    path.write_text("x,y\n1,2\n" + "\n".join(map("".join, rows)), newline="")

    def read(**patches):
        with pytest.MonkeyPatch.context() as patch:
            for name, value in patches.items():
                patch.setattr(delimited, name, value)
            try:
                with scan(path) as table:
                    return table.relation.fetchall()
            except FileError as error:
                return str(error)

    assert read(CHUNK=size) == read(_parse_fast=lambda *_: False)


def test_nothing_is_left_on_disk_after_a_refusal_or_a_close(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_IN_MEMORY", 0)
    before = set(scratch().iterdir())
    with pytest.raises(FileError):
        _scan(tmp_path / "votes.csv", b'a,b\n"1",2\n3\n')
    with _scan(tmp_path / "votes.csv", b"a,b\n1,2\n"):
        assert set(scratch().iterdir()) > before
    assert set(scratch().iterdir()) == before


def test_rows_beyond_one_batch_keep_their_order_and_place(tmp_path, monkeypatch):
    monkeypatch.setattr(delimited, "BATCH", 7)
    table = _scan(tmp_path / "a.csv", b'a,b\n"x",1\n' + b"".join(b"%d,1\n" % i for i in range(100)))
    assert [cell for cell, _ in table.relation.fetchall()] == ["x", *map(str, range(100))]
    assert table.row_of("a", "99") is not None
    assert str(table.row_of("a", "99")).endswith(
        "row 101 of " + str(tmp_path / "a.csv") + " (line 102)"
    )


def test_a_spool_that_fails_leaves_no_file(monkeypatch):
    monkeypatch.setattr(sources, "_IN_MEMORY", 0)
    spool = Spool()

    def fail():
        with spool:
            spool.add(["a"], [["1"]])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [path.exists() for path in spool.paths] == [False]
