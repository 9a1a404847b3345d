"""Named columns are held against the table: they exist, have one role, and items are unique."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pytest

from tallystick.errors import InputError
from tallystick.table import Door, Roles, Table, read, scan
from tallystick.table.roles import Layout, assign, find_item


def _table(columns: Mapping[str, Sequence[Any]] | None = None) -> Table:
    usual = {"item": ["x", "y"], "gold": [1, 0], "lr_a": [1, 0], "lr_b": [0, 0], "w": [1.0, 2.0]}
    return scan(pa.table(columns or usual))


@pytest.mark.parametrize(
    ("patterns", "judges"),
    [
        (("lr_*",), ("lr_a", "lr_b")),
        (("lr_b,lr_a",), ("lr_b", "lr_a")),
        (("lr_b, lr_a",), ("lr_b", "lr_a")),
        (("lr_b", "lr_*"), ("lr_b", "lr_a")),
        (("*",), ("lr_a", "lr_b", "w")),
        (("lr_[a]",), ("lr_a",)),
    ],
)
def test_groups_are_named_with_commas_globs_and_repetition(
    patterns: tuple[str, ...], judges: tuple[str, ...]
) -> None:
    assert assign(_table(), Roles(truth="gold", item="item", judges=patterns)).judges == judges


def test_a_literal_name_wins_over_commas_and_globs() -> None:
    table = _table({"a,b": [1], "a": [1], "b": [1], "lr_*": [1], "lr_x": [1], " c": [1]})
    for name in ("a,b", "lr_*", " c"):
        assert assign(table, Roles(judges=(name,))).judges == (name,)


@pytest.mark.parametrize(
    ("roles", "words"),
    [
        (Roles(truth="glod"), r"has no column 'glod': did you mean 'gold'\?"),
        (Roles(judges=("lr_c",)), r"no column 'lr_c': did you mean 'lr_"),
        (Roles(judges=("gpt*",)), "no column of the table matches 'gpt\\*'"),
        (Roles(judges=("lr_a,",)), "has no column ''"),
        (Roles(judges=("gold",), truth="gold"), "'gold' is given as truth and as one of several"),
        (Roles(item="item", truth="item"), "column 'item' is given as item and as truth"),
        (Roles(cluster="nope"), "has no column 'nope'"),
    ],
)
def test_what_cannot_be_meant_is_refused(roles: Roles, words: str) -> None:
    with pytest.raises(InputError, match=words):
        assign(_table(), roles)


def test_a_role_of_one_column_takes_one_name_and_a_column_with_two_roles_is_held_by_the_first() -> (
    None
):
    with pytest.raises(InputError, match=r"a column is named by its text, got \['a', 'b'\]"):
        Roles.of({"truth": ["a", "b"]})
    held = Roles(truth="gold", judges=("gpt", "gold"), item="id", by="gpt")
    assert held.columns() == ("id", "gold", "gpt")
    assert held.columns("truth", "judges") == ("gold", "gpt")
    assert held.holders() == {"id": "item", "gold": "truth", "gpt": "judges"}


def test_one_may_slice_by_any_column() -> None:
    roles = assign(_table(), Roles(truth="gold", by="gold", judges=("lr_*",)))
    assert (roles.truth, roles.by) == ("gold", "gold")


def test_an_item_has_a_usual_name_and_different_values() -> None:
    assert find_item(_table(), Roles(), repeats=False).item == "item"


def test_a_duplicate_item_is_refused_with_both_rows() -> None:
    table = _table({"q": ["x", "y", "y", "x"], "a": [1, 1, 1, 0]})
    words = r"duplicate item 'x' in column 'q', at row 1 of the table and row 4 of the table"
    with pytest.raises(InputError, match=words):
        find_item(table, Roles(item="q"), repeats=False)
    assert find_item(table, Roles(item="q"), repeats=True).item == "q"


def test_a_blank_item_is_refused_with_its_row() -> None:
    table = _table({"q": ["x", None], "a": [1, 1]})
    with pytest.raises(InputError, match="row 2 of the table: the item column 'q' is blank"):
        find_item(table, Roles(item="q"), repeats=False)


def test_a_column_that_is_named_like_the_items_but_repeats_is_no_item() -> None:
    assert find_item(_table({"item_id": [1, 1], "a": [1, 0]}), Roles(), repeats=False).item is None


def test_a_single_name_is_a_group_of_one() -> None:
    held = Layout(ignore="notes", columns=["a", "b"])
    assert held.ignore == ("notes",)
    assert held.columns == ("a", "b")


def test_ignored_columns_are_not_taken_for_votes() -> None:
    votes = {
        "a": ["x", "y"] * 9,
        "b": ["x", "y"] * 8 + ["x", "x"],
        "notes": ["x", "y"] * 8 + ["y", "y"],
    }
    door = Door(verb="judge", want="judges")
    with read(votes, door) as everything, read(votes, door, ignore="no*") as data:
        assert everything.roles.judges == ("a", "b", "notes")
        assert data.roles.judges == ("a", "b")
