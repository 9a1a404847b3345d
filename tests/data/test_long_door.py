"""A door that takes roles by name, and tells long tables from wide ones by them."""

import pytest

from tallystick.errors import InputError
from tallystick.table import Door, read

DOOR = Door(want="models", pivots=False, repeats=True, named=("round",), long=("model", "correct"))
LONG = {"item": list("aabb"), "round": [1, 1, 2, 2], "model": list("mnmn"), "correct": [1, 0, 1, 1]}
WIDE = {"round": [1, 2], "gold": ["x", "y"], "m": ["x", "x"], "n": ["y", "y"]}


def test_roles_are_taken_by_name_and_said():
    data = read(LONG, DOOR)
    assert (data.roles.round, data.roles.model, data.roles.correct) == ("round", "model", "correct")
    assert data.roles.models == ()
    assert set(data.how) == {"round", "model", "correct", "item"}


def test_a_table_without_all_of_the_long_roles_is_wide():
    data = read({**WIDE, "model": ["x", "y"]}, DOOR, truth="gold")
    assert data.roles.model is None
    assert data.roles.models == ("m", "n", "model")


def test_what_the_caller_names_is_not_taken_by_name():
    data = read({**LONG, "who": list("pqpq")}, DOOR, model="who")
    assert (data.roles.model, data.roles.correct) == ("who", "correct")
    with pytest.raises(
        InputError, match=r"'correct' is given as (weight|correct) and as (weight|correct)"
    ):
        read(LONG, DOOR, weight="correct")


def test_in_a_long_table_the_wanted_group_is_names_found_in_rows():
    assert read(LONG, DOOR, models="n, m").roles.models == ("n", "m")
