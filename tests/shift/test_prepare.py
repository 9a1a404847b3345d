import pytest

from tallystick.errors import InputError
from tallystick.table import Door, read
from tallystick.verbs.shift.question import ShiftQuestion
from tallystick.verbs.shift.read import prepare, rows_of, slices_of

DOOR = Door(pivots=False)


def prepared(table, question=None, **options):
    data = read(table, DOOR, truth="gold", **options)
    return data, prepare(data, question or ShiftQuestion())


def test_na_is_a_label_where_the_user_says_so():
    table = {"gold": ["a", "NA"] * 3, "old": ["a", "NA"] * 3}
    _, known = prepared(table, old="old", labels=("a", "NA"))
    assert known.items.labels == ("a", "NA")


def test_a_table_without_any_true_label_is_refused():
    with pytest.raises(InputError, match="'gold' holds no label"):
        prepared({"gold": [None, None], "old": ["a", "b"]}, old="old")
    with pytest.raises(InputError, match=r"--old"):
        prepare(read({"sure": ["a"]}, DOOR), ShiftQuestion())


def test_without_true_labels_the_old_answers_make_the_rows():
    table = {"old": ["a", "b", None, "a"], "new": ["a", "c", "b", "b"]}
    known = prepare(read(table, DOOR, old="old", new="new"), ShiftQuestion())
    assert not known.items.labelled
    assert known.items.labels == ("a", "b", "c")
    assert known.items.truth.tolist() == known.items.old.tolist() == [0, 1, 0]
    assert known.new.tolist() == [0, 2, 1]
    assert "1 of 4 items have no old answer" in known.notes[0]


def test_a_refused_old_answer_is_none_of_the_labels_and_a_blank_one_is_not_known():
    """A blank counted as wrong before: 30% blanks made an unchanged API look much better."""
    table = {"gold": ["a", "b", "a"], "old": ["a", None, "refused"]}
    data, known = prepared(table, old="old")
    assert known.kept.tolist() == [0, 2]
    assert known.items.old.tolist() == [0, len(known.items.labels)]
    assert "1 of 3 items have no old answer" in known.notes[0]
    assert any("refused" in note for note in data.meaning_notes)


def test_old_answers_of_which_most_are_no_label_are_refused_before_calls_are_paid_for():
    table = {"gold": ["a", "b", "a"], "old": ["a", "x", "y"]}
    with pytest.raises(InputError, match="most answers in 'old' are none of the labels"):
        prepared(table, old="old")


def test_with_both_columns_recorded_it_is_counted_and_noted():
    table = {"gold": ["a", "b", "a"], "old": ["a", "b", "c"], "new": ["a", "d", "a"]}
    _, known = prepared(table, old="old", new="new")
    assert known.items.old.tolist() == [0, 1, 2]
    assert known.new.tolist() == [0, 2, 0]
    assert len(known.notes) == 1
    assert "says c" in known.notes[0]


def test_whole_floats_are_integers():
    table = {"gold": [1.0, 2.0, None], "old": [1, 2, 2]}
    _, known = prepared(table, old="old")
    assert known.items.labels == ("1", "2")
    assert known.items.old.tolist() == [0, 1, 1]


def test_a_blank_confidence_is_refused_with_its_row():
    table = {"gold": ["a", "b"], "old": ["a", "b"], "sure": [0.5, None]}
    with pytest.raises(InputError, match=r"row 2.*'sure' is blank"):
        prepared(table, old="old", confidence="sure")


def test_a_client_gets_rows_as_they_are():
    table = {"gold": ["a", "b"], "old": ["a", "b"], "text": ["NA", "-1"], "new": ["-1", "b"]}
    data, known = prepared(table, old="old", missing="-1")
    rows = rows_of(data, known)
    assert [row["text"] for row in rows] == ["NA", "-1"]


def test_slices_are_of_items_that_have_an_old_answer():
    table = {"gold": ["a", "b", None], "old": ["a", "b", None], "part": ["x", "y", "z"]}
    data, known = prepared(table, old="old", by="part")
    parts = slices_of(data, known)
    assert {label: chosen.tolist() for label, chosen in parts.items()} == {
        "x": [True, False],
        "y": [False, True],
    }


def test_a_blank_new_answer_is_unknown_and_left_out():
    """It counted as a wrong answer before: 9% of cells not filled in were "accuracy −7 points"."""
    table = {
        "gold": ["a", "b"] * 5,
        "old": ["a", "b"] * 5,
        "new": ["a", "b", None, "N/A"] + ["a", "b"] * 3,
    }
    _, known = prepared(table, old="old", new="new")
    assert known.kept.tolist() == [0, 1, 4, 5, 6, 7, 8, 9]
    assert any("2 of 10 items have no new answer" in text for text in known.notes)
    table["new"] = ["a", "b", "refused", "b"] + ["a", "b"] * 3
    _, known = prepared(table, old="old", new="new")
    assert known.new.tolist()[2] == len(known.items.labels)


def test_texts_without_a_truth_are_only_the_same_or_not():
    table = {
        "old": [f"text {i}" for i in range(80)],
        "new": [f"text {i // 2 * 2}" for i in range(80)],
    }
    known = prepare(read(table, DOOR, old="old", new="new"), ShiftQuestion())
    assert known.items.labels == ("another", "as before")
    assert (known.new != known.items.old).mean() == 0.5
    assert "80 different answers" in known.notes[0]
