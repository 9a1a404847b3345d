"""What a grade is worth, and which cells are not grades."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table.grades import read_column

NONE = float("nan")


def read(cells, scale=None, *, human=False):
    name = "human" if human else "gpt"
    found = read_column(name, cells, scale, lambda label: "row 217 of outputs.csv", human=human)
    return found.pass_fail, [found.values[one] for one in cells]


@pytest.mark.parametrize(
    ("cells", "scale", "human", "expected"),
    [
        (["Pass", "fail", "PASS"], None, False, (True, [1, 0, 1])),
        (["0", "1"], None, False, (True, [0, 1])),
        (["1", "2.5", "5"], (1, 5), False, (False, [0, 0.375, 1])),
        (["pass", "fail", "N/A", None], None, False, (True, [1, 0, NONE, NONE])),
        # People may say zero and one where judges grade from one to five.
        ([0, 1], (1, 5), True, (True, [0, 1])),
        (["win", "tie", "loss"], None, False, (False, [1, 0.5, 0])),
    ],
)
def test_words_and_numbers_are_shares_of_their_scale(cells, scale, human, expected):
    pass_fail, values = read(cells, scale, human=human)
    assert pass_fail == expected[0]
    np.testing.assert_array_equal(values, expected[1])


@pytest.mark.parametrize(
    ("cells", "scale", "human", "words"),
    [
        (["pass", "fail", "passs"], None, True, r"column human: 'passs' .*add --missing passs"),
        ([1, 3, 5], None, False, r"--scale LO,HI.*from 1 to 5"),
        ([0.25, 1.0], None, False, "neither pass/fail nor 0/1"),
        ([1, 7], (1, 5), True, r"row 217.*column human: 7 is outside the scale 1 to 5"),
        ([0, 1], (0, 10), True, "write pass and fail"),
        ([0, 1], (1, 5), False, "outside the scale"),
        (["C"], None, False, r"'C' is not a grade that is known here\. .*write pass and fail"),
    ],
)
def test_what_is_no_grade_is_refused_with_the_way_out(cells, scale, human, words):
    with pytest.raises(InputError, match=words):
        read(cells, scale, human=human)
