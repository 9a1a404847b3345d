from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.table import Door, read
from tallystick.table.roles import Layout


def test_a_single_name_is_a_group_of_one() -> None:
    held = Layout(ignore="notes", columns=["a", "b"])
    assert held.ignore == ("notes",)
    assert held.columns == ("a", "b")


def test_a_shape_that_does_not_exist_is_refused_with_those_that_do() -> None:
    with pytest.raises(InputError, match="shape must be one of auto, wide, long, got 'tall'"):
        Layout(shape="tall")  # type: ignore[arg-type]


@pytest.mark.parametrize("named", [{"judge": "who"}, {"vote": "said"}])
def test_columns_of_a_long_table_contradict_a_wide_shape(named: dict[str, str]) -> None:
    with pytest.raises(InputError, match="columns of a long table"):
        Layout(shape="wide", **named)  # type: ignore[arg-type]
    assert Layout(shape="long", **named).shape == "long"  # type: ignore[arg-type]


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
