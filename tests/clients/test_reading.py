"""How replies are read, held to replies that a careful person labelled."""

import json
from pathlib import Path

import pytest

from tallystick.clients import AnswerReading, is_refusal, mentions_label
from tallystick.errors import InputError

HERE = Path(__file__).parent


def read(one):
    # Replies of before name ways of reading that are one now.
    how = one.get("reading", "words")
    return AnswerReading("words" if how == "last-letter" else how).label(
        one["reply"], one["labels"]
    )


@pytest.mark.parametrize(
    ("name", "most_wrong", "most_unread"),
    [
        ("written", 0, 0.03),  # the bar of the issue: wrong at most .5%, unread at most 12%
        ("fresh", 0, 0.03),  # against the reader; at first 1 of 104 was wrong, 17 of 49 unread
        ("plain", 0, 0.07),  # as judges write; at first 1 of 220 was wrong, 43 of 190 unread
        ("latest", 0, 0.14),  # at first 1 of 145 was wrong, 31 of 118 unread
        ("replies", 0.005, 0.12),  # made to mislead a bolder reader
        ("replies_fresh", 0.01, 0.12),
    ],
)
def test_hardly_any_reply_is_read_wrong_and_few_are_not_read(name, most_wrong, most_unread):
    lines = (HERE / f"{name}.ndjson").read_text("utf-8").splitlines()
    some = [json.loads(line) for line in lines]
    found = [read(one) for one in some]
    stated = [label for label, one in zip(found, some, strict=True) if one["label"] is not None]
    pairs = zip(found, some, strict=True)
    wrong = [one["reply"] for label, one in pairs if label not in (one["label"], None)]
    assert len(wrong) <= most_wrong * len(some), wrong
    assert stated.count(None) <= most_unread * len(stated)


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A > B", "A > B"),
        ("A>B", "A > B"),
        ("Verdict: **B>A**", "B > A"),
        ("A", None),
        ("A > B > C", None),
    ],
)
def test_a_preference_is_a_label_like_any_other(text, label):
    assert AnswerReading().label(text, ["A > B", "B > A", "A = B"]) == label


@pytest.mark.parametrize(
    ("text", "label"),
    [("4.0", "4"), ("4/5", "4"), ("Score: 4 out of 5", "4"), ("4.5", None), ("-4", None)],
)
def test_numbers_are_read_by_their_value(text, label):
    assert AnswerReading().label(text, list("12345")) == label


def test_underscores_hyphens_and_case_are_one_spelling():
    for text in ("technical_issue", "Technical-Issue", "Category: technical_issue"):
        assert AnswerReading().label(text, ["technical issue", "other"]) == "technical issue"
    assert AnswerReading().label("The answer is b", ["A", "B"]) == "B"
    assert AnswerReading("exact").label("A", ["a", "A"]) == "A"
    # Labels that differ by case only are read exactly.
    assert AnswerReading("exact").label("a.", ["a", "A"]) is None


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("I'm sorry, but I can't help", ["I", "II"]),
        ("not toxic", ["toxic", "safe"]),
        ("Das ist nicht toxic.", ["toxic", "safe"]),
        ("这不是toxic。", ["toxic", "safe"]),
        ("un safe", ["safe", "unsafe"]),
        ("It is non-toxic.", ["toxic", "safe"]),
        ("The correct answer is 12, but …", ["correct", "incorrect"]),
        ("Wrong answer: B", ["A", "B"]),
        ("The reference answer is B.", ["A", "B"]),
        ("a good idea", ["A", "B"]),
        ("A. Paris\nB. Rome", ["A", "B"]),
        ("A) is too small, which leaves another.", ["A", "B"]),
        ("Answer: \ue001", ["A", "B"]),  # a picture of some font
        ("The answer is A if it rains, otherwise B.", ["A", "B"]),
        ("What it is certainly not: B", ["A", "B"]),
        ("This is partially correct.", ["correct", "incorrect"]),
        ("A or B", ["A", "B"]),
        ("The answer is A or B.", ["A", "B"]),
        ("(A) or maybe (B)", ["A", "B"]),
        ("Is the answer B?", ["A", "B"]),
        ("I would not call it toxic.", ["toxic", "safe"]),
        ("It is not a negative review.", ["negative", "positive"]),
        ("It is a negative review of a positive film.", ["negative", "positive"]),
        ("The reviewer says it is a negative review.", ["negative", "positive"]),
        ("This is a correct statement of a wrong idea.", ["correct", "incorrect"]),
        ("That leaves A or B.", ["A", "B"]),
        ("My vote goes to A or B.", ["A", "B"]),
        ("Clearly not A.", ["A", "B"]),
        ("Obviously A?", ["A", "B"]),
        ("A wins on style.", ["A", "B"]),
        ("A over B is what the student said.", ["A", "B"]),
        ("Had it been shorter, so: A", ["A", "B"]),
    ],
)
@pytest.mark.parametrize("how", ["exact", "words"])
def test_what_states_no_label_is_never_one(text, labels, how):
    assert AnswerReading(how).label(text, labels) is None


