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


@pytest.mark.parametrize("words", [("first", "second"), ("A", "B"), ("left", "right")])
def test_words_for_places_are_places(words):
    one, two = words
    votes = Tally.of({"x_ab": [one] * 6 + [two] * 4, "x_ba": [two] * 6 + [one] * 4})
    found = position_bias(votes, pairs=[("x_ab", "x_ba")])
    assert found.judges[0].consistent == 1.0  # the same answer, which stood in the other place


def test_what_may_be_an_answer_or_a_place_is_asked_about():
    votes = {"x_ab": ["gpt", "llama"] * 30, "x_ba": ["gpt", "gpt"] * 30}
    with pytest.raises(AskError, match="name the answer, or the place") as asked:
        evaluate(votes, judges=list(votes), method="position-bias")
    assert asked.value.calls == ("--recorded answer", "--recorded position")
    by_answer = evaluate(votes, judges=list(votes), method="position-bias", recorded="answer")
    assert by_answer.judges[0].consistent == 0.5
    # Which of two columns is the first order is as they are named.
    for order, first in ((["x_ab", "x_ba"], 0.0), (["x_ba", "x_ab"], 1.0)):
        found = evaluate(votes, judges=order, method="position-bias", recorded="answer")
        assert found.judges[0].first_share == first
    with pytest.raises(InputError, match="--judges gpt_ab,gpt_ba"):
        evaluate(votes, judges=["x_ab"], method="position-bias")


def test_letters_that_stay_when_the_order_is_swapped_are_asked_about():
    votes = {"x_ab": ["A"] * 40 + ["B"] * 20, "x_ba": ["A"] * 30 + ["B"] * 30}
    with pytest.raises(AskError, match="name the answer, or the place"):
        position_bias(Tally.of(votes), pairs=[("x_ab", "x_ba")])
    places = {name: ["first" if v == "A" else "second" for v in c] for name, c in votes.items()}
    found = position_bias(Tally.of(places), pairs=[("x_ab", "x_ba")])
    assert found.judges[0].consistent == 10 / 60


def test_two_judges_are_not_taken_for_two_orders_of_one():
    votes = {"gpt": ["A", "B"] * 50, "claude": ["A", "A"] * 50}
    with pytest.raises(InputError, match="named alike and in pairs"):
        evaluate(votes, judges=["gpt", "claude"], method="position-bias")
