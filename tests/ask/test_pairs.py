import pytest

from tallystick import ask
from tallystick.ask.pairs import check_pair_labels, mirrored
from tallystick.errors import InputError


@pytest.mark.parametrize("labels", [("A", "B", "tie"), ("left", "right"), ("1", "2"), ()])
def test_labels_that_name_the_two_sides_are_taken(labels):
    check_pair_labels(labels, ("left", "right"))


def test_labels_that_name_neither_side_are_refused_before_anything_is_paid():
    """PASS and FAIL of two orders were combined to "tie" before."""
    table = {"id": [1], "x": ["p"], "y": ["q"], "said": ["PASS"]}
    with pytest.raises(InputError, match=r"labels PASS, FAIL names the first or the second"):
        ask.evaluate(table, api="replay:said", pair=("x", "y"), labels=("PASS", "FAIL"))


def test_a_swapped_answer_is_mirrored():
    assert mirrored("left", ("left", "right"), ["left", "right", "tie"]) == "right"
    assert mirrored("tie", ("left", "right"), ["left", "right", "tie"]) == "tie"
