"""What the labels of one table mean, or which question is asked."""

from __future__ import annotations

import re
from typing import Any

import pytest

from tallystick.errors import AskError, InputError
from tallystick.table import Label, LabelRules
from tallystick.table.meaning import Meaning, agree


def read(table: dict[str, list[Label]], truth: str | None = "gold", **rules: Any) -> Meaning:
    votes = [name for name in table if name != truth]
    return agree(table, truth=truth, votes=votes, rules=LabelRules(**rules))


def test_plain_labels_are_read_as_they_are_without_a_note() -> None:
    meaning = read({"gold": ["a", "b", None], "gpt": ["a", "b"]})
    assert meaning == Meaning(
        missing=(), renaming={"gold": {"a": "a", "b": "b"}, "gpt": {"a": "a", "b": "b"}}
    )


# (1) spellings


def test_two_spellings_are_refused_with_the_argument_and_the_option() -> None:
    table: dict[str, list[Label]] = {"gold": ["yes", "no"], "gpt": ["Yes", "no"]}
    with pytest.raises(InputError, match=re.escape("'yes' with coerce=True (--coerce)")):
        read(table)
    assert read(table, coerce=True).renaming["gpt"] == {"Yes": "yes", "no": "no"}


def test_a_float_is_not_a_second_spelling_of_its_integer() -> None:
    meaning = read({"gold": [0.0, 1.0], "gpt": [0, 1]})
    assert repr(meaning.renaming["gold"]) == "{0.0: 0, 1.0: 1}"


def test_the_tokens_of_the_user_are_taken_out_before_spellings_are_compared() -> None:
    meaning = read({"gold": ["x", "y"], "gpt": ["x", "y", "X"]}, missing=("X",))
    assert meaning.missing == ("X",)
    assert meaning.renaming["gpt"] == {"x": "x", "y": "y", "X": None}


def test_words_for_no_answer_need_no_common_spelling() -> None:
    meaning = read({"gold": ["a", "b"], "gpt": ["a", "NA"], "llama": ["b", "na"]})
    assert meaning.missing == ("NA", "na")
    assert len(meaning.notes) == 1


# (2) words for no answer


def test_a_word_for_no_answer_is_missing_with_one_note() -> None:
    meaning = read({"gold": ["a", "b", "NA"], "gpt": ["a", "b"], "llama": ["a", "skip"]})
    assert meaning.missing == ("NA", "skip")
    assert meaning.renaming["gold"]["NA"] is None
    assert meaning.notes == (
        "column 'gold' says NA: read as no answer. If NA is a label, add --labels a,b,NA",
        "column 'llama' says skip: read as no answer. If skip is a label, add --labels a,b,skip",
    )


def test_a_word_that_the_user_calls_a_label_is_one() -> None:
    meaning = read({"gold": ["a", "NA"], "gpt": ["a", "NA"]}, labels=("a", "NA"))
    assert (meaning.missing, meaning.notes) == ((), ())
    assert meaning.renaming["gold"] == {"a": "a", "NA": "NA"}


def test_a_word_in_the_truth_and_in_a_vote_is_asked_about() -> None:
    table: dict[str, list[Label]] = {"gold": ["a", "b", "None"], "gpt": ["a", "none"]}
    with pytest.raises(
        AskError, match=r"'gold', 'gpt' say None.*Add --missing=None or --labels=a,b,None$"
    ):
        read(table)
    assert read(table, missing=("None", "none")).notes == ()


@pytest.mark.parametrize(("word", "asked"), [("none", True), ("NA", False)])
def test_without_a_truth_only_none_in_two_columns_is_asked_about(word: str, asked: bool) -> None:
    table: dict[str, list[Label]] = {"gpt": ["a", "b", word], "llama": ["a", word]}
    if asked:
        with pytest.raises(AskError, match=r"--missing=none or --labels=a,b,none$"):
            read(table, truth=None)
    else:
        assert read(table, truth=None).missing == (word,)
    assert read({**table, "llama": ["a"]}, truth=None).missing == (word,)