@pytest.mark.parametrize(
    ("text", "how", "label"),
    [
        ("<think>A? No, B.</think>\nA", "exact", "A"),
        ("<thinking>A</thinking>", "words", None),
        ("all of that points to B</think>\n\nC", "words", "C"),
        ("<think>the answer is A. But then", "words", None),
        ("B. It makes energy, whereas option A stores it.", "words", "B"),
        ("The answer is A; otherwise the mass would be negative.", "words", "A"),
        ("A is tempting. B is close. So the answer is (C).", "words", "C"),
        ("A is tempting. B is close. So the answer is (C).", "exact", None),
        ("A\n\nQuestion: and now?\nAnswer: B", "words", "A"),
        ("B, not C.", "words", "B"),
        ("I'd pick A over B.", "words", "A"),
        ("Both are good, but C is better overall.", "words", "C"),
        ("The units are wrong, hence: B", "words", "B"),
    ],
)
def test_reasoning_openings_and_a_run_on_are_told_from_answers(text, how, label):
    assert AnswerReading(how).label(text, list("ABC")) == label


def test_a_field_of_a_json_answer_is_read_first():
    read_one = AnswerReading().label
    assert read_one('{"label": "billing", "reason": "shipping"}', ["billing", "shipping"]) == (
        "billing"
    )
    assert read_one('Shipping is late.\n```json\n{"answer": "billing"}\n```', ["billing"]) == (
        "billing"
    )
    assert read_one('{"label": "billing", "verdict": "shipping"}', ["billing", "shipping"]) is None
    assert read_one('{"category": null}', ["billing"]) is None


def test_without_labels_the_text_itself_is_the_answer():
    assert AnswerReading().label(" 4.5 \n", None) == "4.5"
    assert AnswerReading("json:$.score").label('{"score": 4.5}', None) == "4.5"
    assert AnswerReading(r"regex:score (\d+)").label("score 3, then score 4", None) == "4"
    assert AnswerReading().label("", None) is None


@pytest.mark.parametrize("how", ["guess", "regex:", "regex:(", "json:", "json:$..x", "words:x"])
def test_a_reading_that_does_not_exist_is_refused(how):
    with pytest.raises(InputError):
        AnswerReading(how)


@pytest.mark.parametrize(
    ("text", "hides"),
    [("The answer may be (C).", True), ("D2", False), ("E", False), ("", False), ("0.1", False)],
)
def test_a_text_may_hide_a_label_that_it_names(text, hides):
    assert mentions_label(text, ["A", "B", "C", "D", "0", "1"]) is hides


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, I can't say.",
        "As an AI language model …",
        "对不起，我无法回答。",
        "Je ne peux pas répondre.",
    ],
)
def test_refusals_are_told_from_answers(text):
    assert is_refusal(text)
    assert not mentions_label(f"{text} A", ["A"])
