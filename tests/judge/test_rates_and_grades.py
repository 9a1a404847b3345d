"""Rates by label that agree with accuracy, grades by their distance, and crowds."""

import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.verbs.judge import grade
from tallystick.verbs.judge.few_labels import consistent


def table(seed, *, n=400, labels=60, blank=0.0):
    rng = np.random.default_rng(seed)
    truth = (rng.random(n) < rng.uniform(0.2, 0.8)).astype(int)
    votes = {}
    for name in "abcd":
        rate = rng.uniform(0.55, 0.98, 2)
        vote = np.where(rng.random(n) < rate[truth], truth, 1 - truth)
        silent = rng.random(n) < blank
        votes[name] = [None if s else int(v) for s, v in zip(silent, vote, strict=True)]
    known = rng.permutation(n) < labels
    gold = [int(t) if k else None for t, k in zip(truth, known, strict=True)]
    return Tally.of({**votes, "gold": gold})


@pytest.mark.parametrize("seed", range(20))
def test_accuracy_is_the_mean_of_the_rates_by_label(seed):
    result = grade(table(seed), truth="gold")
    shares = [result.prevalence[key].estimate for key in "01"]
    for score in result.judges:
        rates = [score.per_label[key].estimate for key in "01"]
        assert np.dot(shares, rates) == pytest.approx(score.accuracy, abs=1e-6)
        for key in "01":
            part = score.per_label[key]
            assert part.logical.low - 1e-9 <= part.estimate <= part.logical.high + 1e-9
            assert part.interval.low <= part.estimate <= part.interval.high


@pytest.mark.parametrize("seed", range(8))
def test_accuracy_lies_between_the_rates_of_a_judge_that_skips_items(seed):
    for score in grade(table(seed, blank=0.3), truth="gold").judges:
        rates = [score.per_label[key].estimate for key in "01"]
        assert min(rates) - 1e-9 <= score.accuracy <= max(rates) + 1e-9


def test_rates_stop_at_what_is_possible_and_unknown_ones_stay_so():
    room = np.array([[0.0, 0.5], [0.0, 1.0], [0.0, 1.0]])
    rates = np.array([0.45, 0.5, np.nan])
    found = consistent(rates, 0.7, np.array([0.5, 0.5, 0.0]), np.array([0.2, 0.2, 1.0]), room)
    assert found[:2] == pytest.approx([0.5, 0.9])
    assert np.isnan(found[2])


def graded(seed=1, labels=80):
    """Judge near is always one grade off at most, far is right as often and else far away."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(1, 6, 500)
    wrong = rng.random(500) < 0.3
    near = np.where(wrong, np.where(truth == 5, 4, truth + 1), truth)
    far = np.where(wrong, (truth + 1) % 5 + 1, truth)
    gold = [int(t) if i < labels else None for i, t in enumerate(truth)]
    return Tally.of({"near": near.tolist(), "far": far.tolist(), "gold": gold})


def test_judges_of_grades_are_ranked_by_their_distance_and_not_by_exact_match():
    result = grade(graded(), truth="gold")
    near, far = result.judges
    assert near.accuracy == pytest.approx(far.accuracy, abs=0.02)
    assert near.distance.estimate == pytest.approx(0.3, abs=0.1)
    assert near.distance.interval.low <= 0.3 <= near.distance.interval.high
    assert near.weighted_kappa.estimate > far.weighted_kappa.estimate + 0.1
    assert (result.leader, result.rivals) == ("near", ())
    assert "near is closest to the true grade of your two judges" in result.verdict
    assert any("labels 1 to 5 are grades in order" in one for one in result.assumptions)


def crowd(n=400, workers=30, labels=100):
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 2, n)
    rate = rng.uniform(0.6, 0.95, workers)
    votes = np.where(rng.random((n, workers)) < rate, truth[:, None], 1 - truth[:, None])
    votes = np.where(rng.random(votes.shape) < 0.4, votes, -1)
    table = {
        f"w{j}": [None if v < 0 else int(v) for v in votes[:, j].tolist()] for j in range(workers)
    }
    gold = [int(t) if i < labels else None for i, t in enumerate(truth)]
    true = [float((v == truth)[v >= 0].mean()) for v in votes.T]
    return Tally.of({**table, "gold": gold}), true


def test_workers_of_a_crowd_share_a_slope_and_are_covered():
    votes, true = crowd()
    result = grade(votes, truth="gold")
    held = [rate in score.interval for rate, score in zip(true, result.judges, strict=True)]
    assert np.mean(held) > 0.85
    assert result.labels_needed.leader is None or not result.rivals
    assert result.decision == "undecided"