# (3) the code -1


@pytest.mark.parametrize(
    ("gold", "gpt"),
    [
        ([0, 1], [0, 1, -1]),
        ([0, 1, -1], [0, 1]),
        (["0", "1", "-1"], ["0", "1"]),
        ([0, 1], [0.0, 1.0, -1.0]),
        (["a", "b", "-1"], ["a", "b"]),
    ],
)
def test_minus_one_on_one_side_only_is_asked_about(gold: list[Label], gpt: list[Label]) -> None:
    table = {"gold": gold, "gpt": gpt}
    with pytest.raises(AskError, match=r"Add --missing=-1 or --labels=(0,1|a,b),-1$"):
        read(table)
    blank = read(table, missing=("-1",)).renaming
    assert None in {**blank["gold"], **blank["gpt"]}.values()
    assert read(table, labels=(*gold, *gpt)).missing == ()


@pytest.mark.parametrize(
    ("gold", "gpt"),
    [
        ([-1, 1], [-1, 1]),
        ([1], [-1, 1]),
        ([-1, 0, 1], [-1, 0, 1]),
        ([-2, 0, 1], [-2, -1, 0]),
        ([0.5, 1], [0.5, -1]),
    ],
)
def test_minus_one_is_a_label_where_only_that_fits(gold: list[Label], gpt: list[Label]) -> None:
    assert read({"gold": gold, "gpt": gpt}).missing == ()


def test_minus_one_without_a_truth_is_asked_about() -> None:
    with pytest.raises(AskError, match=r"column 'lf' says -1 beside 0, 1: is it a label"):
        read({"lf": [0, 1, -1]}, truth=None)
    assert read({"lf": [0, 1, -1]}, truth=None, never_true=(-1,)).never_true == (-1,)


@pytest.mark.parametrize("word", ["unknown", "unsure"])
def test_a_truth_that_is_unsure_and_never_voted_is_asked_about(word: str) -> None:
    with pytest.raises(InputError, match=f"'gold' says {word}.*--missing={word}"):
        read({"gold": ["a", "b", word], "gpt": ["a", "b"]})
    assert read({"gold": ["a", "b", word], "gpt": ["a", word]}).never_true == ()


# (4) votes that can never be true


def test_a_vote_is_never_true_by_its_name() -> None:
    meaning = read({"gold": ["a", "b"], "gpt": ["a", "Refused"], "llama": ["b", "Refused"]})
    assert meaning.never_true == ("Refused",)
    [note] = meaning.notes
    assert note.startswith("columns 'gpt', 'llama' say Refused: read as a vote that can never be")


def test_a_vote_that_the_truth_uses_can_be_true() -> None:
    assert read({"gold": ["a", "tie"], "gpt": ["a", "tie"]}).never_true == ()


def test_the_user_decides_which_votes_can_be_true() -> None:
    table: dict[str, list[Label]] = {"gold": ["a", "b"], "gpt": ["a", "b", "tie", "odd"]}
    assert read(table, never_true=("odd",)).never_true == ("odd", "tie")
    listed = read(table, labels=("a", "b", "tie"))
    assert listed.never_true == ("odd",)
    assert "says odd: read as a vote that can never be true" in listed.notes[0]


