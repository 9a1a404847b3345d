"""Corrected win rates."""

import numpy as np
import pytest

from tallystick.errors import InputError
from tallystick.verbs.score import evaluate


def table(rate=0.7, graded=80, seed=0, ties=0.0):
    """Return 300 comparisons of new and old, new winning *rate*; the judge likes old."""
    rng = np.random.default_rng(seed)
    held = {name: [] for name in ("id", "a", "b", "gpt", "claude", "human")}
    chosen = set(np.random.default_rng(seed + 1).permutation(300)[:graded].tolist())
    for item in range(300):
        new_wins = rng.random() < rate
        for first, second in (("new", "old"), ("old", "new")):
            right = "a" if (first == "new") == new_wins else "b"
            wrong = "b" if right == "a" else "a"
            held["id"].append(item)
            held["a"].append(first)
            held["b"].append(second)
            for judge, good in (("gpt", 0.75), ("claude", 0.85)):
                chance = good if not new_wins else good - 0.4
                answer = right if rng.random() < chance else wrong
                held[judge].append("tie" if rng.random() < ties else answer)
            held["human"].append(right if item in chosen and first == "new" else None)
    return held


ROLES = {"judges": ("gpt", "claude"), "truth": "human", "item": "id"}


def test_the_corrected_win_rate_finds_the_winner_that_judges_miss():
    result = evaluate(table(), **ROLES)
    [row] = result.systems
    assert row.name == "new over old"
    assert row.judge_only < 0.5 < row.interval.low
    assert 0.6 < row.score < 0.8
    assert result.verdict.startswith("new wins against old: ")
    assert "Your judges alone say the opposite" in result.verdict
    assert result.contenders == ("new",)
    assert result.tiers == (("new",), ("old",))


def test_whoever_is_behind_is_told_from_the_side_of_the_winner():
    verdict = evaluate(table(rate=0.25), **ROLES).verdict
    assert verdict.startswith("old wins against new: ")


def test_the_difference_is_wins_minus_losses():
    result = evaluate(table(), **ROLES)
    [pair] = result.pairs
    assert (pair.a, pair.b) == ("new", "old")
    assert pair.difference == pytest.approx(2 * result.systems[0].score - 1)
    assert pair.settled


def test_an_even_match_stays_open_and_says_how_many_more():
    result = evaluate(table(rate=0.53, graded=30, ties=0.1), **ROLES)
    assert result.decision == "undecided"
    assert "Not settled: " in result.verdict
    assert result.pairs[0].interval.low <= 0 <= result.pairs[0].interval.high


def test_without_people_no_winner_is_named():
    held = table()
    held.pop("human")
    result = evaluate(held, judges=("gpt", "claude"), item="id")
    assert result.decision == "undecided"
    assert "That is not a win rate" in result.verdict


def test_three_systems_have_tiers_from_their_pairs():
    rng = np.random.default_rng(0)
    held = {name: [] for name in ("id", "a", "b", "gpt", "human")}
    strength = {"one": 2.0, "two": 0.0, "three": -2.0}
    for item in range(200):
        for first, second in (("one", "two"), ("one", "three"), ("two", "three")):
            win = rng.random() < 1 / (1 + np.exp(strength[second] - strength[first]))
            held["id"].append(item)
            held["a"].append(first)
            held["b"].append(second)
            held["gpt"].append("a" if rng.random() < (0.8 if win else 0.2) else "b")
            held["human"].append(("a" if win else "b") if item < 60 else None)
    result = evaluate(held, judges="gpt", truth="human", item="id")
    assert result.tiers == (("one",), ("two",), ("three",))
    assert len(result.pairs) == 3


@pytest.mark.parametrize("option", [{"scale": (1, 5)}, {"target_mix": {"x": 1}}])
def test_options_for_grades_are_refused(option):
    with pytest.raises(InputError, match="preferences are read from the rows"):
        evaluate(table(), **option, **ROLES)
