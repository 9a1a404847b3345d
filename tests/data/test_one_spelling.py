"""Capitals and blanks do not make two labels, where the table shows it."""

from __future__ import annotations

import pytest

from tallystick import compare, read
from tallystick.errors import InputError
from tallystick.verbs import judge

# A doubt is a Python warning too; here the results are looked at.
pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")

ROWS = 60


def table(**columns: list) -> dict[str, list]:
    return {name: (cells * ROWS)[:ROWS] for name, cells in columns.items()}


def test_a_slip_of_the_pen_is_read_as_the_label_of_the_truth_and_said() -> None:
    rows = table(gold=["refund", "billing"], old=["refund", "Billing"], new=["Refund ", "refund"])
    result = compare(rows, truth="gold", models=("old", "new"))
    assert [row.score for row in result.models] == [1.0, 0.5]
    assert any("differ only by capitals, blanks or the way" in note for note in result.notes)


def test_a_truth_that_tells_capitals_apart_is_still_asked_about() -> None:
    rows = table(gold=["a", "A", "b"], x=["a", "a", "b"], y=["A", "b", "b"])
    with pytest.raises(InputError, match="spelled in two ways"):
        compare(rows, truth="gold", models=("x", "y"))


def test_without_a_truth_judges_that_each_keep_to_one_spelling_are_read_alike() -> None:
    rows = table(ann=["yes", "no"], bob=["Yes", "no"], eve=["yes", "no"])
    result = judge.evaluate(rows, judges=("ann", "bob", "eve"))
    assert result.agreement.pairs[0].raw.estimate == 1.0
    assert any("differ only by capitals, blanks or the way" in note for note in result.notes)


def test_a_judge_that_writes_both_spellings_may_mean_two_labels() -> None:
    rows = table(ann=["yes", "no", "yes"], bob=["Yes", "no", "yes"], eve=["yes", "no", "no"])
    with pytest.raises(InputError, match="spelled in two ways"):
        judge.evaluate(rows, judges=("ann", "bob", "eve"))


def test_a_tie_is_a_tie_in_any_spelling() -> None:
    rows = table(ann=["a", "b", "tie", "Tie"], bob=["a", "b", "TIE", "a"], eve=["a", "b", "b", "a"])
    result = judge.evaluate(rows)
    assert result.never_true == ("tie",)


def test_numbers_written_as_text_and_as_numbers_are_still_asked_about() -> None:
    rows = {"gold": ["0", "1"] * 30, "x": [0, 1] * 30, "y": [1, 1] * 30}
    with pytest.raises(InputError, match="spelled in two ways"):
        compare(rows, truth="gold", models=("x", "y"))


def written(*cells: str) -> list[str]:
    return (list(cells) * ROWS)[:ROWS]


def test_whole_numbers_that_pandas_wrote_as_decimals_are_the_same_labels() -> None:
    rows = {"gold": written("1.0", "", "0.0"), "x": written("1", "1", "0"), "y": written("0", "1")}
    result = judge.evaluate(rows, truth="gold", judges=("x", "y"))
    assert [judge.name for judge in result.judges] == ["x", "y"]
    assert any("a whole number is written are read as one" in note for note in result.notes)
    typed = {"gold": [1, None, 0] * 20, "x": [1, 1, 0] * 20, "y": [0, 1] * 30}
    same = judge.evaluate(typed, truth="gold", judges=("x", "y"))
    assert [row.accuracy for row in same.judges] == [row.accuracy for row in result.judges]


def test_judges_alone_may_write_whole_numbers_in_two_ways_too() -> None:
    rows = {
        "x": written("1", "0", "0"),
        "y": written("1.0", "", "0.0"),
        "z": written("1", "0", "1"),
    }
    result = judge.evaluate(rows, judges=("x", "y", "z"))
    assert any("column 'y' says '0.0' and column 'x' says '0'" in note for note in result.notes)


def test_two_files_in_one_column_are_one_set_of_labels() -> None:
    rows = {"gold": written("1.0", "1", "0", "0.0"), "x": written("1", "1", "0", "0")}
    result = compare({**rows, "y": written("1", "0", "0", "0")}, truth="gold")
    assert [row.score for row in result.models] == [1.0, 0.75]


@pytest.mark.parametrize(
    ("gold", "vote"),
    [
        (["1.1", "1.10", "2.0"], ["1.1", "1.10", "2"]),  # versions
        (["7", "8"], ["007", "8"]),  # names of things
        (["1.0", "other"], ["1", "other"]),  # not all of them numbers
        (["1", "1.0", "1.5"], ["1", "1.0", "1.5"]),  # the truth itself tells them apart
    ],
)
def test_numbers_that_a_reader_may_tell_apart_are_still_asked_about(gold, vote) -> None:
    rows = {"gold": written(*gold), "x": written(*vote), "y": written(*gold)}
    with pytest.raises(InputError, match="spelled in two ways"):
        judge.evaluate(rows, truth="gold", judges=("x", "y"))


def test_what_was_read_before_is_asked_again_by_the_same_rule() -> None:
    rows = {"gold": written("1.0", "", "0.0"), "x": written("1", "1", "0"), "y": written("0", "1")}
    with read(rows) as data:
        assert judge.evaluate(data, truth="gold", judges=("x", "y")).decision