def test_a_vote_that_is_never_true_is_named_in_its_coerced_spelling() -> None:
    meaning = read({"gold": ["A", "b"], "gpt": ["a", "TIE"], "llama": ["tie"]}, coerce=True)
    assert meaning.never_true == ("tie",)
    assert [note.split(":")[0] for note in meaning.notes] == ["columns 'gpt', 'llama' say TIE"]
    assert meaning.renaming["gpt"]["TIE"] == "tie"


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"labels": ("a",)}, r"'gold' holds 'b', which --labels lacks.*--labels a,b"),
        ({"never_true": ("b",)}, "'gold' holds 'b', which --never-true names"),
    ],
)
def test_a_truth_that_the_user_excludes_is_refused(rules: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        read({"gold": ["a", "b"], "gpt": ["a", "b"]}, **rules)


# (5) strangers


def test_a_truth_that_shares_no_label_with_the_votes_is_refused() -> None:
    with pytest.raises(InputError, match="no label is shared"):
        read({"gold": ["spam", "ham"], "gpt": ["1", "0"], "llama": ["1", "tie"]})
    assert read({"gold": ["spam", "ham"], "gpt": ["1", "0"], "llama": ["spam"]}).notes == ()


def test_one_label_on_a_side_is_too_few_to_tell() -> None:
    assert read({"gold": ["spam"], "gpt": ["ham", "eggs"]}).notes == ()
    assert read({"gold": ["spam", "NA"], "gpt": ["ham", "eggs"]}).missing == ("NA",)


def test_a_column_that_is_not_there_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="no column 'gold'"):
        agree({"gpt": ["a"]}, truth="gold", votes=["gpt"], rules=LabelRules())


def test_a_column_that_does_not_vote_is_held_to_the_same_spelling() -> None:
    table: dict[str, list[Label]] = {"gold": ["a", "b"], "lf": ["a"], "model": ["A"]}
    with pytest.raises(InputError, match="column 'model'"):
        agree(table, truth="gold", votes=["lf"], rules=LabelRules())


def test_minus_one_of_a_labelling_function_is_no_answer_and_said() -> None:
    table = {"lf_a": [0, 1, -1], "lf_b": [1, -1], "h": [0, 1]}
    asked = {"truth": None, "votes": list(table), "weak": ["lf_a", "lf_b"]}
    meaning = agree(table, **asked, rules=LabelRules())
    assert meaning.missing == ("-1",)
    assert "-1: read as no answer" in meaning.notes[0]
    assert agree(table, **asked, rules=LabelRules(labels=(0, 1, -1))).missing == ()
    with pytest.raises(InputError, match="--missing=-1"):  # a prediction says it too
        agree({**table, "h": [0, 1, -1]}, **asked, rules=LabelRules())
    truth = {**asked, "truth": "gold"}
    assert agree({**table, "gold": [0, 1, -1]}, **truth, rules=LabelRules()).missing == ()


@pytest.mark.parametrize(
    ("table", "asked"),
    [
        ({"gpt": ["0", "1", "yes", "no"]}, "0 and 1, and also no and yes"),
        ({"a": ["pass", "fail"], "b": ["yes", "no"]}, "fail and pass, and also no and yes"),
        ({"gpt": ["correct", "incorrect", "wrong"]}, None),  # the two pairs share a word
        ({"gpt": ["0", "1", "yes"]}, None),
        ({"gpt": ["y", "n", "0", "1"]}, None),  # single letters are names of choices
    ],
)
def test_right_and_wrong_in_two_vocabularies_are_asked_about(
    table: dict[str, list[Label]], asked: str | None
) -> None:
    if asked is not None:
        with pytest.raises(InputError, match=asked):
            read(table, truth=None)
    labels = tuple(label for column in table.values() for label in column) if asked else ()
    assert read(table, truth=None, labels=labels).missing == ()


def test_a_vote_that_writes_the_true_labels_otherwise_is_refused_by_name():
    labels = {"gold": ["A", "B"], "m1": ["A", "B"], "m2": ["(A)", "(B)"]}
    asked = {"truth": "gold", "votes": ["m1", "m2"]}
    with pytest.raises(InputError, match=r"column 'm2' says .* would never be right.*--ignore m2"):
        agree(labels, **asked, rules=LabelRules())
    agree(labels, **asked, rules=LabelRules(labels=("A", "B", "(A)", "(B)")))
    agree({**labels, "m2": ["(A)"]}, **asked, rules=LabelRules())  # one odd answer is no vocabulary
    agree({**labels, "m2": ["C", "D"]}, **asked, rules=LabelRules())  # two labels of many
