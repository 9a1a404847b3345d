"""JSON as rows: objects on lines, in one array, or inside one document."""

from __future__ import annotations

import gzip
import json

import pytest

from tallystick.errors import FileError, InputError
from tallystick.table import Tally, scan
from tallystick.table import json_files as ndjson


def _scan(path, content):
    path.write_text(content, encoding="utf-8")
    return scan(path)


def test_values_keep_the_type_that_they_have(tmp_path):
    table = _scan(
        tmp_path / "a.jsonl",
        '{"i": 1, "s": "1", "b": true, "f": 0.5, "n": null}\n\n{"i": 2, "late": "NA"}\n',
    )
    assert table.columns == ("i", "s", "b", "f", "n", "late")
    assert table.relation.fetchall() == [
        (1, "1", True, 0.5, None, None),
        (2, None, None, None, None, "NA"),
    ]
    assert table.kinds["i"] == "integer"


def test_whole_and_broken_numbers_are_one_column_of_numbers(tmp_path):
    assert _scan(
        tmp_path / "a.jsonl", '{"a": 1}\n{"a": 1.5}\n{"a": NaN}\n'
    ).relation.fetchall() == [
        (1.0,),
        (1.5,),
        (None,),
    ]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            '{"a": 1}\n{"a":\n',
            r"line 2 is not one JSON object \(Expecting value.*\): complete the line",
        ),
        ('{"a": 1}\n[1]\n', r"line 2 is \[1\], not an object"),
        (
            '{\n "a": 1\n}\n',
            r"line 1 is not one JSON object .*put each object on one line \(jq -c \.\)",
        ),
        ('{"a": 1, "a": 2}\n', "line 1 is not one JSON object .key 'a' occurs twice in one object"),
        ('{"a": 1} {"a": 2}\n', "line 1 is not one JSON object"),
        ('{"a": ' + "[" * 100_000 + "\n", "line 1 is not one JSON object"),
        ('{"a": ' + "9" * 5000 + "}\n", "line 1 is not one JSON object"),
    ],
)
def test_a_broken_line_is_refused_with_its_number(tmp_path, content, words):
    with pytest.raises(FileError, match=words):
        _scan(tmp_path / "a.jsonl", content)


def test_lists_are_left_out_with_a_note_and_refused_when_named(tmp_path):
    table = _scan(tmp_path / "a.jsonl", '{"a": 1, "meta": null}\n{"a": 0, "meta": [1]}\n')
    assert table.left_out.keys() == {"meta"}
    assert "column 'meta' holds a list at line 2 of" in table.notes[0]
    assert Tally.of(table, columns=["a"]).n == 2
    with pytest.raises(
        InputError, match=r"column 'meta' holds a list at line 2.*one row or one column per value"
    ):
        Tally.of(table, columns=["meta"])


def test_fields_of_objects_are_columns_with_dotted_names(tmp_path):
    rows = (
        '{"id": 1, "human": {"label": "a", "by": {"n": 2}}, "gpt": "a"}\n'
        '{"id": 2, "human": null, "gpt": "b"}\n'
        '{"id": 3, "human": {"label": "b", "tags": ["x"]}, "gpt": "b"}\n'
    )
    table = _scan(tmp_path / "a.jsonl", rows)
    assert {"id", "gpt", "human.label", "human.by.n"} <= set(table.columns)
    assert table.kinds["human.by.n"] == "integer"
    assert table.query('select "human.label" from rows') == [("a",), (None,), ("b",)]
    assert table.left_out.keys() == {"human.tags"}


def test_a_field_that_is_called_like_a_column_is_refused_by_line(tmp_path):
    with pytest.raises(FileError, match=r"line 1 has two fields that are called 'a\.b'"):
        _scan(tmp_path / "a.jsonl", '{"a": {"b": 1}, "a.b": 2}\n')


def test_an_object_with_thousands_of_fields_is_not_a_row(tmp_path):
    many = ", ".join(f'"k{i}": 1' for i in range(2_000))
    table = _scan(tmp_path / "a.jsonl", f'{{"a": 1, "scores": {{{many}}}}}\n')
    assert table.columns == ("a", "scores")
    assert table.left_out.keys() == {"scores"}


def test_objects_with_other_fields_in_every_row_are_too_many_columns(tmp_path):
    rows = "".join(f'{{"a": 1, "scores": {{"q{i}": 1}}}}\n' for i in range(2_001))
    with pytest.raises(InputError, match="has 2,002 columns, more than 2,000"):
        _scan(tmp_path / "a.jsonl", rows)


def test_a_column_of_mixed_types_is_refused_unless_coerced(tmp_path):
    table = _scan(tmp_path / "a.jsonl", '{"a": 1}\n{"a": "1"}\n')
    with pytest.raises(
        InputError, match=r"mixes integer at line 1 of .* and text at line 2 of .*--coerce"
    ):
        Tally.of(table)
    assert Tally.of(table, coerce=True).labels == {"a": (1,)}


def test_an_integer_beyond_64_bits_is_refused(tmp_path):
    table = _scan(tmp_path / "a.jsonl", '{"a": 123456789012345678901234567890}\n')
    with pytest.raises(InputError, match="an integer beyond 64 bits at line 1"):
        Tally.of(table)


def test_keys_that_appear_after_the_first_batch_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(ndjson, "BATCH", 2)
    lines = [f'{{"a": {i}}}' for i in range(5)] + ['{"b": "x"}']
    table = _scan(tmp_path / "a.jsonl", "\n".join(lines))
    assert table.relation.fetchall() == [
        (0, None),
        (1, None),
        (2, None),
        (3, None),
        (4, None),
        (None, "x"),
    ]


