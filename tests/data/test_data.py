"""Data behind the door: counts, labels, numbers and slices under one set of rules."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import Door, Roles, Tally, read

VOTES = {"a": ["x", "y", None, "NA"], "b": ["x", "x", "y", "y"], "gold": ["x", None, "y", "y"]}


def test_blank_nan_none_and_tokens_are_missing_in_every_kind_of_column() -> None:
    data = read(
        {
            "s": ["", " \t", "NA", "-1", "x"],
            "i": [-1, 0, 1, None, 2],
            "f": [float("nan"), -1.0, 0.5, None, 2.5],
        },
        judges=("s", "i", "f"),
        missing=("-1", "NA"),
        labels=("x", 0, 1, 2, 0.5, 2.5),
    )
    coded = data.labels("s", "i", "f")
    words = (*coded.labels, None)
    assert [[words[code] for code in row] for row in coded.codes.tolist()] == [
        [None, None, None],
        [None, 0, None],
        [None, 1, 0.5],
        [None, None, None],
        ["x", 2, 2.5],
    ]


def test_a_word_for_no_answer_is_missing_in_counts_and_in_rows() -> None:
    data = read(VOTES, judges=("a", "b"), truth="gold")
    assert data.tally("judges", "truth").labels["a"] == ("x", "y", None)
    assert data.label_lists("a")["a"] == ["x", "y", None, None]
    assert any("says NA: read as no answer" in note for note in data.meaning_notes)


def test_whole_floats_are_the_integers_that_pandas_made_them_of() -> None:
    data = read({"a": [1.0, 0.0, None], "b": [1, 0, 1]}, judges=("a", "b"))
    assert data.tally("judges").labels["a"] == (0, 1, None)
    assert data.label_lists("a")["a"] == [1, 0, None]


def test_true_and_one_stay_two_labels_in_rows_as_in_counts() -> None:
    data = read({"a": [True, False], "b": ["t", "f"]}, judges=("a", "b"))
    assert set(map(repr, data.labels("a", "b").labels)) == {"True", "False", "'t'", "'f'"}


def test_numbers_are_strict_and_know_marks_and_missing_words() -> None:
    data = read({"a": ["0.5", "NA"], "b": ["pass", "fail"], "c": ["1", "x"]})
    assert data.numbers("a", "b").tolist()[0] == [0.5, 1.0]
    assert np.isnan(data.numbers("a")[1, 0])
    with pytest.raises(InputError, match=r"row 2.*column 'c' is 'x'"):
        data.numbers("c")


def test_a_tally_is_spread_to_rows_where_rows_are_needed() -> None:
    rows = {"a": [1, 1, 0], "b": [1, 1, 1]}
    data = read(Tally.of(rows), judges=("a", "b"))
    assert sorted(zip(*data.cells("a", "b").values(), strict=True)) == [(0, 1), (1, 1), (1, 1)]


def test_a_part_holds_the_rows_of_one_slice() -> None:
    data = read({"a": [1, 0, 1], "lang": ["de", "en", None]}, judges=("a",), by="lang")
    assert data.where("lang", "de").cells("a") == {"a": [1]}
    assert data.where("lang", None).cells("a") == {"a": [1]}


def test_data_can_be_read_again_with_more_roles() -> None:
    data = read(VOTES, judges=("a", "b"))
    assert read(data) is data
    assert read(data, Door(), truth="gold").roles == Roles(judges=("a", "b"), truth="gold")


def test_an_unknown_option_is_refused_with_its_nearest_name() -> None:
    with pytest.raises(InputError, match="'thruth' is not a reading option: did you mean 'truth'"):
        read(VOTES, thruth="gold")


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({}, "no columns"),
        ({"a": [1], "b": [1, 2]}, "equal lengths"),
        ({1: [1]}, "named by text"),
        ({"a": [1, "x"]}, "mixes types"),
        (Tally(), "tally is empty"),
        (3.5, "data must be a mapping"),
    ],
)
def test_what_is_no_table_is_refused(source: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(source)


def test_rules_that_come_later_apply_to_a_saved_tally() -> None:
    votes = Tally.of({"a": ["x", "none", "x"], "b": ["x", "y", "y"]})
    with read(votes, Door(), judges=["a", "b"], missing=["none"]) as data:
        assert data.tally("judges").labels["a"] == ("x", None)
    with read(votes, Door(), judges=["a"]) as data:
        plain = data._count(["a"], (), None)
    assert plain.counts.dtype.kind == "i", "counted once, not again as weights"
    assert plain == votes.marginal(["a"])


def test_no_bins_at_all_are_counted_in_the_pass_that_checks_the_labels() -> None:
    with read({"a": ["x", "y"], "b": ["x", "x"]}, judges=("a", "b")) as data:
        assert data.tally("judges", cut={}) is data.tally("judges")
        assert len(data._counted) == 1


def test_coerced_rows_and_coerced_counts_say_the_same():
    table = {"gold": ["1", "2", "1"], "old": ["1.0", "2.0", "2.0"]}
    data = read(table, truth="gold", old="old", coerce=True)
    assert data.label_lists("gold", "old") == {"gold": [1, 2, 1], "old": [1, 2, 2]}
    assert data.tally("old").labels["old"] == (1, 2)


@pytest.mark.parametrize("token", ["NA", "N/A", "None", "Skip"])
def test_a_word_for_no_answer_is_missing_in_any_case_when_labels_are_coerced(token):
    """It was counted as one more label in lower case: an accuracy of 5% from 600 "labels"."""
    table = {"gold": ["Yes", "No", token] * 20, "gpt": ["yes", "no", "no"] * 20}
    data = read(table, truth="gold", judges=("gpt",), coerce=True)
    tally = data.tally("judges", "truth")
    assert set(tally.labels["gold"]) == {"yes", "no", None}
    assert data.label_lists("gold")["gold"][:3] == ["yes", "no", None]
    assert data.meaning.notes == (
        f"column 'gold' says {token}: read as no answer. If {token} is a label, add --labels no,yes,{token}",
    )
    counted = Tally.of(table, apart=("gold", "gpt"))
    again = read(counted, truth="gold", judges=("gpt",), coerce=True)
    assert set(again.tally("judges", "truth").labels["gold"]) == {"yes", "no", None}
