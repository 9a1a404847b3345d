"""Words for no answer, for right and wrong, and for votes that can never be true."""

from __future__ import annotations

import pytest

from tallystick.table import PASS_FAIL, Label, as_pass_fail, is_never_true, is_no_answer
from tallystick.table.words import NEVER_TRUE, NO_ANSWER, TIES, as_word, is_failed_call, is_tie


@pytest.mark.parametrize("word", sorted(NO_ANSWER - {""}))
def test_case_and_blanks_do_not_matter(word: str) -> None:
    written = f"  {word.upper()}\t".replace(" answer", "_ANSWER").replace("NOT ", "Not-")
    assert is_no_answer(written)
    assert as_word(written) == word


@pytest.mark.parametrize("label", ["no", "nano", "- 1", "unknown", "tie", 0, -1, False, None])
def test_other_labels_are_answers(label: Label) -> None:
    assert not is_no_answer(label)


def test_no_word_means_two_things() -> None:
    assert not NO_ANSWER & NEVER_TRUE
    assert TIES < NEVER_TRUE
    assert not any(NO_ANSWER & family.keys() for family in PASS_FAIL)


def test_a_tie_is_told_from_other_votes_that_are_never_true() -> None:
    assert (is_never_true("TIE"), is_tie("TIE")) == (True, True)
    assert (is_never_true("Timeout"), is_tie("Timeout")) == (True, False)
    assert is_never_true("(unread)")


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        (["pass", "fail"], [1, 0]),
        (["PASSED", " Failed"], [1, 0]),
        (["correct", "incorrect"], [1, 0]),
        (["right", "wrong"], [1, 0]),
        (["yes", "no"], [1, 0]),
        (["C", "I"], [1, 0]),
        (["True", "false"], [1, 0]),
        ([True, False], [1, 0]),
        (["good", "bad"], [1, 0]),
        (["loss", "tie", "win"], [0, 0.5, 1]),
        (["fail"], [0]),
    ],
)
def test_words_for_right_and_wrong_have_numbers(labels: list[Label], numbers: list[float]) -> None:
    found = as_pass_fail([*labels, None])
    assert found == dict(zip(labels, numbers, strict=True))


@pytest.mark.parametrize(
    "labels",
    [
        [],
        [None],
        ["pass", "no"],
        ["pass", "fail", "maybe"],
        ["a", "b", "tie"],
        ["tie"],
        ["I"],
        ["C", "D"],
        [0, 1],
        ["yes", 1],
    ],
)
def test_labels_that_no_family_explains_have_none(labels: list[Label]) -> None:
    assert as_pass_fail(labels) is None


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("✅", "❌"),
        ("👍", "👎"),
        ("👍🏽", "👎"),
        ("✔️", "✖️"),
        ("Richtig", "Falsch"),
        ("Oui", "Non"),
        ("Sí", "No"),
        ("sim", "não"),
        ("да", "нет"),
        ("是", "否"),
        ("Y", "N"),
        ("accept", "reject"),
    ],
)
def test_right_and_wrong_are_known_in_other_languages_and_signs(right: str, wrong: str) -> None:
    assert as_pass_fail([right, wrong]) == {right: 1.0, wrong: 0.0}


def test_one_sign_is_enough_and_one_letter_is_not() -> None:
    assert as_pass_fail(["✅"]) == {"✅": 1.0}
    assert as_pass_fail(["y"]) is None
    assert as_pass_fail(["ja", "no"]) is None


FAILED = """Error: 429|error 503|Error code: 429 - {'error': {'message': 'Rate limit reached'}}|ERROR
<error>|timeout|Timed out|Time-out|rate limit|Rate limit exceeded|429 Too Many Requests
503 Service Unavailable|HTTP 500|HTTP/1.1 502 Bad Gateway|status_code=429|ReadTimeout|API error
openai.RateLimitError: Rate limit reached for gpt-4|ConnectionError: [Errno 111]|Error: timeout
Internal Server Error|overloaded_error|Traceback (most recent call last)"""
ANSWERED = """positive|429|500|B|refused|I cannot answer that.|error in the billing address|failed exam
The page returned an error: 404 is the answer|Errors of judgement|timeout requested by the coach
connection"""


def cells(text: str) -> list[str]:
    return text.replace("\n", "|").split("|")


@pytest.mark.parametrize("text", [*cells(FAILED), "Traceback (most recent call last):\n  File x"])
def test_a_failed_call_is_told(text: str) -> None:
    assert is_failed_call(text)


@pytest.mark.parametrize("text", [*cells(ANSWERED), "", None, 3])
def test_an_answer_is_not_a_failed_call(text: Label) -> None:
    assert not is_failed_call(text)
