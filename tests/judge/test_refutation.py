from importlib import import_module

import numpy as np
import pytest

from tallystick.table import Tally
from tallystick.table.panel import Panel
from tallystick.verbs.judge import evaluate
from tallystick.verbs.judge.scores import Estimate

refutation = import_module("tallystick.verbs.judge.logical")
"""The file: its function has the same name."""


def drawn(rng, n, accuracy, labelled):
    """Return judges that err independently, and the truth of some items."""
    truth = rng.integers(0, 2, n)
    votes = {
        f"j{k}": np.where(rng.random(n) < right, truth, 1 - truth)
        for k, right in enumerate(accuracy)
    }
    return {
        **votes,
        "gold": [int(label) if i < labelled else None for i, label in enumerate(truth)],
    }


def verdicts(votes):
    return {one.method: one.rejected for one in evaluate(Tally.of(votes), truth="gold").estimates}


@pytest.mark.parametrize("labelled", [300, 60])
def test_a_true_model_is_hardly_ever_rejected(labelled):
    rng = np.random.default_rng(5)
    runs = 20
    lost = {"dawid-skene": 0, "independent": 0, "spectral": 0, "agreement": 0}
    for _ in range(runs):
        found = verdicts(drawn(rng, 300, (0.8, 0.7, 0.65), labelled))
        for method in lost:
            lost[method] += bool(found.get(method))
    most = 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)
    assert max(lost.values()) <= most * runs, lost


@pytest.mark.parametrize("copies", [0.85, 1.0])
def test_judges_that_copy_one_another_are_rejected_by_sixty_labels(copies):
    rng = np.random.default_rng(6)
    for _ in range(10):
        votes = drawn(rng, 400, (0.75, 0.75, 0.7), 60)
        for name in ("j1", "j2"):
            votes[name] = np.where(rng.random(400) < copies, votes["j0"], votes[name])
        assert verdicts(votes)["dawid-skene"]


def claim(value, low, high):
    estimate = Estimate(method="guess", assumption="none", accuracy={"x": value})
    return refutation.Claim(
        estimate=estimate, doubt=lambda alpha: (np.array([low]), np.array([high]))
    )


@pytest.fixture
def panel():
    """One judge, right on 80 of 100 labelled items: [.708, .873]."""
    return Panel.of(Tally.of({"x": [0] * 80 + [1] * 20, "gold": [0] * 100}), truth="gold")


def test_an_estimate_is_rejected_only_beyond_both_doubts(panel):
    sure, unsure, unknown = (claim(0.9, low, 0.95) for low in (0.89, 0.75, np.nan))
    tested, alarms = refutation.tested_by_labels([sure, unsure, unknown], panel, 0.05)
    assert [one.rejected for one in tested] == [True, False, None]
    assert (
        "it gives x 90.0\xa0% [89.0, 95.0] by its own doubt, and 100 labels allow 70.8\xa0% to"
        in tested[0].why
    )
    assert tested[2].why == "not tested: how sure it is of x is not known"
    assert [alarm.name for alarm in alarms] == ["guess is rejected"]


def test_a_doubt_is_not_worked_out_where_it_cannot_matter(panel):
    def never(alpha):
        raise AssertionError("asked for")

    estimate = Estimate(method="guess", assumption="none", accuracy={"x": 0.8})
    tested, _ = refutation.tested_by_labels(
        [refutation.Claim(estimate=estimate, doubt=never)], panel, 0.05
    )
    assert tested[0].rejected is False


def test_a_stated_quality_that_labels_refute_is_rejected():
    rng = np.random.default_rng(2)
    votes = drawn(rng, 1000, (0.7, 0.8, 0.8, 0.8), 300)
    known = {"j0": {0: 0.95, 1: 0.95}}
    found = evaluate(Tally.of(votes), truth="gold", known=known).estimates[1]
    assert found.method == "dawid-skene"
    assert found.rejected
    assert "j0 95.0\xa0% [95.0, 95.0]" in found.why


def test_the_table_says_what_was_not_tested():
    truth = np.arange(400) % 5 > 0
    votes = {name: ["a"] * 200 + ["b"] * 200 for name in ("x", "y", "z")}
    gold = [("a" if (i < 200) == bool(right) else "b") for i, right in enumerate(truth)]
    result = evaluate(Tally.of({**votes, "gold": gold}), truth="gold")
    found = {one.method: one.rejected for one in result.estimates}
    assert found["dawid-skene"]
    assert found["agreement"] is None
    assert "not tested" in result.summary()
