import pytest

from tallystick.table.engine import how_items_differ


@pytest.mark.parametrize(
    ("first", "second", "how"),
    [
        (["1", "2"], ["0001", "0002"], "Without leading zeros"),
        (["1", "2"], ["1.0", "2.0"], "Without the decimal point"),
        (["Q1", "q2 "], ["q1", "q2"], "Without blanks and in lower case"),
        (["data/x.json", "data/y.json"], ["x", "y"], "Without folders and endings"),
        (["q_1", "q_2"], ["item-2", "item-1"], "By the number in them alone"),
    ],
)
def test_the_way_in_which_names_would_agree_is_named(first, second, how):
    text = how_items_differ(first, second, here="a", there="b")
    assert f"{how} 2 of them would be the same" in text
    assert f"{first[0]!r}, {first[1]!r} in a" in text


def test_a_way_that_makes_items_fall_together_is_none():
    text = how_items_differ(["a1", "b1"], ["c1", "d1"], here="a", there="b")
    assert "would be the same" not in text
