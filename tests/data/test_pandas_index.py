"""The index of a pandas frame is used where it has a name, and mentioned where it has none."""

from __future__ import annotations

import pytest

from tallystick import judge, read

pd = pytest.importorskip("pandas")

VOTES = {
    "gpt": ["a", "b", "a", "b"] * 10,
    "llama": ["a", "b", "b", "b"] * 10,
    "z": list("abab") * 10,
}
JUDGES = ("gpt", "llama", "z")
IDS = [f"q{i}" for i in range(40)]


def test_a_named_index_names_the_items_as_the_column_would() -> None:
    by_index = pd.DataFrame(VOTES, index=pd.Index(IDS, name="question_id"))
    as_column = by_index.reset_index()
    with read(by_index) as one, read(as_column) as two:
        assert one.table.columns == two.table.columns == ("question_id", "gpt", "llama", "z")
    assert judge(by_index, judges=JUDGES).to_dict() == (judge(as_column, judges=JUDGES).to_dict())
    assert judge(by_index, judges=JUDGES).reading.item == "question_id"


def test_the_named_levels_of_an_index_are_columns_and_a_column_of_that_name_wins() -> None:
    levels = pd.MultiIndex.from_arrays([IDS, range(40)], names=["question_id", "gpt"])
    with read(pd.DataFrame(VOTES, index=levels)) as data:
        assert data.table.columns == ("question_id", "gpt", "llama", "z")
        assert data.cells("gpt")["gpt"][:2] == ["a", "b"]


def test_words_in_an_index_without_a_name_are_left_out_with_a_note() -> None:
    with read(pd.DataFrame(VOTES, index=IDS)) as data:
        assert data.table.columns == ("gpt", "llama", "z")
        assert any("index of the frame ('q0', …) has no name" in note for note in data.notes)


def test_row_numbers_are_no_column_and_need_no_note() -> None:
    frame = pd.DataFrame(VOTES)
    for kept in (frame, frame[frame.index % 2 == 0]):
        with read(kept) as data:
            assert data.table.columns == ("gpt", "llama", "z")
            assert not any("index" in note for note in data.notes)
