import numpy as np
import pytest

from tallystick.dynamic import RoundLog
from tallystick.dynamic.spelling import one_spelling, spelled_votes
from tallystick.dynamic.validators import agreements
from tallystick.errors import InputError

WIDE = {
    "round": [1, 2, 2],
    "gold": ["yes", "no", "no"],
    "m": ["Yes", "no", "yes"],
    "n": [" yes", "NO", "no"],
}


def wide(**options):
    return RoundLog.from_wide(WIDE, round="round", truth="gold", models=["m", "n"], **options)


def test_a_label_spelled_in_two_ways_is_refused_with_both_places_and_the_way_out():
    with pytest.raises(
        InputError, match=r"'yes' \(text, in column 'gold', row 1\) .* 'Yes' .*'m', row 1.*--coerce"
    ):
        wide()


def test_coerced_spellings_are_one_label():
    log = wide(coerce=True)
    assert log.labels.tolist() == ["yes", "no", "no"]
    assert log.errors.tolist() == [[False, False, True], [False, False, False]]


def test_numbers_and_words_for_them_meet_in_one_spelling():
    columns = {"gold": [1, 0, 1], "m": ["1", "0.0", "true"], "n": [1.0, False, np.int64(1)]}
    found = one_spelling(columns, coerce=True)
    assert [values.tolist() for values in found.values()] == [["1", "0", "1"]] * 3
    with pytest.raises(InputError, match="one label spelled in two ways"):
        one_spelling({"gold": [1, 0], "m": [1.0, 0.0]})


def test_a_long_log_is_held_to_one_spelling_too():
    columns = {
        "item": ["a", "a", "b", "b"],
        "round": [1, 1, 2, 2],
        "model": ["m", "n"] * 2,
        "correct": [1, 1, 1, 0],
        "prediction": ["X", "x", "x", "y"],
        "truth": ["x"] * 4,
    }
    with pytest.raises(
        InputError, match=r"'x' \(text, in column 'truth', row 1\) .*'X' .*'prediction', row 1"
    ):
        RoundLog.from_long(**columns)
    assert RoundLog.from_long(**columns, coerce=True).predictions.tolist() == [
        ["x", "x"],
        ["x", "y"],
    ]


def test_validators_in_another_spelling_are_refused_or_read_as_the_true_labels():
    with pytest.raises(
        InputError,
        match=r"'c' \(text, in column 'gold'\) and the label 'C' \(text, in column 'said'\)",
    ):
        spelled_votes(["cCc"], ["c"], name="said", truth="gold")
    read = spelled_votes(
        ["CnC", "N; c", None], ["c", "n", "c"], name="said", truth="gold", coerce=True
    )
    assert agreements(read, ["c", "n", "c"])[0].tolist() == [2, 1, 0]


def test_a_number_of_several_signs_is_one_vote_and_a_word_of_labels_is_several():
    read = spelled_votes(
        ["01", "1.0", "True", "110"], ["0", "1", "1", "1"], name="said", truth="gold", coerce=True
    )
    assert read == ("0,1", "1", "1", "1,1,0")


def test_validators_that_are_spelled_alike_stay_as_they_are():
    cells = ("cnc", "c|n", None, "x")
    assert spelled_votes(cells, ["c", "n", "c", "c"], name="said", truth="gold") == cells
