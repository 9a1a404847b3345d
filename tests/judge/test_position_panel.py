import json

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.table import Tally
from tallystick.verbs.judge import evaluate, position_bias, position_panel


def orders(n, favour, tie, rng):
    """A judge that takes the first place on a share of items, whatever stands there."""
    draw = np.random.default_rng(rng)
    better = np.where(draw.random(n) < 0.5, "A", "B")
    first = np.where(draw.random(n) < favour, "A", better)
    second = np.where(draw.random(n) < favour, "B", better)
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
        result = position_panel(votes, pairs=[("x_ab", "x_ba")], ties=["tie"])
        false += result.judges[0].p_value <= 0.05
    assert false <= 9  # P(Binomial(60, .05) > 9) is 5e-4


def test_one_judge_reads_as_before():
    votes = Tally.of(
        {"ab": ["A"] * 70 + ["A"] * 25 + ["B"] * 5, "ba": ["A"] * 70 + ["B"] * 25 + ["A"] * 5}
    )
    alone = position_bias(votes, first="ab", second="ba")
    panel_of_one = position_panel(votes, pairs=[("ab", "ba")])
    assert panel_of_one.verdict == alone.verdict
    assert panel_of_one.first_interval == alone.first_interval
    assert panel_of_one.best_accuracy == alone.best_accuracy


def test_a_judge_that_never_moves_has_no_share():
    votes = Tally.of({"x_ab": ["A", "B", "tie"], "x_ba": ["A", "B", "tie"]})
    found = position_panel(votes, pairs=[("x_ab", "x_ba")], ties=["tie"]).judges[0]
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
