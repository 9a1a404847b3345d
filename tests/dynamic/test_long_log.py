import numpy as np
import pytest

from tallystick.dynamic.long_log import arrange
from tallystick.errors import InputError

NAMES, WHEN, WHOSE = list("aabbcc"), [1, 1, 1, 1, 2, 2], ["m", "n"] * 3


def test_a_panel_is_arranged_by_models_and_items():
    grid = arrange(NAMES, WHEN, WHOSE)
    assert (grid.on_path, grid.models, grid.items) == (False, ("m", "n"), ("a", "b", "c"))
    assert grid.cells.tolist() == [[0, 2, 4], [1, 3, 5]]


def test_items_tried_in_every_round_make_a_path():
    grid = arrange(["a", "b"] * 3, [1, 1, 2, 2, 3, 3], ["h"] * 6)
    assert grid.on_path
    assert grid.models == ("h (round 1)", "h (round 2)", "h (round 3)")


def test_a_path_whose_first_rounds_are_missing_is_refused():
    with pytest.raises(InputError, match="the path begins in round 5"):
        arrange(["x", "y"] * 2, [5, 5, 6, 6], ["h5", "h5", "h6", "h6"])
    assert arrange(["x", "y"] * 2, [0, 0, 1, 1], ["h5", "h5", "h6", "h6"]).on_path


@pytest.mark.parametrize(
    ("names", "when", "whose", "message"),
    [
        (NAMES, WHEN, ["m", "n", "m", "n", "m", "x"], "differ between rounds: 'x' was not tried"),
        (list("aabbcd"), WHEN, WHOSE, "item 'd' has no row for model 'm'"),
        (list("aabbaa"), WHEN, WHOSE, "item 'a' (has two rows|belongs to round)"),
        (NAMES, WHEN, ["m", "m", "m", "n", "m", "n"], "item 'a' has two rows for model 'm'"),
    ],
)
def test_a_log_with_gaps_or_doubles_is_refused_by_item_and_model(names, when, whose, message):
    with pytest.raises(InputError, match=message):
        arrange(names, when, whose)


def test_an_item_with_two_values_is_refused_by_name():
    grid = arrange(NAMES, WHEN, WHOSE)
    assert grid.of_item(np.array([5, 5, 6, 6, 7, 7]), "weight").tolist() == [5, 6, 7]
    with pytest.raises(InputError, match="item 'b' has the weight 6 in one row and 8 in another"):
        grid.of_item(np.array([5, 5, 6, 8, 7, 7]), "weight")
