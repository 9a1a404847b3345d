"""Battles: who met, who won, in which order, and who was asked."""

import numpy as np
import pandas as pd
import pytest

from tallystick import compare
from tallystick.errors import InputError


def battles(wins, ties, losses, a="new", b="old"):
    winner = ["model_a"] * wins + ["tie"] * ties + ["model_b"] * losses
    return decided(winner).assign(model_a=a, model_b=b)


def decided(winner, **columns):
    n = len(winner)
    return pd.DataFrame(
        {"model_a": ["gpt"] * n, "model_b": ["claude"] * n, "winner": winner} | columns
    )


@pytest.mark.parametrize(
    ("counts", "rate", "low", "high", "p"),
    [
        ((30, 10, 20), 0.583, 0.468, 0.690, 0.2026),
        ((12, 5, 3), 0.725, 0.537, 0.853, 0.0352),
        # The page prints Tango's [36.1, 63.9]; under 20 battles the exact score replaces it.
        ((0, 10, 0), 0.5, 0.344, 0.656, 1.0),
    ],
)
def test_the_vectors_of_the_page_come_from_a_table(counts, rate, low, high, p):
    [row] = compare(battles(*counts)).pairs
    assert row.win_rate == pytest.approx(rate, abs=5e-4)
    assert tuple(row.interval) == pytest.approx((low, high), abs=6e-4)
    assert row.p_value == pytest.approx(p, abs=5e-5)


def test_several_battles_per_prompt_rest_on_prompts():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "question_id": np.repeat(np.arange(30), 4),
            "model_a": "x",
            "model_b": "y",
            "winner": rng.choice(["model_a", "model_b", "tie"], 120, p=[0.7, 0.2, 0.1]),
        }
    )
    result = compare(frame)
    assert (result.prompts, result.n_items) == (30, 120)
    assert result.pairs[0].verdict == "x is better"
    few = compare(frame[frame.question_id < 4])
    assert few.pairs[0].verdict == "not settled"
    assert tuple(few.pairs[0].interval) == (0.0, 1.0)


def test_all_pairs_that_met_are_adjusted_together():
    parts = [
        battles(40, 5, 10, "a", "b"),
        battles(22, 5, 20, "b", "c"),
        battles(45, 1, 4, "a", "c"),
    ]
    result = compare(pd.concat(parts))
    assert (result.pairs[0].a, result.pairs[0].b) == ("a", "c")
    assert all(row.adjusted_p >= row.p_value for row in result.pairs)
    assert "2 of 3 pairs are settled" in result.verdict


def test_one_order_of_all_battles_is_said():
    rng = np.random.default_rng(0)
    won = rng.choice(["a", "b"], 60)
    table = {"model_a": ["gpt"] * 60, "model_b": ["llama"] * 60, "winner": won}
    assert any("gpt always stands before llama" in one for one in compare(table).warnings)
    table["model_a"], table["model_b"] = (["gpt", "llama"] * 30, ["llama", "gpt"] * 30)
    assert not any("always stands" in one for one in compare(table).warnings)


def test_a_winner_may_be_named_by_the_model_or_by_its_side():
    named = compare(decided(["gpt", "claude", "tie"] * 10))
    sided = compare(decided(["model_a", "model_b", "tie"] * 10))
    assert named.pairs == sided.pairs


def test_a_battle_without_a_winner_is_left_out_and_counted_not_taken_for_a_tie():
    table = decided(["model_a"] * 20 + [None, "", "N/A", "none"])
    result = compare(table)
    [row] = result.pairs
    assert (row.wins, row.ties, row.losses) == (20, 0, 0)
    assert result.warnings[0] == "4 battles without a winner are left out"


def test_a_word_that_names_no_winner_is_refused_with_its_row():
    with pytest.raises(InputError, match=r"row 2.*maybe names no winner"):
        compare(decided(["model_a", "maybe"]))


