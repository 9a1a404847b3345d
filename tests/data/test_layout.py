from __future__ import annotations

from tallystick.table import Door, read
from tallystick.table.roles import Layout


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
