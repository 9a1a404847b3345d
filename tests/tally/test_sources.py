"""What was counted is known by its content or by its batch id, and is never counted twice."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from tallystick.errors import InputError, MergeError
from tallystick.table import Tally, read
from tallystick.table.tally import Sources

A = Sources.of_contents([("aa", "x.csv")])
B = Sources.of_contents([("bb", "y.csv")])
C = Sources.of_batch("7")


def test_joining_commutes_associates_and_has_an_identity() -> None:
    for a, b, c in permutations((A, B, C)):
        assert a.joined(b).joined(c) == a.joined(b.joined(c)) == c.joined(b).joined(a)
    assert A.joined(Sources()) == A == Sources().joined(A)


def test_an_allowed_overlap_commutes_although_the_names_differ() -> None:
    renamed = Sources.of_contents([("aa", "copy.csv")])
    one = A.joined(renamed, allow_overlap=True)
    assert one == renamed.joined(A, allow_overlap=True)
    assert one.repeats == ("copy.csv",)


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    for name in ("a.csv", "copy.csv"):
        (tmp_path / name).write_text("x,y\n1,0\n", encoding="utf-8")
    a, copy = Tally.of(tmp_path / "a.csv"), Tally.of(tmp_path / "copy.csv")
    with pytest.raises(MergeError, match=r"both tallies count a.csv: they would"):
        a + copy
    assert a.merge(copy, allow_overlap=True).n == 2
    assert a == copy


def test_a_file_that_changed_is_another_source(tmp_path: Path) -> None:
    path = tmp_path / "rotating.csv"
    path.write_text("x\n1\n", encoding="utf-8")
    first = Tally.of(path)
    path.write_text("x\n0\n", encoding="utf-8")
    assert (first + Tally.of(path)).n == 2


def test_what_was_read_through_the_door_is_known_too(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,ann,bob\n1,a,b\n2,b,b\n", encoding="utf-8")
    with read(path, judges=["ann", "bob"]) as data:
        once, again = data.tally("judges"), Tally.of(path, columns=["ann", "bob"])
    with pytest.raises(MergeError, match=r"votes.csv"):
        once + again


def test_a_shared_truth_file_is_no_overlap(tmp_path: Path) -> None:
    gold, path = tmp_path / "gold.csv", tmp_path / "votes.csv"
    gold.write_text("item,gold\n1,a\n2,b\n", encoding="utf-8")
    path.write_text("item,ann,bob\n1,a,b\n2,b,b\n", encoding="utf-8")
    with read(path, truth_file=gold, item="item", judges=["ann", "bob"]) as data:
        assert list(data.tally("judges", "truth").sources.names.values()) == ["votes.csv"]


def test_a_batch_is_counted_once(tmp_path: Path) -> None:
    stream = Tally()
    stream.update({"a": [1, 0]}, batch_id="1")
    stream.update({"a": [1]}, batch_id="2")
    with pytest.raises(MergeError, match=r"both tallies count batch 2"):
        stream.update({"a": [0]}, batch_id="2")
    assert stream.n == 3
    stream.save(tmp_path / "state.tally")
    state = Tally.load(tmp_path / "state.tally")
    assert state.sources.batches == ("1", "2")
    with pytest.raises(MergeError, match=r"batch 1"):
        state + Tally.of({"a": [1, 0]}, batch_id="1")


def test_a_batch_that_cannot_be_counted_may_be_tried_again() -> None:
    stream = Tally.of({"a": [1]}, batch_id="1")
    with pytest.raises(InputError):
        stream.update({"wrong": [1]}, batch_id="2")
    assert stream.sources.batches == ("1",)
    stream.update({"a": [1]}, batch_id="2")
    assert stream.n == 2


def test_the_id_of_a_batch_stands_for_its_content(tmp_path: Path) -> None:
    """Two small batches may well be alike; their caller knows that they are two."""
    path = tmp_path / "a.csv"
    path.write_text("x\n1\n", encoding="utf-8")
    assert (Tally.of(path, batch_id="1") + Tally.of(path, batch_id="2")).n == 2


def test_parts_of_one_tally_add_up_again(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\na,0\nb,1\n", encoding="utf-8")
    whole = Tally.of(path)
    assert whole.where(x="a") + whole.where(x="b") == whole
    with pytest.raises(MergeError, match=r"a.csv"):
        whole.marginal(["x"]) + whole.marginal(["x"])


def test_a_tally_that_is_read_again_under_other_rules_keeps_its_sources(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("x,y\na,b\nb,NA\n", encoding="utf-8")
    saved = Tally.of(path)
    with read(saved, judges=["x", "y"], missing=["NA"]) as data:
        again = data.tally("judges")
    assert again.labels["y"] == ("b", None)
    with pytest.raises(MergeError, match=r"a.csv"):
        again.merge(again)
