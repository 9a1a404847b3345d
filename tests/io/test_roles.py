from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.io import ColumnOptions, assign, scan
from tallystick.io.table import Table


def _table(columns: Mapping[str, Sequence[Any]] | None = None) -> Table:
    return scan(
        pa.table(
            columns
            or {"item": ["x", "y"], "gold": [1, 0], "lr_a": [1, 0], "lr_b": [0, 0], "w": [1.0, 2.0]}
        )
    )


def test_every_column_not_named_otherwise_is_a_label() -> None:
    roles = assign(_table(), ColumnOptions(truth="gold", weight="w"))
    assert (roles.item, roles.labels) == ("item", ("lr_a", "lr_b"))
    assert roles.notes == ("column 'item' names the items",)


@pytest.mark.parametrize(
    ("patterns", "labels"),
    [
        (("lr_*",), ("lr_a", "lr_b")),
        (("lr_b,lr_a",), ("lr_b", "lr_a")),
        (("lr_b, lr_a",), ("lr_b", "lr_a")),
        (("lr_b", "lr_*"), ("lr_b", "lr_a")),
        (("*",), ("lr_a", "lr_b", "w")),
        (("lr_[a]",), ("lr_a",)),
    ],
)
def test_labels_are_named_with_commas_globs_and_repetition(
    patterns: tuple[str, ...], labels: tuple[str, ...]
) -> None:
    assert (
        assign(_table(), ColumnOptions(truth="gold", item="item", labels=patterns)).labels == labels
    )


def test_a_literal_name_wins_over_commas_and_globs() -> None:
    table = _table({"a,b": [1], "a": [1], "b": [1], "lr_*": [1], "lr_x": [1], " c": [1]})
    assert assign(table, ColumnOptions(labels=("a,b",))).labels == ("a,b",)
    assert assign(table, ColumnOptions(labels=("lr_*",))).labels == ("lr_*",)
    assert assign(table, ColumnOptions(labels=(" c",))).labels == (" c",)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (ColumnOptions(truth="glod"), r"has no column 'glod'; did you mean 'gold'\?"),
        (ColumnOptions(labels=("lr_c",)), r"no column 'lr_c'; did you mean 'lr_"),
        (ColumnOptions(labels=("gpt*",)), "no column of the table matches 'gpt\\*'"),
        (ColumnOptions(labels=("lr_a,",)), "has no column ''"),
        (
            ColumnOptions(labels=("gold",), truth="gold"),
            "column 'gold' is given as truth and as a label column",
        ),
        (ColumnOptions(item="item", truth="item"), "column 'item' is given as item and as truth"),
        (ColumnOptions(others={"cluster": "nope"}), "has no column 'nope'"),
        (
            ColumnOptions(truth="gold", weight="w", by="lr_a", others={"score": "lr_b"}),
            "has no label columns left",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(options: ColumnOptions, words: str) -> None:
    with pytest.raises(InputError, match=words):
        assign(_table(), options)


def test_missing_tokens_may_be_given_with_commas() -> None:
    assert assign(_table(), ColumnOptions(missing=("-1, NA", "none"))).missing == (
        "-1",
        "NA",
        "none",
    )


def test_one_may_slice_by_the_truth() -> None:
    roles = assign(_table(), ColumnOptions(truth="gold", by="gold"))
    assert (roles.truth, roles.by) == ("gold", "gold")


def test_a_duplicate_item_is_refused_with_both_rows() -> None:
    table = _table({"q": ["x", "y", "y", "x"], "a": [1, 1, 1, 0]})
    with pytest.raises(
        InputError,
        match=r"duplicate item 'x' in column 'q', at row 1 of the table and row 4 of the table",
    ):
        assign(table, ColumnOptions(item="q"))


def test_a_blank_item_is_refused_with_its_row() -> None:
    with pytest.raises(InputError, match="row 2 of the table: the item column 'q' is blank"):
        assign(_table({"q": ["x", None], "a": [1, 1]}), ColumnOptions(item="q"))


def test_a_repeating_item_column_is_never_a_judge() -> None:
    roles = assign(_table({"item_id": [1, 1, 2], "a": [1, 1, 0]}))
    assert (roles.item, roles.labels) == (None, ("a",))
    assert "named like an item, but repeats" in roles.notes[0]


def test_an_item_column_that_is_named_a_label_is_one() -> None:
    assert assign(
        _table({"id": [1, 2], "a": [1, 0]}), ColumnOptions(labels=("id", "a"))
    ).labels == ("id", "a")


def test_an_unnamed_truth_is_pointed_out() -> None:
    [note] = assign(_table({"gold": [1, 0], "a": [1, 0]})).notes
    assert "column 'gold' is read as one more label column; if it holds the true labels" in note
