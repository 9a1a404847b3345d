"""A scale is read off the grades where it is a usual one and both ends are used."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick import score
from tallystick.errors import InputError
from tallystick.table import read
from tallystick.table.grades import usual_scales


def rated(gpt: list, human: list | None = None) -> dict[str, list]:
    n = len(gpt)
    human = human or [None] * n
    item = [k // 2 for k in range(n)]
    return {"item": item, "system": ["a", "b"] * (n // 2), "gpt": gpt, "human": human}


def seen(table: dict[str, list]):
    """Return the scale that all grades share."""
    scales = usual_scales(read(table, judges=("gpt",), truth="human", system="system"))
    if scales is None:
        return None
    human, judges = scales
    assert human == judges
    return human


@pytest.mark.parametrize(
    ("grades", "expected"),
    [
        ([1, 2, 3, 4, 5, 5], (1, 5)),
        ([0, 10, 3, 4, 5, 5], (0, 10)),
        (["1", "2", "7", "4", "5", "n/a"], (1, 7)),
        ([1, 0, 1, 0, 1, 1], None),  # pass/fail
        (["pass", "fail", "pass", "pass", "fail", "pass"], None),
        ([2, 3, 4, 5, 5, 4], None),  # from 1, or from 0?
        ([1, 2, 3, 4, 55, 4], None),  # a slip of the pen
        ([1.5, 2, 3, 4, 5, 1], None),
        ([-1, 2, 3, 4, 5, 1], None),
    ],
)
def test_only_a_usual_scale_whose_ends_are_used_is_read_off(grades, expected) -> None:
    assert seen(rated(grades)) == expected


def test_a_human_grade_beyond_the_judges_scale_is_asked_about() -> None:
    assert seen(rated([1, 2, 3, 4, 5, 5], [9, None, None, None, None, None])) is None
    assert seen(rated([1, 2, 3, 4, 5, 5], [4.5, None, None, None, None, None])) == (1, 5)


def test_two_judges_on_two_scales_are_asked_about() -> None:
    table = {**rated([1, 2, 3, 4, 5, 5]), "claude": [1, 10, 7, 8, 9, 3]}
    data = read(table, judges=("gpt", "claude"), truth="human", system="system")
    assert usual_scales(data) is None


def test_the_answer_is_that_of_the_named_scale_also_by_slice() -> None:
    rng = np.random.default_rng(0)
    gpt = rng.integers(1, 6, 400)
    human = np.where(rng.random(400) < 0.3, np.clip(gpt + rng.integers(-1, 2, 400), 1, 5), -1)
    table = rated(gpt.tolist(), [None if one < 0 else int(one) for one in human])
    # One slice never uses the ends: the scale is that of the whole table.
    table["topic"] = ["hard" if 1 < one < 5 else "easy" for one in gpt.tolist()]
    asked = {"system": "system", "judges": ("gpt",), "truth": "human", "by": "topic"}
    own, named = score(table, **asked), score(table, **asked, scale=(1, 5))
    [read_off] = set(own.notes) - set(named.notes)
    assert "grades go from 1 to 5" in read_off
    assert {**own.to_dict(), "notes": []} == {**named.to_dict(), "notes": []}


def two_scales(n: int = 300) -> dict[str, list]:
    """People grade from 1 to 5, the judge from 1 to 10 and on average right."""
    rng = np.random.default_rng(3)
    human = rng.integers(1, 6, n)
    gpt = np.clip(np.round(1 + (human - 1) * 9 / 4 + rng.normal(0, 1, n)), 1, 10)
    drawn = rng.permutation(n) < 80  # labels on the first rows are doubted
    given = [int(one) if kept else None for one, kept in zip(human, drawn, strict=True)]
    return rated(gpt.astype(int).tolist(), given)


def test_people_and_judges_may_each_have_a_scale_of_their_own() -> None:
    table = two_scales()
    asked = {"system": "system", "judges": ("gpt",), "truth": "human", "item": "item"}
    result = score(table, **asked)
    assert (result.scale, result.judge_scale) == ((1, 5), (1, 10))
    assert any("the judges' are shown on the human scale" in note for note in result.notes)
    for row in result.systems:
        # On one scale of 1 to 10 the judge would seem five grades too kind.
        assert abs(row.bias) < 0.4
        assert 1 < row.interval.low < row.judge_only < row.interval.high < 5


def test_judges_between_0_and_1_and_people_from_1_to_5_are_read_with_both_scales() -> None:
    table = two_scales()
    table["gpt"] = [(one - 1) / 9 for one in table["gpt"]]
    asked = {"system": "system", "judges": ("gpt",), "truth": "human", "item": "item"}
    with pytest.raises(InputError, match="another scale"):
        score(table, **asked, scale=(1, 5))
    found = score(table, **asked)
    again = score(two_scales(), **asked)
    for one, other in zip(found.systems, again.systems, strict=True):
        assert one.judge_only == pytest.approx(other.judge_only)
        assert tuple(one.interval) == pytest.approx(tuple(other.interval))


def test_judges_between_0_and_1_are_on_that_scale_beside_any_human_grades() -> None:
    shares = [0.2, 0.9, 0.55, 0.61, 0.7, 0.05]
    assert seen(rated(shares)) == (0, 1)
    assert seen(rated(shares, [1, None, 0, 1, None, None])) == (0, 1)
    assert seen(rated(shares, ["pass", None, "fail", "pass", None, None])) == (0, 1)
    table = rated(shares, [1, 2, 3, 4, 5, None])
    data = read(table, judges=("gpt",), truth="human", system="system")
    assert usual_scales(data) == ((1, 5), (0, 1))
    assert seen(rated([0, 1, 1, 0, 1, 1])) is None  # pass/fail
    assert seen(rated([0.1, 0.2, 0.3, 0.1, 0.2, 0.4])) is None  # perhaps of another scale
