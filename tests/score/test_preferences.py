"""a, b or tie: read in either order, by position or by name."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import read
from tallystick.table.panel_grades import read_preferences
from tallystick.verbs.score.answer import CAPABILITY


def read_rows(rows, **roles):
    table = {name: [row[name] for row in rows] for name in rows[0]}
    given = {"judges": "gpt", "item": "id", **roles}
    return read_preferences(read(table, CAPABILITY.door, **given))


ROWS = [
    {"id": 1, "a": "new", "b": "old", "gpt": "a", "human": "a"},
    {"id": 1, "a": "old", "b": "new", "gpt": "a", "human": None},
    {"id": 2, "a": "new", "b": "old", "gpt": "tie", "human": None},
    {"id": 3, "a": "old", "b": "new", "gpt": "new", "human": "B"},
]


def test_both_orders_of_an_item_are_averaged():
    outputs, swaps = read_rows(ROWS, truth="human")
    assert outputs.systems == ("new over old",)
    assert outputs.grades[:, 0].tolist() == [0.5, 0.5, 1.0]
    assert outputs.truth[[0, 2]].tolist() == [1.0, 1.0]
    assert np.isnan(outputs.truth[1])
    assert swaps.items == 1
    assert swaps.changed == {"gpt": 1.0}


def test_ties_make_the_grades_numbers():
    assert not read_rows(ROWS)[0].pass_fail
    assert read_rows([ROWS[3]], truth="human")[0].pass_fail


def test_columns_may_have_other_names():
    rows = [{"id": 1, "model_a": "x", "model_b": "y", "gpt": "model_b"}]
    outputs, _ = read_rows(rows)
    assert outputs.grades.tolist() == [[0.0]]
    rows = [{"id": 1, "left": "x", "right": "y", "gpt": "left"}]
    assert read_rows(rows, systems=("left", "right"))[0].grades.tolist() == [[1.0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gpt": "maybe"}, "'maybe' is not a preference"),
        ({"b": "new"}, "both name 'new'"),
        ({"a": None}, "'a' is blank"),
    ],
)
def test_what_is_no_preference_is_refused_with_its_row(change, message):
    with pytest.raises(InputError, match=message):
        read_rows([{**ROWS[0], **change}, *ROWS[2:]])


def test_the_same_order_twice_is_refused_with_both_rows():
    with pytest.raises(InputError, match=r"twice, at row 1 .* and row 2 "):
        read_rows([ROWS[0], ROWS[0]])
