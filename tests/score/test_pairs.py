"""Differences: the scores shown, one story from test and interval, and no wrong order."""

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.verbs.score import evaluate
from tests.score.tables import ROLES, drawn

NONE = float("nan")


def test_a_difference_is_the_difference_of_the_scores_shown():
    result = evaluate(drawn(), **ROLES)
    scores = {row.name: row.score for row in result.systems}
    for pair in result.pairs:
        assert pair.difference == pytest.approx(scores[pair.a] - scores[pair.b], abs=1e-12)
        assert pair.interval.low <= pair.difference <= pair.interval.high


def test_a_system_without_labels_is_in_no_pair():
    table = drawn()
    shown = [
        None if system == "c" else value
        for value, system in zip(table["human"], table["system"], strict=True)
    ]
    result = evaluate({**table, "human": shown}, **ROLES)
    assert [(pair.a, pair.b) for pair in result.pairs] == [("b", "a")]
    assert isinstance(result.system("c").score, Unknown)
    assert result.system("c").rank_interval == (1, 3)
    assert result.decision == "undecided"


def test_certified_pairs_are_exact_and_wider():
    table = drawn(items=150, graded=60)
    plain = evaluate(table, **ROLES).pair("a", "b")
    exact = evaluate(table, certified=True, **ROLES).pair("a", "b")
    assert exact.interval.guarantee == "exact"
    assert exact.interval.width > plain.interval.width


def test_every_item_graded_leaves_no_doubt_about_these_items():
    result = evaluate(drawn(items=60, graded=60), label_draw="all", population="these", **ROLES)
    pair = result.pair("a", "b")
    assert pair.adjusted_p == 0.0
    assert pair.interval.width == pytest.approx(0.0, abs=1e-9)
    assert result.contenders == ("b",)


def test_every_item_graded_leaves_the_doubt_about_new_items():
    result = evaluate(drawn(items=60, graded=60), **ROLES)
    assert result.population == "new"
    assert any("every output has a human grade" in note for note in result.notes)
    interval = result.pair("a", "b").interval
    assert interval.high - interval.low > 0.1


def test_exact_ties_are_rarely_ordered():
    rates = {"a": 0.9, "b": 0.9, "c": 0.9}
    wrong = 0
    full = drawn(items=150, graded=150, rates=rates, seed=11)
    truth = np.array(full["human"]).reshape(150, 3)
    truth[:] = truth[:, :1]  # the same on every system: no order is right
    for seed in range(12):
        chosen = set(np.random.default_rng(seed).choice(150, 30, replace=False).tolist())
        shown = [str(truth[i // 3, i % 3]) if i // 3 in chosen else None for i in range(450)]
        result = evaluate({**full, "human": shown}, **ROLES, seed=seed)
        wrong += any(pair.settled for pair in result.pairs)
    assert wrong <= 2  # .05 of 12 is .6; 3 or more happen by chance in 1 of 50 runs
