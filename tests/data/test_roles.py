from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.table.roles import ALL_ROLES, GROUPS, ROLE_HELP, Roles


def test_one_name_is_a_group_of_one_and_nothing_is_an_empty_group() -> None:
    made = Roles.of({"judges": "gpt", "models": ["a", "b"], "weak": None, "truth": "gold"})
    assert made.judges == ("gpt",)
    assert made.models == ("a", "b")
    assert made.weak == ()
    assert made.truth == "gold"
    with pytest.raises(InputError, match=r"truth names one column by its text, got \['a', 'b'\]"):
        Roles.of({"truth": ["a", "b"]})


def test_columns_come_once_in_the_order_of_the_roles_asked_for() -> None:
    held = Roles(truth="gold", judges=("gpt", "gold"), item="id", by="gpt")
    assert held.columns("judges", "truth") == ("gpt", "gold")
    assert held.columns("truth", "judges") == ("gold", "gpt")
    assert held.columns() == ("id", "gold", "gpt")
    assert held.columns("cost") == ()


def test_a_column_with_two_roles_is_held_by_the_first() -> None:
    held = Roles(truth="gold", judges=("gpt",), by="gold")
    assert held.holders() == {"gold": "truth", "gpt": "judges"}


def test_filling_a_group_leaves_the_rest() -> None:
    held = Roles(truth="gold", judges=("old",))
    assert held.with_columns("judges", ["a", "b"]) == Roles(truth="gold", judges=("a", "b"))
    assert held.judges == ("old",)


def test_every_role_has_help_and_every_group_is_a_role_of_names() -> None:
    assert set(ROLE_HELP) == set(ALL_ROLES)
    assert {role for role in ALL_ROLES if getattr(Roles(), role) == ()} == GROUPS
