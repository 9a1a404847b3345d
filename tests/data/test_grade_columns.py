"""Which columns of outputs are grades of people and of judges."""

from __future__ import annotations

import pyarrow as pa
import pytest

from tallystick import score
from tallystick.errors import InputError
from tallystick.table import Door, Roles, read, scan
from tallystick.table.outputs import grade_columns

DOOR = Door(want="judges", pivots=False, repeats=True, outputs=True)


def outputs(**more):
    return {"id": [i // 2 for i in range(40)], "system": ["a", "b"] * 20, **more}


@pytest.mark.parametrize("name", ["Human Label", "human_score", "gold", "expert rating"])
def test_a_column_named_like_people_is_the_truth_and_never_a_judge(name):
    table = outputs(gpt=[1, 0] * 20, claude=[1, 1] * 20, **{name: [1, 0] + [None] * 38})
    with read(table, DOOR) as data:
        assert data.roles.truth == name
        assert data.roles.judges == ("gpt", "claude")
        assert data.how["truth"] == "by name"


@pytest.mark.parametrize("name", ["label", "Labels", "target"])
def test_a_label_on_few_rows_beside_judges_is_the_truth(name):
    few = ["pass", "fail", None, None, None] * 8
    table = outputs(gpt=["pass", "fail"] * 20, claude=["pass"] * 40, **{name: few})
    with read(table, DOOR) as data:
        assert data.roles.truth == name
        assert data.roles.judges == ("gpt", "claude")
        assert any("blank on most rows" in note for note in data.notes)
    with read(table, DOOR, judges=("gpt", "claude", name)) as data:
        assert data.roles.truth is None
    full = outputs(gpt=["pass", "fail"] * 20, **{name: ["pass", "fail"] * 20})
    with read(full, DOOR) as data:
        assert data.roles.truth is None
    alone = outputs(**{name: few})
    with read(alone, DOOR) as data:
        assert data.roles.truth is None


def test_two_columns_of_people_are_asked_about():
    table = outputs(gpt=[1, 0] * 20, human_1=[1, 0] * 20, human_2=[1, 1] * 20)
    with pytest.raises(InputError, match="--truth human_1 or --truth human_2"):
        read(table, DOOR)
    with read(table, DOOR, truth="human_2") as data:
        assert data.roles.judges == ("gpt",)


def test_judges_need_not_use_the_words_or_the_numbers_of_people():
    table = outputs(
        gpt=["PASS", "fail"] * 20, claude=[1, 0] * 20, human=["yes", "no"] + [None] * 38
    )
    with read(table, DOOR) as data:
        assert data.roles.judges == ("gpt", "claude")


def test_grades_by_numbers_are_judges_and_measurements_are_not():
    table = outputs(
        gpt=list(range(40)),
        tokens=list(range(100, 140)),
        topic=["x", "y", "z", "w"] * 10,
        human=[50, 61] + [None] * 38,
    )
    with read(table, DOOR) as data:
        assert data.roles.judges == ("gpt",)


def test_wide_columns_are_found_by_the_grades_of_people():
    table = {
        "id": list(range(20)),
        "old_gpt": [1, 0] * 10,
        "old_human": [1, None] * 10,
        "new_gpt": [1, 1] * 10,
        "new_human": [1, None] * 10,
    }
    with read(table, DOOR) as data:
        assert data.roles.truth == "human"
        assert set(data.cells("system")["system"]) == {"old", "new"}


@pytest.mark.parametrize("name", ["Question ID", "qid", "conversation_id"])
def test_an_identifier_that_systems_share_names_the_items(name):
    table = {name: [i // 2 for i in range(40)], "bot": ["a", "b"] * 20, "gpt": [1, 0] * 20}
    with read(table, DOOR) as data:
        assert data.roles.item == name
        assert data.roles.system == "bot"


def test_a_few_repeated_outputs_are_a_mistake_and_named():
    table = outputs(gpt=[1, 0] * 20)
    table["id"][4:6] = [0, 0]
    with pytest.raises(InputError, match=r"occur twice.*keep one row per output"):
        read(table, DOOR)


def test_a_category_that_repeats_is_no_mistake():
    table = {"task": ["x", "y"] * 20, "system": ["a"] * 20 + ["b"] * 20, "gpt": [1, 0] * 20}
    with read(table, DOOR) as data:
        assert data.roles.item is None


def test_judges_of_another_question_than_the_human_grades_are_left_out() -> None:
    grades = {"judge_correctness": [1, 0] * 9, "judge_style": [0, 1] * 9, "other": [1, 1, 0] * 6}
    people = {"human_correctness": [1, None] * 9, "human_style": [0, None] * 9}
    table = scan(pa.table({**grades, **people}))
    taken, left_out = grade_columns(table, Roles(truth="human_correctness"))
    assert taken == ("judge_correctness", "other")
    assert left_out["judge_style"] == "graded by people as 'human_style'"


def test_the_length_of_an_answer_is_no_judge() -> None:
    table = {
        "prompt_id": [k // 2 for k in range(80)],
        "system": ["a", "b"] * 40,
        "judge_score": [0.85, 0.4, 0.6, 0.95] * 20,
        "oracle_label": [0.7, None, None, 0.9] * 20,
        "response_chars": list(range(400, 2000, 20)),
    }
    result = score.evaluate(table)
    assert [row.name for row in result.judges] == ["judge_score"]
    assert "response_chars" in result.reading.unused
