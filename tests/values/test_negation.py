"""A denial is one label, whichever way it is written."""

from __future__ import annotations

import pytest

from tallystick.errors import InputError
from tallystick.table import LabelRules, agree
from tallystick.table.words import denied, same_denial


@pytest.mark.parametrize(
    ("vote", "truth", "twin"),
    [
        ("not safe", ["safe", "unsafe"], "unsafe"),
        ("Not_Correct", ["Correct", "Incorrect"], "Incorrect"),
        ("nontoxic", ["toxic", "non-toxic"], "non-toxic"),
        ("no spam", ["spam", "not spam"], "not spam"),
        ("unsafe", ["safe", "not safe"], "not safe"),
        ("not safe", ["safe", "spam"], None),
        ("invoice", ["voice", "unsafe"], None),
        ("notable", ["table", "unsafe"], None),
        ("safe", ["unsafe", "fine"], None),
        (1, [0, 1], None),
    ],
)
def test_only_a_denial_of_the_same_word_is_the_same_label(vote, truth, twin) -> None:
    assert same_denial(vote, truth) == twin


def test_a_prefix_denies_only_a_word_that_is_known() -> None:
    assert denied("uncle", ["aunt"]) is None
    assert denied("unsafe", ["safe"]) == "safe"


def test_a_vote_that_the_truth_says_in_other_words_is_asked_about_by_name() -> None:
    labels = {"gold": ["safe", "unsafe"], "gpt": ["safe", "unsafe", "not safe"]}
    with pytest.raises(InputError, match=r"'gpt' says 'not safe'.*never says; it says 'unsafe'"):
        agree(labels, truth="gold", votes=["gpt"], rules=LabelRules())


def test_a_list_of_labels_settles_it() -> None:
    labels = {"gold": ["safe", "unsafe"], "gpt": ["safe", "unsafe", "not safe"]}
    rules = LabelRules(labels=("safe", "unsafe", "not safe"))
    assert agree(labels, truth="gold", votes=["gpt"], rules=rules).never_true == ()


def test_votes_without_a_truth_are_left_alone() -> None:
    labels = {"a": ["safe", "unsafe"], "b": ["safe", "not safe"]}
    assert agree(labels, truth=None, votes=["a", "b"], rules=LabelRules()).never_true == ()
