"""Tables as people bring them: what the first command says must not mislead."""

import numpy as np
import pytest

from tallystick import judge
from tallystick.errors import InputError

N = 120


def votes(words, accuracy, rng):
    truth = np.arange(N) % 2
    right = np.random.default_rng(rng).random(N) < accuracy
    return [words[t if r else 1 - t] for t, r in zip(truth, right, strict=True)]


def panel(words=("no", "yes")):
    return {name: votes(words, 0.85, rng) for rng, name in enumerate("abc")}


def test_a_judge_that_writes_capitals_gives_the_same_votes():
    table = panel()
    plain = judge(table)
    table["b"] = [vote.upper() for vote in table["b"]]
    shouted = judge(table)
    assert [score.accuracy for score in shouted.judges] == [s.accuracy for s in plain.judges]
    assert any("capitals" in note for note in shouted.notes)


def test_a_judge_that_writes_both_spellings_is_still_asked_about():
    table = panel()
    table["b"][::2] = [vote.upper() for vote in table["b"][::2]]
    with pytest.raises(InputError, match="one label spelled in two ways"):
        judge(table)


def test_free_words_of_one_judge_are_pointed_out_with_the_way_out():
    table = panel(("unsafe", "safe"))
    table["a"][:6] = ["I cannot assess this"] * 6
    said = [text for text in judge(table).warnings if "I cannot assess this" in text]
    assert len(said) == 1
    assert said[0].endswith("--labels safe,unsafe")
    named = judge(table, labels=["safe", "unsafe"])
    assert list(named.prevalence) == ["safe", "unsafe"]
    assert named.never_true == ("I cannot assess this",)
    assert not any("only a ever says" in text for text in named.warnings)


def test_where_every_vote_is_labelled_no_interval_by_label_shrinks_to_a_point():
    table = {**panel(), "gold": votes(("no", "yes"), 1.0, 9)}
    rows = judge(table, truth="gold").folds()[0].rows
    assert rows[0]["interval"].width > 0
    assert rows[0]["on yes interval"].width > 0


def test_all_silent_judges_are_named_at_once_with_those_that_are_left():
    table = {**panel(), "d": [None] * N, "e": ["n/a"] * N}
    with pytest.raises(InputError, match=r"judges 'd', 'e' have no vote at all.*--judges a,b,c"):
        judge(table, judges=list(table))
    with pytest.raises(InputError, match="no judge has a vote"):
        judge({"d": [None] * N, "e": ["n/a"] * N}, judges=["d", "e"])
