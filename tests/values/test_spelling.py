from __future__ import annotations

import math

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import InputError
from tallystick.table import scan
from tallystick.table.cells import NUMBER, Label, check_vocabulary, identity, spelling

ONES: list[Label] = ["1", 1, 1.0, True, "True", "true", "TRUE", "1.0", "01", "1e0", " 1"]


@pytest.mark.parametrize("first", ONES)
@pytest.mark.parametrize("second", ONES)
def test_two_spellings_of_one_are_refused_and_coerced_to_the_same(
    first: Label, second: Label
) -> None:
    labels = {"a": [first], "b": [second]}
    if identity(first) == identity(second):
        assert check_vocabulary(labels) == {"a": {first: first}, "b": {second: second}}
    else:
        with pytest.raises(
            InputError, match=r"in column 'a'\).*in column 'b'\) look like one label .*--coerce"
        ):
            check_vocabulary(labels)
    assert check_vocabulary(labels, coerce=True) == {"a": {first: 1}, "b": {second: 1}}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("yes", "Yes"),
        ("yes", " yes "),
        ("very good", "very  good"),
        ("é", "e\u0301"),
        (0.5, "0.50"),
    ],
)
def test_variants_of_one_word_are_refused_even_within_a_column(first: Label, second: Label) -> None:
    with pytest.raises(InputError, match="spelled in two ways"):
        check_vocabulary({"a": [first, second]})


@pytest.mark.parametrize(
    "labels",
    [
        ["yes", "no"],
        ["1", "2", "10"],
        ["a1", "a2"],
        [0, 1],
        [True, False],
        ["", "x"],
        ["inf", "nan"],
    ],
)
def test_labels_that_differ_pass_as_they_are(labels: list[Label]) -> None:
    assert check_vocabulary({"a": labels}) == {"a": {label: label for label in labels}}


def test_rows_are_named_where_they_can_be_found() -> None:
    table = scan(pa.table({"gpt": ["0", "1"], "claude": [0, 1]}))
    with pytest.raises(
        InputError,
        match=r"'0' \(text, in column 'gpt', row 1 of the table\) and the label 0 \(integer",
    ):
        check_vocabulary({"gpt": ["0", "1"], "claude": [0, 1]}, locate_row=table.row_of)


def test_missing_labels_are_skipped() -> None:
    assert check_vocabulary({"a": [None, math.nan, "x"]}) == {"a": {"x": "x"}}


@pytest.mark.parametrize(
    ("label", "words"),
    [
        (math.inf, "is infinite.* mark it as missing"),
        (-math.inf, "infinite"),
        (2**53 + 1, "beyond 2\\^53"),
        (1e300, "beyond"),
    ],
)
def test_infinite_and_huge_numbers_are_refused(label: Label, words: str) -> None:
    with pytest.raises(InputError, match=words):
        check_vocabulary({"a": [label]})


def test_long_digits_are_fine_as_text_but_not_as_numbers() -> None:
    labels: dict[str, list[Label]] = {"a": ["9007199254740993", "9007199254740992"]}
    assert check_vocabulary(labels)["a"].keys() == set(labels["a"])
    with pytest.raises(InputError, match="beyond 2\\^53"):
        check_vocabulary(labels, coerce=True)


def test_too_many_labels_are_text() -> None:
    with pytest.raises(InputError, match="column 'a' has more than 10,000 different values"):
        check_vocabulary({"a": list(range(10_001))})


any_label = st.one_of(
    st.text(max_size=8).filter(lambda text: not NUMBER.fullmatch(text.strip())),
    st.sampled_from(ONES),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.floats(-1e9, 1e9, allow_nan=False),
)


@given(any_label)
def test_the_canonical_spelling_is_its_own(label: Label) -> None:
    once = spelling(label)
    assert spelling(once) == once


@given(st.lists(any_label, max_size=6), st.lists(any_label, max_size=6))
def test_a_coerced_vocabulary_is_one_vocabulary(a: list[Label], b: list[Label]) -> None:
    renaming = check_vocabulary({"a": a, "b": b}, coerce=True)
    check_vocabulary({column: list(names.values()) for column, names in renaming.items()})


def test_the_message_does_not_depend_on_the_order_in_which_an_engine_gives_the_labels() -> None:
    def message(first: list[Label], second: list[Label]) -> str:
        with pytest.raises(InputError) as refused:
            check_vocabulary({"a": first, "b": second})
        return str(refused.value)

    assert message(["1", "0"], ["1.0", "0.0"]) == message(["0", "1"], ["0.0", "1.0"])
