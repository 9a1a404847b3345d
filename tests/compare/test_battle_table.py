import numpy as np
import pandas as pd
import pytest

from tallystick import compare
from tallystick.errors import InputError


def battles(winner, **columns):
    n = len(winner)
    return pd.DataFrame(
        {"model_a": ["gpt"] * n, "model_b": ["claude"] * n, "winner": winner} | columns
    )


def test_a_winner_may_be_named_by_the_model_or_by_its_side():
    named = compare(battles(["gpt", "claude", "tie"] * 10))
    sided = compare(battles(["model_a", "model_b", "tie"] * 10))
    assert named.pairs == sided.pairs


def test_a_battle_without_a_winner_is_left_out_and_counted_not_taken_for_a_tie():
    table = battles(["model_a"] * 20 + [None, "", "N/A", "none"])
    result = compare(table)
    [row] = result.pairs
    assert (row.wins, row.ties, row.losses) == (20, 0, 0)
    assert result.warnings[0] == "4 battles without a winner are left out"


def test_a_word_that_names_no_winner_is_refused_with_its_row():
    with pytest.raises(InputError, match=r"row 2.*'maybe' names no winner"):
        compare(battles(["model_a", "maybe"]))


def test_zeros_and_ones_do_not_say_who_won():
    with pytest.raises(InputError, match="hold 0 and 1|holds 0 and 1, which do not say who won"):
        compare(battles([0, 1, 1, 0] * 10))
    counted = compare(battles([0, 1, 2, 1] * 10)).pairs[0]
    assert (counted.wins, counted.ties, counted.losses) == (20, 10, 10)


def test_people_who_judge_many_battles_are_a_sample_too():
    """Ten people with tastes of their own: taken as independent battles, taste looks like skill."""
    rng = np.random.default_rng(3)
    taste = rng.normal(0, 1.5, 10)
    person, item = np.tile(np.arange(10), 40), np.repeat(np.arange(40), 10)
    likes = rng.random(400) < 1 / (1 + np.exp(-taste[person]))
    winner = np.where(likes, "model_a", "model_b").tolist()

    alone = compare(battles(winner, question_id=item)).pairs[0].interval
    result = compare(battles(winner, question_id=item, judge=person))
    both = result.pairs[0].interval
    assert both.high - both.low > 2 * (alone.high - alone.low)
    assert "prompts and the people who judged are independent draws" in result.assumptions
    assert (result.pairs[0].p_value <= 0.05) == (0.5 not in both)


def test_people_who_judge_once_each_change_nothing():
    winner = ["model_a", "model_b", "tie"] * 10
    once = compare(battles(winner, judge=[f"user{i}" for i in range(30)]))
    assert once.pairs == compare(battles(winner)).pairs


def test_few_people_are_spoken_of_as_these():
    winner = ["model_a", "model_a", "model_b"] * 10
    table = battles(winner, judge=["ann", "bob", "cho"] * 10, question_id=np.arange(30))
    assert any("these people judged" in text for text in compare(table).assumptions)
