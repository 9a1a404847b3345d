"""One JSON array is a table like any other: the same cells, types and refusals as NDJSON."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from tallystick.errors import FileError, InputError
from tallystick.table import Tally, scan
from tallystick.table import json_files as ndjson

ROWS = [
    {"item": "a", "gpt": 1, "note": 'a "quoted, [tricky] {one}"', "score": 0.5},
    {"item": "b", "gpt": 0, "note": "Zürich\n\u20ac", "score": None},
    {"item": "c", "gpt": 1, "late": True},
]


def _both(folder: Path, text: str) -> tuple[object, object]:
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
def test_an_array_is_read_like_its_objects_on_lines(tmp_path: Path, indent: int | None) -> None:
    array, lines = _both(tmp_path, json.dumps(ROWS, indent=indent, ensure_ascii=False))
    assert array == lines


def test_many_entries_come_in_batches_with_keys_that_appear_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ndjson, "BATCH", 3)
    rows = [{"a": i} for i in range(10)] + [{"a": 10, "b": "x"}]
    array, lines = _both(tmp_path, json.dumps(rows))
    assert array == lines


def test_gzip_a_byte_order_mark_and_lines_beside_it_are_read(tmp_path: Path) -> None:
    packed = gzip.compress(b"\xef\xbb\xbf" + json.dumps(ROWS[:2]).encode(), mtime=0)
    (tmp_path / "1.json").write_bytes(packed)
    (tmp_path / "2.ndjson").write_text(json.dumps(ROWS[2]) + "\n")
    table = scan([tmp_path / "1.json", tmp_path / "2.ndjson"])
    assert [row[0] for row in table.relation.fetchall()] == ["a", "b", "c"]
    assert str(table.row_of("item", "b")) == f"row 2 of {tmp_path / '1.json'}"


def test_an_array_on_one_line_may_be_longer_than_a_line_may_be(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tallystick.table.texts.MAX_LINE", 100)
    (tmp_path / "rows.json").write_text(json.dumps([{"a": i} for i in range(200)]))
    assert len(scan(tmp_path / "rows.json").relation.fetchall()) == 200


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[]", r"a\.json has no rows: nothing to count"),
        ("[1, 2]", r"a\.json is a JSON array without objects: write one object per row"),
        ('[{"a": 1}, 2]', r"a\.json, entry 2 is '2\]', not an object"),
        ('[{"a": 1}, {"a":', r"entry 2 is not one JSON object \(Expecting value in line 1"),
        ('[{"a": 1},\n{"a"\n: x}]', r"entry 2 is not one JSON object \(Expecting value in line 2"),
        ('[{"a": 1}', "breaks off after entry 1: copy or write it again"),
        ('[{"a": 1},', "breaks off after entry 1: copy or write it again"),
        ('[{"a": 1} {"a": 2}]', "entry 1 is followed by '{', where a comma or ] belongs"),
        ('[{"a": 1}] [{"a": 2}]', r"goes on after its array, with '\['"),
        ('[{"a": 1, "a": 2}]', "entry 1 cannot be read .key 'a' occurs twice in one object"),
        ('[{"a": ' + "[" * 100_000, "entry 1 cannot be read"),
        ('[{"a": "\\ud800"}]', "entry 1 holds half of a surrogate pair"),
        ('[{"": 1}]', "a key is blank|no name"),
    ],
)
def test_a_broken_array_is_refused_with_the_entry(tmp_path: Path, content: str, words: str) -> None:
    (tmp_path / "a.json").write_text(content)
    with pytest.raises((FileError, InputError), match=words):
        scan(tmp_path / "a.json")


def test_an_array_beyond_memory_is_refused_with_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TALLYSTICK_MEMORY", "10KB")
    (tmp_path / "a.json").write_text('[{"a": "' + "x" * 5000 + '"}]')
    with pytest.raises(InputError, match=r"one JSON array, needs about .* one object per line"):
        scan(tmp_path / "a.json")


def test_types_that_mix_are_refused_by_the_entry(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('[{"a": 1}, {"a": "1"}]')
    with pytest.raises(InputError, match=r"mixes integer at entry 1 of .* and text at entry 2 of"):
        Tally.of(scan(tmp_path / "a.json"))
