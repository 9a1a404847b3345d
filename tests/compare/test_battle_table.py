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
    with pytest.raises(InputError, match="holds 0 and 1, which do not say who won"):
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


def test_three_columns_of_zeros_and_ones_name_the_winner():
    """Kaggle's columns; one of them must be 1."""
    table = battles(["x"] * 60).drop(columns="winner")
    marks = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0)] * 15)
    for j, name in enumerate(("winner_model_a", "winner_model_b", "winner_tie")):
        table[name] = marks[:, j]
    [row] = compare(table).pairs
    assert (row.a, row.wins, row.ties, row.losses) == ("claude", 30, 15, 15)
    table.loc[7, ["winner_model_a", "winner_model_b", "winner_tie"]] = (1, 1, 0)
    with pytest.raises(InputError, match="hold 1, 1, 0: one of them must be 1"):
        compare(table)


def test_preferences_from_one_to_two_are_win_rates():
    """AlpacaEval's: 1 for the first output, 2 for the second."""
    given = np.clip(1.5 + np.random.default_rng(2).normal(0.12, 0.4, 400), 1, 2)
    table = pd.DataFrame({"instruction": [f"Write {i}" for i in range(400)], "preference": given})
    result = compare(table.assign(generator_1="baseline", generator_2="mistral"))
    assert result.pairs[0].win_rate == pytest.approx(given.mean() - 1)
    assert result.verdict.startswith("mistral beats baseline in ")
    assert "baseline always stands before mistral" in result.warnings[0]


def test_a_place_that_wins_is_said_and_names_no_model():
    rng = np.random.default_rng(3)
    first = rng.random(500) < 0.5
    table = pd.DataFrame(
        {
            "model_a": np.where(first, "vicuna", "koala"),
            "model_b": np.where(first, "koala", "vicuna"),
            "winner": rng.choice(["model_a", "model_b", "tie"], 500, p=[0.62, 0.2, 0.18]),
        }
    )
    result = compare(table)
    assert result.verdict.startswith("We cannot tell which model is best")
    assert "the first place wins 7" in result.warnings[0]
    assert "so no model gains by it" in result.warnings[0]
