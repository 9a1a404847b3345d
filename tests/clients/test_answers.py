import pytest

from tallystick.clients import read_label

LABELS = ["negative", "not sure", "positive"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("positive", 2),
        (" Positive.\n", 2),
        ("**negative**", 0),
        ("", 3),
        (None, 3),
        ("posit", 3),
        ("not sure", 1),
    ],
)
def test_a_label_is_read_exactly_but_for_case_and_marks(text, code):
    assert read_label(text, LABELS) == code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("The review is positive.", 2),
        ("Answer: NOT SURE", 1),
        ("positive, not negative", 2),
        ("nonpositive", 3),
        ("I cannot help with that.", 3),
    ],
)
def test_free_text_must_name_exactly_one_label(text, code):
    assert read_label(text, LABELS, loose=True) == code


def test_labels_that_differ_by_case_only_are_read_exactly():
    assert read_label("A", ["a", "A"]) == 1
    assert read_label("a.", ["a", "A"]) == 2
