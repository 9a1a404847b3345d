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
    past = write(tmp_path / "past.csv", "id,spring,fall", "3,b,b", "1,a,a", "2,a,a")
    with pytest.raises(InputError, match=r"'spring', 'fall'.*--old"):
        read(TABLE, truth="gold", old_file=past)


def test_a_column_with_the_name_of_another_gets_a_name_of_its_own(tmp_path):
    past = write(tmp_path / "past.csv", "id,gold", "3,b", "1,b", "2,b")
    data = read(TABLE, truth="gold", old_file=past, item="id", old="gold")
    assert data.roles.old == "gold (old file)"
    assert data.cells("gold", "gold (old file)") == {
        "gold": ["a", "b", "b"],
        "gold (old file)": ["b", "b", "b"],
    }


def test_an_item_that_is_missing_or_there_twice_is_named(tmp_path):
    short = write(tmp_path / "short.csv", "id,spring", "1,a")
    with pytest.raises(InputError, match="lacks 2 items of the table, such as '2'"):
        read(TABLE, truth="gold", old_file=short, item="id", old="spring")
    twice = write(tmp_path / "twice.csv", "id,spring", "1,a", "2,a", "3,a", "2,b")
    with pytest.raises(InputError, match=r"names '2' .* with different labels"):
        read(TABLE, truth="gold", old_file=twice, item="id", old="spring")


def test_without_items_nothing_can_be_joined(tmp_path):
    past = write(tmp_path / "past.csv", "id,spring", "1,a")
    with pytest.raises(InputError, match="--item"):
        read({"gold": ["a", "b"]}, truth="gold", old_file=past, old="spring")


def test_a_column_that_the_file_does_not_have_is_named(tmp_path):
    past = write(tmp_path / "past.csv", "id,spring", "1,a", "2,a", "3,b")
    with pytest.raises(InputError, match="'sprung'"):
        read(TABLE, truth="gold", old_file=past, item="id", old="sprung")
