"""AnswerReading answers, held to 276 hand-labelled replies (replies.ndjson)."""

import json
from collections import Counter
from pathlib import Path

import pytest

from tallystick.clients import AnswerReading
from tallystick.errors import InputError

REPLIES = [
    json.loads(line)
    for line in Path(__file__).with_name("replies.ndjson").read_text("utf-8").splitlines()
]


FRESH = [
    json.loads(line)
    for line in Path(__file__).with_name("replies_fresh.ndjson").read_text("utf-8").splitlines()
]


def read(one):
    return AnswerReading(one["reading"]).label(one["reply"], one["labels"])


def test_hardly_any_reply_is_read_wrong_and_few_are_not_read():
    """The bar of the issue: a wrong label at most .5 %, unread at most 5 %."""
    assert len(REPLIES) >= 200
    wrong = [one for one in REPLIES if read(one) not in (one["label"], None)]
    unread = [one for one in REPLIES if read(one) is None and one["label"] is not None]
    stated = [one for one in REPLIES if one["label"] is not None]
    assert len(wrong) <= 0.005 * len(REPLIES), wrong
    assert len(unread) <= 0.05 * len(stated), unread


def test_replies_that_were_written_before_the_reader_saw_them_stay_read():
    """benchmarks/results/answer-reading.json says what was wrong among them at first."""
    assert len(FRESH) == 130
    assert [one for one in FRESH if read(one) not in (one["label"], None)] == []
    unread = [one for one in FRESH if read(one) is None and one["label"] is not None]
    assert len(unread) <= 3, unread


def test_every_kind_of_reply_is_there():
    kinds = Counter(one["kind"] for one in REPLIES)
    assert set(kinds) == {
        "bare",
        "markdown",
        "sentence",
        "negation",
        "refusal",
        "undecided",
        "chain of thought",
        "pairwise",
        "json",
        "regex",
        "mixed",
    }
    assert min(kinds.values()) >= 7


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("I'm sorry, but I can't help", ["I", "II"]),
        ("not toxic", ["toxic", "safe"]),
        ("-1", ["0", "1"]),
        ("It is non-toxic.", ["toxic", "safe"]),
        ("a good idea", ["A", "B"]),
    ],
)
@pytest.mark.parametrize("how", ["exact", "words", "last-letter"])
def test_refusals_negations_and_signs_are_never_labels(text, labels, how):
    assert AnswerReading(how).label(text, labels) is None


def test_a_chain_of_thought_is_read_at_its_end():
    text = "A is tempting. B is close. So the answer is (C)."
    assert AnswerReading("last-letter").label(text, list("ABCD")) == "C"
    assert AnswerReading("exact").label(text, list("ABCD")) is None


def test_without_labels_the_text_itself_is_the_answer():
    assert AnswerReading().label(" 4.5 \n", None) == "4.5"
    assert AnswerReading("json:$.score").label('{"score": 4.5}', None) == "4.5"
    assert AnswerReading(r"regex:score (\d+)").label("score 3, then score 4", None) == "4"
    assert AnswerReading().label("", None) is None
    with pytest.raises(InputError, match="--labels"):
        AnswerReading("words").label("yes", None)


@pytest.mark.parametrize(
    ("text", "how", "label"),
    [
        ("<think>A? No, B.</think>\nA", "exact", "A"),
        ("<thinking>A</thinking>", "words", None),
        ("all of that points to B</think>\n\nC", "last-letter", "C"),
        ("<think>the answer is A. But then", "last-letter", None),
        ("B. It makes energy, whereas option A stores it.", "last-letter", "B"),
        ("A. Paris\nB. Rome\nC. Oslo", "words", None),
        ("The answer is A if it rains, otherwise B.", "words", None),
        ("The answer is A; otherwise the mass would be negative.", "words", "A"),
        ("正确答案不是 A", "last-letter", None),
        ("What it is certainly not: B", "words", None),
    ],
)
def test_reasoning_openings_and_conditions_are_told_from_answers(text, how, label):
    assert AnswerReading(how).label(text, list("ABC")) == label


@pytest.mark.parametrize("how", ["guess", "regex:", "regex:(", "json:", "json:$..x", "words:x"])
def test_a_reading_that_does_not_exist_is_refused(how):
    with pytest.raises(InputError):
        AnswerReading(how)


def test_another_spelling_is_read_when_coerced():
    assert AnswerReading("exact", True).label("1.0", ["0", "1"]) == "1"
    assert AnswerReading("exact").label("1.0", ["0", "1"]) is None


@pytest.mark.parametrize("how", ["words", "last-letter"])
@pytest.mark.parametrize(
    "text",
    ["A or B", "The answer is A or B.", "It's either (A) or (B).", "A/B", "(A) or maybe (B)"],
)
def test_two_answers_joined_by_or_are_no_answer(how, text):
    assert AnswerReading(how).label(text, ["A", "B", "C"]) is None


def test_a_choice_that_is_made_after_the_alternatives_is_read():
    for text in ("Choose between A or B: B", "Hmm, A or B... The answer is B"):
        assert AnswerReading("words").label(text, ["A", "B", "C"]) == "B"


def test_half_a_label_is_no_label_unless_it_is_one_itself():
    labels = ["correct", "incorrect"]
    assert AnswerReading("words").label("This is partially correct.", labels) is None
    more = [*labels, "partially correct"]
    assert AnswerReading("words").label("This is partially correct.", more) == "partially correct"
