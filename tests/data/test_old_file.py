import pytest

from tallystick.errors import InputError
from tallystick.table import Door, read

TABLE = {"id": [1, 2, 3], "gold": ["a", "b", "b"]}


def write(path, *lines):
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(path)


def test_old_answers_are_joined_by_item_and_more_items_than_needed_do_no_harm(tmp_path):
    past = write(tmp_path / "past.csv", "id,spring", "3,b", "1,a", "2,a", "9,a")
    data = read(TABLE, truth="gold", old_file=past, item="id", old="spring")
    assert data.cells("id", "spring") == {"id": [1, 2, 3], "spring": ["a", "a", "b"]}
    assert any("3 old answers joined by id" in note for note in data.notes)


def test_the_only_other_column_is_the_one(tmp_path):
    past = write(tmp_path / "past.csv", "id,spring", "3,b", "1,a", "2,a")
    assert read(TABLE, truth="gold", old_file=past).roles.old == "spring"
    data = read(TABLE, Door(pivots=False, named=("old", "new")), truth="gold", old_file=past)
    assert data.how["old"] == "by name"


def test_a_column_with_the_name_of_another_gets_a_name_of_its_own(tmp_path):
    past = write(tmp_path / "past.csv", "id,gold", "3,b", "1,b", "2,b")
    data = read(TABLE, truth="gold", old_file=past, item="id", old="gold")
    assert data.roles.old == "gold (old file)"
    assert data.cells("gold", "gold (old file)") == {
        "gold": ["a", "b", "b"],
        "gold (old file)": ["b", "b", "b"],
    }


@pytest.mark.parametrize(
    ("lines", "roles", "words"),
    [
        (["id,s", "1,a"], {"item": "id", "old": "s"}, "lacks 2 items of the table, such as '2'"),
        (
            ["id,s", "1,a", "2,a", "3,a", "2,b"],
            {"item": "id", "old": "s"},
            "names '2' .* with different",
        ),
        (["id,s", "1,a", "2,a", "3,b"], {"item": "id", "old": "sprung"}, "'sprung'"),
        (["id,s,t", "1,a,a", "2,a,a", "3,b,b"], {}, r"'s', 't'.*--old"),
    ],
)
def test_what_cannot_be_joined_is_refused(tmp_path, lines, roles, words):
    with pytest.raises(InputError, match=words):
        read(TABLE, truth="gold", old_file=write(tmp_path / "past.csv", *lines), **roles)
    with pytest.raises(InputError, match="--item"):
        read({"gold": ["a"]}, truth="gold", old_file=str(tmp_path / "past.csv"), old="s")
