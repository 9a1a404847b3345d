import json

import numpy as np
import pytest

from tallystick.errors import AskError, InputError
from tallystick.table import Tally
from tallystick.verbs.judge import evaluate, position_bias


def orders(n, favour, tie, rng):
    """A judge that takes the first place on a share of items, whatever stands there."""
    draw = np.random.default_rng(rng)
    better = np.where(draw.random(n) < 0.5, "A", "B")
    first = np.where(draw.random(n) < favour, "A", better)
    # In the other order each answer stands in the other place.
    second = np.where(draw.random(n) < favour, "A", np.where(better == "A", "B", "A"))
    silent = draw.random((2, n)) < tie
    return np.where(silent[0], "tie", first).tolist(), np.where(silent[1], "tie", second).tolist()


def panel():
    table = {}
    for k, (name, favour) in enumerate((("gpt", 0.3), ("claude", 0.0), ("llama", 0.0))):
        table[f"{name}_ab"], table[f"{name}_ba"] = orders(400, favour, 0.1, k)
    return table


def test_a_panel_is_compared_at_once_and_ties_are_allowed():
    result = evaluate(panel(), judges=list(panel()), method="position-bias")
    found = {one.name: one for one in result.judges}
    assert list(found) == ["gpt", "claude", "llama"]
    assert found["gpt"].p_value < 1e-6
    assert found["gpt"].lean == pytest.approx(0.3, abs=0.08)
    assert min(found[name].p_value for name in ("claude", "llama")) > 0.05
    assert found["claude"].ties == pytest.approx(0.1, abs=0.03)
    assert result.verdict.startswith("One of three judges prefers a place")
    assert "gpt the first" in result.verdict
    assert json.dumps(result.to_dict())
    assert len(result.rows()) == 3
    assert result.figures()[0].kind == "forest"


def test_without_bias_ties_do_not_make_one():
    false = 0
    for seed in range(60):
        a, b = orders(100, 0.0, 0.3, seed)
        votes = Tally.of({"x_ab": a, "x_ba": b})
        result = position_bias(votes, pairs=[("x_ab", "x_ba")], ties=["tie"])
        false += result.judges[0].p_value <= 0.05
    assert false <= 9  # P(Binomial(60, .05) > 9) is 5e-4


def test_one_judge_is_read_alone():
    votes = Tally.of(
        {"ab": ["A"] * 70 + ["A"] * 25 + ["B"] * 5, "ba": ["B"] * 70 + ["A"] * 25 + ["B"] * 5}
    )
    found = position_bias(votes, pairs=[("ab", "ba")])
    assert found.consistent == found.judges[0].consistent == 0.7
    assert found.first_share == pytest.approx(25 / 30)
    assert found.best_accuracy == pytest.approx(0.85)
    assert "favours the first place" in found.verdict


@pytest.mark.parametrize("words", [("first", "second"), ("A", "B"), ("left", "right")])
def test_words_for_places_are_places(words):
    one, two = words
    votes = Tally.of({"x_ab": [one] * 6 + [two] * 4, "x_ba": [two] * 6 + [one] * 4})
    found = position_bias(votes, pairs=[("x_ab", "x_ba")])
    assert found.consistent == 1.0  # the same answer, which stood in the other place


def test_what_may_be_an_answer_or_a_place_is_asked_about():
    votes = {"x_ab": ["gpt", "llama"] * 30, "x_ba": ["gpt", "gpt"] * 30}
    with pytest.raises(AskError, match="name the answer, or the place") as asked:
        evaluate(votes, judges=list(votes), method="position-bias")
    assert asked.value.calls == ("--recorded answer", "--recorded position")
    by_answer = evaluate(votes, judges=list(votes), method="position-bias", recorded="answer")
    assert by_answer.consistent == 0.5


def test_letters_that_stay_when_the_order_is_swapped_are_asked_about():
    votes = {"x_ab": ["A"] * 40 + ["B"] * 20, "x_ba": ["A"] * 30 + ["B"] * 30}
    with pytest.raises(AskError, match="name the answer, or the place"):
        position_bias(Tally.of(votes), pairs=[("x_ab", "x_ba")])
    places = {name: ["first" if v == "A" else "second" for v in c] for name, c in votes.items()}
    assert position_bias(Tally.of(places), pairs=[("x_ab", "x_ba")]).consistent == 10 / 60


def test_a_judge_that_never_moves_has_no_share():
    votes = Tally.of({"x_ab": ["A", "B", "tie"], "x_ba": ["B", "A", "tie"]})
    found = position_bias(votes, pairs=[("x_ab", "x_ba")], ties=["tie"]).judges[0]
    assert found.consistent == 1.0
    assert found.p_value == 1.0
    assert "no answer moved" in found.first_share.reason


def test_an_odd_number_of_columns_is_refused():
    with pytest.raises(InputError, match="in pairs"):
        evaluate(panel(), judges=["gpt_ab", "gpt_ba", "claude_ab"], method="position-bias")


def test_two_judges_are_not_taken_for_two_orders_of_one():
    votes = {"gpt": ["A", "B"] * 50, "claude": ["A", "A"] * 50}
    with pytest.raises(InputError, match="look like two judges"):
        evaluate(votes, judges=["gpt", "claude"], method="position-bias")
