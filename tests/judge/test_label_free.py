"""The label-free headline: a number, a range, never an interval."""

from importlib import import_module

import numpy as np
import pytest

from tallystick.results import Unknown
from tallystick.table import Tally
from tallystick.verbs.judge import evaluate

HOME = "tallystick.verbs.judge.label_free"
"""The file: its function has the same name."""


def simulated(n=600, accuracy=(0.9, 0.85, 0.8, 0.75), rng=1, ties=0.0):
    draw = np.random.default_rng(rng)
    truth = draw.integers(0, 2, n)
    votes = {}
    for j, a in enumerate(accuracy):
        said = np.where(draw.random(n) < a, truth, 1 - truth).astype(object)
        said = np.array(["no", "yes"], dtype=object)[said.astype(int)]
        votes[f"j{j}"] = np.where(draw.random(n) < ties, "tie", said).tolist()
    return votes, np.array(["no", "yes"])[truth]


def test_evaluate_cuts_the_range_to_what_logic_allows():
    votes, _ = simulated()
    for score in evaluate(Tally.of(votes)).judges:
        assert score.logical.low <= score.range[0] <= score.range[1] <= score.logical.high


def test_two_judges_are_refused_because_agreement_says_nothing_of_truth():
    votes, _ = simulated(accuracy=(0.9, 0.8))
    result = evaluate(Tally.of(votes))
    assert (result.method, result.decision) == ("logical", "unknowable")


def test_votes_that_are_never_true_do_not_become_a_label():
    votes, truth = simulated(2000, ties=0.08)
    result = evaluate(votes)
    assert result.never_true == ("tie",)
    assert set(result.prevalence) == {"no", "yes"}
    for j, score in enumerate(result.judges):
        said = np.array(votes[f"j{j}"])
        assert score.answered == pytest.approx((said != "tie").mean())
        assert score.accuracy == pytest.approx((said == truth).mean(), abs=0.05)
        assert score.when_answered.estimate == pytest.approx(score.accuracy / score.answered)
        assert isinstance(score.interval, Unknown)


def test_with_labels_ties_count_as_not_right():
    votes, truth = simulated(500, ties=0.1)
    result = evaluate({**votes, "gold": truth.tolist()}, truth="gold", never_true="tie")
    said = np.array(votes["j0"])
    first = result.judges[0]
    assert first.accuracy == pytest.approx((said == truth).mean())
    assert first.when_answered.estimate == pytest.approx((said == truth)[said != "tie"].mean())
    assert any("never be true count as votes" in text for text in result.assumptions)


def test_where_the_votes_refute_the_model_the_plain_majority_is_the_support():
    votes, _ = simulated(2000, accuracy=(0.8, 0.75, 0.7, 0.7, 0.7))
    draw = np.random.default_rng(4).random(2000) < 0.95
    votes["j1"] = np.where(draw, votes["j0"], votes["j1"]).tolist()
    result = evaluate(votes, judges=list(votes))
    assert "misfit" in {alarm.name for alarm in result.alarms}
    patterns = result.votes
    for place, level in enumerate(result.learnt["support"]):
        said = [patterns.labels[n][patterns.codes[place, j]] for j, n in enumerate(patterns.names)]
        assert level == pytest.approx(max(said.count("no"), said.count("yes")) / 5, abs=1e-6)


def test_models_of_many_patterns_see_a_random_part_and_say_so(monkeypatch):
    monkeypatch.setattr(import_module(HOME), "MOST_PATTERNS", 300)
    draw = np.random.default_rng(3)
    truth = draw.integers(0, 2, 1500)
    votes = {
        f"j{j}": np.where(draw.random(1500) < 0.8, truth, 1 - truth).tolist() for j in range(12)
    }
    result = evaluate(votes, seed=4)
    assert "fitted to 300 of 1,500 items" in result.left_out
    assert result.n_items == 1500
    assert np.mean([score.accuracy for score in result.judges]) == pytest.approx(0.8, abs=0.04)
    assert all(score.votes == 1500 for score in result.judges)
    assert all(level is not None for level in result.learnt["support"])
    assert evaluate(votes, seed=4).to_dict() == result.to_dict()


def test_patterns_that_the_sample_has_not_shown_get_a_consensus(monkeypatch):
    """Under the plain fit of a part of the items, other patterns can have probability 0."""
    monkeypatch.setattr(import_module(HOME), "MOST_CELLS", 1_200)
    rng = np.random.default_rng(8)
    truth = rng.integers(0, 12, 1_500)
    votes = {
        name: np.where(rng.random(1_500) < 0.6, truth, rng.integers(0, 12, 1_500)).tolist()
        for name in "abc"
    }
    votes["gold"] = [int(label) if i % 10 == 0 else None for i, label in enumerate(truth)]
    result = evaluate(votes, truth="gold")
    assert result.left_out
    assert all(0.5 < score.accuracy < 0.75 for score in result.judges)
