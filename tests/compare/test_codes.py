import numpy as np
import pytest

from tallystick import compare
from tallystick.compare.codes import refuse_codes
from tallystick.errors import InputError

RNG = np.random.default_rng(0)
RIGHT = RNG.integers(0, 2, (100, 2)).astype(float)
GRADES = RNG.integers(5, 11, (100, 2)).astype(float)


def _with(scores, code, many=15):
    found = scores.copy()
    found[:many, 1] = code
    return {"a": found[:, 0], "b": found[:, 1]}


@pytest.mark.parametrize(
    ("scores", "code", "bounds"), [(RIGHT, -1, "-1,1"), (GRADES, 0, "0,10"), (GRADES, 99, "5,99")]
)
def test_a_number_that_stands_apart_is_asked_about_with_both_ways_out(scores, code, bounds):
    table = _with(scores, code)
    with pytest.raises(InputError, match=r"'b' holds .* in 15 of 100 cells") as refused:
        compare.evaluate(table)
    assert f"--missing {code}" in str(refused.value)
    assert f"--bounds {bounds}" in str(refused.value)
    low, high = (float(end) for end in bounds.split(","))
    assert compare.evaluate(table, bounds=(low, high)).n_items == 100
    assert compare.evaluate(table, missing=(str(code),)).n_items == 85


@pytest.mark.parametrize(
    "scores",
    [
        RIGHT,
        2 * RIGHT - 1,
        RNG.integers(0, 6, (100, 2)).astype(float),
        RNG.normal(-1, 1, (100, 2)).round(),
        np.where(RIGHT == 0, 0.0, 0.5 + RNG.random((100, 2)) / 2),
        np.where(RIGHT == 0, 0.0, 40 + 60 * RNG.random((100, 2))),
        RNG.normal(97, 1, (100, 2)).round(),
    ],
    ids=["right", "signs", "grades from 0", "around 0", "shares", "per cent", "near 99"],
)
def test_scores_of_one_scale_are_not(scores):
    refuse_codes(("a", "b"), scores, source="t")
