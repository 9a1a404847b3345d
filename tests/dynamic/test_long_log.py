import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.dynamic.log import arrange

NAMES, WHEN, WHOSE = list("aabbcc"), [0, 0, 0, 0, 1, 1], ["m", "n"] * 3


def test_a_panel_is_arranged_by_models_and_items_and_may_have_gaps():
    grid = arrange(NAMES, WHEN, WHOSE)
    assert (grid.on_path, grid.heads, grid.items) == (False, ("m", "n"), ("a", "b", "c"))
    assert grid.cells.tolist() == [[0, 2, 4], [1, 3, 5]]
    gaps = arrange(list("aabbcd"), WHEN, WHOSE)
    assert gaps.cells.tolist() == [[0, 2, 4, -1], [1, 3, -1, 5]]


def test_items_tried_in_every_round_make_a_path():
    grid = arrange(["a", "b"] * 3, [0, 0, 1, 1, 2, 2], ["h"] * 6)
    assert grid.on_path
    assert grid.heads == (0, 1, 2)


def test_one_round_is_a_panel_and_not_a_path():
    assert not arrange(["a", "a"], [0, 0], ["m", "n"]).on_path


def test_a_path_drops_items_that_missed_a_round():
    grid = arrange(["a", "b", "a"], [0, 0, 1], ["h"] * 3, path=True)
    assert (grid.items, grid.dropped, grid.cells.tolist()) == (("a",), 1, [[0], [2]])
    with pytest.raises(InputError, match="no held-out item was tried in every round"):
        arrange(["a", "b"], [0, 1], ["h"] * 2, path=True)
    with pytest.raises(InputError, match="item 'a' has two rows in one round"):
        arrange(["a", "a", "a"], [0, 0, 1], ["h", "i", "h"], path=True)


@pytest.mark.parametrize(
    ("names", "whose", "message"),
    [
        (list("aabbaa"), WHOSE, "item 'a' was tried in more than one round"),
        (NAMES, ["m", "m", "m", "n", "m", "n"], "item 'a' has two rows for model 'm'"),
    ],
)
def test_a_log_that_is_neither_shape_is_refused_by_its_item(names, whose, message):
    with pytest.raises(InputError, match=message):
        arrange(names, WHEN, whose)


def test_an_item_with_two_values_is_refused_by_name():
    grid = arrange(NAMES, WHEN, WHOSE)
    assert grid.of_item(np.array([5, 5, 6, 6, 7, 7]), "weight").tolist() == [5, 6, 7]
    with pytest.raises(InputError, match="item 'b' has the weight 6 in one row and 8 in another"):
        grid.of_item(np.array([5, 5, 6, 8, 7, 7]), "weight")
    gaps = arrange(list("aabbcd"), WHEN, WHOSE)
    assert gaps.of_item(np.array([5, 5, 6, 6, 7, 8]), "weight").tolist() == [5, 6, 7, 8]
