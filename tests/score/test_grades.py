"""What a grade is worth, and which cells are not grades."""

import math

import pytest

from tallystick.errors import InputError
from tallystick.table.grades import read_column


def place(label):
    return "row 217 of outputs.csv"


def test_words_for_pass_and_fail_are_one_and_zero_whatever_their_case():
    found = read_column("gpt", ["Pass", "fail", "PASS"], None, place)
    assert found.values == {"Pass": 1.0, "fail": 0.0, "PASS": 1.0}
    assert found.pass_fail


def test_numbers_in_text_are_numbers():
    assert read_column("gpt", ["0", "1"], None, place).values == {"0": 0.0, "1": 1.0}
    assert read_column("gpt", ["1", "2.5", "5"], (1, 5), place).values["2.5"] == 0.375


def test_words_for_no_answer_are_no_grade():
    values = read_column("gpt", ["pass", "N/A", None], None, place).values
    assert math.isnan(values["N/A"])
    assert math.isnan(values[None])


def test_a_misspelt_grade_is_named_with_its_place_and_the_grade_that_was_meant():
    with pytest.raises(InputError) as error:
        read_column("human", ["pass", "fail", "passs"], None, place)
    assert str(error.value) == (
        "row 217 of outputs.csv, column human: 'passs' is not a grade. Grades here are pass and"
        " fail. Did you mean pass? Correct the cell, or add --missing passs to read it as no grade"
    )


def test_numbers_without_a_scale_are_asked_about():
    with pytest.raises(InputError, match=r"--scale LO,HI.*from 1 to 5"):
        read_column("gpt", [1, 3, 5], None, place)


def test_fractions_need_a_scale_too():
    with pytest.raises(InputError, match="neither pass/fail nor 0/1"):
        read_column("gpt", [0.25, 1.0], None, place)


def test_a_grade_outside_the_scale_is_refused_with_its_place():
    with pytest.raises(InputError, match=r"row 217.*column human: 7 is outside the scale 1 to 5"):
        read_column("human", [1, 7], (1, 5), place, human=True)


def test_people_may_say_zero_and_one_where_judges_grade_from_one_to_five():
    found = read_column("human", [0, 1], (1, 5), place, human=True)
    assert found.pass_fail
    assert found.values == {0: 0.0, 1: 1.0}


def test_zero_and_one_on_a_longer_scale_are_asked_about():
    with pytest.raises(InputError, match="write pass and fail"):
        read_column("human", [0, 1], (0, 10), place, human=True)


def test_a_judge_that_says_zero_on_a_scale_from_one_is_refused():
    with pytest.raises(InputError, match="outside the scale"):
        read_column("gpt", [0, 1], (1, 5), place)


def test_a_tie_is_a_half_and_no_longer_pass_or_fail():
    found = read_column("gpt", ["win", "tie", "loss"], None, place)
    assert found.values["tie"] == 0.5
    assert not found.pass_fail


def test_a_column_of_one_letter_alone_is_refused_with_the_way_out():
    with pytest.raises(
        InputError, match=r"'C' is not a grade that is known here\. Write pass and fail"
    ):
        read_column("gpt", ["C"], None, lambda label: "row 1")
