import pytest

from tallystick.errors import InputError
from tallystick.verbs.ask.result import AskQuestion


def test_a_pair_is_two_columns_given_together_or_apart():
    assert AskQuestion(pair=("a, b",)).pair == AskQuestion(pair=("a", "b")).pair == ("a", "b")
    for wrong in (("a",), ("a", "a"), ("a", "b", "c"), ("a,",)):
        with pytest.raises(InputError, match=r"pair \(--pair\) must name two columns"):
            AskQuestion(pair=wrong)


def test_labels_are_read_from_statements_unless_another_way_is_named():
    assert AskQuestion().answer_reading.how == "words"
    assert AskQuestion(answer="exact").answer_reading.how == "exact"


def test_the_new_column_has_a_name():
    with pytest.raises(InputError, match="must not be blank"):
        AskQuestion(name="  ")