def test_types_are_compared_over_all_files(tmp_path):
    (tmp_path / "1.jsonl").write_text('{"a": 1}\n')
    (tmp_path / "2.jsonl").write_text('{"a": "1", "b": "x"}\n')
    table = scan(str(tmp_path / "*.jsonl"))
    assert table.relation.fetchall() == [("1", None), ("1", "x")]
    assert "a" in table.doubtful
    assert str(table.row_of("b", "x")) == f"row 1 of {tmp_path / '2.jsonl'} (line 1)"


@pytest.mark.parametrize(
    "content",
    [
        '{"results": [{"q": "a", "gpt": 1}, {"q": "b", "gpt": 0}], "model": {"name": "x"}}',
        '{\n "run": {\n  "n": 2,\n  "rows": [{"q": "a", "gpt": 1},\n {"q": "b", "gpt": 0}]\n }\n}',
        '{"q": ["a", "b"], "gpt": [1, 0]}',
        '{"q": {"0": "a", "1": "b"}, "gpt": {"0": 1, "1": 0}}',
        '{"0": {"q": "a", "gpt": 1}, "1": {"q": "b", "gpt": 0}}',
    ],
)
def test_the_rows_inside_one_document_are_found(tmp_path, content):
    table = _scan(tmp_path / "a.json", content)
    assert table.query("select q, gpt from rows") == [("a", 1), ("b", 0)]


def test_several_lists_inside_one_document_are_not_guessed_between(tmp_path):
    with pytest.raises(FileError, match=r"several lists of rows, 'run\.a' and 'run\.b'"):
        _scan(tmp_path / "a.json", '{"run": {"a": [{"x": 1}], "b": [{"x": 2}]}}')


def test_one_list_per_column_is_a_table(tmp_path):
    table = _scan(tmp_path / "a.json", '{"old": [1, 0], "new": [1, 1]}')
    assert table.query("select old, new from rows") == [(1, 1), (0, 1)]


ROWS = [
    {"item": "a", "gpt": 1, "note": 'a "quoted, [tricky] {one}"', "score": 0.5},
    {"item": "b", "gpt": 0, "note": "Zürich\n\u20ac", "score": None},
    {"item": "c", "gpt": 1, "late": True},
]


def _both(folder, text):
    (folder / "rows.json").write_text(text, encoding="utf-8")
    (folder / "rows.ndjson").write_text(
        "".join(json.dumps(row) + "\n" for row in json.loads(text)), encoding="utf-8"
    )
    array, lines = scan(folder / "rows.json"), scan(folder / "rows.ndjson")
    return (
        (array.columns, array.kinds, array.relation.fetchall()),
        (lines.columns, lines.kinds, lines.relation.fetchall()),
    )


@pytest.mark.parametrize("indent", [None, 0, 2])
def test_an_array_is_read_like_its_objects_on_lines(tmp_path, indent):
    array, lines = _both(tmp_path, json.dumps(ROWS, indent=indent, ensure_ascii=False))
    assert array == lines


def test_gzip_a_byte_order_mark_and_lines_beside_it_are_read(tmp_path):
    packed = gzip.compress(b"\xef\xbb\xbf" + json.dumps(ROWS[:2]).encode(), mtime=0)
    (tmp_path / "1.json").write_bytes(packed)
    (tmp_path / "2.ndjson").write_text(json.dumps(ROWS[2]) + "\n")
    table = scan([tmp_path / "1.json", tmp_path / "2.ndjson"])
    assert [row[0] for row in table.relation.fetchall()] == ["a", "b", "c"]
    assert str(table.row_of("item", "b")) == f"row 2 of {tmp_path / '1.json'}"


def test_an_array_on_one_line_may_be_longer_than_a_line_may_be(tmp_path, monkeypatch):
    monkeypatch.setattr("tallystick.table.texts.MAX_LINE", 100)
    (tmp_path / "rows.json").write_text(json.dumps([{"a": i} for i in range(200)]))
    assert len(scan(tmp_path / "rows.json").relation.fetchall()) == 200


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", r"a\.json has no rows: nothing to count"),
        ("[1, 2]", r"a\.json, entry 1 is 1, not an object: write"),
        ('[{"a": 1}, 2]', r"a\.json, entry 2 is 2, not an object"),
        ('[{"a": 1},\n{"a"\n: x}]', r"damaged JSON file \(Expecting value: line 3 column 3"),
        ('[{"a": 1}', r"damaged JSON file \(Expecting ',' delimiter"),
        ('[{"a": 1}] [{"a": 2}]', r"damaged JSON file \(Extra data"),
        ('[{"a": 1, "a": 2}]', "damaged JSON file .key 'a' occurs twice in one object"),
        ('[{"a": ' + "[" * 100_000, "damaged JSON file .maximum recursion"),
        ('[{"a": "\\ud800"}]', "half of a surrogate pair, which is not text, in entry 1"),
        ('[{"": 1}]', "a key is blank|no name"),
    ],
)
def test_a_broken_array_is_refused_with_the_entry(tmp_path, content, words):
    (tmp_path / "a.json").write_text(content)
    with pytest.raises((FileError, InputError), match=words):
        scan(tmp_path / "a.json")


def test_an_array_beyond_memory_is_refused_with_the_way_out(tmp_path, monkeypatch):
    monkeypatch.setenv("TALLYSTICK_MEMORY", "10KB")
    (tmp_path / "a.json").write_text('[{"a": "' + "x" * 5000 + '"}]')
    with pytest.raises(InputError, match=r"one JSON array, needs about .* one object per line"):
        scan(tmp_path / "a.json")
