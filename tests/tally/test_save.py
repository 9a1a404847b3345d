"""A saved tally is whole, or it is refused; a save that fails leaves the old file as it was."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pytest

from tallystick.errors import FileError, FormatError
from tallystick.table import Moments, Tally
from tallystick.table import tally_files as save


def test_a_file_with_whole_floats_is_read_as_integers(tmp_path: Path) -> None:
    """Earlier versions kept 1.0 apart from 1 and wrote integers before all fractions."""
    path = tmp_path / "old.tally"
    Tally.from_patterns({"a": ["w", "x", "y", None]}, [1, 2, 4, 8]).save(path)
    table, head = save.read_table(path, "tally")
    save.write_table(path, "tally", table, {**head, "labels": [["a", [2, 0.0, 0.5, None]]]})
    tally = Tally.load(path)
    assert repr(tally.labels) == "{'a': (0, 0.5, 2, None)}"
    assert tally.counts.tolist() == [2, 4, 1, 8]

    old = tmp_path / "old.moments"
    Moments.of({"s": [1, 2, 4], "g": ["x", "y", "z"]}, columns=["s"], by="g").save(old)
    table, head = save.read_table(old, "moments")
    save.write_table(old, "moments", table, {**head, "groups": [2, 0.0, 0.5]})
    moments = Moments.load(old)
    assert repr(moments.groups) == "(0, 0.5, 2)"
    assert moments.group_sums.ravel().tolist() == [2, 4, 1]


def test_a_save_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    old = Tally.of({"a": [1, 0]})
    old.save(tmp_path / "old.tally")
    monkeypatch.setattr(os, "fsync", full)
    for name in ("a.tally", "old.tally"):
        with pytest.raises(FileError, match=rf"{name} cannot be written: No space"):
            Tally.of({"a": [1]}).save(tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["old.tally"]
    assert Tally.load(tmp_path / "old.tally") == old


def test_every_truncation_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "votes.tally"
    Tally.of({"a": [1, 0], "b": ["x", None]}, apart=["a"]).save(path)
    whole = path.read_bytes()
    for length in {0, 1, 5, len(whole) // 2, len(whole) - 9, len(whole) - 1}:
        path.write_bytes(whole[:length])
        with pytest.raises(FormatError, match=r"votes\.tally"):
            Tally.load(path)


def test_a_file_of_another_kind_is_refused_by_name(tmp_path: Path) -> None:
    text = tmp_path / "votes.csv"
    text.write_text("a,b\n1,2\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"votes\.csv is not a saved tally"):
        Tally.load(text)
    arrow = tmp_path / "votes.arrow"
    with pa.ipc.new_file(arrow, pa.schema([("a", pa.int8())])):
        pass
    with pytest.raises(FormatError, match="is not a saved tally"):
        Tally.load(arrow)
    moments = tmp_path / "scores.moments"
    Moments.of({"a": [1, 0]}).save(moments)
    with pytest.raises(FormatError, match="holds a saved moments, not a tally"):
        Tally.load(moments)
    with pytest.raises(FileError, match="does not exist"):
        Tally.load(tmp_path / "absent.tally")
    with pytest.raises(FileError, match="is not a saved tally"):
        Tally.load(tmp_path)


def _rewritten(path: Path, **changes: object) -> None:
    with pa.OSFile(str(path), "rb") as file:
        table = pa.ipc.open_file(file).read_all()
    head = {**json.loads(table.schema.metadata[b"tallystick"]), **changes}
    table = table.replace_schema_metadata({"tallystick": json.dumps(head)})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def test_a_newer_version_and_a_damaged_head_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "votes.tally"
    for changes, said in (
        ({"version": 99}, "format version 99"),
        ({"version": None}, "not a saved tally, or it is damaged"),
        ({"labels": [["a", [1]]]}, "damaged tally"),
        ({"labels": [["a", [[1], 0]]]}, "damaged tally"),
        ({"recipe": {}}, "damaged tally"),
    ):
        Tally.of({"a": [1, 0]}).save(path)
        _rewritten(path, **changes)
        with pytest.raises(FormatError, match=said):
            Tally.load(path)


def test_a_loaded_tally_goes_on_counting_as_before(tmp_path: Path) -> None:
    path = tmp_path / "votes.tally"
    tally = Tally.of({"s": [0.1, 0.9], "v": ["yes", "NA"]}, cut={"s": [0, 0.5, 1]}, missing=["NA"])
    tally.save(path)
    loaded = Tally.load(path)
    loaded.update({"s": [0.7], "v": ["NA"]})
    assert loaded.labels == {"s": (0, 1), "v": ("yes", None)}
    assert loaded.counts.tolist() == [1, 2]


def test_a_file_whose_name_is_not_utf_8_is_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"vot\xffes.tally")
    tally = Tally.of({"gpt": [0, 1, 1]})
    try:
        tally.save(path)
    except FileError:
        pytest.skip("this file system takes no such name")
    assert Tally.load(path) == tally
