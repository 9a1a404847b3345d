import numpy as np

from tallystick.results import Interval
from tallystick.verbs.shift import Items
from tallystick.verbs.shift.change import TOP, top_cells

ITEMS = Items.of(["a"] * 4 + ["b"] * 4, old=["a"] * 4 + ["b"] * 4, names=list("pqrstuvw"))


def found(shift, half):
    ends = shift - half, shift + half
    asked, codes = np.arange(8), np.array([0, 1, 1, 0, 1, 1, 1, 1])
    return top_cells(ITEMS, asked, codes, shift, ends, ends, Interval)


def test_the_largest_change_for_its_doubt_comes_first_and_names_items_that_moved():
    shift = np.array([[-0.25, 0.25, 0.0], [0.0, 0.0, 0.0]])
    half = np.array([[0.2, 0.1, 0.1], [0.1, 0.1, 0.1]])
    first, second = found(shift, half)
    assert (first.true, first.answered, first.survives) == ("a", "b", True)
    assert first.examples == ("q", "r")
    assert second.examples == ("q", "r"), "the same items left the cell (a, a)"
    assert first.words == "a → b: +25.0 points ± 10.0 points"


def test_cells_that_did_not_change_are_not_listed():
    assert found(np.zeros((2, 3)), np.full((2, 3), 0.1)) == ()
    assert len(found(np.full((2, 3), 0.1), np.full((2, 3), 0.2))) <= TOP
