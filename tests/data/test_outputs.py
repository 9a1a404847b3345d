"""Tables of outputs: the system is found, wide tables are unfolded, items are named once each."""

import pyarrow as pa
import pytest

from tallystick import score
from tallystick.errors import AskError, InputError
from tallystick.table import Door, Roles, read, scan
from tallystick.table.roles import Layout
from tallystick.table.shapes import find_outputs

DOOR = Door(verb="score", want="judges", pivots=False, repeats=True, outputs=True)


def table(**columns):
    import pyarrow as pa

    return scan(pa.table(columns))


def test_a_wide_table_becomes_one_row_per_output_in_the_order_of_its_items():
    wide = table(id=[1, 2], **{"A.gpt": ["p", "q"], "B.gpt": ["r", "s"], "B.human": ["x", None]})
    long, roles, notes = find_outputs(wide, Roles(), Layout())
    assert long.query("select * from rows") == [
        (1, "A", "p", None),
        (1, "B", "r", "x"),
        (2, "A", "q", None),
        (2, "B", "s", None),
    ]
    assert roles.system == "system"
    assert "2 systems" in notes[0]


def test_a_system_may_hold_the_separator_in_its_name():
    wide = table(**{"gpt-4.1.claude": [1], "gpt-4.0.claude": [0]})
    long, _, _ = find_outputs(wide, Roles(), Layout())
    assert [row[0] for row in long.query("select * from rows")] == ["gpt-4.1", "gpt-4.0"]


def test_named_systems_find_an_unusual_separator():
    wide = table(a_x=[1], b_x=[0], c_y=[3])
    long, _, _ = find_outputs(wide, Roles(systems=("a", "b")), Layout())
    assert set(long.columns) == {"c_y", "system", "x"}


def test_systems_that_have_no_columns_are_refused():
    with pytest.raises(InputError, match=r"no columns like 'nobody\.JUDGE'"):
        find_outputs(table(a=[1]), Roles(systems=("nobody", "else")), Layout())


def test_a_column_that_would_be_hidden_is_refused():
    with pytest.raises(InputError, match="'system'"):
        find_outputs(table(system=["s"], **{"A.x": [1], "B.x": [0]}), Roles(), Layout())


def test_long_and_wide_cannot_both_be_named():
    with pytest.raises(InputError, match="name one of them"):
        find_outputs(table(s=["a"]), Roles(system="s", systems=("a", "b")), Layout())


def test_two_columns_of_systems_are_preferences():
    _held, roles, _ = find_outputs(table(model_a=["x"], model_b=["y"]), Roles(), Layout())
    assert roles.systems == ("model_a", "model_b")
    assert roles.system is None


def test_an_item_may_repeat_once_per_system():
    rows = {"question": [1, 1, 2, 2], "system": ["a", "b"] * 2, "gpt": [1, 0, 1, 1]}
    with read(rows, DOOR, judges="gpt", item="question") as data:
        assert data.roles.item == "question"


def test_other_doors_leave_such_columns_alone():
    with read({"A.gpt": [1, 0], "B.gpt": [0, 1]}) as data:
        assert data.table.columns == ("A.gpt", "B.gpt")


def test_words_need_no_common_vocabulary():
    with read({"a": ["pass", "NA"], "b": [1, 5]}) as data:
        coded = data.words("a", "b")
    assert coded.labels == ("pass", "NA", 1, 5)
    assert coded.codes.tolist() == [[0, 2], [1, 3]]


def test_the_system_may_stand_after_the_judge() -> None:
    table = {
        "id": [1, 2, 3],
        "gpt_old": [1, 0, 1],
        "gpt_new": [1, 1, 1],
        "human_old": [1, None, 0],
        "human_new": [None, 1, 1],
    }
    with pytest.raises(AskError, match="are old and new systems, or questions"):
        find_outputs(scan(pa.table(table)), Roles(), Layout())
    long, roles, _ = find_outputs(scan(pa.table(table)), Roles(systems=("old", "new")), Layout())
    assert roles.system == "system"
    assert set(long.columns) == {"id", "system", "gpt", "human"}
    found = long.query("select system, gpt, human from rows where id = 2 order by system")
    assert found == [("new", 1, 1), ("old", 0, None)]


def test_what_is_graded_is_no_system() -> None:
    table = {"id": [1, 2], "gpt_style": [1, 0], "gpt_safety": [1, 1]}
    graded = {**table, "human_style": [1, None], "human_safety": [None, 1]}
    wide = scan(pa.table(graded))
    with pytest.raises(AskError, match="are style and safety systems, or questions"):
        find_outputs(wide, Roles(), Layout())
    assert find_outputs(wide, Roles(judges=("gpt_style",)), Layout())[0] is wide


def test_a_judge_with_numbers_for_one_system_and_words_for_another_is_refused() -> None:
    table = pa.table({"id": [1, 2], "A.gpt": pa.array([1, 0], pa.int8()), "B.gpt": ["x", "y"]})
    with pytest.raises(InputError, match="numbers for one system and words for another"):
        score(table)