def test_zeros_and_ones_do_not_say_who_won():
    with pytest.raises(InputError, match=r"row 1 .*: 0 names no winner"):
        compare(decided([0, 1, 1, 0] * 10))
    counted = compare(decided([0, 1, 2, 1] * 10)).pairs[0]
    assert (counted.wins, counted.ties, counted.losses) == (20, 10, 10)


def test_people_who_judge_many_battles_are_a_sample_too():
    """Ten people with tastes of their own: taken as independent battles, taste looks like skill."""
    rng = np.random.default_rng(3)
    taste = rng.normal(0, 1.5, 10)
    person, item = np.tile(np.arange(10), 40), np.repeat(np.arange(40), 10)
    likes = rng.random(400) < 1 / (1 + np.exp(-taste[person]))
    winner = np.where(likes, "model_a", "model_b").tolist()

    alone = compare(decided(winner, question_id=item)).pairs[0].interval
    result = compare(decided(winner, question_id=item, judge=person))
    both = result.pairs[0].interval
    assert both.high - both.low > 2 * (alone.high - alone.low)
    assert any(text.startswith("prompts and people are independent") for text in result.assumptions)
    assert (result.pairs[0].p_value <= 0.05) == (0.5 not in both)


def test_few_people_are_spoken_of_as_these():
    winner = ["model_a", "model_a", "model_b"] * 10
    table = decided(winner, judge=["ann", "bob", "cho"] * 10, question_id=np.arange(30))
    assert any("others judge as these people do" in text for text in compare(table).assumptions)


def test_three_columns_of_zeros_and_ones_name_the_winner():
    """Kaggle's columns; one of them must be 1."""
    table = decided(["x"] * 60).drop(columns="winner")
    marks = np.array([(1, 0, 0), (0, 1, 0), (0, 0, 1), (0, 1, 0)] * 15)
    for j, name in enumerate(("winner_model_a", "winner_model_b", "winner_tie")):
        table[name] = marks[:, j]
    [row] = compare(table).pairs
    assert (row.a, row.wins, row.ties, row.losses) == ("claude", 30, 15, 15)
    table.loc[7, ["winner_model_a", "winner_model_b", "winner_tie"]] = (1, 1, 0)
    with pytest.raises(InputError, match=r"row 8 .*: 1, 1, 0 names no winner"):
        compare(table)


def test_preferences_from_one_to_two_are_win_rates():
    """AlpacaEval's: 1 for the first output, 2 for the second."""
    given = np.clip(1.5 + np.random.default_rng(2).normal(0.12, 0.4, 400), 1, 2)
    table = pd.DataFrame({"instruction": [f"Write {i}" for i in range(400)], "preference": given})
    result = compare(table.assign(generator_1="baseline", generator_2="mistral"))
    assert result.pairs[0].win_rate == pytest.approx(given.mean() - 1)
    assert result.verdict.startswith("mistral is better than baseline: mistral wins ")
    assert "baseline always stands before mistral" in result.warnings[0]


@pytest.mark.parametrize("share", [0.5, 0.8])
def test_a_place_that_wins_matters_where_a_model_stood_there_more_often(share):
    rng = np.random.default_rng(3)
    first = rng.random(500) < share
    table = pd.DataFrame(
        {
            "model_a": np.where(first, "vicuna", "koala"),
            "model_b": np.where(first, "koala", "vicuna"),
            "winner": rng.choice(["model_a", "model_b", "tie"], 500, p=[0.62, 0.2, 0.18]),
        }
    )
    result = compare(table)
    assert 0.7 < result.first_place < 0.8
    if share == 0.5:
        assert result.verdict.startswith("We cannot tell which model is best")
        assert not result.warnings
    else:
        assert "the first place wins 7" in result.warnings[0]
        assert "vicuna stood there more often" in result.warnings[0]


@pytest.mark.parametrize("option", [{"metric": "elo"}, {"gates": ("gpt >= claude",)}])
def test_what_battles_do_not_take_is_refused(option):
    with pytest.raises(InputError, match="a table of battles takes no"):
        compare(decided(["model_a", "model_b", "tie"] * 10), **option)
