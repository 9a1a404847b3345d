"""Scores are those of stats/few_labels, whatever they are asked through."""

from dataclasses import replace

import numpy as np
import pytest

from tallystick.stats.certified import certified_shares
from tallystick.stats.few_labels import Rows, fit
from tallystick.verbs.score import ScoreQuestion, evaluate
from tallystick.verbs.score.systems import estimate_systems, fitted, joint_intervals
from tests.score.tables import ROLES, drawn, outputs_of

NONE = float("nan")


def vector():
    """28 outputs that the judge fails and 80 that it passes; people grade 10 and 20 of them."""
    grades = [0] * 28 + [1] * 80
    truth = [1] * 3 + [0] * 7 + [NONE] * 18 + [1] * 19 + [0] + [NONE] * 60
    return outputs_of(grades, truth)


def scores(outputs, **asked):
    question = ScoreQuestion(**asked)
    return estimate_systems(outputs, question, fitted(outputs, question))


def test_certified_scores_are_exact_intervals_of_the_judges_strata():
    [found] = scores(vector(), certified=True)
    ends = certified_shares([28, 80, 0], [10, 20, 0], [3, 19, 0])(np.array([0.05]))
    assert tuple(found.interval) == tuple(float(end[0]) for end in ends)
    assert found.interval.guarantee == "exact"


def test_counts_stand_for_that_many_outputs():
    rows = outputs_of([0, 1, 1, 1, 1], [0, 1, 1, NONE, NONE], pass_fail=False)
    short = outputs_of([0, 1, 1], [0, 1, NONE], pass_fail=False, counts=np.array([1.0, 2.0, 2.0]))
    one, two = (scores(outputs)[0] for outputs in (rows, short))
    assert tuple(one.interval) == pytest.approx(tuple(two.interval), abs=1e-12)
    found = fit(
        Rows(y=[0, 1, 1, NONE, NONE], grades=[[0], [1], [1], [1], [1]]), pass_fail=False
    ).means()
    assert one.score == found.estimate[0]


def test_a_system_without_labels_has_no_score_and_moves_no_other():
    outputs = outputs_of([1, 1, 0, 1, 0], [1, 0, NONE, NONE, NONE], [0, 0, 0, 1, 1])
    first, second = scores(outputs)
    [alone] = scores(replace(outputs.part(outputs.system == 0), systems=("a",)))
    assert (first.score, first.interval) == (alone.score, alone.interval)
    assert second.score is None


def test_known_probabilities_correct_a_draw_that_favoured_failures():
    table = drawn(items=600, graded=600, rates={"b": 0.8}, seed=3)
    rng = np.random.default_rng(0)
    chance = np.where(np.array(table["x"]) == "fail", 0.6, 0.15)
    table["chance"] = chance.tolist()
    truth = np.array(table["human"])
    table["human"] = [
        value if rng.random() < p else None for value, p in zip(truth, chance, strict=True)
    ]
    found = evaluate(table, probability="chance", **ROLES)
    [row] = found.systems
    assert (truth == "pass").mean() in row.interval
    assert not any("Not reliable" in one for one in found.warnings)  # 4 times were measured
    table["chance"][table["human"].index("pass")] = 0.05
    [told] = [
        one for one in evaluate(table, probability="chance", **ROLES).warnings if "Not" in one
    ]
    assert "counts 12 times as much as another" in told
    graded = [value for value in table["human"] if value is not None]
    assert np.mean(np.array(graded) == "pass") not in row.interval


def test_swapping_pass_and_fail_swaps_every_score() -> None:
    rng = np.random.default_rng(12)
    n = 240
    good = rng.random(n) < np.where(np.arange(n) % 2, 0.8, 0.55)
    votes = {name: np.where(rng.random(n) < 0.75, good, ~good).astype(int) for name in ("x", "y")}
    human = [int(one) if rng.random() < 0.25 else None for one in good]
    table = {"item": np.arange(n) // 2, "system": ["a", "b"] * (n // 2), **votes, "human": human}
    swapped = {
        **table,
        **{name: 1 - column for name, column in votes.items()},
        "human": [None if one is None else 1 - one for one in human],
    }
    asked = {"system": "system", "judges": ("x", "y"), "truth": "human", "item": "item"}
    passes, fails = evaluate(table, **asked), evaluate(swapped, **asked)
    for name in ("a", "b"):
        one, other = passes.system(name), fails.system(name)
        assert one.score + other.score == pytest.approx(1)
        assert one.interval.low + other.interval.high == pytest.approx(1)
        assert one.interval.high + other.interval.low == pytest.approx(1)
    (first,), (second,) = passes.pairs, fails.pairs
    ends = sorted((abs(first.interval.low), abs(first.interval.high)))
    assert sorted((abs(second.interval.low), abs(second.interval.high))) == pytest.approx(ends)
    assert first.p_value == pytest.approx(second.p_value)


def test_scores_that_order_systems_without_pairs_share_the_error():
    outputs = outputs_of([[1], [0]] * 60, ([1, 0, 1, 0] + [NONE] * 8) * 10, [0] * 60 + [1] * 60)
    question = ScoreQuestion()
    found = joint_intervals(outputs, question, fitted(outputs, question))
    single = scores(outputs, alpha=question.alpha / 2)
    assert [tuple(one) for one in found.values()] == [tuple(one.interval) for one in single]
