"""Numbers that usually mean no answer are asked about where they would change the answer."""

from __future__ import annotations

import numpy as np
import pytest
from tallystick.table.defaults import doubted_codes, stray_codes

from tallystick import compare, judge, read, score
from tallystick.errors import InputError

ROWS = 200
GRADES = np.random.default_rng(7).integers(1, 6, ROWS)
OTHER = np.clip(GRADES + np.random.default_rng(8).integers(-1, 2, ROWS), 1, 5)
HIGH = np.random.default_rng(9).integers(6, 11, 4000)


def with_code(values: np.ndarray, code: float, cells: int) -> np.ndarray:
    changed = np.array(values, dtype=float)
    changed[np.random.default_rng(1).choice(len(changed), cells, replace=False)] = code
    return changed


def codes_of(**columns: np.ndarray) -> list[tuple[str, int]]:
    held = {name: np.asarray(values, dtype=float) for name, values in columns.items()}
    return [(one.column, one.code) for one in stray_codes(held)]


@pytest.mark.parametrize("code", [0, -1, 99, 999, -99, 9])
def test_a_code_that_one_column_alone_uses_is_doubted(code: int) -> None:
    assert codes_of(a=GRADES, b=with_code(OTHER, code, 30)) == [("b", code)]


def test_0_far_below_all_grades_is_doubted_even_if_every_column_uses_it() -> None:
    high = HIGH[:ROWS]
    assert codes_of(a=with_code(high, 0, 20), b=with_code(high, 0, 20)) == [("a", 0), ("b", 0)]


def test_numbers_that_are_answers_are_not_doubted() -> None:
    assert codes_of(a=GRADES - 1, b=OTHER - 1) == []  # grades from 0 to 4
    assert codes_of(a=GRADES % 2, b=OTHER % 2) == []  # 0 and 1
    assert codes_of(a=GRADES % 3 - 1, b=OTHER % 3 - 1) == []  # -1, 0 and 1 everywhere
    assert codes_of(a=with_code(OTHER, 0, 30)) == []  # nothing else to hold it against
    assert codes_of(a=GRADES / 10, b=with_code(OTHER / 10, 0, 30)) == []  # fractions
    assert codes_of(a=np.arange(ROWS) % 101, b=np.arange(ROWS) % 100) == []  # 99 on 0 to 100
    assert codes_of(a=-GRADES / 10, b=with_code(-OTHER / 10, -1, 30)) == []  # log-likelihoods


def test_a_code_that_moves_the_mean_is_asked_about_before_any_verdict() -> None:
    better = HIGH[:ROWS] + np.arange(ROWS) % 3
    table = {"m1": HIGH[:ROWS].tolist(), "m2": with_code(better, 0, 40).tolist()}
    with pytest.raises(InputError, match=r"'m2' says 0 in 40 of 200 cells.*--missing=0.*--bounds"):
        compare.evaluate(table)
    assert compare.evaluate(table, missing="0").contenders == ("m2",)
    said = compare.evaluate(table, bounds=(0, 12))
    assert any("--missing=0" in text for text in said.warnings)


def test_one_such_cell_among_many_is_a_warning() -> None:
    table = {"m1": HIGH.tolist(), "m2": with_code(HIGH, 0, 1).tolist()}
    result = compare.evaluate(table)
    assert any("says 0 in 1 cell, and its other cells" in text for text in result.warnings)


def test_a_code_that_puts_a_model_on_another_scale_is_named() -> None:
    table = {"m1": (GRADES * 2).tolist(), "m2": with_code(OTHER * 2, 999, 9).tolist()}
    with pytest.raises(InputError, match=r"'m2' says 999 in 9 of 200 cells.*--missing=999"):
        compare.evaluate(table)


def test_human_grades_of_0_that_no_judge_gives_are_asked_about() -> None:
    table = {
        "id": [k // 2 for k in range(ROWS)],
        "system": ["a", "b"] * (ROWS // 2),
        "gpt": OTHER.tolist(),
        "human": with_code(GRADES, 0, 120).tolist(),
    }
    with pytest.raises(InputError, match=r"'human' says 0 in 120 of 200.*--missing=0.*--scale 0,5"):
        score.evaluate(table)
    assert score.evaluate(table, missing="0").n_labels == 80
    told = score.evaluate(table, scale=(0, 5))
    assert any("--missing=0" in text for text in told.warnings)


def test_a_cell_outside_the_scale_may_mean_no_grade() -> None:
    table = {"system": ["a", "b"] * 20, "gpt": [1, 2, 3, 4, 7] * 8, "human": [1, 2, 3, 4, 5] * 8}
    with pytest.raises(InputError, match=r"outside the scale 1 to 5.*--missing=7"):
        score.evaluate(table, scale=(1, 5))


def test_a_code_among_labels_is_asked_about_and_a_list_of_labels_settles_it() -> None:
    gold = (GRADES % 3).tolist()
    votes = {"x": gold, "y": with_code(GRADES % 3, 99, 30).astype(int).tolist()}
    with pytest.raises(InputError, match=r"'y' says 99 in 30 of 200 cells.*--labels"):
        judge.evaluate({"gold": gold, **votes}, truth="gold", judges=("x", "y"))
    listed = judge.evaluate(
        {"gold": gold, **votes}, truth="gold", judges=("x", "y"), labels=(0, 1, 2)
    )
    assert not any("99" in text and "--missing" in text for text in listed.warnings)


def test_grades_filled_with_0_are_asked_about_although_they_have_two_other_values() -> None:
    judges = {"gpt": [4, 5, 3, 2, 1] * 20, "claude": [5, 4, 2, 3, 1] * 20}
    human = [5, 4, 0, 0, 0] * 20
    [found] = doubted_codes(read({**judges, "human": human}, truth="human", judges=tuple(judges)))
    assert (found.column, found.code, found.cells) == ("human", 0, 60)
    rare = [5, 4, 5, 4, 5] * 19 + [5, 4, 5, 4, 0]
    assert not doubted_codes(read({**judges, "human": rare}, truth="human", judges=tuple(judges)))


def test_0_and_1_beside_judges_of_0_and_1_are_labels() -> None:
    judges = {"gpt": [1, 1, 1, 0, 1] * 20, "claude": [1, 1, 1, 0, 0] * 20}
    human = [1, 0, 0, 0, 0] * 20
    assert not doubted_codes(read({**judges, "human": human}, truth="human", judges=tuple(judges)))
