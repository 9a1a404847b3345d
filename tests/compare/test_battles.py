import numpy as np
import pandas as pd
import pytest

from tallystick import compare
from tallystick.errors import InputError


def battles(wins, ties, losses, a="new", b="old"):
    winner = ["model_a"] * wins + ["tie"] * ties + ["model_b"] * losses
    n = len(winner)
    return pd.DataFrame({"model_a": [a] * n, "model_b": [b] * n, "winner": winner})


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


def test_the_verdict_counts_battles_and_says_what_a_tie_is():
    result = compare(battles(60, 10, 20))
    assert result.verdict.startswith("new beats old in 72.2")
    assert "of 90 battles (p < 0.0001; a tie counts half)." in result.verdict
    assert any("no rating model" in text for text in result.assumptions)


def test_the_order_of_the_two_models_does_not_matter():
    forth = battles(30, 10, 20)
    back = battles(20, 10, 30, a="old", b="new")
    assert compare(back).pairs == compare(forth).pairs


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
    assert few.pairs[0].verdict == "not told apart"
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
    assert "2 of 3 pairs of models are told apart" in result.verdict


def test_a_winner_that_is_nobody_is_refused_with_its_row():
    frame = battles(3, 0, 3)
    frame.loc[2, "winner"] = "gpt"
    with pytest.raises(InputError, match=r"row 3.*'gpt' names no winner"):
        compare(frame)


def test_a_rating_is_refused():
    with pytest.raises(InputError, match="rating model"):
        compare(battles(3, 0, 3), metric="elo")


def test_one_order_of_all_battles_is_said():
    rng = np.random.default_rng(0)
    won = rng.choice(["a", "b"], 60)
    table = {"model_a": ["gpt"] * 60, "model_b": ["llama"] * 60, "winner": won}
    assert any("gpt always stands before llama" in one for one in compare(table).warnings)
    table["model_a"], table["model_b"] = (["gpt", "llama"] * 30, ["llama", "gpt"] * 30)
    assert not any("always stands" in one for one in compare(table).warnings)
