from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.results import Result
from tallystick.table import Data, read
from tallystick.table.capability import MOST_SLICES, by_slice, slice_labels

TABLE = {"gpt": ["yes", "no", "yes", "no", "yes"], "topic": ["law", "art", "law", None, "art"]}


def rows(data: Data, alpha: float) -> Result:
    """Answer with the number of rows and the level that was asked for."""
    tally = data.tally("judges")
    return Result(verdict=f"alpha {alpha:g}", n_items=int(tally.n))


def test_every_slice_is_asked_at_its_share_of_alpha() -> None:
    with read(TABLE, judges="gpt", by="topic") as data:
        slices = by_slice(data, rows, alpha=0.06)
    assert [(one.label, one.answer.n_items) for one in slices] == [
        ("art", 2),
        ("law", 2),
        (None, 1),
    ]
    assert {one.answer.verdict for one in slices} == {"alpha 0.02"}


def test_a_slice_without_an_answer_says_why_and_the_others_stand() -> None:
    def ask(data: Data, alpha: float) -> Result:
        if int(data.tally("judges").n) == 1:
            raise InputError("one row is too few")
        return rows(data, alpha)

    with read(TABLE, judges="gpt", by="topic") as data:
        slices = by_slice(data, ask, alpha=0.05)
    assert slices[2].answer == "one row is too few"
    assert isinstance(slices[0].answer, Result)


def test_cells_that_are_not_a_number_and_empty_ones_are_one_blank_slice() -> None:
    data = read({"part": [0.5, float("nan"), None, 0.5], "n": [1, 2, 3, 4]}, by="part")
    assert slice_labels(data) == [0.5, None]
    assert data.where("part", None).cells("n") == {"n": [2, 3]}


def test_without_a_slice_column_nothing_is_asked() -> None:
    with read(TABLE, judges="gpt") as data:
        assert by_slice(data, rows, alpha=0.05) == ()
        assert slice_labels(data) == []


@pytest.mark.parametrize("count", [MOST_SLICES, MOST_SLICES + 1])
def test_more_slices_than_anyone_reads_are_refused(count: int) -> None:
    table = {"gpt": ["yes", "no"] * count, "topic": [f"t{i // 2:03}" for i in range(2 * count)]}
    with read(table, judges="gpt", by="topic") as data:
        if count == MOST_SLICES:
            assert slice_labels(data) == [f"t{i:03}" for i in range(count)]
            return
        with pytest.raises(
            InputError, match=r"column 'topic' has 201 different values.*group them"
        ):
            slice_labels(data)
