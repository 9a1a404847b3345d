"""From outputs to a finished result: order, ranks, and what is said of systems without labels."""

from __future__ import annotations

import numpy as np
import pytest

from tallystick.results import Interval, Unknown
from tallystick.verbs.score.answer import score_outputs
from tallystick.verbs.score.pairs import SystemPair, ranked
from tallystick.verbs.score.question import ScoreQuestion
from tests.score.tables import outputs_of


def pair(first: int, second: int, difference: float, p: float) -> SystemPair:
    interval = Interval(difference - 0.05, difference + 0.05)
    return SystemPair(
        first=first,
        second=second,
        difference=difference,
        interval=interval,
        p_value=p,
        adjusted_p=p,
        needed=Unknown("a test"),
        common=20,
    )


def test_only_settled_pairs_order_systems():
    known = ranked(("a", "b", "c"), (0.6, 0.9, 0.85), [(0, 1, -1), (0, 2, -1), (1, 2, 0)])
    assert known.contenders == ("b", "c")
    assert known.tiers == (("b", "c"), ("a",))
    assert known.rank == {0: (3, 3), 1: (1, 2), 2: (1, 2)}


def test_a_system_without_labels_may_stand_anywhere():
    known = ranked(("a", "b", "c"), (0.6, 0.9, None), [(0, 1, -1)])
    assert known.contenders == ("b", "c")
    assert known.rank[1] == (1, 2)
    assert 2 not in known.rank


def outputs(n: int = 60, graded: int = 30):
    rng = np.random.default_rng(3)
    truth = np.concatenate([rng.random(n) < 0.9, rng.random(n) < 0.4]).astype(float)
    grades = np.where(rng.random((2 * n, 2)) < 0.9, truth[:, None], 1 - truth[:, None])
    human = np.where(np.tile(np.arange(n), 2) < graded, truth, np.nan)
    return outputs_of(grades, human, [0] * n + [1] * n, item=np.tile(np.arange(n), 2))


def test_the_difference_is_that_of_the_scores_and_the_bias_is_the_score_turned_round():
    result = score_outputs(outputs(), ScoreQuestion())
    first, second = result.systems
    [row] = result.pairs
    assert row.difference == pytest.approx(first.score - second.score)
    for one in result.systems:
        assert one.bias == pytest.approx(one.judge_only - one.score)
        assert one.bias_interval.low == pytest.approx(one.judge_only - one.interval.high)
    assert result.decision == "decided"
    assert result.label_goal is None


def test_without_labels_nothing_is_ranked():
    result = score_outputs(outputs(graded=0), ScoreQuestion())
    assert result.decision == "undecided"
    assert isinstance(result.pairs, Unknown)
    assert result.tiers == ()
    assert result.label_goal == "mean"
    assert all(isinstance(row.score, Unknown) for row in result.systems)


def test_a_target_mix_has_forecasts_of_nothing_and_scores_of_the_mix():
    from dataclasses import replace

    cut = replace(outputs(), slice=np.tile([0, 1], 60), slices=("x", "y"))
    result = score_outputs(cut, ScoreQuestion(target_mix={"x": 1, "y": 0}))
    only = score_outputs(cut.part(cut.slice == 0), ScoreQuestion())
    assert result.systems[0].score == pytest.approx(only.systems[0].score)
    assert isinstance(result.systems[0].needed, Unknown)
